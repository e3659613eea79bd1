"""Tables in the style of the book, as HTML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from numbers import Integral, Real
from typing import Any

import pandas as pd
from IPython.display import HTML

from radeval_lib.small_counts import smallest_shown

_Formatter = str | Callable[[Any], str]


def table_html(
    frame: pd.DataFrame, caption: str = "", *, index: bool = True, raw: tuple[str, ...] = (), label: str = ""
) -> str:
    """Return a table as HTML that scrolls sideways on a narrow screen.

    Values are shown as by ``str``; use :func:`show` for formats and a dash for missing values.

    Parameters
    ----------
    caption : the text above the table; empty for no caption.
    index : whether to show the row labels.
    raw : the columns whose cells are HTML already; all others are escaped.
    label : the name of the table for screen readers if it has no caption; by default, ``Table``.
    """
    text_frame = frame.copy()
    for position, column in enumerate(text_frame.columns):
        if column not in raw:
            text_frame.isetitem(position, [escape(str(value)) for value in text_frame.iloc[:, position]])
    text_frame.index, text_frame.columns = _escape_labels(frame.index), _escape_labels(frame.columns)
    text_frame.columns.names = [None] * text_frame.columns.nlevels
    parts = [part for name in frame.columns for part in (name if isinstance(name, tuple) else (name,))]
    head_texts = [*parts, *(frame.index.names if index else ())]
    body = text_frame.to_html(
        header=any(name not in ("", None) for name in head_texts),  # no empty header
        index=index,
        index_names=False,
        border=0,
        classes="radeval",
        escape=False,
        na_rep="",
        justify="left",
    )
    for name in frame.index.names if index else ():
        body = body.replace("<th></th>", f"<th>{escape(str(name or ''))} </th>", 1)
    if caption:
        head = "<thead>" if "<thead>" in body else "<tbody>"
        body = body.replace(head, f"<caption><span>{escape(caption)}</span></caption>{head}", 1)
    title = escape(caption or label or "Table")
    return f'<div class="radeval-table" tabindex="0" role="region" aria-label="{title}">{body}</div>'


def _escape_labels(labels: pd.Index) -> pd.Index:
    """Return row or column labels as strings that are escaped for HTML."""
    if isinstance(labels, pd.MultiIndex):
        return pd.MultiIndex.from_tuples(
            [tuple(escape(str(part)) for part in label) for label in labels], names=labels.names
        )
    return pd.Index([escape(str(label)) for label in labels], name=labels.name, dtype=object)


def show(
    frame: pd.DataFrame,
    caption: str = "",
    *,
    formats: Mapping[str, _Formatter] | _Formatter | None = None,
    index: bool = True,
    raw: tuple[str, ...] = (),
    exact: tuple[str, ...] = (),
) -> HTML:
    """Return a table in the book's style, with a dash for each missing value.

    Parameters
    ----------
    formats : a format string such as ``"{:.1f}"`` or a function, for all numeric columns, or a mapping from
        column to one of them.
    index : whether to show the row labels.
    raw : the columns whose cells are HTML already.
    exact : the columns without counts of cases. In all others, a positive integer is taken for a count and
        is hidden if it is below :func:`radeval_lib.small_counts.smallest_shown`.

    Columns that the table lacks are ignored in ``formats``, ``raw`` and ``exact``.
    """
    text_frame = frame.copy().astype(object)
    for position, column in enumerate(frame.columns):
        values = frame.iloc[:, position]
        numeric = pd.api.types.is_numeric_dtype(values)
        style = formats.get(column) if isinstance(formats, Mapping) else (formats if numeric else None)
        write = style.format if isinstance(style, str) else (style or str)
        numbers = [float(value) for value in values if isinstance(value, Real) and not pd.isna(value)]
        # In a column with a missing value, pandas stores integers as floats.
        are_whole = all(number.is_integer() or math.isinf(number) for number in numbers)
        all_whole = None if column in exact else are_whole
        texts = ["–" if pd.isna(value) else _format_value(value, write, all_whole) for value in values]
        text_frame.isetitem(position, texts)
    return HTML(table_html(text_frame, caption, index=index, raw=raw))


def _format_value(value: Any, write: Callable[[Any], str], all_whole: bool | None) -> str:
    """Return a value as ``write`` formats it, or else ``∞`` for infinity or ``< 5`` for a hidden count.

    A count is hidden if it is below :func:`radeval_lib.small_counts.smallest_shown`. ``all_whole`` is whether
    all numbers of the column are integers, or None if the column has no counts of cases.
    """
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = write(value)
    if all_whole is None or isinstance(value, bool) or not isinstance(value, Real):
        return text
    is_count = isinstance(value, Integral) or (float(value).is_integer() and (all_whole or text.isdecimal()))
    return f"< {smallest_shown()}" if is_count and 0 < float(value) < smallest_shown() else text


def format_p(p: float) -> str:
    """Return a p value as a string for a table: with three decimals, or ``< 0.001``."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def folded(table: HTML, caption: str = "") -> HTML:
    """Return a table that is hidden until the reader clicks on its caption.

    The caption is ``caption`` or, if that is empty, the caption of ``table``, which is removed from there.
    """
    own_caption = re.search(r"<caption><span>(.*?)</span></caption>", table.data, re.DOTALL)
    body = table.data.replace(own_caption.group(0), "", 1) if own_caption else table.data
    title = escape(caption) if own_caption is None or caption else own_caption.group(1)
    return HTML(f'<details><summary class="table-caption"><strong>{title}</strong></summary>{body}</details>')


def to_json_script(content: Any) -> str:
    """Return ``content`` as JSON in an HTML element ``script``, which other scripts of the page can read.

    Raises
    ------
    ValueError
        If ``content`` has NaN or an infinite number, which browsers do not accept in JSON.
    TypeError
        If ``content`` has a value that JSON cannot represent.
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    # Either string would change where the element ends.
    text = text.replace("</", "<\\/").replace("<!--", "\\u003c!--")
    return f'<script type="application/json">{text}</script>'


def search_table(heads: Sequence[str], rows: Sequence[Sequence[str]], example: str) -> HTML:
    """Return a table with a search field; the page shows the rows that contain the words typed there.

    Parameters
    ----------
    heads : the names of the columns.
    rows : the cells of each row, as HTML.
    example : an example of a search, shown in the empty search field.
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    return HTML(
        '<div class="search-table"><label>Show rows containing '
        f'<input type="search" placeholder="{escape(example)}"></label> <span role="status"></span>'
        f'<div class="radeval-table"><table class="radeval"><thead><tr>{head}</tr></thead>'
        f"<tbody></tbody></table></div>{to_json_script(rows)}"
        "<noscript>This table needs JavaScript.</noscript></div>"
    )
