"""Generated pairs of reports with the errors that simulated raters note in them, for exercises in statistics.

Like ReXVal's radiologists, a rater notes errors of six categories, each clinically significant or not. A
rater misses some of the true errors and notes some false ones. How much raters differ is fitted to the counts
of ReXVal's six radiologists. The ratings are no evidence about a metric or a paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from radeval_lib.data.generated import CANDIDATES, generate_error_cases
from radeval_lib.rules.generator import ErrorPair
from radeval_lib.rules.generator.difference import CATEGORIES, ReportDifference
from radeval_lib.rules.generator.generator import make_rng

_RATERS = 6  # as in ReXVal
_LETTERS = tuple(CATEGORIES)
_SENSITIVITY_SD, _LOG_ALARMS_SD = 0.15, 1.2  # between raters, of sensitivity and of the log of false alarms
# Shares of noted true errors whose significance is wrong, and whose category is drawn at random.
_WRONG_SIGNIFICANCE, _WRONG_CATEGORY = 0.1, 0.03
Noted = tuple[str, bool]
"""A noted error: the letter of its category, and whether it is noted as significant."""


@dataclass(frozen=True, slots=True)
class Rater:
    """A simulated rater's ability to find errors.

    Attributes
    ----------
    name : the rater's name, which also seeds the random numbers.
    sensitivity, minor_sensitivity : probabilities of noting a true significant error, and a true
        insignificant error.
    false_alarms : mean number of false errors noted per candidate.
    """

    name: str = "rater"
    sensitivity: float = 0.95
    minor_sensitivity: float = 0.7
    false_alarms: float = 0.1


def cases(n: int, seed: int) -> Iterator[tuple[ErrorPair, list[list[Noted]]]]:
    """Yield (pair, errors noted by each of six raters) for ``n`` pairs of a reference and a candidate.

    Each run of four consecutive pairs shares a reference.
    """
    raters = panel(_RATERS, seed)
    for number, pair in enumerate(generate_error_cases(n, seed)):
        case, candidate = divmod(number, CANDIDATES)
        yield pair, [note_errors(pair.comparison, rater, seed, f"{case}/{candidate}") for rater in raters]


def note_errors(comparison: ReportDifference, rater: Rater, seed: int, case: str) -> list[Noted]:
    """Return the errors that a rater notes in a candidate.

    ``comparison`` has the true errors. The random numbers depend on ``seed``, on the rater's name and on
    ``case``, the name of the pair.
    """
    rng, notes = make_rng(seed, rater.name, case, "rating"), list[Noted]()
    for error in comparison.errors:
        if rng.random() < (rater.sensitivity if error.significant else rater.minor_sensitivity):
            significant = error.significant != (rng.random() < _WRONG_SIGNIFICANCE)
            notes.append(
                (_draw_category(rng) if rng.random() < _WRONG_CATEGORY else error.category, significant)
            )
    # The number of false alarms has a Poisson distribution (Knuth's algorithm).
    alarms, product = 0, rng.random()
    while product > math.exp(-rater.false_alarms):
        product *= rng.random()
        alarms += 1
    return [*notes, *((_draw_category(rng), rng.random() < 0.5) for _ in range(alarms))]


def panel(n: int, seed: int) -> list[Rater]:
    """Return ``n`` raters with random sensitivities and false alarms around the defaults of :class:`Rater`.

    Rater i depends only on ``seed`` and i.
    """
    average, raters = Rater(), []
    for index in range(n):
        rng = make_rng(seed, index, "panel")
        major, minor = (
            min(1.0, max(0.0, share + _SENSITIVITY_SD * _draw_normal(rng)))
            for share in (average.sensitivity, average.minor_sensitivity)
        )
        alarms = average.false_alarms * math.exp(_LOG_ALARMS_SD * _draw_normal(rng))
        raters.append(Rater(f"{average.name} {index + 1}", major, minor, alarms))
    return raters


def _draw_category(rng: Random) -> str:
    """Return the letter of a random error category."""
    return _LETTERS[int(rng.random() * len(_LETTERS))]


def _draw_normal(rng: Random) -> float:
    """Return a standard normal random number by the Box-Muller method, which uses only ``rng.random``."""
    return math.sqrt(-2 * math.log(1 - rng.random())) * math.cos(2 * math.pi * rng.random())
