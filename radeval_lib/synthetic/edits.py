"""Edits of a plan: a finding moved, regraded, compared otherwise, left out or made up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from random import Random

from radeval_lib.lexicon.entries import Concept, Exam, Lexicon
from radeval_lib.synthetic.content import (
    allowed_changes,
    choose,
    contradicts,
    draw_finding,
    draw_size,
    menu,
    sides,
)
from radeval_lib.synthetic.difference import (
    SIZE_RATIO,
    degree_significant,
    denied,
    location_significant,
    stated,
)
from radeval_lib.synthetic.generator import exam_of
from radeval_lib.synthetic.records import Denial, Normal, Plan, PlannedFinding, Statement, SyntheticReport


def _moved(
    rng: Random, lexicon: Lexicon, exam: Exam, finding: PlannedFinding, significant: bool
) -> PlannedFinding | None:
    """The finding somewhere else."""
    concept = lexicon.concepts[finding.concept]
    options: list[PlannedFinding] = []
    if finding.side:
        known = sides(lexicon, concept, finding.place)
        options += [
            replace(finding, side=side) for side in known if side != finding.side and side != "bilateral"
        ]
    if finding.place:
        for key in lexicon.places_of(concept, exam):
            place = lexicon.places[key]
            if key == finding.place or finding.side not in place.nouns:
                continue
            size = finding.size_mm
            if place.distance or lexicon.places[finding.place].distance:
                size = draw_size(rng, *place.distance, two=False) if place.distance else None
            options.append(replace(finding, place=key, size_mm=size))
    return _one_of(
        rng, concept, significant, options, lambda new: location_significant(lexicon, finding, new)
    )


def _regraded(
    rng: Random, finding: PlannedFinding, concept: Concept, significant: bool
) -> PlannedFinding | None:
    """The finding in another severity or size."""
    options: list[PlannedFinding] = []
    if finding.severity is not None:
        low, high = concept.steps
        options = [replace(finding, severity=s) for s in range(low, high + 1) if s != finding.severity]
    elif finding.size_mm and not concept.device:
        wide = significant and concept.major
        for _ in range(8):
            ratio = SIZE_RATIO * (1.05 + 0.6 * rng.random()) if wide else 1.08 + 0.25 * rng.random()
            ratio = ratio if rng.random() < 0.5 else 1 / ratio
            size = tuple(max(2, round(mm * ratio)) for mm in finding.size_mm)
            if size[0] != finding.size_mm[0]:
                options.append(replace(finding, size_mm=size))
    return _one_of(rng, concept, significant, options, lambda new: degree_significant(finding, new))


def _compared(
    rng: Random, finding: PlannedFinding, concept: Concept, significant: bool
) -> PlannedFinding | None:
    """The finding with a comparison that the reference has not."""
    if finding.change is not None:
        return None
    options = [replace(finding, change=change) for change in allowed_changes(concept)]
    return _one_of(rng, concept, significant, options, lambda new: new.change != "unchanged")


def _uncompared(finding: PlannedFinding, concept: Concept, significant: bool) -> PlannedFinding | None:
    """The finding without its comparison."""
    if finding.change is None or (concept.major and finding.change != "unchanged") != significant:
        return None
    return replace(finding, change=None)


def _one_of(
    rng: Random,
    concept: Concept,
    significant: bool,
    options: list[PlannedFinding],
    matters: Callable[[PlannedFinding], bool],
) -> PlannedFinding | None:
    """One of the options whose significance is the one asked for."""
    fit = tuple(new for new in options if (concept.major and matters(new)) == significant)
    return choose(rng, fit) if fit else None


def changed(
    rng: Random, lexicon: Lexicon, exam: Exam, finding: PlannedFinding, category: str, significant: bool
) -> PlannedFinding | None:
    """The finding with an error of the category, or None if it allows none."""
    concept = lexicon.concepts[finding.concept]
    if category == "c":
        return _moved(rng, lexicon, exam, finding, significant)
    if category == "d":
        return _regraded(rng, finding, concept, significant)
    if category == "e":
        return _compared(rng, finding, concept, significant)
    return _uncompared(finding, concept, significant)


def without(plan: Plan, uid: int) -> Plan:
    """The plan without a statement; one that was joined to it stands alone."""
    result: list[Statement] = []
    orphaned = False
    for statement in plan:
        if statement.uid == uid:
            orphaned = not statement.joined
            continue
        if not statement.joined:
            orphaned = False
        result.append(replace(statement, joined=False) if orphaned and statement.joined else statement)
        if statement.joined:
            orphaned = False
    return tuple(result)


def with_content(plan: Plan, uid: int, finding: PlannedFinding) -> Plan:
    """The plan with another content for a statement."""
    return tuple(replace(s, content=finding) if s.uid == uid else s for s in plan)


def with_finding(lexicon: Lexicon, plan: Plan, finding: PlannedFinding, wording: int) -> Plan:
    """The plan with one more finding, and without what speaks against it.

    The finding stands where its denial stood, else behind the last statement of its organ system, else last.
    """
    present = frozenset([finding.concept])
    uid = max((s.uid for s in plan), default=-1) + 1
    conflicts = lexicon.conflicts(finding.concept)
    at: int | None = None
    kept: Plan = plan
    for statement in plan:
        if not contradicts(lexicon, statement.content, present):
            continue
        at = [s.uid for s in kept].index(statement.uid) if at is None else at
        content = statement.content
        rest = tuple(k for k in content.concepts if k not in conflicts) if isinstance(content, Denial) else ()
        if rest:
            kept = tuple(replace(s, content=Denial(rest)) if s.uid == statement.uid else s for s in kept)
        else:
            kept = without(kept, statement.uid)
    if at is None:
        system = _system(lexicon, finding)
        same = [i for i, s in enumerate(kept) if _system(lexicon, s.content) == system]
        at = same[-1] + 1 if same else len(kept)
    while at < len(kept) and kept[at].joined:
        at += 1
    return (*kept[:at], Statement(uid, finding, wording), *kept[at:])


def _system(lexicon: Lexicon, content: object) -> tuple[str, str] | None:
    if isinstance(content, PlannedFinding):
        concept = lexicon.concepts[content.concept]
        return concept.region, concept.system
    if isinstance(content, Denial):
        concept = lexicon.concepts[content.concepts[0]]
        return concept.region, concept.system
    if isinstance(content, Normal):
        entry = lexicon.normals[content.key]
        return entry.region, entry.system
    return None


def false_finding(
    rng: Random, lexicon: Lexicon, report: SyntheticReport, plan: Plan, significant: bool
) -> Plan | None:
    """The plan with a finding that the reference has not."""
    exam = exam_of(report)
    present = stated(plan).keys() | stated(report.plan).keys()
    suggested = {f.suggests for _, f in stated(plan).values() if f.suggests}
    options = [
        c
        for c in menu(exam, report.style).findings
        if c.major == significant and not lexicon.conflicts(c.key) & present and c.key not in suggested
    ]
    if not options:
        return None
    # As common as in reports; three times as likely where the reference denies it.
    absent = denied(report.plan)
    totals = list(accumulate(c.common * (3 if c.key in absent else 1) for c in options))
    concept = options[bisect_right(totals, rng.random() * totals[-1])]
    finding = draw_finding(rng, concept, exam, report.style, prior=False, blocked=frozenset(lexicon.concepts))
    return with_finding(lexicon, plan, replace(finding, certainty="present"), rng.getrandbits(96))
