"""Pairs references with candidates by GREEN's five heuristics (Ostmeier et al. 2024, section 3.1.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from radeval_lib.rules.generator.content import choose
from radeval_lib.rules.generator.difference import ReportDifference, compare, index_findings
from radeval_lib.rules.generator.generator import generate, make_rng, rerender
from radeval_lib.rules.generator.planted_errors import ErrorKind, inject, remove_statement, replace_content
from radeval_lib.rules.generator.records import Plan, PlannedFinding, SyntheticError, SyntheticReport
from radeval_lib.rules.lexicon.entries import tokenize

#: The candidate of ``random`` is the report of another patient; of ``shuffled``, the reference without some
#: statements and with the others in random order; of ``model``, the output of a simulated report generator;
#: of ``nearest``, the most similar unused report among as many further reports as there are references (at
#: least two); and of ``permuted``, the reference with changes of presence, size, severity and place.
HEURISTICS = ("random", "shuffled", "model", "nearest", "permuted")
#: The maximum number of references in a round; nearest candidates are sought within a round.
POOL = 64
# The probabilities that the simulated report generator keeps a finding and a detail, and the mean number of
# findings that it invents.
_KEEP_FINDING, _KEEP_DETAIL, _INVENTED_FINDINGS = 0.6, 0.6, 0.4


@dataclass(frozen=True, slots=True)
class SyntheticPair:
    """A reference and a candidate, the heuristic that paired them, and their exact differences."""

    reference: SyntheticReport
    candidate: SyntheticReport
    heuristic: str
    comparison: ReportDifference


def measure_cosines(references: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float64]:
    """Return the cosine similarity of the token counts of each reference and each candidate.

    It replaces GREEN's BERTScore, which would need an encoder.

    Returns
    -------
    NDArray
        float64 of shape (len(references), len(candidates)), from 0 to 1; 0 for an empty text.
    """
    bags = [Counter(token.lower() for token in tokenize(text)) for text in (*references, *candidates)]
    columns = {token: column for column, token in enumerate(sorted(set().union(*bags)))}
    counts = np.zeros((len(bags), len(columns)))
    for row, bag in enumerate(bags):
        for token, count in bag.items():
            counts[row, columns[token]] = count
    norms = np.linalg.norm(counts, axis=1, keepdims=True)
    counts /= np.where(norms == 0, 1, norms)
    return np.asarray(counts[: len(references)] @ counts[len(references) :].T, dtype=np.float64)


def green_pairs(n: int, seed: int) -> Iterator[SyntheticPair]:
    """Yield ``n`` pairs of each heuristic, in rounds of at most :data:`POOL` pairs per heuristic.

    As in GREEN, each reference is used in only one pair. Memory holds one round at a time.

    Raises
    ------
    SyntheticError
        If ``n`` is negative.
    """
    if n < 0:
        raise SyntheticError(f"n is negative ({n})", "green_pairs", "Ask for 0 or more pairs.")
    start = 0
    for offset in range(0, n, POOL):
        size = min(POOL, n - offset)
        for heuristic in HEURISTICS:
            # Candidates of "random" and "nearest" are further reports of the stream, used for nothing else.
            other_count = max(2, size) if heuristic in ("random", "nearest") else 0
            stream = generate(
                size + other_count,
                seed,
                style="hospital",
                modality_anatomy=("X-Ray", "CHEST"),
                start=start,
                min_findings=1,
            )
            reports = list(stream)
            start += size + other_count
            for reference, candidate in _pair_reports(heuristic, reports[:size], reports[size:], seed):
                yield SyntheticPair(reference, candidate, heuristic, compare(reference, candidate))


def _pair_reports(
    heuristic: str, references: list[SyntheticReport], others: list[SyntheticReport], seed: int
) -> Iterator[tuple[SyntheticReport, SyntheticReport]]:
    """Yield each reference with the candidate that a heuristic assigns to it.

    "random" and "nearest" take candidates from ``others``, which must be at least as many as the references;
    the other heuristics change the reference.
    """
    if heuristic == "random":
        yield from zip(references, others, strict=False)
    elif heuristic == "nearest":
        similarity = measure_cosines([r.findings.text for r in references], [o.findings.text for o in others])
        is_free = np.ones(len(others), dtype=bool)
        for row, reference in enumerate(references):
            column = int(np.argmax(np.where(is_free, similarity[row], -np.inf)))
            is_free[column] = False
            yield reference, others[column]
    else:
        alter = {"shuffled": shuffle_report, "model": simulate_model, "permuted": permute_report}[heuristic]
        for reference in references:
            yield reference, alter(reference, seed)


def shuffle_report(report: SyntheticReport, seed: int) -> SyntheticReport:
    """Remove one or more statements of a report and shuffle the others, as separate sentences.

    The only statement of a report is not removed. In about a fifth of the reports on chest radiographs, the
    order does not change, because the shuffled order is the original one or only one statement is left.
    """
    rng = make_rng(seed, report.report_id, "shuffled")
    uids = [statement.uid for statement in report.plan]
    plan: Plan = report.plan
    for _ in range(1 + int(rng.random() * len(uids) / 2)):
        if len(plan) > 1:
            plan = remove_statement(plan, choose(rng, tuple(statement.uid for statement in plan)))
    statements = [replace(statement, joined=False) for statement in plan]
    statements.sort(key=lambda _: rng.random())
    return rerender(report, tuple(statements))


def simulate_model(report: SyntheticReport, seed: int) -> SyntheticReport:
    """Return a report that a trained report generator might write for the same image.

    It omits findings and details (always the appearance and the suggested diagnosis), invents findings, and
    rewords all statements. A wrong place is tried with a probability of 0.1, but planted in only about 3% of
    the reports, because most have no finding that allows it.
    """
    rng = make_rng(seed, report.report_id, "model")
    plan: Plan = tuple(
        replace(statement, wording_seed=rng.getrandbits(96), joined=False) for statement in report.plan
    )
    for uid, finding in index_findings(plan).values():
        if rng.random() > _KEEP_FINDING and len(plan) > 1:
            plan = remove_statement(plan, uid)
        else:
            plan = replace_content(plan, uid, _drop_details(rng, finding))
    candidate = rerender(report, plan)
    kinds: list[ErrorKind] = []
    while rng.random() < _INVENTED_FINDINGS / (1 + _INVENTED_FINDINGS):
        kinds.append(("a", rng.random() < 0.5))
    if rng.random() < 0.1:
        kinds.append(("c", True))
    for kind in kinds:
        try:
            candidate = inject(candidate, [kind], seed).candidate
        except SyntheticError:
            continue
    return candidate


def _drop_details(rng: Random, finding: PlannedFinding) -> PlannedFinding:
    """Return a finding without appearance and diagnosis; severity, size and change are each dropped by
    chance."""
    is_kept = [rng.random() < _KEEP_DETAIL for _ in range(3)]
    return replace(
        finding,
        descriptors=(),
        diagnosis=None,
        severity=finding.severity if is_kept[0] else None,
        size_mm=finding.size_mm if is_kept[1] else None,
        change=finding.change if is_kept[2] else None,
    )


def permute_report(report: SyntheticReport, seed: int) -> SyntheticReport:
    """Return a report with up to four planted changes of presence, size, severity or place, as in GREEN.

    One to four changes are attempted, with at most four times as many tries. A change that the report does
    not allow is skipped, and a later change may undo an earlier one, so there may be fewer changes. About one
    in twenty reports on chest radiographs is returned unchanged.
    """
    rng = make_rng(seed, report.report_id, "permuted")
    candidate = report
    remaining = 1 + int(rng.random() * 4)
    for attempt in range(4 * remaining):
        kind: ErrorKind = ("abcd"[int(rng.random() * 4)], rng.random() < 0.7)
        try:
            changed = inject(candidate, [kind], seed * 100 + attempt).candidate
        except SyntheticError:
            continue
        candidate, remaining = changed, remaining - 1
        if not remaining:
            break
    return candidate
