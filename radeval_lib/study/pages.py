"""Parts of the pages that show every exhibit at once: the tile figure, index, audit and findings."""

from __future__ import annotations

from html import escape

import pandas as pd
from IPython.display import HTML

from radeval_lib.study.display import CAUSE_WORDS, MARKS, unbroken, verdict_badge
from radeval_lib.study.exhibits import PAPERS
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


def index_table(card: pd.DataFrame, paper: str) -> HTML:
    """One paper's exhibits, each on its own row with its status at every level, linked to its place."""
    rows = card[card["paper"] == paper]
    frame = pd.DataFrame(
        {
            "exhibit": [link(r.notebook, r.anchor, r.label) for r in rows.itertuples()],
            "kind": rows["kind"],
            "what it shows": rows["title"],
            "status": [verdict_badge(status) for status in rows["status"]],
            "evidence": [
                "<br>".join(f"{level}: {getattr(r, level)}" for level in EVIDENCE if getattr(r, level))
                for r in rows.itertuples()
            ],
            "checks": [
                f"{r.checks - r.differing} of {r.checks} agree" if r.checks else "" for r in rows.itertuples()
            ],
            "what is missing, or needed": [
                r.remaining or (r.needs if not r.evidence else "") for r in rows.itertuples()
            ],
        }
    )
    return HTML(
        table_html(
            frame, f"{paper}: {len(frame)} exhibits", index=False, raw=("exhibit", "status", "evidence")
        )
    )


def audit_table(checks: pd.DataFrame, caption: str) -> HTML:
    """Checks on rows of their own: what was printed, what follows, the verdict, and why where it differs."""
    why = [
        ""
        if row.agrees
        else f"{CAUSE_WORDS[row.cause]}: {row.explanation}"
        if row.cause
        else "cause not known"
        for row in checks.itertuples()
    ]
    frame = pd.DataFrame(
        {
            "exhibit": [link(r.notebook, r.anchor, r.label) for r in checks.itertuples()],
            "check": checks["check"],
            "evidence": checks["evidence"],
            "printed": checks["printed"].map(unbroken),
            "what follows": checks["follows"].map(unbroken),
            "verdict": ["✓ agrees" if agrees else "≠ differs" for agrees in checks["agrees"]],
            "why": why,
        }
    )
    if not any(why):
        frame = frame.drop(columns="why")
    return HTML(table_html(frame, caption, index=False, raw=("exhibit",)))


def findings(checks: pd.DataFrame, cause: str) -> HTML:
    """The differing checks that share a cause, one item an explanation, linked to the exhibit."""
    chosen = checks[~checks["agrees"] & (checks["cause"] == cause) & (checks["evidence"] != "synthetic")]
    items = []
    for (paper, label, why), group in chosen.groupby(["paper", "label", "explanation"], sort=False):
        first = group.iloc[0]
        example = f"{first['check']}: printed {first['printed']}, follows {first['follows']}"
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        place = link(first["notebook"], first["anchor"], f"{paper}, {label}")
        items.append(f"<li><strong>{place}.</strong> {escape(example)}{more}. {escape(why)}</li>")
    return HTML(f"<ul>{''.join(items)}</ul>" if items else "<p>None.</p>")


def totals_table(counts: pd.DataFrame) -> HTML:
    """Exhibits by paper and status."""
    return show(
        counts.rename_axis(index=None, columns=None), "Exhibits by paper and status (strongest evidence)"
    )
