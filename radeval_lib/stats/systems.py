"""Two or more systems on the same cases: their values, and how each pair of them differs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import combinations
from math import ceil, log2, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from radeval_lib.stats.resampling import (
    FloatArray,
    OfSums,
    estimate,
    holm,
    randomization_p,
    sum_draws,
    widened,
)

LEVEL, POWER = 0.05, 0.8
_MOST = 10**9  # cases beyond which no number is told


def compare_systems(
    tables: Mapping[str, Mapping[str, FloatArray]],
    values: Mapping[str, OfSums],
    *,
    resamples: int,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Values of systems with intervals, and every pair of systems compared by every metric.

    Parameters
    ----------
    tables : by metric and system, statistics of each case, float64 of shape (cases, statistics); the same
        cases in the same order everywhere, at least two.
    values : by metric, one value from sums of statistics, shape (..., statistics) to (..., 1).
    resamples : of the bootstrap over cases, and of the randomization test.
    seed : of both; every metric and pair gets the same draws.

    Returns
    -------
    systems : ``metric``, ``system``, ``value``, ``low``, ``high`` (95 %, percentile, widened for few cases)
        and ``cases``.
    pairs : ``metric``, ``first``, ``second``; ``difference`` (first minus second), ``low`` and ``high``;
        ``p`` (:func:`~radeval_lib.stats.resampling.randomization_p`) and ``p_holm``, corrected over all rows;
        ``standardised``, the difference over the standard deviation of the differences of cases (for a value
        that is no mean, of its jackknife pseudo-values), NaN where these do not vary; and ``more_cases``, how
        many more would give 80 % power to find a difference of this size (:func:`cases_needed`) at the level
        0.05 divided by the number of rows, which is enough for Holm's correction; missing where no number
        would.
    """
    systems, pairs = [], []
    rows = sum(len(of) * (len(of) - 1) // 2 for of in tables.values())
    for metric, by_system in tables.items():
        of, cases = values[metric], len(next(iter(by_system.values())))
        level = widened(cases)
        stacked = np.stack(list(by_system.values()), axis=1)

        def all_values(
            sums: FloatArray, of: OfSums = of, shape: tuple[int, ...] = stacked.shape
        ) -> FloatArray:
            return of(sums.reshape(-1, *shape[1:]))[..., 0]

        flat = stacked.reshape(cases, -1)
        drawn = sum_draws(flat, all_values, resamples=resamples, rng=np.random.default_rng(seed))
        total = flat.sum(axis=0)
        found = dict(zip(by_system, all_values(total)[0], strict=True))
        # The jackknife's pseudo-values; of a mean, the values of the cases themselves.
        pseudo = cases * all_values(total) - (cases - 1) * all_values(total - flat)
        place = {name: at for at, name in enumerate(by_system)}
        for name, value in found.items():
            interval = estimate(value, drawn[:, place[name]], level)
            systems.append((metric, name, value, interval.low, interval.high, cases))
        for first, second in combinations(by_system, 2):
            gap = estimate(
                found[first] - found[second], drawn[:, place[first]] - drawn[:, place[second]], level
            )
            (p,) = randomization_p(
                by_system[first],
                by_system[second],
                of,
                resamples=resamples,
                rng=np.random.default_rng(seed),
            )
            spread = float((pseudo[:, place[first]] - pseudo[:, place[second]]).std(ddof=1))
            effect = gap.value / spread if spread > 1e-12 * abs(pseudo).max() else np.nan
            more = cases_needed(effect, LEVEL / rows) - cases
            pairs.append(
                (metric, first, second, gap.value, gap.low, gap.high, p, effect, np.maximum(0.0, more))
            )
    names = ["metric", "first", "second", "difference", "low", "high", "p", "standardised", "more_cases"]
    compared = pd.DataFrame(pairs, columns=names)
    compared.insert(names.index("p") + 1, "p_holm", holm(compared["p"]))
    compared["more_cases"] = compared["more_cases"].astype("Int64")
    return pd.DataFrame(systems, columns=["metric", "system", "value", "low", "high", "cases"]), compared


def cases_needed(effect: float, alpha: float = LEVEL, power: float = POWER) -> float:
    """How many pairs a two-sided paired t test needs to find a standardised difference with this power.

    At least so many that the exact randomization test can reach ``alpha``, whose smallest p is 2 / 2^cases;
    NaN where the effect is 0 or unknown, or no number below a thousand million does.
    """
    least, size = ceil(log2(2 / alpha)), abs(effect)
    if not size > 0:
        return float("nan")

    def enough(cases: int) -> bool:
        beyond = stats.t.isf(alpha / 2, cases - 1)  # the other tail adds nothing where the power is large
        return bool(stats.nct.sf(beyond, cases - 1, size * sqrt(cases)) >= power)

    found = least + bisect_left(range(least, _MOST), True, key=enough)
    return float(found) if found < _MOST else float("nan")
