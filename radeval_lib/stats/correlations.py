"""Agreement of several metrics with ratings of the same pairs, where pairs may share a case.

Intervals and tests come from a cluster bootstrap: whole cases are drawn with replacement, since pairs of one
case are not independent; pingouin draws rows. A resample is a vector of counts, how often each pair was
drawn, and each coefficient is computed from the counts alone, for many resamples at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from radeval_lib.stats.base import FloatArray, finite, group_numbers
from radeval_lib.stats.inference import holm
from radeval_lib.stats.printed import Kind
from radeval_lib.stats.resampling import drawn_counts, ends, estimate

LEAST_GROUPS = 5  # fewer cases show too little of how they vary
_MOST_UNDEFINED = 0.05
_TESTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def coefficient(scores: ArrayLike, ratings: ArrayLike, kind: Kind) -> float:
    """Return the correlation of finite scores with ratings, both of shape (pairs,); NaN if a side does not
    vary. Kendall's is tau-b."""
    y = finite("ratings", ratings, None)
    x = finite("scores", scores, len(y))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(_TESTS[kind](x, y).statistic)


def varies(values: FloatArray, groups: NDArray[Any]) -> bool:
    """Return whether enough groups for :func:`resample` have a score other than the commonest."""
    distinct, counts = np.unique(values, return_counts=True)
    return len(np.unique(groups[values != distinct[counts.argmax()]])) >= LEAST_GROUPS


@dataclass(frozen=True)
class Resampled:
    """Metrics with their coefficients on the data and, shape (metrics, resamples), in each resample; NaN if
    undefined. Made by :func:`resample`."""

    names: list[str]
    values: list[float]
    draws: FloatArray
    pairs: int
    groups: int

    def intervals(self) -> pd.DataFrame:
        """Return the correlation of each metric with the ratings: ``metric``, ``value``, ``low``, ``high``
        (percentile), ``n`` (pairs), ``groups`` (cases)."""
        low, high = np.transpose([ends(draws) for draws in self.draws])
        table = pd.DataFrame({"metric": self.names, "value": self.values, "low": low, "high": high})
        return table.assign(n=self.pairs, groups=self.groups)

    def frame(self) -> pd.DataFrame:
        """Return a column per metric: its value in row 0, and its values in the resamples below."""
        return pd.DataFrame(np.column_stack([self.values, self.draws]).T, columns=self.names)

    def compare(self, first: str) -> pd.DataFrame:
        """Return the correlation of the metric ``first`` with the ratings minus that of each other metric.

        Returns
        -------
        DataFrame
            One row for every other metric: ``rival``; ``difference``, first minus rival, with ``low`` and
            ``high``, both metrics on the same draws; ``p``, two-sided, by inversion; ``p_holm``, corrected
            over the rivals (Holm 1979).
        """
        leader = self.names.index(first)
        rows = []
        for other, name in enumerate(self.names):
            if other != leader:
                gaps = self.draws[leader] - self.draws[other]
                lead = estimate(self.values[leader] - self.values[other], gaps)
                rows.append((name, lead.value, lead.low, lead.high, lead.p))
        result = pd.DataFrame(rows, columns=["rival", "difference", "low", "high", "p"])
        return result.assign(p_holm=holm(result["p"]))


def compare_with_one_rater(left_out: Sequence[Resampled]) -> pd.DataFrame:
    """Return the correlations of metrics, and of one rater, with the mean of the other raters, averaged over
    raters.

    Parameters
    ----------
    left_out : one for each rater who is left out of the mean, with that rater last among its names; all of
        the same metrics on the same draws.

    Returns
    -------
    DataFrame
        Index: the names. ``value``, ``low``, ``high``: the mean correlation; ``below``, ``below_low``,
        ``below_high``: the raters' minus the metric's.
    """
    values = np.mean([resampled.values for resampled in left_out], axis=0)
    draws = np.mean([resampled.draws for resampled in left_out], axis=0).T
    (low, high), (below_low, below_high) = ends(draws), ends(draws[:, -1:] - draws)
    columns = {"value": values, "low": low, "high": high, "below": values[-1] - values}
    columns |= {"below_low": below_low, "below_high": below_high}
    return pd.DataFrame(columns, index=left_out[0].names)


def resample(
    scores: Mapping[str, ArrayLike],
    ratings: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    kind: Kind,
    resamples: int,
    rng: np.random.Generator,
) -> Resampled:
    """Return each metric's correlation with the ratings in a cluster bootstrap. Intervals and comparisons
    share its draws.

    Parameters
    ----------
    scores : of each metric its scores, finite, shape (pairs,).
    ratings : finite, shape (pairs,).
    groups : the case of each pair, shape (pairs,); None: every pair is a case of its own.
    kind : which coefficient.
    resamples : how often the cases are drawn; all metrics are computed on the same draws.

    Raises
    ------
    ValueError
        If a score is missing, there are fewer than 5 cases, or a metric or the ratings do not vary in more
        than 5 % of the resamples. Up to there, such resamples are left out.
    """
    y = finite("ratings", ratings, None)
    table = np.array([finite(name, values, len(y)) for name, values in scores.items()])
    values = [coefficient(row, y, kind) for row in table]
    numbers = group_numbers("groups", np.arange(len(y)) if groups is None else groups, len(y), sort=True)
    count = int(numbers.max()) + 1
    if count < LEAST_GROUPS:
        raise ValueError(f"{count} groups; a bootstrap over groups needs at least {LEAST_GROUPS}")
    draws = _draws(table, y, numbers, kind, resamples, rng)
    for row, name in zip(draws, scores, strict=True):
        lost = int((~np.isfinite(row)).sum())
        if lost > _MOST_UNDEFINED * resamples:
            problem = f"its scores or the ratings do not vary in {lost} of {resamples} resamples"
            raise ValueError(f"{name}: {problem}; leave this metric out or use more cases")
    return Resampled(list(scores), values, draws, len(y), count)


class _Variable:
    """A column prepared for resampling: its order and ties."""

    def __init__(self, values: FloatArray) -> None:
        # The coefficients do not depend on centre and scale; the sums of squares lose fewer digits.
        self.values = (values - values.mean()) / (values.std() or 1.0)
        self._order = np.argsort(values, kind="stable")
        _, self._starts = np.unique(values[self._order], return_index=True)
        self.distinct = np.unique(values, return_inverse=True)[1]

    def count_values(self, counts: FloatArray) -> FloatArray:
        """Return how often each distinct value, in rising order, was drawn; shape (resamples, distinct
        values)."""
        return np.add.reduceat(counts[:, self._order], self._starts, axis=1)

    def ranks(self, tied: FloatArray) -> FloatArray:
        """Return the mid-rank of each pair within each resample, less the mean rank; shape (resamples,
        pairs)."""
        centred = np.cumsum(tied, axis=1) - tied / 2 - tied.sum(axis=1, keepdims=True) / 2
        return centred[:, self.distinct]


def _draws(
    scores: FloatArray,
    ratings: FloatArray,
    numbers: NDArray[np.intp],
    kind: Kind,
    resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the coefficient of each metric in each resample, shape (metrics, resamples); NaN if
    undefined."""
    metrics, rated = [_Variable(row) for row in scores], _Variable(ratings)
    of_kind = {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}[kind]
    chunks = []
    for drawn in drawn_counts(int(numbers.max()) + 1, resamples, rng, len(ratings)):
        counts = drawn[:, numbers]
        chunks.append(np.stack([of_kind(counts, metric, rated) for metric in metrics]))
    return np.concatenate(chunks, axis=1)


def _ratio(product: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return ``product / sqrt(first second)``, at most 1 in size; NaN if a side has no spread."""
    spread, undefined = np.maximum(first * second, 0), np.full_like(product, np.nan)
    return np.clip(np.divide(product, np.sqrt(spread), where=spread > 0, out=undefined), -1, 1)


def _pearson(counts: FloatArray, metric: _Variable, ratings: _Variable) -> FloatArray:
    x, y, total = metric.values, ratings.values, counts.sum(axis=1)
    mean_x, mean_y = counts @ x / total, counts @ y / total
    result = _ratio(
        counts @ (x * y) / total - mean_x * mean_y,
        counts @ x**2 / total - mean_x**2,
        counts @ y**2 / total - mean_y**2,
    )
    # Of a resample with one value only, rounding would leave some spread.
    constant = [variable.count_values(counts).max(axis=1) == total for variable in (metric, ratings)]
    return np.where(constant[0] | constant[1], np.nan, result)


def _spearman(counts: FloatArray, metric: _Variable, ratings: _Variable) -> FloatArray:
    x, y = (variable.ranks(variable.count_values(counts)) for variable in (metric, ratings))
    product, squares_x, squares_y = (
        np.einsum("bi,bi,bi->b", counts, left, right) for left, right in ((x, y), (x, x), (y, y))
    )
    return _ratio(product, squares_x, squares_y)


def _kendall(counts: FloatArray, metric: _Variable, ratings: _Variable) -> FloatArray:
    # Sums of small whole numbers: exact in float32 below 2^24, which no number of pairs in use comes near.
    x, y = (variable.distinct.astype(np.float32) for variable in (metric, ratings))
    # 1 where two pairs are in the same order on both sides, -1 if not, 0 for ties.
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    concordance = np.einsum("bi,bi->b", counts, counts.astype(np.float32) @ signs)
    everything = counts.sum(axis=1) ** 2
    untied = [everything - (variable.count_values(counts) ** 2).sum(axis=1) for variable in (metric, ratings)]
    # Ordered pairs of draws on every side: a draw with itself has sign 0 and is in no count of untied ones.
    return _ratio(concordance, untied[0], untied[1])
