"""Rank correlation with other quantities, such as the length of a text, held constant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from radeval_lib.stats.resampling import drawn_counts


def _rank_correlations(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's correlations of the rows; NaN for one that does not vary."""
    with np.errstate(divide="ignore", invalid="ignore"):
        matrix: NDArray[np.float64] = np.corrcoef(stats.rankdata(rows, axis=1))
    return matrix


def _partial(matrix: NDArray[np.float64]) -> float:
    """Of the first two rows with the others held constant, from their correlations: by the inverse of the
    matrix, as pingouin's ``partial_corr``; NaN where it is not defined."""
    if not np.isfinite(matrix).all() or np.linalg.matrix_rank(matrix) < len(matrix):
        return float("nan")
    inverse = np.linalg.inv(matrix)
    return float(-inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1]))


def _plain_and_partial(
    columns: NDArray[np.float64], ratings: NDArray[np.float64], held: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Of each column with the ratings: shape (columns, 2)."""
    matrix = _rank_correlations(np.vstack([columns, ratings, held]))
    rating, *lengths = range(len(columns), len(matrix))
    sets = [([n, rating], [n, rating, *lengths]) for n in range(len(columns))]
    return np.array([[_partial(matrix[np.ix_(rows, rows)]) for rows in both] for both in sets])


def length_held_constant(
    scores: pd.DataFrame,
    ratings: ArrayLike,
    lengths: Sequence[ArrayLike],
    *,
    groups: ArrayLike,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> pd.DataFrame:
    """Spearman correlation of each metric with the ratings, as it is and with the lengths held constant.

    Parameters
    ----------
    scores : one column a metric, one row a pair; finite.
    ratings : finite, shape (pairs,).
    lengths : of the texts, each of shape (pairs,).
    groups : the case of each pair; whole cases are drawn with replacement.
    resamples : how often the cases are drawn; all metrics are computed on the same draws.
    rng : source of the draws.
    level : coverage of the intervals, strictly between 0 and 1.

    Returns
    -------
    DataFrame
        Index: the metrics. ``plain``, ``partial``, and ``change``, partial minus plain, with its percentile
        interval ``low``, ``high``. Draws in which something does not vary are left out.
    """
    y, held = np.asarray(ratings, dtype=np.float64), np.array(lengths, dtype=np.float64)
    columns = scores.to_numpy(dtype=np.float64).T
    place, labels = pd.factorize(np.asarray(groups))
    members = [np.flatnonzero(place == number) for number in range(len(labels))]
    draws = []
    for chunk in drawn_counts(len(labels), resamples, rng, len(y)):
        for counts in chunk.astype(int):
            chosen = np.concatenate(
                [np.repeat(members[case], counts[case]) for case in np.flatnonzero(counts)]
            )
            found = _plain_and_partial(columns[:, chosen], y[chosen], held[:, chosen])
            draws.append(found[:, 1] - found[:, 0])
    low, high = np.nanquantile(np.array(draws), [0.5 - level / 2, 0.5 + level / 2], axis=0)
    plain, partial = _plain_and_partial(columns, y, held).T
    result = pd.DataFrame({"plain": plain, "partial": partial}, index=scores.columns)
    return result.assign(change=partial - plain, low=low, high=high)
