"""P values of a bootstrapped quantity, of two systems and of a family of tests; intervals of shares."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from radeval_lib.stats.base import FloatArray, OfSums, finite

_CELLS = 2_000_000  # exchanges held at a time: 16 MB where they are multiplied
_SAME = 1e-9  # scores nearer than this are a tie


def inversion_p(drawn: ArrayLike) -> float:
    """Return the two-sided p that a bootstrapped quantity is 0: from the percentile interval that just
    reaches 0.

    It is twice the share of draws on the rarer side of 0. A draw of 0 is on both sides. The observed data
    count as one more draw (Davison and Hinkley 1997, section 4.2), so p is never 0. ``drawn`` has shape
    (resamples,), finite.
    """
    array = np.asarray(drawn, dtype=np.float64)
    array = np.where(np.abs(array) < 1e-12, 0.0, array)  # rounding alone has no side
    rarer = min(int((array <= 0).sum()), int((array >= 0).sum()))
    return min(1.0, 2 * (1 + rarer) / (1 + len(array)))


def swaps(cases: int, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """Yield masks of the cases that two systems exchange, shape (ways, cases), in parts: all ways if there
    are at most ``resamples``, otherwise ``resamples`` random ones."""
    if is_enumerated(cases, resamples):
        yield (np.arange(2**cases)[:, None] >> np.arange(cases) & 1).astype(bool)
        return
    step = max(1, _CELLS // cases)
    for start in range(0, resamples, step):
        yield rng.integers(2, size=(min(step, resamples - start), cases), dtype=bool)


def is_enumerated(cases: int, resamples: int) -> bool:
    """Return whether :func:`swaps` yields all ways."""
    return cases <= math.log2(resamples)


def randomization_p(
    first: FloatArray, second: FloatArray, values: OfSums, *, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the two-sided p, shape (measures,), of the hypothesis that the two systems can be exchanged in
    each case. Their statistics are on the same cases, shape (cases, statistics).

    With b random exchanges of cases whose difference is at least as large as the observed one, p is
    (b + 1)/(resamples + 1). If every way of exchanging is taken (:func:`swaps`), p is exact: the share of
    these. Source: Riezler and Maxwell 2005, figure 1; Noreen 1989.
    """
    ours, theirs = first.sum(axis=0), second.sum(axis=0)
    our_values, their_values = values(ours), values(theirs)
    # Two orders of summing may differ by this much without a difference.
    least = np.abs(our_values - their_values) - 1e-12 * (np.abs(our_values) + np.abs(their_values))
    count = 0
    for swapped in swaps(len(first), resamples, rng):
        moved = swapped.astype(np.float64) @ (second - first)
        count = count + (np.abs(values(ours + moved) - values(theirs - moved)) >= least).sum(axis=0)
    if is_enumerated(len(first), resamples):
        return np.asarray(count / 2 ** len(first), dtype=np.float64)
    return np.asarray((count + 1) / (resamples + 1), dtype=np.float64)


def holm(ps: ArrayLike) -> FloatArray:
    """Return the p values of one family, corrected (Holm 1979), in their order.

    A p that is NaN stays NaN and counts as one of the family. ``radbook compare`` needs it in a light
    install, which has no pingouin; pages call pingouin's.
    """
    array = np.asarray(ps, dtype=np.float64)
    order, count = np.argsort(array), len(array)
    result = np.empty(count)
    result[order] = np.maximum.accumulate((count - np.arange(count)) * array[order]).clip(max=1)
    return result


def wilson(count: float, cases: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the share ``count`` of ``cases`` (Wilson 1927).

    A tie may count as half, which SciPy's ``binomtest`` refuses; for whole numbers the two agree. There is
    one case or more, and the count is from 0 to ``cases``.
    """
    z, share = float(stats.norm.isf(0.025)), count / cases
    middle = share + z**2 / (2 * cases)
    half = z * math.sqrt(share * (1 - share) / cases + z**2 / (4 * cases**2))
    low, high = ((middle + sign * half) / (1 + z**2 / cases) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def rule_of_three(cases: int) -> float:
    """Return an upper 95 % bound of a share if it is 0 in ``cases`` cases, one or more (Hanley and
    Lippman-Hand 1983)."""
    return min(1.0, 3 / cases)


def preferences(better: pd.DataFrame, worse: pd.DataFrame) -> pd.DataFrame:
    """Return how often each metric scores the better of two candidates higher; a tie counts as half.

    Parameters
    ----------
    better, worse : finite scores of the two candidates of each item, a column per metric; row i of both is
        about one item.

    Returns
    -------
    DataFrame
        Index: the metrics. ``value``, with ``low`` and ``high`` (95 %, Wilson 1927, so wider than needed if
        there are ties), ``tied`` (share of items) and ``n`` (items).
    """
    scores = finite("better", better, None, None)
    gaps = scores - finite("worse", worse[better.columns], *scores.shape)
    right = np.where(np.abs(gaps) < _SAME, 0.5, gaps > 0)
    value, n = right.mean(axis=0), len(right)
    low, high = np.transpose([wilson(count, n) for count in value * n])
    columns = {"value": value, "low": low, "high": high, "tied": (right == 0.5).mean(axis=0), "n": n}
    return pd.DataFrame(columns, index=better.columns)
