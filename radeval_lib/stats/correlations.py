"""Correlation of several metrics with ratings of the same pairs of texts, where pairs may share a case.

Intervals and tests come from a cluster bootstrap, which draws whole cases with replacement, since pairs of
one case are not independent; pingouin draws rows. A resample is stored as how often each pair was drawn
(``counts``). Each coefficient is computed from these counts, for many resamples at once.
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

from radeval_lib.stats.base import FloatArray, check_array, number_groups
from radeval_lib.stats.inference import holm
from radeval_lib.stats.printed import Kind
from radeval_lib.stats.resampling import draw_counts, estimate, percentile_ends

MIN_GROUPS = 5  # with fewer groups, the variance is too uncertain for a bootstrap
_MAX_UNDEFINED = 0.05  # the largest share of resamples in which a coefficient may be undefined
_TESTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def coefficient(scores: ArrayLike, ratings: ArrayLike, kind: Kind) -> float:
    """Return the correlation of scores with ratings, -1 to 1; NaN if all scores, or all ratings, are equal.

    Both are finite, shape (pairs,); otherwise, ValueError is raised. Kendall's coefficient is tau-b.
    """
    y = check_array("ratings", ratings, None)
    x = check_array("scores", scores, len(y))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(_TESTS[kind](x, y).statistic)


def varies(values: FloatArray, groups: NDArray[Any]) -> bool:
    """Return whether values vary enough for :func:`resample`: whether at least :data:`MIN_GROUPS` groups
    have a value other than the most frequent one.

    ``values`` and ``groups``, the group of each value, have shape (pairs,).
    """
    distinct, counts = np.unique(values, return_counts=True)
    return len(np.unique(groups[values != distinct[counts.argmax()]])) >= MIN_GROUPS


@dataclass(frozen=True)
class Resampled:
    """Correlations of metrics with ratings in the data and in resamples, as :func:`resample` returns them.

    Attributes
    ----------
    names : the metrics' names.
    values : each metric's correlation in the data; NaN if its scores or the ratings do not vary.
    draws : each metric's correlation in each resample, or NaN as in ``values``; shape (metrics, resamples).
    pairs, groups : the number of pairs, and the number of cases to which they belong.
    """

    names: list[str]
    values: list[float]
    draws: FloatArray
    pairs: int
    groups: int

    def intervals(self) -> pd.DataFrame:
        """Return one row per metric: ``metric``, its correlation ``value`` with ``low`` and ``high`` (95%,
        percentile), ``n`` (pairs) and ``groups`` (cases)."""
        low, high = np.transpose([percentile_ends(draws) for draws in self.draws])
        table = pd.DataFrame({"metric": self.names, "value": self.values, "low": low, "high": high})
        return table.assign(n=self.pairs, groups=self.groups)

    def frame(self) -> pd.DataFrame:
        """Return a column per metric: its correlation in the data (row 0) and in the resamples (others)."""
        return pd.DataFrame(np.column_stack([self.values, self.draws]).T, columns=self.names)

    def compare(self, first: str) -> pd.DataFrame:
        """Return the correlation of the metric ``first`` with the ratings minus that of each other metric.

        Returns
        -------
        DataFrame
            One row for every other metric: ``rival`` (its name); ``difference`` (first minus rival) with
            ``low`` and ``high`` (95%, both metrics on the same draws); ``p``
            (:func:`~radeval_lib.stats.inference.inversion_p`); ``p_holm``, corrected over the rivals.

        Raises
        ------
        ValueError
            If no metric is called ``first``.
        """
        leader = self.names.index(first)
        rows = []
        for rival, name in enumerate(self.names):
            if rival != leader:
                gaps = self.draws[leader] - self.draws[rival]
                lead = estimate(self.values[leader] - self.values[rival], gaps)
                rows.append((name, lead.value, lead.low, lead.high, lead.p))
        result = pd.DataFrame(rows, columns=["rival", "difference", "low", "high", "p"])
        return result.assign(p_holm=holm(result["p"]))


def compare_with_one_rater(left_out: Sequence[Resampled]) -> pd.DataFrame:
    """Return the correlations of metrics, and of one rater, with the mean of the other raters, averaged over
    which rater is left out of this mean.

    Parameters
    ----------
    left_out : one item for each rater left out: the correlations with the mean of all other raters. The last
        name is that of the rater left out. The names before it, of metrics, and the draws of cases are the
        same in all items.

    Returns
    -------
    DataFrame
        Index: the names in the first item. ``value`` with ``low`` and ``high`` (95%): the mean correlation.
        ``below`` with ``below_low`` and ``below_high``: the rater's mean correlation minus the metric's.
    """
    values = np.mean([resampled.values for resampled in left_out], axis=0)
    draws = np.mean([resampled.draws for resampled in left_out], axis=0).T
    (low, high), (below_low, below_high) = percentile_ends(draws), percentile_ends(draws[:, -1:] - draws)
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
    """Return each metric's correlation with the ratings, in the data and in resamples of whole cases.

    All metrics are computed on the same resamples.

    Parameters
    ----------
    scores : a mapping from the name of each metric to its scores, finite, shape (pairs,).
    ratings : the ratings, finite, shape (pairs,).
    groups : the case of each pair, shape (pairs,); if None, every pair is a separate case.
    kind : the coefficient; ``kendall`` is tau-b.
    resamples : the number of resamples.
    rng : the generator that draws the cases.

    Raises
    ------
    ValueError
        If a score or rating is missing or infinite, a pair's case is missing, the numbers of scores, ratings
        and cases differ, there are fewer than 5 cases, or the correlation of a metric is
        undefined in more than 5% of the resamples, because its scores or the ratings do not vary there.
        Up to 5%, such resamples are left out.
    """
    y = check_array("ratings", ratings, None)
    table = np.array([check_array(name, values, len(y)) for name, values in scores.items()])
    values = [coefficient(row, y, kind) for row in table]
    numbers = number_groups("groups", np.arange(len(y)) if groups is None else groups, len(y), sort=True)
    count = int(numbers.max()) + 1
    if count < MIN_GROUPS:
        raise ValueError(f"{count} groups are too few for a bootstrap; pass at least {MIN_GROUPS}")
    draws = _resample_coefficients(table, y, numbers, kind, resamples, rng)
    for row, name in zip(draws, scores, strict=True):
        undefined = int((~np.isfinite(row)).sum())
        if undefined > _MAX_UNDEFINED * resamples:
            problem = f"its scores or the ratings do not vary in {undefined} of {resamples} resamples"
            raise ValueError(f"metric {name}: {problem}; leave this metric out or use more cases")
    return Resampled(list(scores), values, draws, len(y), count)


class _Variable:
    """The scores of a metric, or the ratings, with their order and ties, prepared for resampling."""

    def __init__(self, values: FloatArray) -> None:
        # Correlations do not depend on centre and scale. Standardizing makes sums of squares more exact.
        self.values = (values - values.mean()) / (values.std() or 1.0)
        self._order = np.argsort(values, kind="stable")
        _, self._starts = np.unique(values[self._order], return_index=True)
        self.distinct = np.unique(values, return_inverse=True)[1]

    def count_values(self, counts: FloatArray) -> FloatArray:
        """Return how often each distinct value, in rising order, occurs in each resample; shape (resamples,
        distinct values). ``counts`` has how often each pair was drawn, shape (resamples, pairs)."""
        return np.add.reduceat(counts[:, self._order], self._starts, axis=1)

    def centred_ranks(self, ties: FloatArray) -> FloatArray:
        """Return the mid-rank of each pair within each resample minus the mean rank; shape (resamples,
        pairs). ``ties`` comes from :meth:`count_values`."""
        centred = np.cumsum(ties, axis=1) - ties / 2 - ties.sum(axis=1, keepdims=True) / 2
        return centred[:, self.distinct]


def _resample_coefficients(
    scores: FloatArray,
    ratings: FloatArray,
    numbers: NDArray[np.intp],
    kind: Kind,
    resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the coefficient of each metric in each resample; shape (metrics, resamples).

    NaN if the metric's scores or the ratings do not vary in a resample. ``scores`` has shape (metrics,
    pairs); ``numbers`` has the case of each pair, a number from 0.
    """
    metrics, rating_variable = [_Variable(row) for row in scores], _Variable(ratings)
    compute = {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}[kind]
    chunks = []
    for group_counts in draw_counts(int(numbers.max()) + 1, resamples, rng, len(ratings)):
        counts = group_counts[:, numbers]
        chunks.append(np.stack([compute(counts, metric, rating_variable) for metric in metrics]))
    return np.concatenate(chunks, axis=1)


def _divide_covariance(product: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return correlations, -1 to 1: covariances divided by the square root of the product of two variances.

    NaN if the product of the variances is 0 or negative. ``product`` has the covariances, ``first`` and
    ``second`` have the variances, each of shape (resamples,) and on one scale.
    """
    spread, undefined = np.maximum(first * second, 0), np.full_like(product, np.nan)
    return np.clip(np.divide(product, np.sqrt(spread), where=spread > 0, out=undefined), -1, 1)


def _pearson(counts: FloatArray, metric: _Variable, ratings: _Variable) -> FloatArray:
    """Return Pearson's r in each resample; NaN if a side does not vary."""
    x, y, total = metric.values, ratings.values, counts.sum(axis=1)
    mean_x, mean_y = counts @ x / total, counts @ y / total
    result = _divide_covariance(
        counts @ (x * y) / total - mean_x * mean_y,
        counts @ x**2 / total - mean_x**2,
        counts @ y**2 / total - mean_y**2,
    )
    # Rounding leaves a tiny variance in a resample that has one value only.
    constant = [variable.count_values(counts).max(axis=1) == total for variable in (metric, ratings)]
    return np.where(constant[0] | constant[1], np.nan, result)


def _spearman(counts: FloatArray, metric: _Variable, ratings: _Variable) -> FloatArray:
    """Return Spearman's rho in each resample; NaN if a side does not vary."""
    x, y = (variable.centred_ranks(variable.count_values(counts)) for variable in (metric, ratings))
    product, squares_x, squares_y = (
        np.einsum("bi,bi,bi->b", counts, left, right) for left, right in ((x, y), (x, x), (y, y))
    )
    return _divide_covariance(product, squares_x, squares_y)


def _kendall(counts: FloatArray, metric: _Variable, ratings: _Variable) -> FloatArray:
    """Return Kendall's tau-b in each resample; NaN if a side does not vary."""
    # Sums of integers are exact in float32 below 2^24, more than any data set here has pairs.
    x, y = (variable.distinct.astype(np.float32) for variable in (metric, ratings))
    # 1 where two pairs are in the same order on both sides, -1 if not, 0 for ties.
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    concordance = np.einsum("bi,bi->b", counts, counts.astype(np.float32) @ signs)
    all_pairs = counts.sum(axis=1) ** 2
    untied = [all_pairs - (variable.count_values(counts) ** 2).sum(axis=1) for variable in (metric, ratings)]
    # Numerator and denominators count ordered pairs of draws. A draw paired with itself is a tie in all.
    return _divide_covariance(concordance, untied[0], untied[1])
