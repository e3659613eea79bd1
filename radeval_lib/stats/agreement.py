"""Agreement of raters who counted or rated the same items.

``counts`` have shape (items, raters), float, without missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.inputs import FloatArray, finite


def _counts(counts: ArrayLike) -> FloatArray:
    array = finite("counts", counts, None, None)
    if array.shape[1] < 2:
        raise ValueError("counts has one column; give (items, raters) with at least two raters")
    return array


def _square(matrix: ArrayLike) -> FloatArray:
    array = np.asarray(matrix, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        raise ValueError(f"matrix has shape {array.shape}; give (raters, raters), two raters or more")
    return array


def mean_absolute_differences(counts: ArrayLike) -> FloatArray:
    """Mean absolute difference of every two raters; symmetric, shape (raters, raters), 0 on the diagonal."""
    array = _counts(counts)
    return np.abs(array[:, :, None] - array[:, None, :]).mean(axis=0)


def kendall_matrix(counts: ArrayLike) -> FloatArray:
    """Return Kendall's tau-b of every two raters; symmetric, shape (raters, raters), 1 on the diagonal.

    NaN where a rater gives every item the same count.
    """
    return pd.DataFrame(_counts(counts)).corr("kendall").to_numpy()


def upper_triangle(matrix: ArrayLike) -> FloatArray:
    """Return the entries above the diagonal of a symmetric matrix: one per pair of raters, row by row."""
    array = _square(matrix)
    return array[np.triu_indices(array.shape[0], k=1)]


def means_of_pairs(matrix: ArrayLike) -> FloatArray:
    """Return each rater's mean over the pairs with every other rater of a symmetric matrix; shape
    (raters,)."""
    array = _square(matrix)
    others = ~np.eye(array.shape[0], dtype=bool)
    return array.mean(axis=1, where=others)


def mean_of_others(counts: ArrayLike) -> FloatArray:
    """For each rater the mean count of all other raters; shape (items, raters)."""
    array = _counts(counts)
    return (array.sum(axis=1, keepdims=True) - array) / (array.shape[1] - 1)


def kendall_with(counts: ArrayLike, reference: ArrayLike) -> FloatArray:
    """Return Kendall's tau-b of each rater with a reference of shape (items,) or (items, 1), or with one per
    rater, shape (items, raters); the result has shape (raters,), NaN where a side does not vary."""
    array, against = _counts(counts), np.asarray(reference, dtype=np.float64)
    column = finite("reference", against[:, None] if against.ndim == 1 else against, len(array), None)
    columns = np.broadcast_to(column, array.shape)
    return np.array([stats.kendalltau(*pair).statistic for pair in zip(array.T, columns.T, strict=True)])


def wilcoxon_by_order(parts: Sequence[ArrayLike], orders: int = 720) -> NDArray[np.float64]:
    """Return Wilcoxon's W of each rater against the mean of all, by the order of adding that mean up in
    floats.

    SciPy's test and not pingouin's, which computes effect sizes each time. A mean of whole counts that is
    added up as a sum of sixths misses the exact value by its last binary digits. That turns zero differences
    into tiny ones, breaks ties, and so moves W. ``parts`` of shape (items, raters) add up to the counts; the
    result has shape (orders, raters), one row for each of the first ``orders`` orders of the raters, or for
    all if there are fewer.
    """
    if not parts:
        raise ValueError("parts holds no table; give at least one of (items, raters)")
    arrays = [_counts(part) for part in parts]
    counts = np.sum(arrays, axis=0)
    raters = counts.shape[1]
    found, none = [], np.zeros((len(counts), 1))
    for order in islice(permutations(range(raters)), orders):
        # added up one by one, in this order
        means = (sum((array[:, [rater]] / raters for rater in order), none) for array in arrays)
        found.append(stats.wilcoxon(counts - sum(means, none), method="approx").statistic)
    return np.array(found)


def interval_alpha(ratings: ArrayLike) -> NDArray[np.float64]:
    """Return Krippendorff's alpha at the interval level of complete tables of shape (..., raters, units): 1 -
    observed over expected disagreement, NaN where all ratings are equal. pingouin has none, and the package
    krippendorff takes one table at a time, where a bootstrap has thousands. Source: Hayes and Krippendorff
    2007."""
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim < 2 or table.shape[-2] < 2 or table.shape[-1] < 1:
        raise ValueError(f"ratings has shape {table.shape}; give (..., raters, units), two raters or more")
    if not np.isfinite(table).all():
        raise ValueError("a rating is missing; use krippendorff.alpha for tables with missing ratings")
    raters, units = table.shape[-2:]
    values = table.reshape(*table.shape[:-2], raters * units)
    # Mean squared difference of two ratings is twice their variance: within units, and over all.
    observed = 2 * table.var(axis=-2, ddof=1).mean(axis=-1)
    expected = 2 * values.var(axis=-1, ddof=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(1 - observed / expected)


def limits_of_agreement(first: ArrayLike, second: ArrayLike) -> Estimate:
    """Mean of first minus second, both of shape (items,), and the limits within which 95 % of differences lie
    if they are normal (Bland and Altman 1986): what pingouin's ``plot_blandaltman`` draws alone. There must
    be two items or more."""
    ours = finite("first", first, None)
    if len(ours) < 2:
        raise ValueError("first has one item; the spread of differences needs at least two")
    gaps = ours - finite("second", second, len(ours))
    reach = 1.96 * gaps.std(ddof=1)
    return Estimate(float(gaps.mean()), float(gaps.mean() - reach), float(gaps.mean() + reach))
