"""Reports, references and summaries with known facts, for studies of fact counting.

A fact is the smallest thing that a report says: that a finding is there, its place, its degree, its change,
that something is absent or normal. One report serves as the source; the reference and four systems' summaries
each say part of it in their own words, and some say what is not so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random

from radeval_lib.rules.generator.generator import generate, rerender, seeded
from radeval_lib.rules.generator.pairings import model_candidate, permuted
from radeval_lib.rules.generator.planted_errors import without
from radeval_lib.rules.generator.records import Denial, Normal, Plan, PlannedFinding, Remark, SyntheticReport
from radeval_lib.rules.lexicon.loading import load_lexicon

Fact = tuple[object, ...]

SYSTEMS = ("first statements", "selection", "simulated model", "altered reference")
"""Four ways to summarise: the first statements; a selection; what a report generator would write, simulated;
the reference with one to four things changed."""
_REFERENCE_KEEPS = 0.7  # chance that the reference has a statement of the source
_SELECTION_KEEPS = 0.6  # likewise of the selection


@dataclass(frozen=True)
class FactSummary:
    """One summary of a source.

    Facts of the candidate are ``common`` with the reference, or ``invented``: in neither reference nor
    source; those of the reference that it leaves out are ``omitted``.
    """

    system: str
    source: SyntheticReport
    reference: SyntheticReport
    candidate: SyntheticReport
    common: frozenset[Fact]
    omitted: frozenset[Fact]
    invented: frozenset[Fact]


def facts(plan: Plan) -> frozenset[Fact]:
    """Return the facts of a plan; remarks, which say nothing about the patient, are left out."""
    stated: set[Fact] = set()
    for statement in plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            name = content.concept
            stated.add(("finding", name, content.certainty))
            if content.place or content.side:
                stated.add(("place", name, content.place, content.side))
            if content.severity is not None or content.size_mm:
                stated.add(("degree", name, content.severity, content.size_mm))
            if content.change:
                stated.add(("change", name, content.change))
        elif isinstance(content, Denial):
            stated.update(("absent", concept) for concept in content.concepts)
        elif isinstance(content, Normal):
            stated.add(("not normal" if content.opposite else "normal", content.key))
    return frozenset(stated)


def wordings(plans: Iterable[Plan]) -> list[list[str]]:
    """Return the names of each finding of plans that has several; matching them takes knowledge of
    radiology."""
    mentioned = set[str]()
    for content in (item.content for plan in plans for item in plan):
        if isinstance(content, PlannedFinding):
            mentioned.add(content.concept)
        elif isinstance(content, Denial):
            mentioned.update(content.concepts)
    concepts = load_lexicon().concepts
    every = [(*concepts[key].names, *concepts[key].shorts) for key in sorted(mentioned)]
    names = [sorted({name.one.text for name in names}) for names in every]
    return [item for item in names if len(item) > 1]


def fact_cases(n: int, seed: int) -> Iterator[tuple[FactSummary, ...]]:
    """Yield ``n`` sources, each with one reference and a summary by each of :data:`SYSTEMS`.

    Case i depends on ``seed`` and i alone.
    """
    for source in generate(n, seed, min_findings=1):
        rng = seeded(seed, source.report_id, "fact cases")
        reference = _worded(rng, source, _part(rng, source.plan, _REFERENCE_KEEPS))
        telling = [planned for planned in source.plan if not isinstance(planned.content, Remark)]
        first = _only(source.plan, {planned.uid for planned in telling[: max(1, len(telling) // 2)]})
        candidates = (
            _worded(rng, source, first),
            _worded(rng, source, _part(rng, source.plan, _SELECTION_KEEPS)),
            model_candidate(source, seed),
            _worded(rng, reference, permuted(reference, seed).plan),
        )
        wanted, sourced = facts(reference.plan), facts(source.plan)
        summaries = []
        for system, candidate in zip(SYSTEMS, candidates, strict=True):
            claims = facts(candidate.plan)
            parts = claims & wanted, wanted - claims, claims - wanted - sourced
            summaries.append(FactSummary(system, source, reference, candidate, *parts))
        yield tuple(summaries)


def _part(rng: Random, plan: Plan, keep: float) -> Plan:
    """Return the statements that stay, each with chance ``keep``, at least one that says something."""
    telling = [planned.uid for planned in plan if not isinstance(planned.content, Remark)]
    kept = {uid for uid in telling if rng.random() < keep}
    return _only(plan, kept or {telling[int(rng.random() * len(telling))]})


def _only(plan: Plan, kept: set[int]) -> Plan:
    """Return a plan without the statements whose ``uid`` is not among ``kept``."""
    for uid in [planned.uid for planned in plan if planned.uid not in kept]:
        plan = without(plan, uid)
    return plan


def _worded(rng: Random, report: SyntheticReport, plan: Plan) -> SyntheticReport:
    """Return a report that says a plan in other words."""
    reworded = tuple(replace(planned, wording=rng.getrandbits(96), joined=False) for planned in plan)
    return rerender(report, reworded)
