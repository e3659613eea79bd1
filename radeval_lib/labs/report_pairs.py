"""Pairs of short chest reports with three kinds of errors, so that rules written in an hour can name them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import TypedDict

from radeval_lib.rules.generator import (
    Denial,
    Normal,
    PlannedFinding,
    Statement,
    SyntheticReport,
    generate,
    rewrite,
)
from radeval_lib.rules.generator.generator import rerender, seeded
from radeval_lib.rules.generator.records import Plan, Side
from radeval_lib.rules.lexicon.loading import load_lexicon

WORDS: dict[str, tuple[str, ...]] = {
    "atelectasis": ("atelectasis", "atelectatic change", "atelectatic changes"),
    "consolidation": ("consolidation", "consolidations"),
    "edema": ("edema",),
    "nodule": ("nodule", "nodules", "nodular density", "nodular densities"),
    "pleural_effusion": ("effusion", "effusions", "pleural fluid"),
    "pneumonia": ("pneumonia",),
    "pneumothorax": ("pneumothorax", "pneumothoraces", "PTX", "PTXs"),
}
"""Seven observations, and the words by which the reports of :func:`pairs` call them."""

_POOL = 500  # reports whose findings the pairs are put together from
_SWAPPED: dict[str | None, Side] = {"left": "right", "right": "left"}


class Pair(TypedDict):
    """Two findings sections, and the candidate's errors: [letter, observation], sorted.

    The letters are GREEN's: a, a false finding; b, a missing one; c, the wrong side.
    """

    reference: str
    candidate: str
    errors: list[list[str]]


@cache
def _pool() -> tuple[tuple[SyntheticReport, ...], tuple[PlannedFinding, ...]]:
    """Reports, and what they state of one of the seven observations."""
    drawn = tuple(generate(_POOL, 0, style="hospital", modality_anatomy=("X-Ray", "CHEST"), min_findings=1))
    findings = [
        replace(planned.content, certainty="present", suggests=None)
        for report in drawn
        for planned in report.plan
        if isinstance(planned.content, PlannedFinding) and planned.content.concept in WORDS
    ]
    return drawn, tuple(findings)


def pairs(n: int, seed: int) -> list[Pair]:
    """``n`` pairs; a candidate has its own words, and from none to four errors. Pair i depends on ``seed``
    and i alone."""
    return [_pair(seeded(seed, number, "report pair")) for number in range(n)]


def _pair(rng: Random) -> Pair:
    """A pair: what a candidate says of findings is right, left out, on the other side, or invented."""
    reports, findings = _pool()
    base = rng.choice(reports)
    order = sorted(WORDS, key=lambda _: rng.random())
    stated, denied = order[: rng.choice((1, 2, 2, 3))], order[3:5]
    false = [rng.choice(order[4:6])] if rng.random() < 0.4 else []  # what is denied, or not mentioned

    def statement(uid: int, observation: str) -> Statement:
        chosen = rng.choice([one for one in findings if one.concept == observation])
        return Statement(uid, chosen, rng.getrandbits(96))

    def denial(uid: int, observations: list[str]) -> list[Statement]:
        return [Statement(uid, Denial(tuple(observations)), rng.getrandbits(96))] if observations else []

    own = [statement(uid, one) for uid, one in enumerate(stated)]
    normal = _normal(base, {*stated, *false})
    errors: list[list[str]] = []
    changed: list[Statement] = []
    for one in own:
        finding = one.content
        assert isinstance(finding, PlannedFinding)
        turn = rng.random()
        if turn < 0.2:
            errors.append(["b", finding.concept])
        elif turn < 0.5 and finding.side in _SWAPPED:
            errors.append(["c", finding.concept])
            changed.append(replace(one, content=replace(finding, side=_SWAPPED[finding.side])))
        else:
            changed.append(one)
    errors += [["a", one] for one in false]
    changed += [statement(10 + place, one) for place, one in enumerate(false)]
    left = [one for one in denied if one not in false and rng.random() < 0.6]
    left = left or ([] if changed or normal else denied)
    reference = _report(base, [*normal, *own, *denial(20, denied)], rng)
    candidate = rewrite(_report(base, [*normal, *changed, *denial(20, left)], rng), seed=rng.getrandbits(30))
    return {
        "reference": reference.findings.text,
        "candidate": candidate.findings.text,
        "errors": sorted(errors),
    }


def _normal(base: SyntheticReport, observations: set[str]) -> list[Statement]:
    """A report's first statement of normality that none of the observations contradicts."""
    known = load_lexicon().normals
    fitting = [
        replace(one, joined=False)
        for one in base.plan
        if isinstance(one.content, Normal) and not known[one.content.key].excludes & observations
    ]
    return fitting[:1]


def _report(base: SyntheticReport, statements: list[Statement], rng: Random) -> SyntheticReport:
    """A report with these statements, in an order drawn at random."""
    plan: Plan = tuple(sorted(statements, key=lambda _: rng.random()))
    return rerender(base, plan)
