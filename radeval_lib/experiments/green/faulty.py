"""A generated "system" with a known fault: it sees a small right pleural effusion where there is none."""

from __future__ import annotations

from radeval_lib.synthetic import Finding, error_pairs
from radeval_lib.synthetic.content import contradicts
from radeval_lib.synthetic.difference import stated
from radeval_lib.synthetic.generator import rerender, seeded
from radeval_lib.synthetic.records import Denial, Statement, SyntheticReport
from radeval_lib.synthetic.vocabulary import load_lexicon

FAULT = Finding("pleural_effusion", side="right", severity=1)
"""What the system sees by mistake."""


def faulty_pairs(n: int, seed: int, *, share: float) -> list[tuple[str, str]]:
    """References and what the system writes: errors by chance, and the fault in ``share`` of the reports."""
    pairs = []
    for number, pair in enumerate(error_pairs(n, seed=seed, modality_anatomy=("X-Ray", "CHEST"))):
        rng = seeded(seed, number, "fault")
        candidate = pair.candidate
        if rng.random() < share and FAULT.concept not in stated(candidate.plan):
            candidate = _with_fault(candidate, rng.getrandbits(96))
        pairs.append((pair.reference.findings.text, candidate.findings.text))
    return pairs


def _with_fault(report: SyntheticReport, wording: int) -> SyntheticReport:
    """The report with the fault in it, and without what speaks against it."""
    lexicon, present = load_lexicon(), frozenset([FAULT.concept])
    kept = []
    for statement in report.plan:
        content = statement.content
        if contradicts(lexicon, content, present):
            continue
        if isinstance(content, Denial) and FAULT.concept in content.concepts:
            continue
        kept.append(statement)
    uid = 1 + max((statement.uid for statement in report.plan), default=-1)
    return rerender(report, (*kept, Statement(uid, FAULT, wording)))
