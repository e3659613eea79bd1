"""Generated pairs with the errors that simulated raters note in them: to practise statistics on.

A rater gets the exact comparison of candidate and reference and notes, as ReXVal's radiologists do, errors of
six categories, clinically significant and not; misses some, and sees some that are not there. How far raters
differ is fitted to the counts of ReXVal's six. Nothing that they say is evidence about a metric or a paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from radeval_lib.data.generated import CANDIDATES, error_cases
from radeval_lib.rules.generator import ErrorPair
from radeval_lib.rules.generator.difference import CATEGORIES, ReportDifference
from radeval_lib.rules.generator.generator import seeded

_RATERS = 6  # as many as ReXVal has
_LETTERS = tuple(CATEGORIES)
_SPREAD, _ALARMS = 0.15, 1.2  # over raters: of sensitivities, and of the logarithm of false alarms
_MISJUDGED, _MISNAMED = 0.1, 0.03  # shares of the noted errors whose significance or category is wrong
Noted = tuple[str, bool]
"""The category of an error, and whether it is noted as significant."""


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater's eye: the shares of significant and other errors seen, and the mean number of false errors
    noted."""

    name: str = "rater"
    sensitivity: float = 0.95
    minor_sensitivity: float = 0.7
    false_alarms: float = 0.1


def cases(n: int, seed: int) -> Iterator[tuple[ErrorPair, list[list[Noted]]]]:
    """Yield ``n`` pairs, four for each reference, with the notes of six raters."""
    people = panel(_RATERS, seed)
    for number, pair in enumerate(error_cases(n, seed)):
        case, origin = divmod(number, CANDIDATES)
        yield pair, [note_errors(pair.comparison, rater, seed, f"{case}/{origin}") for rater in people]


def note_errors(comparison: ReportDifference, rater: Rater, seed: int, case: str) -> list[Noted]:
    """Return a rater's notes on a candidate. Different names in ``case`` give different notes."""
    rng, notes = seeded(seed, rater.name, case, "rating"), list[Noted]()
    for error in comparison.errors:
        if rng.random() < (rater.sensitivity if error.significant else rater.minor_sensitivity):
            significant = error.significant != (rng.random() < _MISJUDGED)
            notes.append((_any(rng) if rng.random() < _MISNAMED else error.category, significant))
    # Knuth's product of uniform numbers gives a Poisson number of false alarms.
    alarms, product = 0, rng.random()
    while product > math.exp(-rater.false_alarms):
        product *= rng.random()
        alarms += 1
    return [*notes, *((_any(rng), rng.random() < 0.5) for _ in range(alarms))]


def panel(n: int, seed: int) -> list[Rater]:
    """Return ``n`` raters who see and invent more or fewer errors than usual. Rater i depends only on
    ``seed`` and i."""
    usual, raters = Rater(), []
    for index in range(n):
        rng = seeded(seed, index, "panel")
        major, minor = (
            min(1.0, max(0.0, share + _SPREAD * _normal(rng)))
            for share in (usual.sensitivity, usual.minor_sensitivity)
        )
        alarms = usual.false_alarms * math.exp(_ALARMS * _normal(rng))
        raters.append(Rater(f"{usual.name} {index + 1}", major, minor, alarms))
    return raters


def _any(rng: Random) -> str:
    """Return the letter of a random category."""
    return _LETTERS[int(rng.random() * len(_LETTERS))]


def _normal(rng: Random) -> float:
    """Return a standard normal number (Box-Muller), from ``rng.random`` alone."""
    return math.sqrt(-2 * math.log(1 - rng.random())) * math.cos(2 * math.pi * rng.random())
