"""Agreement of several metrics with ratings of the same pairs, where pairs may share a case.

Intervals and tests come from a cluster bootstrap: whole cases are drawn with replacement, since pairs of one
case are not independent. A resample is a vector of counts, how often each pair was drawn, and each
coefficient is computed from the counts alone, for many resamples at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from radeval_lib.stats.printed import Kind, williams_test
from radeval_lib.stats.resampling import FloatArray, drawn_counts, ends, estimate, holm

LEAST_GROUPS = 5  # fewer cases tell too little of how they vary
_MOST_UNDEFINED = 0.05


def coefficient(scores: ArrayLike, ratings: ArrayLike, kind: Kind) -> float:
    """Correlation of scores with ratings; NaN where either side does not vary.

    Parameters
    ----------
    scores, ratings : finite numbers, shape (pairs,).
    kind : ``"pearson"``, ``"spearman"`` or ``"kendall"`` (tau-b).

    Raises
    ------
    ValueError
        Where the lengths differ, a value is not finite, or ``kind`` is another.
    """
    _check_kind(kind)
    y = _column("ratings", ratings)
    return _coefficient(_column("scores", scores, len(y)), y, kind)


@dataclass(frozen=True)
class Resampled:
    """Metrics and ratings with their coefficients in each resample; made by :func:`resample`.

    ``scores`` and ``draws`` have shapes (metrics, pairs) and (metrics, resamples), NaN where undefined."""

    names: list[str]
    scores: FloatArray
    ratings: FloatArray
    groups: int
    kind: Kind
    level: float
    draws: FloatArray

    def intervals(self) -> pd.DataFrame:
        """Correlation of each metric with the ratings: ``metric``, ``value``, ``low``, ``high`` (percentile),
        ``n`` (pairs), ``groups`` (cases)."""
        rows = []
        for scores, draws, name in zip(self.scores, self.draws, self.names, strict=True):
            low, high = ends(draws, self.level)
            value = _coefficient(scores, self.ratings, self.kind)
            rows.append({"metric": name, "value": value, "low": low, "high": high})
        return pd.DataFrame(rows).assign(n=len(self.ratings), groups=self.groups)

    def compare(self, first: str) -> pd.DataFrame:
        """Correlation of the metric ``first`` with the ratings minus that of every other metric.

        Returns
        -------
        DataFrame
            One row for every other metric:

            - ``rival``, and ``difference``, first minus rival;
            - ``low``, ``high``: percentile interval of the difference, both metrics on the same draws;
            - ``p``: two-sided, by inversion; ``p_holm``: corrected over the rivals (Holm 1979);
            - ``between``: Pearson correlation of the two metrics;
            - ``p_williams``: Williams's test, for Pearson correlations only. It assumes independent pairs, so
              with several pairs a case it is too small. NaN for other kinds and for two metrics of which one
              is a linear function of the other.

        Raises
        ------
        ValueError
            Where ``first`` is unknown or has no rival.
        """
        if first not in self.names:
            raise ValueError(f"no metric {first!r}; there are {', '.join(self.names)}")
        if len(self.names) == 1:
            raise ValueError(f"{first!r} is the only metric; give another to compare it with")
        chosen = self.names.index(first)
        mine = _coefficient(self.scores[chosen], self.ratings, self.kind)
        rows = []
        for row, name in enumerate(self.names):
            if row == chosen:
                continue
            theirs = _coefficient(self.scores[row], self.ratings, self.kind)
            lead = estimate(mine - theirs, self.draws[chosen] - self.draws[row], self.level)
            between = _coefficient(self.scores[chosen], self.scores[row], "pearson")
            williams = math.nan
            if self.kind == "pearson" and abs(between) < 1 - 1e-12:
                williams = williams_test(mine, theirs, between, len(self.ratings))[1]
            rows.append(
                {
                    "rival": name,
                    "difference": lead.value,
                    "low": lead.low,
                    "high": lead.high,
                    "p": lead.p,
                    "between": between,
                    "p_williams": williams,
                }
            )
        result = pd.DataFrame(rows)
        result["p_holm"] = holm(result["p"])
        return result[["rival", "difference", "low", "high", "p", "p_holm", "between", "p_williams"]]


def resample(
    scores: Mapping[str, ArrayLike],
    ratings: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    kind: Kind,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Resampled:
    """Correlate each metric with the ratings in a cluster bootstrap; intervals and comparisons share its
    draws.

    Parameters
    ----------
    scores : of each metric its scores, finite, shape (pairs,).
    ratings : finite, shape (pairs,).
    groups : the case of each pair, shape (pairs,); None: every pair is a case of its own.
    kind : which coefficient.
    resamples : how often the cases are drawn; all metrics are computed on the same draws.
    rng : source of the draws.
    level : coverage, strictly between 0 and 1.

    Raises
    ------
    ValueError
        Where lengths differ, a value is not finite, there are fewer than 5 cases, an argument is out of
        range, or a metric or the ratings do not vary in more than 5 % of the resamples. Up to there, such
        resamples are left out.
    """
    data = _checked(scores, ratings, groups, kind, level)
    draws = _draws(data, kind, resamples, rng)
    for row, name in zip(draws, data.names, strict=True):
        _check_defined(row, name)
    return Resampled(data.names, data.scores, data.ratings, data.groups, kind, level, draws)


@dataclass(frozen=True)
class _Data:
    """``scores`` has shape (metrics, pairs); ``place`` numbers the case of each pair, from 0."""

    names: list[str]
    scores: FloatArray
    ratings: FloatArray
    place: NDArray[np.intp]
    groups: int


def _check_kind(kind: str) -> None:
    if kind not in ("pearson", "spearman", "kendall"):
        raise ValueError(f"kind must be pearson, spearman or kendall, not {kind!r}")


def _column(name: str, values: ArrayLike, length: int | None = None) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not len(array):
        raise ValueError(f"{name} has shape {array.shape}; give one value a pair")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} has {len(array)} values for {length} ratings")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds a value that is missing or not finite; leave those pairs out")
    return array


def _checked(
    scores: Mapping[str, ArrayLike], ratings: ArrayLike, groups: ArrayLike | None, kind: str, level: float
) -> _Data:
    _check_kind(kind)
    if not 0 < level < 1:
        raise ValueError(f"level must be strictly between 0 and 1, not {level}")
    if not scores:
        raise ValueError("scores holds no metric")
    y = _column("ratings", ratings)
    columns = [_column(name, values, len(y)) for name, values in scores.items()]
    place, count = np.arange(len(y)), len(y)
    if groups is not None:
        cases = pd.Series(np.asarray(groups))
        if len(cases) != len(y):
            raise ValueError(f"groups has {len(cases)} values for {len(y)} ratings")
        if cases.isna().any():
            raise ValueError("groups holds a missing value; every pair needs its case")
        place, labels = pd.factorize(cases, sort=True)
        count = len(labels)
    if count < LEAST_GROUPS:
        raise ValueError(f"{count} groups; a bootstrap over groups needs at least {LEAST_GROUPS}")
    return _Data(list(scores), np.stack(columns), y, place, count)


def _coefficient(x: FloatArray, y: FloatArray, kind: Kind) -> float:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    if kind == "pearson":
        return float(stats.pearsonr(x, y).statistic)
    if kind == "spearman":
        return float(stats.spearmanr(x, y).statistic)
    return float(stats.kendalltau(x, y).statistic)


def _check_defined(draws: FloatArray, name: str) -> None:
    lost = int((~np.isfinite(draws)).sum())
    if lost > _MOST_UNDEFINED * len(draws):
        raise ValueError(f"{name}: its scores or the ratings do not vary in {lost} of {len(draws)} resamples")


class _Variable:
    """A column made ready for resampling: what equals what, and what is larger."""

    def __init__(self, values: FloatArray) -> None:
        # The coefficients do not depend on centre and scale; the sums of squares lose fewer digits.
        self.values = (values - values.mean()) / (values.std() or 1.0)
        self._order = np.argsort(values, kind="stable")
        _, self._starts = np.unique(values[self._order], return_index=True)
        self._distinct = np.unique(values, return_inverse=True)[1]

    def tied(self, counts: FloatArray) -> FloatArray:
        """How often each distinct value, in rising order, was drawn; shape (resamples, distinct values)."""
        return np.add.reduceat(counts[:, self._order], self._starts, axis=1)

    def ranks(self, tied: FloatArray) -> FloatArray:
        """Mid-rank of each pair within each resample, less the mean rank; shape (resamples, pairs)."""
        centred = np.cumsum(tied, axis=1) - tied / 2 - tied.sum(axis=1, keepdims=True) / 2
        return centred[:, self._distinct]


def _draws(data: _Data, kind: Kind, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Coefficient of each metric in each resample, shape (metrics, resamples); NaN where undefined."""
    metrics, ratings = [_Variable(row) for row in data.scores], _Variable(data.ratings)
    signs = [_signs(row, data.ratings) for row in data.scores] if kind == "kendall" else []
    chunks = []
    for drawn in drawn_counts(data.groups, resamples, rng, len(data.ratings)):
        counts = drawn[:, data.place]
        if kind == "kendall":
            found = [_kendall(counts, *row, ratings) for row in zip(metrics, signs, strict=True)]
        else:
            one = _pearson if kind == "pearson" else _spearman
            found = [one(counts, metric, ratings) for metric in metrics]
        chunks.append(np.stack(found))
    return np.concatenate(chunks, axis=1)


def _ratio(product: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """``product / sqrt(first second)``, at most 1 in size; NaN where a side has no spread."""
    spread = first * second
    result = np.full_like(product, np.nan)
    varies = spread > 0
    result[varies] = product[varies] / np.sqrt(spread[varies])
    return np.clip(result, -1, 1)


def _pearson(counts: FloatArray, metric: _Variable, ratings: _Variable) -> FloatArray:
    x, y, total = metric.values, ratings.values, counts.sum(axis=1)
    mean_x, mean_y = counts @ x / total, counts @ y / total
    result = _ratio(
        counts @ (x * y) / total - mean_x * mean_y,
        counts @ x**2 / total - mean_x**2,
        counts @ y**2 / total - mean_y**2,
    )
    # Of a resample with one value only, rounding would leave some spread.
    constant = [variable.tied(counts).max(axis=1) == total for variable in (metric, ratings)]
    return np.where(constant[0] | constant[1], np.nan, result)


def _spearman(counts: FloatArray, metric: _Variable, ratings: _Variable) -> FloatArray:
    x, y = (variable.ranks(variable.tied(counts)) for variable in (metric, ratings))
    product, squares_x, squares_y = (
        np.einsum("bi,bi,bi->b", counts, left, right) for left, right in ((x, y), (x, x), (y, y))
    )
    return _ratio(product, squares_x, squares_y)


def _signs(x: FloatArray, y: FloatArray) -> NDArray[np.float32]:
    """1 where two pairs are in the same order on both sides, -1 where not, 0 for ties; (pairs, pairs)."""
    return (np.sign(x[:, None] - x) * np.sign(y[:, None] - y)).astype(np.float32)


def _kendall(
    counts: FloatArray, metric: _Variable, signs: NDArray[np.float32], ratings: _Variable
) -> FloatArray:
    # Sums of small whole numbers: exact in float32 below 2^24, which no number of pairs in use comes near.
    concordance = np.einsum("bi,bi->b", counts, counts.astype(np.float32) @ signs)
    everything = counts.sum(axis=1) ** 2
    untied = [everything - (variable.tied(counts) ** 2).sum(axis=1) for variable in (metric, ratings)]
    # Ordered pairs of draws on every side: a draw with itself has sign 0 and is in no count of untied ones.
    return _ratio(concordance, untied[0], untied[1])
