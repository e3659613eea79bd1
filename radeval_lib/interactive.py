"""Interactive elements of a page: their contents are data, which book/_static/radeval.js shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from IPython.display import HTML


def as_data(content: Any) -> str:
    """Return content as an HTML element that a script of the page reads.

    Raises
    ------
    ValueError
        If it holds NaN or an infinite number, which JSON in a browser does not have.
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    text = text.replace("</", "<\\/").replace(
        "<!--", "\\u003c!--"
    )  # either would change where the element ends
    return f'<script type="application/json">{text}</script>'


def search_table(heads: Sequence[str], rows: Sequence[Sequence[str]], example: str) -> HTML:
    """Return a table with HTML rows as data. The page shows the rows that contain the typed words;
    ``example`` is such a word."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    return HTML(
        '<div class="search-table"><label>Rows with the words '
        f'<input type="search" placeholder="{escape(example)}"></label> <span role="status"></span>'
        f'<div class="radeval-table"><table class="radeval"><thead><tr>{head}</tr></thead>'
        f"<tbody></tbody></table></div>{as_data(rows)}<noscript>This table needs JavaScript.</noscript></div>"
    )


def pair_of_lists(content: Mapping[str, Any]) -> HTML:
    """Return two lists of entities with selectable types; the page computes their RaTEScore.

    ``content``: ``reference`` and ``candidate``, lists of (text, type); ``cosines``, one row per entity of
    the reference; ``types`` and their ``names``; ``weights`` and ``penalties``, by type and type.
    """
    return HTML(f'<div class="ra-pair" role="group" aria-label="A pair to edit">{as_data(content)}</div>')
