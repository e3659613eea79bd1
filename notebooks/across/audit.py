"""The errata: what makes a paper's checks fail, each reason once, the gravest first, as tables and as letters
to the authors.

How much a reason weighs (a conclusion, a number, a slip) is with it in the paper's ``paper.yml``; that is a
judgement, and the only one here. ``checks`` is what :func:`radeval_lib.study.audit` returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd
from IPython.display import HTML

from radeval_lib.interactive import search_table
from radeval_lib.study.exhibit_html import DISCREPANCY_WORDS, in_quotes, marked
from radeval_lib.study.results import WEIGHTS, Discrepancy
from radeval_lib.study.scorecards import failing, link, muted
from radeval_lib.text_format import joined

WEIGHT_WORDS = {
    "conclusion": "a conclusion of the paper",
    "number": "a number",
    "slip": "a citation or a word",
}


@dataclass(frozen=True)
class PaperFinding:
    """One explanation of failing checks, wherever in a paper it strikes.

    Attributes
    ----------
    paper : its title.
    known : the discrepancy; of empty kind and explanation if nothing is known.
    checks : those rows of the audit.
    """

    paper: str
    known: Discrepancy
    checks: pd.DataFrame


def ranked_findings(checks: pd.DataFrame) -> list[PaperFinding]:
    """Return the findings of an audit, each once, the gravest first."""
    reasons = [
        PaperFinding(str(paper), Discrepancy(*rows.iloc[0][["kind", "explanation", "weight", "reply"]]), rows)
        for (paper, _), rows in failing(checks).groupby(["paper", "reason"], sort=False)
    ]

    def rank(finding: PaperFinding) -> tuple[int, bool, int]:
        return WEIGHTS.index(finding.known.weight), finding.known.kind != "paper", -len(finding.checks)

    return sorted(reasons, key=rank)


def _where(finding: PaperFinding) -> str:
    places = {
        r.exhibit: link(r.notebook, r.anchor, r.label.removeprefix("unnumbered, "))
        for r in finding.checks.itertuples()
    }
    return joined(list(places.values()))


def _instance(finding: PaperFinding) -> str:
    """Return the first check that a finding explains, and how many more there are."""
    first = next(finding.checks.itertuples())
    more = f" ({len(finding.checks) - 1} more like it)" if len(finding.checks) > 1 else ""
    printed = escape(in_quotes(first.printed, first.exhibit))
    return f"{escape(first.check)}: printed {printed}; found {escape(first.follows)}{more}"


def findings(checks: pd.DataFrame, weight: str, most: int | None = None) -> HTML:
    """Return the findings of one of :data:`~radeval_lib.study.results.WEIGHTS`, those that explain the most
    checks first: where it is and what does not follow.

    ``checks``: see :func:`radeval_lib.study.audit`. ``most``: how many are shown; default: all. A KeyError of
    another weight.
    """
    WEIGHT_WORDS[weight]
    items = [
        f"<li><strong>{escape(finding.paper)}, {_where(finding)}.</strong> "
        f"{escape(finding.known.explanation)}</li>"
        for finding in ranked_findings(checks)
        if finding.known.weight == weight
    ]
    return HTML(
        f'<ul class="findings">{"".join(items[:most])}</ul>' if items else "<p>None in this build.</p>"
    )


def findings_table(checks: pd.DataFrame) -> HTML:
    """Return every finding, to search: where it is, its kind and weight, the first of its numbers, the
    reply."""
    rows = [
        [
            f"{escape(finding.paper)}, {_where(finding)}",
            escape(finding.known.explanation) + muted(_instance(finding)),
            DISCREPANCY_WORDS[finding.known.kind],
            WEIGHT_WORDS[finding.known.weight] if finding.known.explanation else "",
            finding.known.reply,
        ]
        for finding in ranked_findings(checks)
    ]
    heads = ["where", "what fails, and why", "kind", "weighs on", "authors' reply"]
    return search_table(heads, rows, "a result")


def letters(checks: pd.DataFrame) -> str:
    """Return a letter to the authors of each paper: what does not follow, the gravest first."""
    by_paper: dict[str, list[str]] = {}
    for finding in ranked_findings(checks):
        if finding.known.kind == "paper":
            first = next(finding.checks.itertuples())
            label = first.label.removeprefix("unnumbered, ")
            item = f"{label}: printed {in_quotes(first.printed, first.exhibit)}; we find {first.follows}. "
            item += finding.known.explanation
            by_paper.setdefault(finding.paper, []).append(item)
    return "\n\n\n".join(
        f"Dear authors of {paper},\n\nchecking the printed numbers of your paper against one another and "
        "against your repository, we found what does not follow:\n\n"
        + "\n".join(f"{n}. {item}" for n, item in enumerate(items, start=1))
        + "\n\nDo we misread any of these? We print your reply beside each.\n"
        for paper, items in by_paper.items()
    )


def audit_table(checks: pd.DataFrame) -> HTML:
    """Return every check, to search: what is printed, what follows, and the outcome."""
    rows = [
        [
            escape(r.paper),
            link(r.notebook, r.anchor, r.label) + muted(f"[{r.exhibit}.{r.evidence}]"),
            escape(r.check if r.evidence == "printed" else f"{r.check} ({r.evidence})"),
            escape(in_quotes(r.printed, r.exhibit)),
            escape(r.follows),
            marked(r.outcome),
        ]
        for r in checks.itertuples()
    ]
    heads = ["paper", "exhibit", "check", "printed", "what follows", "outcome"]
    return search_table(heads, rows, "RaLEs fails")
