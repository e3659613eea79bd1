"""What pages show of a scorecard and an audit, as HTML: tiles, index, checks, claims, what was not checked.

``card`` is what :func:`radeval_lib.study.scorecard` returns, ``checks`` what :func:`radeval_lib.study.audit`
does.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

import pandas as pd
from IPython.display import HTML

from radeval_lib.interactive import search_table
from radeval_lib.papers.exhibits import PAPERS
from radeval_lib.study import verdicts
from radeval_lib.study.exhibit_html import marked, outcome_class, verdict_badge
from radeval_lib.tables import table_html
from radeval_lib.text_format import in_words, joined

_UP = "../"  # the pages that use these stand in notebooks/<folder>/
_NUMBERED = re.compile(r"(Table|Figure|Equation) \S+")


def _address(row: Any) -> str:
    """Return where an exhibit stands: its place on its page, of a printed table the table itself; or the page
    where this build did not rebuild it."""
    return f"{row.notebook}.html{f'#{row.place}' if row.place else ''}"


def _place(row: Any, up: str) -> str:
    label = str(row.label).removeprefix("unnumbered, ").removeprefix("unnumbered list, ")
    return f'<a href="{up}{_address(row)}">{escape(label)}</a>'


def not_checked(card: pd.DataFrame, notebook: str) -> str:
    """Return the exhibits of a page that this build did not rebuild, and what that would need; as HTML."""
    rows = card[(card["notebook"] == notebook) & (card["verdict"] == verdicts.NOT_CHECKED)]
    by_needs: dict[str, list[str]] = {}
    for row in rows.itertuples():
        by_needs.setdefault(escape(row.needs), []).append(_short(row.label, row.title))
    items = [f"{joined(names)} ({needs})" for needs, names in by_needs.items()]
    return f'<p class="muted">Not checked: {"; ".join(items)}.</p>' if items else ""


def _short(label: str, title: str) -> str:
    """Return what an exhibit is called in a list: its number, or the beginning of its title where it has
    none."""
    return escape(label if _NUMBERED.fullmatch(label) else re.split(r"[:;] | \(", title)[0])


def claims_table(card: pd.DataFrame, paper: str, up: str) -> str:
    """Return a paper's claims with their verdicts, each linked to its place, as an HTML table."""
    rows = list(card[(card["paper"] == paper) & (card["kind"] == "claim")].itertuples())
    frame = pd.DataFrame(
        {
            "claim": [f"{escape(str(row.title))} ({_place(row, up)})" for row in rows],
            "what came out": [
                verdict_badge(str(row.verdict), str(row.outcome), str(row.coverage), str(row.weight))
                for row in rows
            ],
        }
    )
    return table_html(
        frame, f"{paper}: its claims in this build", index=False, raw=("claim", "what came out")
    )


def link(notebook: str, anchor: str, words: str) -> str:
    """Return an HTML link from one notebook's page to an exhibit's place on another's."""
    return f'<a href="{_UP}{notebook}.html#{anchor}">{escape(words)}</a>'


def _tile(row: Any) -> str:
    evidence = f", {verdicts.RESTS_ON[row.evidence]}" if row.evidence else ""
    label = f"{row.label}: {row.title} ({row.verdict}{f', {row.coverage}' if row.coverage else ''}{evidence})"
    return (
        f'<li><a class="tile {outcome_class(row.outcome, row.weight)}" href="{_UP}{_address(row)}" '
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


def exhibit_entries(card: pd.DataFrame) -> list[dict[str, str]]:
    """Return every exhibit as search lists it: ``name`` by paper and number, ``title``, ``verdict`` with its
    coverage, and ``address`` below the book's first folder."""
    return [
        {
            "name": f"{row.paper}, {row.label}",
            "title": str(row.title),
            "verdict": f"{row.verdict}{f', {row.coverage}' if row.coverage else ''}",
            "address": f"notebooks/{_address(row)}",
        }
        for row in card.itertuples()
    ]


def muted(words: str) -> str:
    """Return words in HTML, in grey on a line of their own; nothing of none."""
    return f'<div class="muted">{words}</div>' if words else ""


def _verdict_cell(row: Any) -> str:
    levels = [f"{level}: {getattr(row, level)}" for level in verdicts.EVIDENCE if getattr(row, level)]
    if len(levels) == 1:  # which stands above
        levels = [verdicts.RESTS_ON[row.evidence]]
    fails = f"{row.failing} {'fails' if row.failing == 1 else 'fail'}" if row.failing else ""
    if row.failing > row.failures:
        fails += f" for {in_words(row.failures)} reason{'s' if row.failures > 1 else ''}"
    parts = [fails, f"{row.undetermined} inconclusive" if row.undetermined else ""]
    found = " and ".join(part for part in parts if part)
    counted = (
        f"{row.checks} {'check' if row.checks == 1 else 'checks'}{f', of which {found}' if found else ''}"
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
        [escape(r.paper), _place(r, _UP) + muted(r.kind), _what_cell(r), _verdict_cell(r)]
        for r in card.itertuples()
    ]
    return search_table(["paper", "exhibit", "what it shows", "verdict"], rows, "RaTEScore inconsistent")


def audit_table(checks: pd.DataFrame) -> HTML:
    """Return every check, to search: what is printed, what follows, and the outcome."""
    rows = [
        [
            escape(r.paper),
            link(r.notebook, r.anchor, r.label) + muted(f"[{r.exhibit}.{r.evidence}]"),
            escape(r.check if r.evidence == "printed" else f"{r.check} ({r.evidence})"),
            escape(r.printed),
            escape(r.follows),
            marked(r.outcome),
        ]
        for r in checks.itertuples()
    ]
    heads = ["paper", "exhibit", "check", "printed", "what follows", "outcome"]
    return search_table(heads, rows, "RaLEs fails")
