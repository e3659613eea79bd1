"""Generated reports with summaries whose facts are known, for exercises on fact counting.

A fact is the smallest unit of information in a report: that a finding is present, its place, degree or
change, or that something is absent or normal. For each source report there are a reference and the summaries
of four systems. Each states part of the source in its own words, and some state invented facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random

from radeval_lib.rules.generator.generator import generate, make_rng, rerender
from radeval_lib.rules.generator.pairings import permute_report, simulate_model
from radeval_lib.rules.generator.planted_errors import remove_statement
from radeval_lib.rules.generator.records import Denial, Normal, Plan, PlannedFinding, Remark, SyntheticReport
from radeval_lib.rules.lexicon.loading import load_lexicon

Fact = tuple[object, ...]

SYSTEMS = ("first statements", "selection", "simulated model", "altered reference")
"""Four ways to summarize: the first half of the statements; a random selection; the simulated output of a
report generator; the reference with one to four changes."""
_REFERENCE_KEEPS = 0.7  # probability that the reference includes a statement of the source
_SELECTION_KEEPS = 0.6  # the same for the selection


@dataclass(frozen=True)
class FactSummary:
    """A system's summary of a source, and its facts.

    Attributes
    ----------
    common : facts of both the candidate and the reference.
    omitted : facts of the reference that the candidate lacks.
    invented : facts of the candidate that neither the reference nor the source has.
    """

    system: str
    source: SyntheticReport
    reference: SyntheticReport
    candidate: SyntheticReport
    common: frozenset[Fact]
    omitted: frozenset[Fact]
    invented: frozenset[Fact]


def facts(plan: Plan) -> frozenset[Fact]:
    """Return the facts of a report's plan; remarks, which say nothing about the patient, have none."""
    facts: set[Fact] = set()
    for statement in plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            name = content.concept
            facts.add(("finding", name, content.certainty))
            if content.place or content.side:
                facts.add(("place", name, content.place, content.side))
            if content.severity is not None or content.size_mm:
                facts.add(("degree", name, content.severity, content.size_mm))
            if content.change:
                facts.add(("change", name, content.change))
        elif isinstance(content, Denial):
            facts.update(("absent", concept) for concept in content.concepts)
        elif isinstance(content, Normal):
            facts.add(("not normal" if content.opposite else "normal", content.key))
    return frozenset(facts)


def wordings(plans: Iterable[Plan]) -> list[list[str]]:
    """Return the names of each finding in the plans that has several, so that readers must know synonyms."""
    mentioned = set[str]()
    for content in (item.content for plan in plans for item in plan):
        if isinstance(content, PlannedFinding):
            mentioned.add(content.concept)
        elif isinstance(content, Denial):
            mentioned.update(content.concepts)
    concepts = load_lexicon().concepts
    all_names = [(*concepts[key].names, *concepts[key].shorts) for key in sorted(mentioned)]
    names = [sorted({name.one.text for name in names}) for names in all_names]
    return [item for item in names if len(item) > 1]


def fact_cases(n: int, seed: int) -> Iterator[tuple[FactSummary, ...]]:
    """Yield the summaries by each of :data:`SYSTEMS` for ``n`` sources, each with one reference.

    Case i depends only on ``seed`` and i.
    """
    for source in generate(n, seed, min_findings=1):
        rng = make_rng(seed, source.report_id, "fact cases")
        reference = _reword(rng, source, _sample_statements(rng, source.plan, _REFERENCE_KEEPS))
        uids = [planned.uid for planned in source.plan if not isinstance(planned.content, Remark)]
        first = _keep_statements(source.plan, set(uids[: max(1, len(uids) // 2)]))
        candidates = (
            _reword(rng, source, first),
            _reword(rng, source, _sample_statements(rng, source.plan, _SELECTION_KEEPS)),
            simulate_model(source, seed),
            _reword(rng, reference, permute_report(reference, seed).plan),
        )
        reference_facts, source_facts = facts(reference.plan), facts(source.plan)
        summaries = []
        for system, candidate in zip(SYSTEMS, candidates, strict=True):
            claims = facts(candidate.plan)
            common, omitted = claims & reference_facts, reference_facts - claims
            invented = claims - reference_facts - source_facts
            summaries.append(FactSummary(system, source, reference, candidate, common, omitted, invented))
        yield tuple(summaries)


def _sample_statements(rng: Random, plan: Plan, keep: float) -> Plan:
    """Return a plan with a random part of its statements.

    Each statement but remarks stays with probability ``keep``, and at least one stays.
    """
    uids = [planned.uid for planned in plan if not isinstance(planned.content, Remark)]
    kept = {uid for uid in uids if rng.random() < keep}
    return _keep_statements(plan, kept or {uids[int(rng.random() * len(uids))]})


def _keep_statements(plan: Plan, kept: set[int]) -> Plan:
    """Return a plan with only the statements whose ``uid`` is in ``kept``."""
    for uid in [planned.uid for planned in plan if planned.uid not in kept]:
        plan = remove_statement(plan, uid)
    return plan


def _reword(rng: Random, report: SyntheticReport, plan: Plan) -> SyntheticReport:
    """Return ``report`` with this plan and random wordings of its statements."""
    reworded = tuple(replace(planned, wording=rng.getrandbits(96), joined=False) for planned in plan)
    return rerender(report, reworded)
