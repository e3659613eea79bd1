"""The generator's summaries as judgements of their facts: what fills the roles of fact counting."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from random import Random

from radeval_lib.data.records import FactRating, NoteError, NoteJudgement
from radeval_lib.synthetic.fact_cases import Fact, FactSummary, fact_cases, facts
from radeval_lib.synthetic.generator import seeded


def fact_ratings(n: int, seed: int) -> Iterator[FactRating]:
    """Four summaries of each of ``n`` sources, judged by a perfect counter of facts, with the counts."""
    for case in fact_cases(n, seed):
        yield from map(_rating, case, range(1, len(case) + 1))


def _rating(one: FactSummary, number: int) -> FactRating:
    reference, candidate = len(facts(one.reference.plan)), len(facts(one.candidate.plan))
    common = len(one.common)
    return FactRating(
        id=f"{one.source.report_id}/{number}",
        case=one.source.report_id,
        group=one.system,
        reference=one.reference.findings.text,
        candidate=one.candidate.findings.text,
        source=one.source.findings.text,
        # A candidate without a fact has nothing that is wrong: MTS-Dialog prints a precision of 1.
        precision=common / candidate if candidate else 1.0,
        recall=common / reference,
        f1=2 * common / (reference + candidate) if candidate else 0.0,
        hallucination=len(one.invented) / candidate if candidate else 0.0,
        omission=len(one.omitted) / reference,
        reference_facts=reference,
        candidate_facts=candidate,
        common_facts=common,
    )


@dataclass(frozen=True)
class Clinician:
    """A simulated clinician who lists what is wrong in a note."""

    name: str
    sensitivity: float
    granularity: float
    pace: float


#: Five, as in PriMock57; they differ most in how finely they list.
CLINICIANS = (
    Clinician("1", 0.95, 0.95, 14),
    Clinician("2", 0.90, 0.80, 18),
    Clinician("3", 0.85, 0.60, 12),
    Clinician("4", 0.90, 0.40, 16),
    Clinician("5", 0.75, 0.90, 20),
)


def note_judgements(n: int, seed: int) -> Iterator[NoteJudgement]:
    """What five simulated clinicians list as wrong in the summaries of ``n`` sources.

    Every clinician judges every summary; the reference is the same for all, the edited text the reference.
    """
    for case in fact_cases(n, seed):
        for one in case:
            for rater in CLINICIANS:
                yield _judgement(one, rater, seeded(seed, one.source.report_id, one.system, rater.name))


def _judgement(one: FactSummary, rater: Clinician, rng: Random) -> NoteJudgement:
    incorrect, omitted = _listed(rng, one.invented, rater), _listed(rng, one.omitted, rater)
    spread = math.exp(rng.gauss(0, 0.3))
    return NoteJudgement(
        case=one.source.report_id,
        group=one.system,
        rater=rater.name,
        reference=one.reference.findings.text,
        candidate=one.candidate.findings.text,
        edited=one.reference.findings.text,
        incorrect=incorrect,
        omissions=omitted,
        seconds=round(spread * (20 + rater.pace * (len(incorrect) + len(omitted)))),
    )


def _listed(rng: Random, wrong: Collection[Fact], rater: Clinician) -> tuple[NoteError, ...]:
    """Noticed facts in a fixed order, neighbours joined by chance; that a finding is there is critical."""
    entries: list[list[Fact]] = []
    for fact in sorted(wrong, key=str):
        if rng.random() >= rater.sensitivity:
            continue
        if entries and rng.random() >= rater.granularity:
            entries[-1].append(fact)
        else:
            entries.append([fact])
    return tuple(
        NoteError(
            "; ".join(f"{fact[0]}: {fact[1]}" for fact in entry),
            any(fact[0] in ("finding", "absent") for fact in entry),
        )
        for entry in entries
    )
