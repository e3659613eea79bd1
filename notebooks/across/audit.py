"""The errata: each reason why a paper's checks fail, the gravest first, as tables and as letters to the
authors.

The weight of a reason (a conclusion, a number, a slip) is a judgement; it is in the paper's ``paper.yml``.
``checks`` is the table that :func:`radeval_lib.study.audit` returns.
"""

from __future__ import annotations

from html import escape

import pandas as pd
from IPython.display import HTML

from radeval_lib.study.exhibit_html import DISCREPANCY_WORDS, in_quotes, mark_outcome
from radeval_lib.study.results import WEIGHTS
from radeval_lib.study.scorecards import failing_checks, grey_line, link
from radeval_lib.tables import search_table
from radeval_lib.text_format import joined

WEIGHT_WORDS = {
    "conclusion": "a conclusion of the paper",
    "number": "a number",
    "slip": "a citation or a word",
}


def ranked_findings(checks: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the failing checks of an audit grouped by reason, the gravest reason first."""
    reasons = [rows for _, rows in failing_checks(checks).groupby(["paper", "reason"], sort=False)]

    def rank(rows: pd.DataFrame) -> tuple[int, bool, int]:
        reason = rows.iloc[0]
        return WEIGHTS.index(reason["weight"]), reason["kind"] != "paper", -len(rows)

    return sorted(reasons, key=rank)


def _where(rows: pd.DataFrame) -> str:
    """Return the paper and the linked exhibits of the checks that share a reason."""
    places = {
        r.exhibit: link(r.notebook, r.anchor, r.label.removeprefix("unnumbered, ")) for r in rows.itertuples()
    }
    return f"{escape(rows['paper'].iloc[0])}, {joined(list(places.values()))}"


def findings_table(checks: pd.DataFrame) -> HTML:
    """Return a table to search with one row per reason: its place, the first failing check and the number of
    others, its kind and weight, and the authors' reply."""
    table = []
    for rows in ranked_findings(checks):
        first = next(rows.itertuples())
        more = f" ({len(rows) - 1} more like it)" if len(rows) > 1 else ""
        printed = escape(in_quotes(first.printed, first.exhibit))
        instance = f"{escape(first.check)}: printed {printed}; found {escape(first.follows)}{more}"
        table.append(
            [
                _where(rows),
                escape(first.explanation) + grey_line(instance),
                DISCREPANCY_WORDS[first.kind],
                WEIGHT_WORDS[first.weight] if first.explanation else "",
                first.reply,
            ]
        )
    heads = ["where", "what fails, and why", "kind", "what it affects", "authors' reply"]
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
    heads = ["paper", "exhibit", "check", "printed", "what follows", "outcome"]
    return search_table(heads, rows, "RaLEs fails")
