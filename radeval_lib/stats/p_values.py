"""p values: of a bootstrapped quantity, of two systems by randomization, and of a family of tests."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radeval_lib.stats.inputs import FloatArray, OfSums, at_least_one, finite

_CELLS = 2_000_000  # exchanges held at a time: 16 MB where they are multiplied


def inversion_p(drawn: ArrayLike) -> float:
    """Return two-sided p that a bootstrapped quantity is 0, from the percentile interval that just reaches 0.

    Twice the share of draws on the rarer side of 0, where a draw of 0 is on both sides; the observed data
    count as one more draw (Davison and Hinkley 1997, section 4.2), so p is never 0. ``drawn`` has shape
    (resamples,), finite."""
    array = finite("drawn", drawn, None)
    array = np.where(np.abs(array) < 1e-12, 0.0, array)  # rounding alone has no side
    rarer = min(int((array <= 0).sum()), int((array >= 0).sum()))
    return min(1.0, 2 * (1 + rarer) / (1 + len(array)))


def swaps(cases: int, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """Yield which cases two systems exchange, shape (ways, cases), a part of the ways at a time: every way if
    there are at most ``resamples``, else ``resamples`` random ones."""
    at_least_one("cases", cases)
    if is_enumerated(cases, resamples):
        yield (np.arange(2**cases)[:, None] >> np.arange(cases) & 1).astype(bool)
        return
    step = max(1, _CELLS // cases)
    for start in range(0, resamples, step):
        yield rng.integers(2, size=(min(step, resamples - start), cases), dtype=bool)


def is_enumerated(cases: int, resamples: int) -> bool:
    """Return whether :func:`swaps` takes every way."""
    return cases <= math.log2(at_least_one("resamples", resamples))


def randomization_p(
    first: FloatArray, second: FloatArray, values: OfSums, *, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return two-sided p, shape (measures,), of the hypothesis that each case of two systems could as well be
    the other's, by their statistics on the same cases, shape (cases, statistics).

    With b random exchanges of cases whose difference is at least as large as the observed one, p is
    (b + 1)/(resamples + 1); where every way of exchanging is taken (:func:`swaps`), it is exact, the share of
    these. Source: Riezler and Maxwell 2005, figure 1; Noreen 1989.

    Raises
    ------
    ValueError
        Where the two have other shapes, a statistic is not finite, or ``resamples`` is below 1.
    """
    first = finite("first", first, None, None)
    second = finite("second", second, *first.shape)
    ours, theirs = first.sum(axis=0), second.sum(axis=0)
    mine, other = values(ours), values(theirs)
    # What two orders of summing may differ by is no difference.
    least = np.abs(mine - other) - 1e-12 * (np.abs(mine) + np.abs(other))
    count = 0
    for swapped in swaps(len(first), resamples, rng):
        moved = swapped.astype(np.float64) @ (second - first)
        count = count + (np.abs(values(ours + moved) - values(theirs - moved)) >= least).sum(axis=0)
    if is_enumerated(len(first), resamples):
        return np.asarray(count / 2 ** len(first), dtype=np.float64)
    return np.asarray((count + 1) / (resamples + 1), dtype=np.float64)


def holm(ps: ArrayLike) -> FloatArray:
    """Return p values of one family, corrected (Holm 1979), in their order; a p that is NaN stays NaN and
    counts as one of the family. For ``radbook compare``, which a light install without pingouin has to run;
    pages call pingouin's."""
    array = np.asarray(ps, dtype=np.float64)
    if array.ndim != 1 or ((array < 0) | (array > 1)).any():
        raise ValueError("ps must be a list of p values from 0 to 1")
    order, count = np.argsort(array), len(array)
    result = np.empty(count)
    result[order] = np.maximum.accumulate((count - np.arange(count)) * array[order]).clip(max=1)
    return result
