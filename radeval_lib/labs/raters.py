"""Simulated raters: people who see most errors, sometimes an error that is not there, and grade in steps.

A rater gets the exact comparison of candidate and reference and returns what a radiologist would write down
in ReXVal (counts of six categories, clinically significant and not) and RaTE-Eval (potential errors, grades
from 0 to 5). Every departure from the truth is a named parameter, so that what a metric's agreement with
such raters shows is known. Raters of a panel mind different things when they grade, and none of them uses a
metric's formula. How far those of a panel differ is fitted to the counts of ReXVal's six radiologists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from radeval_lib.synthetic.difference import CATEGORIES, ReportDifference
from radeval_lib.synthetic.generator import seeded

_LETTERS = tuple(CATEGORIES)


def _impression(comparison: ReportDifference, significant: int, minor: int) -> float:
    """The share of findings that are wrong somehow, coarsely: how many errors a finding has is not minded."""
    wrong = min(significant + minor, len({error.concept for error in comparison.errors}) or 1)
    stated = len(comparison.matched) + wrong
    return 4 * wrong / stated if significant + minor else 0.0


#: What raters mind when they grade: the steps that noted errors take from 5.
MINDS: dict[str, Callable[[ReportDifference, int, int], float]] = {
    "errors": lambda _, significant, minor: 0.8 * (significant + minor),
    "weighted errors": lambda _, significant, minor: significant + 0.25 * minor,
    "the worst error": lambda _, significant, minor: (
        2.5 + 0.25 * (significant - 1) if significant else min(minor, 1.0)
    ),
    "the impression": _impression,
}


@dataclass(frozen=True, slots=True)
class Rater:
    """How a rater departs from the truth."""

    name: str = "rater"
    sensitivity: float = 0.95
    minor_sensitivity: float = 0.7
    significance_noise: float = 0.1
    category_noise: float = 0.03
    false_alarms: float = 0.1
    granularity: float = 1.0
    noise: float = 0.4
    leniency: float = 0.0
    minds: str = "errors"


_SPREAD, _ALARMS = 0.15, 1.2  # of sensitivities, and of the logarithm of false alarms, over a panel
#: A rater without any departure: exact counts, grades without noise.
PERFECT = Rater("perfect", 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class SimulatedRating:
    """What a rater wrote down about one candidate. ``grade``: 5 correct ... 0 nothing in common."""

    rater: str
    significant: dict[str, int]
    insignificant: dict[str, int]
    potential: int
    grade: float

    @property
    def total(self) -> int:
        """All errors noted."""
        return sum(self.significant.values()) + sum(self.insignificant.values())

    @property
    def normalised(self) -> float:
        """Errors by potential errors, as in RaTE-Eval's sentence task; 0 where none was possible."""
        return self.total / self.potential if self.potential else 0.0


def rate(comparison: ReportDifference, rater: Rater, seed: int = 0, case: str = "") -> SimulatedRating:
    """A rating of the candidate behind ``comparison``; ``case`` names it, so that cases differ."""
    rng = seeded(seed, rater.name, case, "rating")
    counts = {True: dict.fromkeys(_LETTERS, 0), False: dict.fromkeys(_LETTERS, 0)}
    for error in comparison.errors:
        if rng.random() >= (rater.sensitivity if error.significant else rater.minor_sensitivity):
            continue
        significant = error.significant != (rng.random() < rater.significance_noise)
        category = error.category
        if rng.random() < rater.category_noise:
            category = _LETTERS[int(rng.random() * len(_LETTERS))]
        counts[significant][category] += 1
    for _ in range(_poisson(rng, rater.false_alarms)):
        counts[rng.random() < 0.5][_LETTERS[int(rng.random() * len(_LETTERS))]] += 1
    noted = sum(counts[True].values()) + sum(counts[False].values())
    lost = MINDS[rater.minds](comparison, sum(counts[True].values()), sum(counts[False].values()))
    latent = 5 - lost + rater.leniency + rater.noise * _normal(rng)
    grade = min(5.0, max(0.0, round(latent / rater.granularity) * rater.granularity))
    return SimulatedRating(rater.name, counts[True], counts[False], max(comparison.potential, noted), grade)


def panel(n: int, seed: int = 0) -> tuple[Rater, ...]:
    """``n`` raters who see more or less than is usual, invent more or less, and mind different things.

    Leniency, in grades, has a standard deviation of 0.4.
    """
    base, raters = Rater(), []
    for index in range(n):
        rng = seeded(seed, index, "panel")
        raters.append(
            Rater(
                name=f"{base.name} {index + 1}",
                sensitivity=_clipped(base.sensitivity + _SPREAD * _normal(rng)),
                minor_sensitivity=_clipped(base.minor_sensitivity + _SPREAD * _normal(rng)),
                false_alarms=base.false_alarms * math.exp(_ALARMS * _normal(rng)),
                leniency=base.leniency + 0.4 * _normal(rng),
                minds=tuple(MINDS)[index % len(MINDS)],
            )
        )
    return tuple(raters)


def _clipped(value: float) -> float:
    return min(1.0, max(0.0, value))


def _normal(rng: Random) -> float:
    """A standard normal number (Box-Muller), from ``rng.random`` alone."""
    return math.sqrt(-2 * math.log(1 - rng.random())) * math.cos(2 * math.pi * rng.random())


def _poisson(rng: Random, mean: float) -> int:
    limit, product, count = math.exp(-mean), rng.random(), 0
    while product > limit:
        product *= rng.random()
        count += 1
    return count
