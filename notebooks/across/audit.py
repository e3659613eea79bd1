"""The errata: each reason why a paper's checks disagree, the gravest first, as tables and as letters to the
authors.

The weight of an error (a conclusion, a number, a slip) is a judgement; it is in the paper's ``paper.yml``.
``checks`` is the table that :func:`radeval_lib.study.audit` returns.
"""

from __future__ import annotations

from html import escape

import pandas as pd
from IPython.display import HTML

from radeval_lib.study.exhibit_html import in_quotes, mark_outcome
from radeval_lib.study.scorecards import disagreeing_checks, grey_line, link
from radeval_lib.tables import search_table
from radeval_lib.text_format import joined

CAUSES = {
    "conclusion": "error in a conclusion",
    "number": "error in a number",
    "slip": "error in a citation or a word",
    "": "not known",
    "rounding": "last digit",
    "convention": "open convention",
    "text": "noise in our copy",
}
"""Causes of disagreement, the gravest first: an error in a paper by its weight, all else by its kind."""


def count_reasons(checks: pd.DataFrame) -> pd.DataFrame:
    """Return how many reasons for disagreement there are, by key of :data:`CAUSES` and by paper. A reason
    counts once, however many checks disagree for it."""
    reasons = disagreeing_checks(checks).drop_duplicates(["paper", "reason"])
    return pd.crosstab(reasons["cause"], reasons["paper"]).reindex(list(CAUSES), fill_value=0)


def ranked_findings(checks: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the disagreeing checks of an audit grouped by reason, the gravest reason first."""
    reasons = [rows for _, rows in disagreeing_checks(checks).groupby(["paper", "reason"], sort=False)]
    order = list(CAUSES)
    return sorted(reasons, key=lambda rows: (order.index(rows["cause"].iloc[0]), -len(rows)))


def findings_table(checks: pd.DataFrame) -> HTML:
    """Return a table to search with one row per reason: its place, the first check that disagrees, the
    number of others, the cause, and the authors' reply."""
    table = []
    for rows in ranked_findings(checks):
        first = next(rows.itertuples())
        more = f" ({len(rows) - 1} more like it)" if len(rows) > 1 else ""
        printed = escape(in_quotes(first.printed, first.exhibit))
        instance = f"{escape(first.check)}: printed {printed}; we compute {escape(first.follows)}{more}"
        why = escape(first.explanation) + grey_line(instance)
        links = {
            row.exhibit: link(row.notebook, row.anchor, row.label.removeprefix("unnumbered, "))
            for row in rows.itertuples()
        }
        where = f"{escape(first.paper)}, {joined(list(links.values()))}"
        table.append([where, why, CAUSES[first.cause], first.reply])
    heads = ["where", "what disagrees, and why", "cause", "authors' reply"]
    return search_table(heads, table, "a result")


def letters(checks: pd.DataFrame) -> str:
    """Return a letter to the authors of each paper that lists what does not follow, the gravest first."""
    by_paper: dict[str, list[str]] = {}
    for first in (next(rows.itertuples()) for rows in ranked_findings(checks)):
        if first.kind == "paper":
            label = first.label.removeprefix("unnumbered, ")
            item = f"{label}: printed {in_quotes(first.printed, first.exhibit)}; we find {first.follows}. "
            by_paper.setdefault(str(first.paper), []).append(item + first.explanation)
    return "\n\n\n".join(
        f"Dear authors of {paper},\n\nWe checked the printed numbers of your paper against one another and "
        "against your repository. These do not agree:\n\n"
        + "\n".join(f"{n}. {item}" for n, item in enumerate(items, start=1))
        + "\n\nDid we misread any of these? We will print your reply next to each item.\n"
        for paper, items in by_paper.items()
    )


def audit_table(checks: pd.DataFrame) -> HTML:
    """Return a table to search with one row per check: what is printed, what follows, and the outcome."""
    rows = [
        [
            escape(r.paper),
            link(r.notebook, r.anchor, r.label) + grey_line(f"[{r.exhibit}.{r.evidence}]"),
            escape(r.check if r.evidence == "printed" else f"{r.check} ({r.evidence})"),
            escape(in_quotes(r.printed, r.exhibit)),
            escape(r.follows),
            mark_outcome(r.outcome),
        ]
        for r in checks.itertuples()
    ]
    heads = ["paper", "exhibit", "check", "printed", "what we compute", "outcome"]
    return search_table(heads, rows, "RaLEs fails")
