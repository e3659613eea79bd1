"""P-values for a bootstrapped quantity, for the difference between two systems and for a family of tests;
confidence intervals for shares."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from radeval_lib.stats.base import FloatArray, Formula, check_array

_MASK_ENTRIES = 2_000_000  # held in memory at a time: 16 MB as float64
_TIE = 1e-9  # scores that differ by less are equal


def inversion_p(resampled: ArrayLike) -> float:
    """Return the two-sided p-value for the hypothesis that a bootstrapped quantity is 0.

    The p-value p is twice the share of resampled values on the side of 0 with fewer values. A percentile
    interval with the level 1 - p therefore just reaches 0. A value of 0 is on both sides. The observed data
    count as one more value on the side with fewer (Davison and Hinkley 1997, section 4.2), so p is above 0;
    it is at most 1. ``resampled`` holds the resampled values, shape (resamples,), finite; without values, p
    is 1.
    """
    values = np.asarray(resampled, dtype=np.float64)
    values = np.where(np.abs(values) < 1e-12, 0.0, values)  # a rounding error of 0 counts as 0
    smaller_tail = min(int((values <= 0).sum()), int((values >= 0).sum()))
    return min(1.0, 2 * (1 + smaller_tail) / (1 + len(values)))


def exchange_masks(cases: int, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """Yield bool arrays of shape (exchanges, cases): True if two systems exchange their outputs for a case.

    Together they hold all 2^cases exchanges if there are at most ``resamples`` of them, otherwise
    ``resamples`` random ones.
    """
    if is_enumerated(cases, resamples):
        yield (np.arange(2**cases)[:, None] >> np.arange(cases) & 1).astype(bool)
        return
    step = max(1, _MASK_ENTRIES // cases)
    for start in range(0, resamples, step):
        yield rng.integers(2, size=(min(step, resamples - start), cases), dtype=bool)


def is_enumerated(cases: int, resamples: int) -> bool:
    """Return whether 2^cases is at most ``resamples``, so that :func:`exchange_masks` yields all exchanges
    and the p-value is exact."""
    return cases <= math.log2(resamples)


def randomization_p(
    first: FloatArray, second: FloatArray, values: Formula, *, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the two-sided p-values, shape (measures,), for the hypothesis that two systems are exchangeable
    in each case, by approximate randomization.

    If b of the random exchanges give a difference at least as large as the observed one, the p-value is
    (b + 1) / (resamples + 1). If all exchanges are enumerated (:func:`is_enumerated`), the p-value is exact:
    the share of exchanges with a difference at least as large. Source: Riezler and Maxwell 2005, figure 1;
    Noreen 1989.

    Parameters
    ----------
    first, second : statistics of the two systems on the same cases, shape (cases, statistics).
    values : the measures as a function of summed statistics.
    resamples : the number of random exchanges, and the largest number of exchanges that are enumerated.
    rng : the generator that draws the exchanges.
    """
    first_sums, second_sums = first.sum(axis=0), second.sum(axis=0)
    left, right = values(first_sums), values(second_sums)
    # Sums in another order may differ by this much through rounding alone.
    threshold = np.abs(left - right) - 1e-12 * (np.abs(left) + np.abs(right))
    count = 0
    for mask in exchange_masks(len(first), resamples, rng):
        exchanged = mask.astype(np.float64) @ (second - first)
        gaps = np.abs(values(first_sums + exchanged) - values(second_sums - exchanged))
        count = count + (gaps >= threshold).sum(axis=0)
    if is_enumerated(len(first), resamples):
        return np.asarray(count / 2 ** len(first), dtype=np.float64)
    return np.asarray((count + 1) / (resamples + 1), dtype=np.float64)


def holm(p_values: ArrayLike) -> FloatArray:
    """Return the p-values of one family of tests with Holm's correction (Holm 1979), in the order given.

    Shape (tests,). A p-value that is NaN stays NaN and counts as a test of the family. pingouin has this
    correction, but ``radbook compare`` must run without pingouin.
    """
    array = np.asarray(p_values, dtype=np.float64)
    order, count = np.argsort(array), len(array)
    result = np.empty(count)
    result[order] = np.maximum.accumulate((count - np.arange(count)) * array[order]).clip(max=1)
    return result


def wilson_interval(count: float, cases: int) -> tuple[float, float]:
    """Return the lower and upper bounds of Wilson's 95% confidence interval for the share ``count / cases``,
    0 to 1 (Wilson 1927).

    ``count`` is from 0 to ``cases``, which is at least 1. It need not be an integer, so a tie can count as
    half; SciPy's ``binomtest`` requires integers, for which the two agree.
    """
    z, share = float(stats.norm.isf(0.025)), count / cases
    middle = share + z**2 / (2 * cases)
    half_width = z * math.sqrt(share * (1 - share) / cases + z**2 / (4 * cases**2))
    low, high = ((middle + sign * half_width) / (1 + z**2 / cases) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def rule_of_three(cases: int) -> float:
    """Return the approximate upper 95% bound for a share that is 0 in ``cases`` cases, one or more:
    3 / cases, at most 1 (Hanley and Lippman-Hand 1983)."""
    return min(1.0, 3 / cases)


def preference_shares(better: pd.DataFrame, worse: pd.DataFrame) -> pd.DataFrame:
    """Return the share of items for which each metric scores the better of two candidates higher; a tie
    counts as half.

    Parameters
    ----------
    better, worse : finite scores of the better and of the worse candidate, a row per item and a column per
        metric. Row i of both belongs to the same item; ``worse`` has every column of ``better``.

    Returns
    -------
    DataFrame
        Index: the metrics. ``value`` (the share, 0 to 1) with ``low`` and ``high`` (its 95% Wilson interval),
        ``tied`` (the share of ties: scores that differ by less than 1e-9) and ``n`` (items). With ties, the
        interval is wider than needed, because a tie varies less than a win or a loss.

    Raises
    ------
    ValueError
        If a score is missing or infinite, or ``better`` and ``worse`` have different numbers of items.
    """
    scores = check_array("better", better, None, None)
    gaps = scores - check_array("worse", worse[better.columns], *scores.shape)
    points = np.where(np.abs(gaps) < _TIE, 0.5, gaps > 0)
    value, n = points.mean(axis=0), len(points)
    low, high = np.transpose([wilson_interval(count, n) for count in value * n])
    columns = {"value": value, "low": low, "high": high, "tied": (points == 0.5).mean(axis=0), "n": n}
    return pd.DataFrame(columns, index=better.columns)
