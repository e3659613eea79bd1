"""Rewrites: the same meaning in other words, another order or another style; and the opposite meaning.

The first three are the synonymous version, the last the opposite version of RaTE-Eval's third task (Zhao et
al. 2024, section 3 and appendix A.5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from radeval_lib.errors import check_choice
from radeval_lib.rules.generator.generator import rerender, seeded
from radeval_lib.rules.generator.records import (
    STYLES,
    Denial,
    Normal,
    PlannedFinding,
    Statement,
    SyntheticError,
    SyntheticReport,
)

RewriteKind = Literal["synonym", "order", "style"]
_TRIES = 25  # wordings or orders that are drawn before a report counts as having no other


@dataclass(frozen=True, slots=True)
class RewrittenReport:
    """A report, one that says the same, and one that says the opposite."""

    original: SyntheticReport
    synonymous: SyntheticReport
    opposite: SyntheticReport


def rewrite(report: SyntheticReport, kind: RewriteKind = "synonym", seed: int = 0) -> SyntheticReport:
    """A report that means the same and reads differently.

    "synonym" rewords every statement, "order" puts the sentences in another order, "style" says the same
    in the other style.

    Raises
    ------
    SyntheticError
        If the kind is unknown, or the report can be said in one way only.
    """
    check_choice(kind, RewriteKind, "kind of rewrite", SyntheticError)
    other = next(style for style in STYLES if style != report.style)
    for attempt in range(_TRIES):
        rng = seeded(seed, report.report_id, kind, attempt)
        if kind == "order":
            rewritten = _reordered(report, rng)
        else:
            plan = tuple(replace(statement, wording=rng.getrandbits(96)) for statement in report.plan)
            rewritten = rerender(report, plan, style=other if kind == "style" else None)
        if rewritten.findings.text != report.findings.text:
            return rewritten
    raise SyntheticError(
        f"report {report.report_id} has no other {kind}", "rewrite", "Use another kind or report."
    )


def _reordered(report: SyntheticReport, rng: Random) -> SyntheticReport:
    """The report with its sentences in a drawn order; statements that are joined stay together."""
    groups: list[list[Statement]] = []
    for statement in report.plan:
        if statement.joined and groups:
            groups[-1].append(statement)
        else:
            groups.append([statement])
    groups.sort(key=lambda _: rng.random())
    return rerender(report, tuple(statement for group in groups for statement in group))


def opposite(report: SyntheticReport, seed: int = 0) -> SyntheticReport:
    """The report with every statement negated: what is there is denied, what is denied is there.

    Normal statements are negated ("the lungs are not clear"); remarks stay. Statements are no longer joined
    into one sentence. A denied finding loses its side, place, severity, size, change, hedging and suggestion,
    and a finding that was denied gets none.
    """
    rng = seeded(seed, report.report_id, "opposite")
    plan: list[Statement] = []
    uid = max((statement.uid for statement in report.plan), default=-1) + 1
    for statement in report.plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            plan.append(replace(statement, content=Denial((content.concept,)), joined=False))
        elif isinstance(content, Normal):
            plan.append(
                replace(statement, content=replace(content, opposite=not content.opposite), joined=False)
            )
        elif isinstance(content, Denial):
            for index, concept in enumerate(content.concepts):
                wording = rng.getrandbits(96)
                plan.append(Statement(uid if index else statement.uid, PlannedFinding(concept), wording))
                uid += bool(index)
        else:
            plan.append(statement)
    return rerender(report, tuple(plan))


def triad(report: SyntheticReport, seed: int = 0) -> RewrittenReport:
    """The report with its synonymous and its opposite version."""
    return RewrittenReport(report, rewrite(report, "synonym", seed), opposite(report, seed))
