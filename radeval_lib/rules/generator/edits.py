"""Edits of a plan: a finding moved, regraded, compared otherwise, left out or made up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from radeval_lib.rules.generator.content import (
    Weighted,
    allowed_changes,
    choose,
    contradicts,
    draw_finding,
    draw_size,
    menu,
    sides,
)
from radeval_lib.rules.generator.difference import (
    SIZE_RATIO,
    degree_significant,
    denied,
    location_significant,
    stated,
)
from radeval_lib.rules.generator.generator import exam_of
from radeval_lib.rules.generator.records import (
    Denial,
    Meaning,
    Normal,
    Plan,
    PlannedFinding,
    Remark,
    Statement,
    SyntheticReport,
)
from radeval_lib.rules.lexicon.entries import Concept, Exam, Lexicon, NormalEntry


def _moved(rng: Random, lexicon: Lexicon, exam: Exam, finding: PlannedFinding) -> Iterator[PlannedFinding]:
    """The finding in each other place."""
    concept = lexicon.concepts[finding.concept]
    if finding.side:
        for side in sides(lexicon, concept, finding.place):
            if side not in (finding.side, "bilateral"):
                yield replace(finding, side=side)
    if finding.place:
        for key in lexicon.places_of(concept, exam):
            place = lexicon.places[key]
            if key == finding.place or finding.side not in place.nouns:
                continue
            size = finding.size_mm
            if place.distance or lexicon.places[finding.place].distance:
                size = draw_size(rng, *place.distance, two=False) if place.distance else None
            yield replace(finding, place=key, size_mm=size)


def _regraded(
    rng: Random, finding: PlannedFinding, concept: Concept, significant: bool
) -> Iterator[PlannedFinding]:
    """The finding in other severities or sizes."""
    if finding.severity is not None:
        low, high = concept.steps
        yield from (replace(finding, severity=s) for s in range(low, high + 1) if s != finding.severity)
    elif finding.size_mm and not concept.device:
        wide = significant and concept.major
        for _ in range(8):
            ratio = SIZE_RATIO * (1.05 + 0.6 * rng.random()) if wide else 1.08 + 0.25 * rng.random()
            ratio = ratio if rng.random() < 0.5 else 1 / ratio
            size = tuple(max(2, round(mm * ratio)) for mm in finding.size_mm)
            if size[0] != finding.size_mm[0]:
                yield replace(finding, size_mm=size)


def changed(
    rng: Random, lexicon: Lexicon, exam: Exam, finding: PlannedFinding, category: str, significant: bool
) -> PlannedFinding | None:
    """The finding with an error of the category from c to f, or None if it allows none."""
    concept = lexicon.concepts[finding.concept]
    if category == "f":  # the finding without its comparison
        matters = concept.major and finding.change != "unchanged"
        return replace(finding, change=None) if finding.change and matters == significant else None
    if category == "c":
        options = [
            (new, location_significant(lexicon, finding, new)) for new in _moved(rng, lexicon, exam, finding)
        ]
    elif category == "d":
        options = [
            (new, degree_significant(finding, new)) for new in _regraded(rng, finding, concept, significant)
        ]
    else:  # with a comparison that the reference has not
        changes = () if finding.change else allowed_changes(concept)
        options = [(replace(finding, change=change), change != "unchanged") for change in changes]
    fit = tuple(new for new, matters in options if (concept.major and matters) == significant)
    return choose(rng, fit) if fit else None


def without(plan: Plan, uid: int) -> Plan:
    """The plan without a statement; one that was joined to it stands alone."""
    at = [statement.uid for statement in plan].index(uid)
    rest = plan[at + 1 :]
    if rest and rest[0].joined and not plan[at].joined:
        rest = (replace(rest[0], joined=False), *rest[1:])
    return plan[:at] + rest


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


def _system(lexicon: Lexicon, content: Meaning) -> tuple[str, str] | None:
    """Region and organ system of a statement, by its first concept; None for a remark."""
    if isinstance(content, Remark):
        return None
    entry: Concept | NormalEntry
    if isinstance(content, Normal):
        entry = lexicon.normals[content.key]
    else:
        key = content.concept if isinstance(content, PlannedFinding) else content.concepts[0]
        entry = lexicon.concepts[key]
    return entry.region, entry.system


def false_finding(
    rng: Random, lexicon: Lexicon, report: SyntheticReport, plan: Plan, significant: bool
) -> Plan | None:
    """The plan with a finding that the reference has not."""
    exam = exam_of(report)
    present = stated(plan).keys() | stated(report.plan).keys()
    suggested = {f.suggests for _, f in stated(plan).values() if f.suggests}
    options = [
        c
        for c in menu(exam, report.style).findings.options
        if c.major == significant and not lexicon.conflicts(c.key) & present and c.key not in suggested
    ]
    if not options:
        return None
    # As common as in reports; three times as likely where the reference denies it.
    absent = denied(report.plan)
    concept = Weighted((c, c.common * (3 if c.key in absent else 1)) for c in options).draw(rng)
    finding = draw_finding(rng, concept, exam, report.style, prior=False, blocked=frozenset(lexicon.concepts))
    return with_finding(lexicon, plan, replace(finding, certainty="present"), rng.getrandbits(96))
