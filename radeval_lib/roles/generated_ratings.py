"""Simulated ratings in the shape of ReXVal (cases of four candidates) and of RaTE-Eval's sentences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from radeval_lib.data.records import ErrorCount, RatedPair
from radeval_lib.roles.generated import turned
from radeval_lib.synthetic import (
    CATEGORIES,
    ErrorPair,
    PlannedFinding,
    Remark,
    SimulatedRating,
    SyntheticError,
    SyntheticReport,
    compare,
    error_pairs,
    generate,
    opposite,
    panel,
    rate,
    rewrite,
)  # fmt: skip
from radeval_lib.synthetic.generator import report_at, rerender, seeded
from radeval_lib.synthetic.pairings import token_cosine
from radeval_lib.synthetic.planted_errors import inject, random_kinds
from radeval_lib.synthetic.rewrites import RewriteKind

CANDIDATES = 4  # of each case, as in ReXVal
_RATERS = 6
_GRADERS = 3
# Planted errors of a candidate, on average, and their standard deviation over cases as a share of it: fitted
# to what ReXVal's radiologists counted.
_ERRORS, _CASES, _MOST = 3.0, 1.18, 8
_CHEST = ("X-Ray", "CHEST")
_TRIES = 8  # mixes of as many errors
_POOL = 40  # reports of a subset from which a similar sentence is picked


def rated_errors(n: int, seed: int) -> Iterator[RatedPair]:
    """Candidates with the number of errors that each of six simulated raters noted.

    As in ReXVal, four candidates share a reference, so that pairs of a case are not independent; each has its
    own errors and its own words.
    """
    for number, (pair, ratings) in enumerate(cases(n, seed)):
        for rating in ratings:
            yield _rated_pair(number, n, pair, rating, rating.total, "errors")


def rated_pairs(n: int, seed: int) -> Iterator[RatedPair]:
    """The same candidates as three of these raters grade them, from 0 to 5; one record a pair and rater."""
    for number, (pair, ratings) in enumerate(cases(n, seed)):
        for rating in ratings[:_GRADERS]:
            yield _rated_pair(number, n, pair, rating, rating.grade, "grade")


def _rated_pair(
    number: int, n: int, pair: ErrorPair, rating: SimulatedRating, value: float, scale: str
) -> RatedPair:
    return RatedPair(
        id=f"{pair.reference.report_id}/{number}",
        reference=pair.reference.findings.text,
        candidate=pair.candidate.findings.text,
        rating=value,
        rater=rating.rater,
        group="injected errors",
        split="train" if number < 0.8 * n else "test",
        scale=scale,
    )


def error_counts(n: int, seed: int) -> Iterator[ErrorCount]:
    """The same errors as ReXVal tells them: by category and significance, one record a count."""
    for number, (_, ratings) in enumerate(cases(n, seed)):
        case, origin = divmod(number, CANDIDATES)
        for rating in ratings:
            for significant, counts in ((True, rating.significant), (False, rating.insignificant)):
                for category, letter in enumerate(CATEGORIES, start=1):
                    yield ErrorCount(
                        case, f"candidate {origin + 1}", category, rating.rater, significant, counts[letter]
                    )


def cases(n: int, seed: int) -> Iterator[tuple[ErrorPair, list[SimulatedRating]]]:
    """``n`` pairs, four of each reference, with what each of six simulated raters noted."""
    people = panel(_RATERS, seed)
    for case in range(-(-n // CANDIDATES)):
        expected = seeded(seed, case, "expected").gammavariate(_CASES**-2, _ERRORS * _CASES**2)
        findings = max(1, min(6, round(expected)))  # a report without findings allows few errors
        reference = report_at(seed, case, style="hospital", modality_anatomy=_CHEST, min_findings=findings)
        for origin in range(min(CANDIDATES, n - case * CANDIDATES)):
            name = f"{case}/{origin}"
            pair = _with_errors(reference, expected, seed, name)
            ratings = [rate(pair.comparison, rater, seed, name) for rater in people]
            kind: RewriteKind = "style" if origin == 0 else "synonym"
            candidate = turned(partial(rewrite, kind=kind, seed=seed + origin), pair.candidate)
            yield ErrorPair(pair.reference, candidate, pair.comparison), ratings


def _with_errors(reference: SyntheticReport, expected: float, seed: int, name: str) -> ErrorPair:
    """The reference with a random mix of about so many errors, or fewer where it does not allow them."""
    rng = seeded(seed, name, "errors")
    for number in range(min(_MOST, int(expected + rng.random())), 0, -1):
        for _ in range(_TRIES):
            try:
                return inject(reference, random_kinds(rng, number), rng.getrandbits(30))
            except SyntheticError:
                continue
    return inject(reference, [], rng.getrandbits(30))


def rated_sentences(n: int, seed: int) -> Iterator[RatedPair]:
    """Single sentences with noted errors by possible errors, after RaTE-Eval's sentence task.

    The candidate says the same in other words, the same with an error, or the opposite; or it is, as in
    RaTE-Eval, the most similar sentence of other reports of the same modality and anatomy.
    """
    raters = panel(2, seed)
    pools: dict[tuple[str, str], list[SyntheticReport]] = {}
    for number, pair in enumerate(error_pairs(n, seed)):
        rng = seeded(seed, number, "sentence")
        reference, candidate = _sentences(pair, rng, pools, seed)
        one = ErrorPair(reference, candidate, compare(reference, candidate))
        for rater in raters:
            rating = rate(one.comparison, rater, seed, str(number))
            yield _rated_pair(number, n, one, rating, rating.normalised, "error_share")


def _sentences(
    pair: ErrorPair, rng: Random, pools: dict[tuple[str, str], list[SyntheticReport]], seed: int
) -> tuple[SyntheticReport, SyntheticReport]:
    """One statement of the reference, and one that a reader could take for its counterpart."""
    theirs = {one.uid: one for one in pair.candidate.plan}
    own = [one for one in pair.reference.plan if not isinstance(one.content, Remark)]
    findings = [one for one in own if isinstance(one.content, PlannedFinding)]
    wrong = [one for one in findings if one.uid in theirs and theirs[one.uid].content != one.content]
    chosen = rng.choice(wrong if wrong and rng.random() < 0.5 else own)
    reference = rerender(pair.reference, (chosen,))
    if chosen in findings and rng.random() < 0.25:
        return reference, _most_similar(reference, pools, seed)
    source = rerender(pair.candidate, (theirs.get(chosen.uid, chosen),))
    turn = opposite if rng.random() < 0.2 else rewrite
    return reference, turned(partial(turn, seed=rng.getrandbits(30)), source)


def _most_similar(
    reference: SyntheticReport, pools: dict[tuple[str, str], list[SyntheticReport]], seed: int
) -> SyntheticReport:
    """The sentence of other reports of the same modality and anatomy that shares most words."""
    subset = (reference.modality, reference.anatomy)
    if subset not in pools:
        others = generate(_POOL, seed + 1, modality_anatomy=subset, min_findings=1)
        pools[subset] = [
            rerender(other, (one,))
            for other in others
            for one in other.plan
            if isinstance(one.content, PlannedFinding)
        ]
    pool = pools[subset]
    similar = token_cosine([reference.findings.text], [one.findings.text for one in pool])[0]
    return pool[int(similar.argmax())]
