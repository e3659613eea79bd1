"""The book's one style of table."""

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
    """Return ``frame`` as an HTML table that scrolls sideways on a narrow screen.

    Missing values appear as Python writes them (:func:`show` writes a dash). The cells of the columns ``raw``
    are HTML already; ``label`` names the table for a screen reader if it has no caption.
    """
    shown = frame.copy()
    for position, column in enumerate(shown.columns):
        if column not in raw:
            shown.isetitem(position, [escape(str(value)) for value in shown.iloc[:, position]])
    shown.index, shown.columns = _escaped(frame.index), _escaped(frame.columns)
    shown.columns.names = [None] * shown.columns.nlevels
    parts = [part for name in frame.columns for part in (name if isinstance(name, tuple) else (name,))]
    named = [*parts, *(frame.index.names if index else ())]
    body = shown.to_html(
        header=any(name not in ("", None) for name in named),  # no empty band over columns without names
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
    called = escape(caption or label or "Table")
    return f'<div class="radeval-table" tabindex="0" role="region" aria-label="{called}">{body}</div>'


def _escaped(labels: pd.Index) -> pd.Index:
    """Return row or column labels as HTML, with as many levels."""
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
    """Display a table in the book's style, with a dash for a missing value.

    Whole numbers count as numbers of cases, and small ones may be hidden (:mod:`radeval_lib.small_counts`),
    except in the columns ``exact``.

    Parameters
    ----------
    formats : a format string such as ``"{:.1f}"`` or a function, for all numeric columns or by column.
        Columns that the table lacks are ignored here, in ``raw`` and in ``exact``.
    """
    shown = frame.copy().astype(object)
    for position, column in enumerate(frame.columns):
        values = frame.iloc[:, position]
        numeric = pd.api.types.is_numeric_dtype(values)
        rule = formats.get(column) if isinstance(formats, Mapping) else (formats if numeric else None)
        write = rule.format if isinstance(rule, str) else (rule or str)
        numbers = [float(value) for value in values if isinstance(value, Real) and not pd.isna(value)]
        # A missing value makes counts floats.
        whole = all(number.is_integer() or math.isinf(number) for number in numbers)
        counts = None if column in exact else whole
        texts = ["–" if pd.isna(value) else _written(value, write, counts) for value in values]
        shown.isetitem(position, texts)
    return HTML(table_html(shown, caption, index=index, raw=raw))


def _written(value: Any, write: Callable[[Any], str], counts: bool | None) -> str:
    """Return a value in the form of ``write``, with a sign for infinity; for a count that is too small to be
    shown, an upper bound. ``counts``: whether all numbers of its column are whole; None if none is hidden."""
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = write(value)
    if counts is None or isinstance(value, bool) or not isinstance(value, Real):
        return text
    is_count = isinstance(value, Integral) or (float(value).is_integer() and (counts or text.isdecimal()))
    return f"< {smallest_shown()}" if is_count and 0 < float(value) < smallest_shown() else text


def p_value(p: float) -> str:
    """Return a p value for a table column, with three decimals; ``< 0.001`` below a thousandth."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def folded(table: HTML, caption: str = "") -> HTML:
    """Return a long table that opens on a click on its caption: ``caption``, or that of :func:`show`, which
    moves out of the table."""
    inside = re.search(r"<caption><span>(.*?)</span></caption>", table.data, re.DOTALL)
    body = table.data.replace(inside.group(0), "", 1) if inside else table.data
    title = escape(caption) if inside is None or caption else inside.group(1)
    return HTML(f'<details><summary class="table-caption"><strong>{title}</strong></summary>{body}</details>')


def as_data(content: Any) -> str:
    """Return content as JSON in an HTML element, for a script of the page.

    Raises
    ------
    ValueError
        If it has NaN or an infinite number, which JSON in a browser does not allow.
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    # Either of the two would change where the element ends.
    text = text.replace("</", "<\\/").replace("<!--", "\\u003c!--")
    return f'<script type="application/json">{text}</script>'


def search_table(heads: Sequence[str], rows: Sequence[Sequence[str]], example: str) -> HTML:
    """Return a table of HTML cells with a search field: the page shows the rows that contain the typed words.
    ``example`` is the hint in the empty field."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    return HTML(
        '<div class="search-table"><label>Show rows containing '
        f'<input type="search" placeholder="{escape(example)}"></label> <span role="status"></span>'
        f'<div class="radeval-table"><table class="radeval"><thead><tr>{head}</tr></thead>'
        f"<tbody></tbody></table></div>{as_data(rows)}<noscript>This table needs JavaScript.</noscript></div>"
    )
