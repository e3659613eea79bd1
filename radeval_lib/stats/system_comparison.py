"""Two or more systems on the same cases: their values, and how each pair of them differs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, log2, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.inputs import FloatArray, OfSums, finite
from radeval_lib.stats.p_values import holm, randomization_p
from radeval_lib.stats.resampling import estimate, sum_draws, widened

LEVEL, POWER = 0.05, 0.8
"""Of tests: the two-sided level, and the wanted chance to find a difference that is there."""
_MOST = 10**9  # cases beyond which no number is given


def compare_systems(
    tables: Mapping[str, Mapping[str, FloatArray]],
    values: Mapping[str, OfSums],
    *,
    resamples: int,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return values of systems with intervals, and every pair of systems compared by every metric.

    Parameters
    ----------
    tables : by metric and system, statistics of each case, float64 of shape (cases, statistics); the same
        cases in the same order everywhere, at least two.
    values : by metric, one value from sums of statistics, shape (..., statistics) to (..., 1).
    resamples, seed : of the bootstrap over cases and of the randomization test; every metric and pair gets
        the same draws.

    Returns
    -------
    systems : ``metric``, ``system``, ``value``, ``low``, ``high`` (95 %, percentile, widened for few cases)
        and ``cases``.
    pairs : ``metric``, ``first``, ``second``; ``difference`` (first minus second), ``low`` and ``high``;
        ``p`` (:func:`~radeval_lib.stats.p_values.randomization_p`) and ``p_holm``, corrected over all rows;
        ``standardised``, the difference over the standard deviation of the differences of cases (for a value
        that is not a mean, of its jackknife pseudo-values), NaN where these do not vary; and ``more_cases``,
        how many more would give 80 % power to find a difference of this size (:func:`cases_needed`) at the
        level 0.05 divided by the number of rows, which is enough for Holm's correction; missing where no
        number would.

    Raises
    ------
    ValueError
        Where there is no system or one case alone, a metric or system has other cases or another number of
        statistics, a metric has no ``values``, or a statistic is not finite.
    """
    _check(tables, values)
    joint = _joint(tables, values, resamples, seed)
    level = widened(joint.cases)
    systems, pairs = [], []
    for (metric, system), number in joint.column.items():
        interval = estimate(joint.observed[number], joint.drawn[:, number], level)
        systems.append((metric, system, interval.value, interval.low, interval.high, joint.cases))
    comparisons = sum(len(by_system) * (len(by_system) - 1) // 2 for by_system in tables.values())
    for metric, by_system in tables.items():
        for first, second in combinations(by_system, 2):
            gap = joint.gap((metric, first), (metric, second), level)
            (p,) = randomization_p(
                by_system[first],
                by_system[second],
                values[metric],
                resamples=resamples,
                rng=np.random.default_rng(seed),
            )
            effect = joint.effect((metric, first), (metric, second))
            more = np.maximum(0.0, cases_needed(effect, LEVEL / comparisons) - joint.cases)
            pairs.append((metric, first, second, gap.value, gap.low, gap.high, p, effect, more))
    columns = ["metric", "first", "second", "difference", "low", "high", "p", "standardised", "more_cases"]
    compared = pd.DataFrame(pairs, columns=columns)
    compared.insert(columns.index("p") + 1, "p_holm", holm(compared["p"]))
    compared["more_cases"] = compared["more_cases"].astype("Int64")
    return pd.DataFrame(systems, columns=["metric", "system", "value", "low", "high", "cases"]), compared


def _check(tables: Mapping[str, Mapping[str, FloatArray]], values: Mapping[str, OfSums]) -> None:
    if lacking := [metric for metric in tables if metric not in values]:
        raise ValueError(f"no values of the metric {lacking[0]!r}")
    shapes = {metric: {table.shape for table in own.values()} for metric, own in tables.items()}
    if not shapes or any(len(own) != 1 for own in shapes.values()):
        raise ValueError("give each metric one or more systems, all with the same cases and statistics")
    cases = {shape[0] for own in shapes.values() for shape in own}
    if len(cases) != 1 or min(cases) < 2:
        raise ValueError(f"metrics with {sorted(cases)} cases; give all the same ones, two or more")
    for metric, own in tables.items():
        for system, table in own.items():
            finite(f"{metric} of {system}", table, None, None)


@dataclass(frozen=True)
class _Joint:
    """The values of every metric and system, a ``column`` each, on the same draws of cases.

    ``observed``: at the data, shape (values,). ``drawn``: in each resample, shape (resamples, values).
    ``pseudo``: the jackknife's pseudo-values, shape (cases, values); of a mean, the values of the cases
    themselves.
    """

    column: Mapping[tuple[str, str], int]
    observed: FloatArray
    drawn: FloatArray
    pseudo: FloatArray

    @property
    def cases(self) -> int:
        return len(self.pseudo)

    def gap(self, first: tuple[str, str], second: tuple[str, str], level: float) -> Estimate:
        """Return the first value minus the second, with its percentile interval."""
        one, other = self.column[first], self.column[second]
        drawn = self.drawn[:, one] - self.drawn[:, other]
        return estimate(self.observed[one] - self.observed[other], drawn, level)

    def effect(self, first: tuple[str, str], second: tuple[str, str]) -> float:
        """Return the difference over the standard deviation of its pseudo-values; NaN where these do not
        vary."""
        both = [self.column[first], self.column[second]]
        gaps = self.pseudo[:, both[0]] - self.pseudo[:, both[1]]
        spread = float(gaps.std(ddof=1))
        if not spread > 1e-12 * abs(self.pseudo[:, both]).max():  # by rounding alone
            return float("nan")
        return float(self.observed[both[0]] - self.observed[both[1]]) / spread


def _joint(
    tables: Mapping[str, Mapping[str, FloatArray]], values: Mapping[str, OfSums], resamples: int, seed: int
) -> _Joint:
    # Each metric's statistics, shape (cases, systems, statistics), and all of them side by side.
    stacked = {metric: np.stack(list(by_system.values()), axis=1) for metric, by_system in tables.items()}
    flat = np.concatenate([table.reshape(len(table), -1) for table in stacked.values()], axis=1)
    borders = np.cumsum([table[0].size for table in stacked.values()])[:-1]

    def all_values(sums: FloatArray) -> FloatArray:
        """Return the values of every metric and system, one after another, from sums of ``flat``."""
        parts = np.split(np.atleast_2d(sums), borders, axis=1)
        return np.concatenate(
            [
                values[metric](part.reshape(-1, *table.shape[1:]))[..., 0]
                for part, (metric, table) in zip(parts, stacked.items(), strict=True)
            ],
            axis=1,
        )

    cases, total = len(flat), flat.sum(axis=0)
    names = [(metric, system) for metric, by_system in tables.items() for system in by_system]
    (observed,) = all_values(total)
    return _Joint(
        column={name: number for number, name in enumerate(names)},
        observed=observed,
        drawn=sum_draws(flat, all_values, resamples=resamples, rng=np.random.default_rng(seed)),
        pseudo=cases * observed - (cases - 1) * all_values(total - flat),
    )


def significance_clusters(systems: Sequence[str], differ: Callable[[str, str], bool]) -> list[int]:
    """Return the cluster of each system, from 1, of systems from the best to the worst.

    A new cluster begins where every system above differs from every system from there on, as in the shared
    tasks of the Conference on Machine Translation; within a cluster the order means nothing.
    """
    clusters: list[int] = []
    for place in range(len(systems)):
        begins = all(differ(above, below) for above in systems[:place] for below in systems[place:])
        clusters.append((clusters[-1] if clusters else 0) + begins)
    return clusters


def cases_needed(effect: float, alpha: float) -> float:
    """Return how many pairs a two-sided paired t test at the level ``alpha`` needs to find a standardised
    difference with 80 % power.

    At least so many that the exact randomization test can reach ``alpha``, whose smallest p is 2 / 2^cases;
    NaN where the effect is 0 or unknown, or no number below a thousand million does. ``alpha`` is above 0 and
    below 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}; it must be above 0 and below 1")
    least, size = ceil(log2(2 / alpha)), abs(effect)
    if not size > 0:
        return float("nan")

    def enough(cases: int) -> bool:
        beyond = stats.t.isf(alpha / 2, cases - 1)  # the other tail adds nothing where the power is large
        return bool(stats.nct.sf(beyond, cases - 1, size * sqrt(cases)) >= POWER)

    found = least + bisect_left(range(least, _MOST), True, key=enough)
    return float(found) if found < _MOST else float("nan")
