"""Every exhibit, as tiles and as a table to search. ``card`` is what :func:`radeval_lib.study.scorecard`
returns."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd
from IPython.display import HTML

from radeval_lib.interactive import search_table
from radeval_lib.papers.exhibits import PAPERS
from radeval_lib.study import verdicts
from radeval_lib.study.exhibit_html import outcome_class, verdict_badge
from radeval_lib.study.scorecards import UP, address_of, link_to, muted
from radeval_lib.text_format import in_words


def _tile(row: Any) -> str:
    evidence = f", {verdicts.RESTS_ON[row.evidence]}" if row.evidence else ""
    label = f"{row.label}: {row.title} ({row.verdict}{f', {row.coverage}' if row.coverage else ''}{evidence})"
    return (
        f'<li><a class="tile {outcome_class(row.outcome, row.weight)}" href="{UP}{address_of(row)}" '
        f'title="{escape(label)}" aria-label="{escape(row.paper)}, {escape(label)}">'
        f"{verdicts.MARKS[row.outcome]}</a></li>"
    )


def tiles(card: pd.DataFrame) -> HTML:
    """Return the whole study as one figure: a tile an exhibit, by paper and verdict, each a link to its
    place.

    The verdict stands in words before its tiles, so that no legend is needed.
    """
    rows = []
    for paper in PAPERS.values():
        groups = card[card["paper"] == paper].groupby("verdict")
        shown = "".join(
            f'<div class="tile-group"><span>{verdict}, {len(chosen)}</span>'
            f"<ul>{''.join(map(_tile, chosen.itertuples()))}</ul></div>"
            for verdict, chosen in sorted(groups, key=lambda group: verdicts.VERDICTS.index(group[0]))
        )
        rows.append(f'<div class="tile-row"><span>{escape(paper)}</span><div>{shown}</div></div>')
    label = "Every exhibit by paper and verdict"
    skip = f'<a class="skip-link" href="#after-tiles">Skip the {len(card)} tiles</a>'
    figure = f'<figure class="tiles" role="group" aria-label="{label}">{"".join(rows)}</figure>'
    return HTML(f'{skip}{figure}<div id="after-tiles" tabindex="-1"></div>')


def _verdict_cell(row: Any) -> str:
    levels = [f"{level}: {getattr(row, level)}" for level in verdicts.EVIDENCE if getattr(row, level)]
    if len(levels) == 1:  # which stands above
        levels = [verdicts.RESTS_ON[row.evidence]]
    fails = f"{row.failing} {'fails' if row.failing == 1 else 'fail'}" if row.failing else ""
    if row.failing > row.failures:
        fails += f" for {in_words(row.failures)} reason{'s' if row.failures > 1 else ''}"
    parts = [fails, f"{row.undetermined} inconclusive" if row.undetermined else ""]
    words = " and ".join(part for part in parts if part)
    counted = (
        f"{row.checks} {'check' if row.checks == 1 else 'checks'}{f', of which {words}' if words else ''}"
    )
    return verdict_badge(row.verdict, row.outcome, row.coverage, row.weight) + muted(
        "<br>".join([*levels, counted if row.checks else ""])
    )


def _what_cell(row: Any) -> str:
    return escape(row.title) + muted("" if row.evidence else f"Not checked: {escape(row.needs)}")


def index_table(card: pd.DataFrame) -> HTML:
    """Return every exhibit, to search: what it shows, and its verdict on each evidence, linked to its
    place."""
    rows = [
        [escape(r.paper), link_to(r, UP) + muted(r.kind), _what_cell(r), _verdict_cell(r)]
        for r in card.itertuples()
    ]
    return search_table(["paper", "exhibit", "what it shows", "verdict"], rows, "RaTEScore inconsistent")
