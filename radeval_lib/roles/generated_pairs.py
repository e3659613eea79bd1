"""Generated references, each with four candidates as in ReXVal: planted errors in other words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from radeval_lib.data.records import TextPair
from radeval_lib.roles.generated import turned
from radeval_lib.rules.generator import ErrorPair, SyntheticError, SyntheticReport, rewrite
from radeval_lib.rules.generator.generator import RewriteKind, report_at, seeded
from radeval_lib.rules.generator.planted_errors import inject, random_kinds

CANDIDATES = 4
"""Of each case, as in ReXVal."""
# Planted errors of a candidate, on average, and their standard deviation over cases as a share of it: fitted
# to what ReXVal's radiologists counted.
_ERRORS, _CASES, _MOST = 3.0, 1.18, 8
_CHEST = ("X-Ray", "CHEST")
_TRIES = 8  # mixes of as many errors


def text_pairs(n: int, seed: int) -> Iterator[TextPair]:
    """Yield ``n`` candidates; the source is the whole report."""
    for number, pair in enumerate(error_cases(n, seed)):
        case, place = divmod(number, CANDIDATES)
        yield TextPair(
            id=f"{case}/{place}",
            case=str(case),
            reference=pair.reference.findings.text,
            candidate=pair.candidate.findings.text,
            source=pair.reference.text,
            group=f"candidate {place + 1}",
        )


def error_cases(n: int, seed: int) -> Iterator[ErrorPair]:
    """Yield ``n`` pairs, four of each reference; the comparison is the exact one of what reference and
    candidate state, whatever words the candidate says it in."""
    for case in range(-(-n // CANDIDATES)):
        expected = seeded(seed, case, "expected").gammavariate(_CASES**-2, _ERRORS * _CASES**2)
        findings = max(1, min(6, round(expected)))  # a report without findings allows few errors
        reference = report_at(seed, case, style="hospital", modality_anatomy=_CHEST, min_findings=findings)
        for origin in range(min(CANDIDATES, n - case * CANDIDATES)):
            pair = _with_errors(reference, expected, seed, f"{case}/{origin}")
            kind: RewriteKind = "style" if origin == 0 else "synonym"
            candidate = turned(partial(rewrite, kind=kind, seed=seed + origin), pair.candidate)
            yield ErrorPair(pair.reference, candidate, pair.comparison)


def _with_errors(reference: SyntheticReport, expected: float, seed: int, name: str) -> ErrorPair:
    """Return the reference with a random mix of about so many errors, or fewer where it does not allow
    them."""
    rng = seeded(seed, name, "errors")
    for number in range(min(_MOST, int(expected + rng.random())), 0, -1):
        for _ in range(_TRIES):
            try:
                return inject(reference, random_kinds(rng, number), rng.getrandbits(30))
            except SyntheticError:
                continue
    return inject(reference, [], rng.getrandbits(30))
