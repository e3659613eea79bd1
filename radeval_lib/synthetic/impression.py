"""Derives the impression from what the findings say."""

from __future__ import annotations

from dataclasses import replace

from radeval_lib.lexicon.entries import Lexicon
from radeval_lib.synthetic.records import Normal, Plan, PlannedFinding, Remark, Statement

_MOST = 4
#: The uid of a statement of the impression that repeats no statement of the findings.
CONCLUSION, ADVICE = -1, -2


def impression_plan(lexicon: Lexicon, plan: Plan, region: str, wording: int) -> Plan:
    """Major findings first, at most four; then what there is not, or a recommendation.

    A finding keeps what it is and where, its severity, change and diagnosis; size and appearance stay in the
    findings. Without a major finding, the region's conclusion says so.
    """
    statements = [s for s in plan if isinstance(s.content, PlannedFinding)]
    major = [s for s in statements if _is_major(lexicon, s)]
    minor = [s for s in statements if not _is_major(lexicon, s) and not _device(lexicon, s)]
    turned = [s for s in plan if isinstance(s.content, Normal) and s.content.opposite]
    chosen: list[Statement] = [replace(s, joined=False) for s in turned[:2]]
    for index, statement in enumerate(major[:_MOST]):
        chosen.append(_brief(statement, index))
    if not major and not turned:
        kind = "acute" if statements else "clear"
        chosen.append(Statement(CONCLUSION, Remark(f"{region}.{kind}"), wording))
        if minor and wording & 1:
            chosen.append(_brief(minor[0], 0))
    advice = [key for s in major for key in lexicon.concepts[_concept(s)].advice]
    if advice and wording & 6 == 0:
        chosen.append(Statement(ADVICE, Remark(advice[(wording >> 3) % len(advice)]), wording))
    return tuple(chosen)


def _concept(statement: Statement) -> str:
    assert isinstance(statement.content, PlannedFinding)
    return statement.content.concept


def _device(lexicon: Lexicon, statement: Statement) -> bool:
    return lexicon.concepts[_concept(statement)].device


def _is_major(lexicon: Lexicon, statement: Statement) -> bool:
    concept = lexicon.concepts[_concept(statement)]
    return concept.major and not concept.device


def _brief(statement: Statement, index: int) -> Statement:
    """The finding as the impression says it, worded anew."""
    assert isinstance(statement.content, PlannedFinding)
    content = replace(statement.content, looks=(), size_mm=None)
    mask = (1 << 96) - 1
    wording = (statement.wording * 0x9E3779B97F4A7C15 + index) & mask
    return Statement(statement.uid, content, wording)
