"""Comparison of two or more systems on the same cases: their scores, and the difference of each pair."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import ceil, log2, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from radeval_lib.stats.base import FloatArray, Formula
from radeval_lib.stats.inference import holm, randomization_p
from radeval_lib.stats.resampling import estimate, resample_sums, widened_level

LEVEL, POWER = 0.05, 0.8
"""The two-sided level of the tests, and the power for which :func:`cases_needed` plans."""
_Tables = Mapping[str, Mapping[str, FloatArray]]  # the statistics of each case, by metric and system
_MAX_CASES = 10**9  # only smaller numbers of cases are returned


def compare_systems(
    tables: _Tables, formulas: Mapping[str, Formula], *, resamples: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables: each system's value by each metric, and the differences between systems.

    Parameters
    ----------
    tables : by metric and system, the statistics of each case, float64 of shape (cases, statistics); two or
        more cases, the same in the same order in all tables.
    formulas : by metric, the function that computes its value from sums of statistics, shape (...,
        statistics) to (..., 1).
    resamples, seed : the number of resamples, and the seed, of the bootstrap over cases and of the
        randomization test. All metrics and pairs share the draws.

    Returns
    -------
    systems : DataFrame
        One row per metric and system: ``metric``, ``system``, ``value``, ``low``, ``high`` (95%, percentile,
        widened for few cases) and ``cases``.
    pairs : DataFrame
        One row per metric and pair of systems: ``metric``, ``first``, ``second``; ``difference`` (first minus
        second) with ``low`` and ``high``; ``p`` (:func:`~radeval_lib.stats.inference.randomization_p`) and
        ``p_holm``, corrected over all rows; ``standardised`` and ``more_cases``. ``standardised`` is the
        difference divided by the standard deviation of the cases' differences (of the jackknife
        pseudo-values, if the metric's value is not a mean over cases); NaN if these do not vary.
        ``more_cases`` is the number of further cases (0 or more) that give 80% power for a true difference of
        this size (:func:`cases_needed`) at the level 0.05 / rows, which is enough for Holm's correction;
        missing if ``standardised`` is 0 or NaN, or no total below 10^9 cases is enough.
    """
    flat, compute_values = _join_tables(tables, formulas)
    cases, total = len(flat), flat.sum(axis=0)
    (observed,) = compute_values(total)
    resampled = resample_sums(flat, compute_values, resamples=resamples, rng=np.random.default_rng(seed))
    # The jackknife's pseudo-values, shape (cases, values); of a mean, the values of the cases themselves.
    pseudo = cases * observed - (cases - 1) * compute_values(total - flat)
    level = widened_level(cases)
    names = [(metric, system) for metric, by_system in tables.items() for system in by_system]
    columns = {name: number for number, name in enumerate(names)}
    systems, pairs = [], []
    for (metric, system), column in columns.items():
        interval = estimate(observed[column], resampled[:, column], level)
        systems.append((metric, system, interval.value, interval.low, interval.high, cases))
    comparisons = sum(len(by_system) * (len(by_system) - 1) // 2 for by_system in tables.values())
    for metric, by_system in tables.items():
        for first, second in combinations(by_system, 2):
            left, right = columns[metric, first], columns[metric, second]
            difference = observed[left] - observed[right]
            gap = estimate(difference, resampled[:, left] - resampled[:, right], level)
            arguments = (by_system[first], by_system[second], formulas[metric])
            (p,) = randomization_p(*arguments, resamples=resamples, rng=np.random.default_rng(seed))
            spread = float((pseudo[:, left] - pseudo[:, right]).std(ddof=1))
            varies = spread > 1e-12 * abs(pseudo[:, [left, right]]).max()  # less is a rounding error
            effect = float(difference) / spread if varies else float("nan")
            n_further = np.maximum(0.0, cases_needed(effect, LEVEL / comparisons) - cases)
            pairs.append((metric, first, second, gap.value, gap.low, gap.high, p, effect, n_further))
    headings = ["metric", "first", "second", "difference", "low", "high", "p", "standardised", "more_cases"]
    pairs_table = pd.DataFrame(pairs, columns=headings)
    pairs_table.insert(headings.index("p") + 1, "p_holm", holm(pairs_table["p"]))
    pairs_table["more_cases"] = pairs_table["more_cases"].astype("Int64")
    return pd.DataFrame(systems, columns=["metric", "system", "value", "low", "high", "cases"]), pairs_table


def _join_tables(tables: _Tables, formulas: Mapping[str, Formula]) -> tuple[FloatArray, Formula]:
    """Return the statistics of all metrics and systems as one array, and the function that computes their
    values from sums of its rows.

    The array has shape (cases, statistics). The function takes shape (rows, statistics), or (statistics,) for
    one row, to (rows, values). Values are ordered by metric and, for each metric, by system.
    """
    stacked = {metric: np.stack(list(by_system.values()), axis=1) for metric, by_system in tables.items()}
    flat = np.concatenate([table.reshape(len(table), -1) for table in stacked.values()], axis=1)
    borders = np.cumsum([table[0].size for table in stacked.values()])[:-1]

    def compute_values(sums: FloatArray) -> FloatArray:
        parts = np.split(np.atleast_2d(sums), borders, axis=1)
        by_metric = [
            formulas[metric](part.reshape(-1, *table.shape[1:]))[..., 0]
            for part, (metric, table) in zip(parts, stacked.items(), strict=True)
        ]
        return np.concatenate(by_metric, axis=1)

    return flat, compute_values


def significance_clusters(systems: Sequence[str], differ: Callable[[str, str], bool]) -> list[int]:
    """Return the number of each system's cluster, in the order of ``systems``; cluster 1 is the best.

    A new cluster begins at a system if all systems before it differ significantly from it and from all later
    ones, as in the shared tasks of the Conference on Machine Translation. Within a cluster, the order has no
    meaning.

    Parameters
    ----------
    systems : names of systems, from the best to the worst.
    differ : a function of two names that returns whether these systems differ significantly.
    """
    clusters: list[int] = []
    for rank in range(len(systems)):
        is_new = all(differ(above, below) for above in systems[:rank] for below in systems[rank:])
        clusters.append((clusters[-1] if clusters else 0) + is_new)
    return clusters


def cases_needed(effect: float, alpha: float) -> float:
    """Return the smallest number of cases with which a two-sided paired t-test detects a standardised
    difference with 80% power.

    It is also large enough for the exact randomization test to reach ``alpha``: with n cases, the smallest
    p-value of this test is 2 / 2^n. NaN if the effect is 0 or NaN, or 10^9 cases or more are needed.

    Parameters
    ----------
    effect : the mean difference divided by the standard deviation of the cases' differences.
    alpha : the level of the test, above 0 and below 1.
    """
    minimum, size = ceil(log2(2 / alpha)), abs(effect)
    if not size > 0:
        return float("nan")

    def has_power(cases: int) -> bool:
        critical = stats.t.isf(alpha / 2, cases - 1)  # at 80% power, the other tail is negligible
        return bool(stats.nct.sf(critical, cases - 1, size * sqrt(cases)) >= POWER)

    cases = minimum + bisect_left(range(minimum, _MAX_CASES), True, key=has_power)
    return float(cases) if cases < _MAX_CASES else float("nan")
