"""Parts of the pages that show every exhibit at once: the tile figure, index, audit and findings."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd
from IPython.display import HTML

from radeval_lib.papers.exhibits import PAPERS
from radeval_lib.study.display import MARKS, unbroken, verdict_badge
from radeval_lib.study.recording import EVIDENCE
from radeval_lib.study.scorecards import STATUSES
from radeval_lib.tables import show, table_html

_UP = "../"  # the pages that use these stand in notebooks/<folder>/


def link(notebook: str, anchor: str, words: str) -> str:
    """An HTML link from one notebook's page to an exhibit's place on another's."""
    return f'<a href="{_UP}{notebook}.html#{anchor}">{escape(words)}</a>'


def legend() -> HTML:
    """The statuses with their marks."""
    return HTML("<p>" + " ".join(verdict_badge(status) for status in STATUSES) + "</p>")


def tiles(card: pd.DataFrame) -> HTML:
    """The whole study as one figure: a tile an exhibit, by paper, each a link to its place in the book."""
    groups = []
    for paper in PAPERS.values():
        items = []
        for row in card[card["paper"] == paper].itertuples():
            told = f"{row.label}: {row.title} ({row.status}{', ' + row.evidence if row.evidence else ''})"
            items.append(
                f'<li><a class="tile {row.status.replace(" ", "-")}" '
                f'href="{_UP}{row.notebook}.html#{row.anchor}" title="{escape(told)}" '
                f'aria-label="{escape(paper)}, {escape(told)}">{MARKS[row.status]}</a></li>'
            )
        groups.append(f'<div class="tile-row"><span>{escape(paper)}</span><ul>{"".join(items)}</ul></div>')
    return HTML(
        f'<figure class="tiles" role="group" aria-label="Every exhibit by paper">{"".join(groups)}</figure>'
    )


def by_evidence(card: pd.DataFrame) -> pd.DataFrame:
    """Exhibits by paper and evidence (rows) and status there (columns); levels with none are left out."""
    long = card.melt(
        id_vars=["paper"], value_vars=list(EVIDENCE), var_name="evidence", value_name="status_there"
    )
    counted = long[long["status_there"] != ""].groupby(["paper", "evidence", "status_there"]).size()
    frame = counted.unstack(fill_value=0).reindex(columns=list(STATUSES[:-1]), fill_value=0)
    order = pd.MultiIndex.from_product([PAPERS.values(), EVIDENCE], names=["paper", "evidence"])
    return frame.reindex(order).dropna(how="all").astype(int).rename_axis(columns=None)


def _muted(words: str) -> str:
    return f'<div class="muted">{words}</div>' if words else ""


def _status_cell(row: Any) -> str:
    levels = [f"{level}: {getattr(row, level)}" for level in EVIDENCE if getattr(row, level)]
    counted = f"{row.checks - row.differing} of {row.checks} checks agree" if row.checks else ""
    return verdict_badge(row.status) + _muted("<br>".join([*levels, counted]))


def _what_cell(row: Any) -> str:
    if row.evidence:
        rest = f"Not rebuilt: {escape(row.remaining)}" if row.remaining else ""
    else:
        rest = f"Would need: {escape(row.needs)}"
    return escape(row.title) + _muted(rest)


def index_table(card: pd.DataFrame, paper: str) -> HTML:
    """One paper's exhibits, each on its own row with its status at every level, linked to its place."""
    rows = list(card[card["paper"] == paper].itertuples())
    frame = pd.DataFrame(
        {
            "exhibit": [link(r.notebook, r.anchor, r.label) + _muted(r.kind) for r in rows],
            "what it shows": [_what_cell(r) for r in rows],
            "status": [_status_cell(r) for r in rows],
        }
    )
    return HTML(table_html(frame, f"{paper}: {len(frame)} exhibits", index=False, raw=tuple(frame.columns)))


def audit_table(checks: pd.DataFrame, caption: str) -> HTML:
    """Checks on rows of their own: what was printed, what follows, and whether they agree."""
    frame = pd.DataFrame(
        {
            "exhibit": [link(r.notebook, r.anchor, r.label) for r in checks.itertuples()],
            "check": [
                r.check + ("" if r.evidence == "print" else f" ({r.evidence})") for r in checks.itertuples()
            ],
            "printed": checks["printed"].map(unbroken),
            "what follows": checks["follows"].map(unbroken),
            "verdict": ["✓\u00a0agrees" if agrees else "≠\u00a0differs" for agrees in checks["agrees"]],
        }
    )
    return HTML(table_html(frame, caption, index=False, raw=("exhibit",)))


def _finding(group: pd.DataFrame) -> str:
    """One explanation with its exhibit and the checks that it explains, all but the first folded."""
    told = [
        f"{escape(r.check)}: printed {escape(r.printed)}, follows {escape(r.follows)}"
        for r in group.itertuples()
    ]
    first = group.iloc[0]
    place = link(first["notebook"], first["anchor"], str(first["label"]).removeprefix("unnumbered, "))
    rest = "<br>".join(told[1:])
    more = f"<details><summary>{len(told) - 1} more like it</summary>{rest}</details>" if rest else ""
    why = escape(first["explanation"]) or "Cause not known."
    return f'<li><strong>{place}.</strong> {why}<div class="muted">{told[0]}{more}</div></li>'


def findings(checks: pd.DataFrame, cause: str, *, folded: bool = False) -> HTML:
    """The differing checks that share a cause, by paper: the explanation, then the numbers.

    Parameters
    ----------
    checks : see :func:`radeval_lib.study.audit`.
    cause : one of the causes, or empty for those without a known one.
    folded : whether each paper's list opens on a click.
    """
    chosen = checks[~checks["agrees"] & (checks["cause"] == cause) & ~checks["shape"]]
    blocks = []
    for paper, rows in chosen.groupby("paper", sort=False):
        items = [_finding(group) for _, group in rows.groupby(["exhibit", "explanation"], sort=False)]
        listed = f'<ul class="findings">{"".join(items)}</ul>'
        title = f"{escape(str(paper))}: {len(items)} {'finding' if len(items) == 1 else 'findings'}"
        blocks.append(
            f"<details><summary><strong>{title}</strong></summary>{listed}</details>"
            if folded
            else f"<p><strong>{title}</strong></p>{listed}"
        )
    return HTML("".join(blocks) or "<p>None in this build.</p>")


def totals_table(counts: pd.DataFrame) -> HTML:
    """Exhibits by paper and status."""
    return show(
        counts.rename_axis(index=None, columns=None), "Exhibits by paper and status (strongest evidence)"
    )
