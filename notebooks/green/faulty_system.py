"""A simulated report generator that sees an effusion which is not there, for the summary to find."""

from __future__ import annotations

from radeval_lib.jobs.green import CHEST
from radeval_lib.rules.generator import PlannedFinding, error_pairs
from radeval_lib.rules.generator.content import contradicts
from radeval_lib.rules.generator.difference import stated
from radeval_lib.rules.generator.generator import rerender, seeded
from radeval_lib.rules.generator.records import Denial, Meaning, Statement, SyntheticReport
from radeval_lib.rules.lexicon.loading import load_lexicon

FAULT = PlannedFinding("pleural_effusion", side="right", severity=1)
"""What the system sees by mistake."""


def faulty_pairs(n: int, seed: int, share: float) -> tuple[list[tuple[str, str]], int]:
    """Return references and what the system writes, and in how many reports it has the fault.

    Errors come by chance; the fault is put into ``share`` of the reports, if neither the reference nor the
    candidate has an effusion already.
    """
    pairs, faults = [], 0
    for number, pair in enumerate(error_pairs(n, seed=seed, modality_anatomy=CHEST)):
        rng = seeded(seed, number, "fault")
        candidate = pair.candidate
        there = stated(candidate.plan) | stated(pair.reference.plan)
        if rng.random() < share and FAULT.concept not in there:
            candidate, faults = _with_fault(candidate, rng.getrandbits(96)), faults + 1
        pairs.append((pair.reference.findings.text, candidate.findings.text))
    return pairs, faults


def _with_fault(report: SyntheticReport, wording: int) -> SyntheticReport:
    """Return the report with the fault in it, and without what speaks against it."""
    lexicon, present = load_lexicon(), frozenset([FAULT.concept])

    def stays(content: Meaning) -> bool:
        denied = isinstance(content, Denial) and FAULT.concept in content.concepts
        return not denied and not contradicts(lexicon, content, present)

    kept = [statement for statement in report.plan if stays(statement.content)]
    uid = 1 + max((statement.uid for statement in report.plan), default=-1)
    return rerender(report, (*kept, Statement(uid, FAULT, wording)))
