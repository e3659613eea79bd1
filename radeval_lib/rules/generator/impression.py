"""Derives the impression from what the findings say."""

from __future__ import annotations

from dataclasses import replace

from radeval_lib.rules.generator.records import Normal, Plan, PlannedFinding, Remark, Statement
from radeval_lib.rules.lexicon.entries import Lexicon

_MOST = 4  # findings of an impression
#: The uid of a statement of the impression that repeats no statement of the findings.
CONCLUSION, ADVICE = -1, -2


def impression_plan(lexicon: Lexicon, plan: Plan, region: str, wording: int) -> Plan:
    """Major findings first, at most four; then what there is not, or a recommendation.

    A finding keeps what it is and where, its severity, change and diagnosis; size and appearance stay in the
    findings. Without a major finding, the region's conclusion says so.
    """
    stated = [(s, s.content) for s in plan if isinstance(s.content, PlannedFinding)]
    concepts = lexicon.concepts
    patient = [(s, finding) for s, finding in stated if not concepts[finding.concept].device]
    major = [(s, finding) for s, finding in patient if concepts[finding.concept].major]
    minor = [(s, finding) for s, finding in patient if not concepts[finding.concept].major]
    turned = [s for s in plan if isinstance(s.content, Normal) and s.content.opposite]
    chosen: list[Statement] = [replace(s, joined=False) for s in turned[:2]]
    chosen += [_brief(s, finding, index) for index, (s, finding) in enumerate(major[:_MOST])]
    if not major and not turned:
        kind = "acute" if stated else "clear"
        chosen.append(Statement(CONCLUSION, Remark(f"{region}.{kind}"), wording))
        if minor and wording & 1:
            chosen.append(_brief(*minor[0], 0))
    advice = [key for _, finding in major for key in concepts[finding.concept].advice]
    if advice and wording & 6 == 0:
        chosen.append(Statement(ADVICE, Remark(advice[(wording >> 3) % len(advice)]), wording))
    return tuple(chosen)


def _brief(statement: Statement, finding: PlannedFinding, index: int) -> Statement:
    """The finding as the impression says it, reworded."""
    wording = (statement.wording * 0x9E3779B97F4A7C15 + index) & ((1 << 96) - 1)
    return Statement(statement.uid, replace(finding, looks=(), size_mm=None), wording)
