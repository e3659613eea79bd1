"""Generated reports with summaries whose facts are known, for exercises on fact counting.

A fact is the smallest unit of information in a report: that a finding is present, its place, degree or
change, or that something is absent or normal. For each source report, there are a reference and the summaries
of four systems. These texts state parts of the source in different words, and some state invented facts.
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
report generator; the reference with up to four changes."""
_REFERENCE_KEEPS = 0.7  # probability that the reference includes a statement of the source
_SELECTION_KEEPS = 0.6  # probability that the selection includes a statement of the source


@dataclass(frozen=True)
class FactSummary:
    """A system's summary of a source report, compared with the reference by facts.

    Attributes
    ----------
    system : one of :data:`SYSTEMS`.
    source : the report to summarize.
    reference, candidate : the reference summary, and the system's.
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
    """Return the facts in a report's plan; remarks, which say nothing about the patient, contain none."""
    fact_set: set[Fact] = set()
    for statement in plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            name = content.concept
            fact_set.add(("finding", name, content.certainty))
            if content.place or content.side:
                fact_set.add(("place", name, content.place, content.side))
            if content.severity is not None or content.size_mm:
                fact_set.add(("degree", name, content.severity, content.size_mm))
            if content.change:
                fact_set.add(("change", name, content.change))
        elif isinstance(content, Denial):
            fact_set.update(("absent", concept) for concept in content.concepts)
        elif isinstance(content, Normal):
            fact_set.add(("not normal" if content.opposite else "normal", content.key))
    return frozenset(fact_set)


def wordings(plans: Iterable[Plan]) -> list[list[str]]:
    """Return the synonyms of each finding in the plans that has more than one name, as sorted lists."""
    keys = set[str]()
    for content in (statement.content for plan in plans for statement in plan):
        if isinstance(content, PlannedFinding):
            keys.add(content.concept)
        elif isinstance(content, Denial):
            keys.update(content.concepts)
    concepts = load_lexicon().concepts
    all_names = [(*concepts[key].names, *concepts[key].shorts) for key in sorted(keys)]
    texts = [sorted({name.one.text for name in names}) for names in all_names]
    return [synonyms for synonyms in texts if len(synonyms) > 1]


def fact_cases(n: int, seed: int) -> Iterator[tuple[FactSummary, ...]]:
    """Yield, for each of ``n`` sources, its summaries by all :data:`SYSTEMS`, in that order.

    Case i depends only on ``seed`` and i.
    """
    for source in generate(n, seed, min_findings=1):
        rng = make_rng(seed, source.report_id, "fact cases")
        reference = _reword(rng, source, _sample_statements(rng, source.plan, _REFERENCE_KEEPS))
        uids = [planned.uid for planned in source.plan if not isinstance(planned.content, Remark)]
        first_half = _keep_statements(source.plan, set(uids[: max(1, len(uids) // 2)]))
        candidates = (
            _reword(rng, source, first_half),
            _reword(rng, source, _sample_statements(rng, source.plan, _SELECTION_KEEPS)),
            simulate_model(source, seed),
            _reword(rng, reference, permute_report(reference, seed).plan),
        )
        reference_facts, source_facts = facts(reference.plan), facts(source.plan)
        summaries = []
        for system, candidate in zip(SYSTEMS, candidates, strict=True):
            candidate_facts = facts(candidate.plan)
            common, omitted = candidate_facts & reference_facts, reference_facts - candidate_facts
            invented = candidate_facts - reference_facts - source_facts
            summaries.append(FactSummary(system, source, reference, candidate, common, omitted, invented))
        yield tuple(summaries)


def _sample_statements(rng: Random, plan: Plan, probability: float) -> Plan:
    """Return a plan without its remarks and with a random selection of its other statements.

    ``probability`` is the probability of keeping a statement; at least one is kept.
    """
    uids = [planned.uid for planned in plan if not isinstance(planned.content, Remark)]
    kept_uids = {uid for uid in uids if rng.random() < probability}
    return _keep_statements(plan, kept_uids or {uids[int(rng.random() * len(uids))]})


def _keep_statements(plan: Plan, kept_uids: set[int]) -> Plan:
    """Return a plan with only the statements whose ``uid`` is in ``kept_uids``."""
    for uid in [planned.uid for planned in plan if planned.uid not in kept_uids]:
        plan = remove_statement(plan, uid)
    return plan


def _reword(rng: Random, report: SyntheticReport, plan: Plan) -> SyntheticReport:
    """Return ``report`` with the statements of ``plan``, each randomly worded."""
    reworded = tuple(replace(planned, wording_seed=rng.getrandbits(96), joined=False) for planned in plan)
    return rerender(report, reworded)
