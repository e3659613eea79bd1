"""Findings of an audit: what makes a paper's checks fail, each once, ranked by what it changes, as pages show
it.

What a finding changes (a conclusion of the paper, a result that others rely on, a number, a wording) stands
with it in the paper's ``paper.yml``; that is a judgement, and the only one here.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd
from IPython.display import HTML

from radeval_lib.interactive import search_table
from radeval_lib.papers.exhibits import PAPERS
from radeval_lib.papers.printed_numbers import paper as described
from radeval_lib.study.exhibit_html import DISCREPANCY_WORDS, in_quotes
from radeval_lib.study.pages import link, muted
from radeval_lib.study.scorecards import failing
from radeval_lib.text_format import joined

CHANGES = {
    "conclusion": "a conclusion of the paper",
    "result": "a result",
    "number": "a number",
    "wording": "a wording",
}
"""What a finding can change, the most consequential first, and in words."""


@dataclass(frozen=True)
class PaperFinding:
    """One explanation of failing checks, wherever in a paper it strikes.

    Attributes
    ----------
    paper : its title.
    explanation, kind : in words, and the kind of discrepancy; both empty where nothing is known.
    changes : one of :data:`CHANGES`.
    checks : those rows of the audit.
    """

    paper: str
    explanation: str
    kind: str
    changes: str
    checks: pd.DataFrame


def _changes(paper: str, discrepancy: str) -> str:
    """What a known discrepancy changes; what nobody explained changes a number."""
    key = next(key for key, title in PAPERS.items() if title == paper)
    known = described(key).get("discrepancies") or {}
    return str(known[discrepancy]["changes"]) if discrepancy else "number"


def ranked_findings(checks: pd.DataFrame) -> list[PaperFinding]:
    """The findings of an audit, each once, the most consequential first."""
    found = []
    for (paper, _), rows in failing(checks).groupby(["paper", "reason"], sort=False):
        first = rows.iloc[0]
        changes = _changes(str(paper), first["discrepancy"])
        found.append(PaperFinding(str(paper), first["explanation"], first["kind"], changes, rows))

    def rank(finding: PaperFinding) -> tuple[int, bool, int]:
        return list(CHANGES).index(finding.changes), finding.kind != "paper", -len(finding.checks)

    return sorted(found, key=rank)


def _where(finding: PaperFinding) -> str:
    places = {
        r.exhibit: link(r.notebook, r.anchor, r.label.removeprefix("unnumbered, "))
        for r in finding.checks.itertuples()
    }
    return joined(list(places.values()))


def _instance(finding: PaperFinding) -> str:
    """The first check that a finding explains, and how many more there are."""
    first = next(finding.checks.itertuples())
    more = f" ({len(finding.checks) - 1} more like it)" if len(finding.checks) > 1 else ""
    printed = escape(in_quotes(first.printed, first.exhibit))
    return f"{escape(first.check)}: printed {printed}; found {escape(first.follows)}{more}"


def findings(checks: pd.DataFrame, changes: str) -> HTML:
    """The findings that change one of :data:`CHANGES`: the explanation, then the numbers.

    Parameters
    ----------
    checks : see :func:`radeval_lib.study.audit`.

    Raises
    ------
    ValueError
        If ``changes`` is none of them.
    """
    if changes not in CHANGES:
        raise ValueError(f"{changes!r} is none of {', '.join(CHANGES)}")
    items = [
        f"<li><strong>{escape(finding.paper)}, {_where(finding)}.</strong> {escape(finding.explanation)} "
        f'<div class="muted">{_instance(finding)}</div></li>'
        for finding in ranked_findings(checks)
        if finding.changes == changes
    ]
    return HTML(f'<ul class="findings">{"".join(items)}</ul>' if items else "<p>None in this build.</p>")


def findings_table(checks: pd.DataFrame) -> HTML:
    """Every finding, to search: where it is, its kind, what it changes, and the first of its numbers."""
    rows = [
        [
            f"{escape(finding.paper)}, {_where(finding)}",
            escape(finding.explanation) + muted(_instance(finding)),
            DISCREPANCY_WORDS[finding.kind],
            CHANGES[finding.changes] if finding.explanation else "",
        ]
        for finding in ranked_findings(checks)
    ]
    return search_table(["where", "what fails, and why", "kind", "changes"], rows, "a result")
