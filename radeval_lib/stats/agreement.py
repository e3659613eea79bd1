"""Agreement of raters who counted or rated the same items, and of metrics with raters on pairs of candidates
of one case, where a tie is an answer.

``counts`` and ``grades`` have shape (items, raters), two raters or more, without missing values. A test
compares the agreement on pairs with numbers of mt-metrics-eval's code; pingouin has no ties as an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from radeval_lib.stats.base import Estimate, FloatArray, finite, group_numbers


def mean_absolute_differences(counts: ArrayLike) -> FloatArray:
    """Return the mean absolute difference of every two raters: symmetric, shape (raters, raters), 0 on the
    diagonal."""
    array = np.asarray(counts, dtype=np.float64)
    return np.abs(array[:, :, None] - array[:, None, :]).mean(axis=0)


def kendall_matrix(counts: ArrayLike) -> FloatArray:
    """Return Kendall's tau-b of every two raters: symmetric, shape (raters, raters), 1 on the diagonal.

    NaN if a rater gives every item the same count.
    """
    return pd.DataFrame(counts).corr("kendall").to_numpy()


def upper_triangle(matrix: ArrayLike) -> FloatArray:
    """Return the entries above the diagonal of a symmetric matrix: one per pair of raters, row by row."""
    array = np.asarray(matrix, dtype=np.float64)
    return array[np.triu_indices(array.shape[0], k=1)]


def mean_of_others(counts: ArrayLike) -> FloatArray:
    """Return for each rater the mean count of the other raters; shape (items, raters)."""
    array = np.asarray(counts, dtype=np.float64)
    return (array.sum(axis=1, keepdims=True) - array) / (array.shape[1] - 1)


def kendall_with(counts: ArrayLike, reference: ArrayLike) -> FloatArray:
    """Return Kendall's tau-b of each rater with a reference, shape (raters,); NaN if a side does not vary.
    The reference has shape (items,) or (items, 1), or (items, raters) for one per rater."""
    array, against = np.asarray(counts, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    columns = np.broadcast_to(against[:, None] if against.ndim == 1 else against, array.shape)
    return np.array([stats.kendalltau(*pair).statistic for pair in zip(array.T, columns.T, strict=True)])


def wilcoxon_by_order(parts: Sequence[ArrayLike]) -> FloatArray:
    """Return Wilcoxon's W of each rater against the mean of all, for every order of summing that mean in
    floats; shape (orders, raters).

    A mean of whole counts that is added up as a sum of sixths misses the exact value by its last binary
    digits. That turns zero differences into tiny ones, breaks ties, and so moves W. ``parts`` of shape
    (items, raters) add up to the counts. The test is SciPy's; pingouin's computes effect sizes each time.
    """
    arrays = [np.asarray(part, dtype=np.float64) for part in parts]
    counts = np.sum(arrays, axis=0)
    raters = counts.shape[1]
    statistics, zeros = [], np.zeros((len(counts), 1))
    for order in permutations(range(raters)):
        # added up one by one, in this order
        means = (sum((array[:, [rater]] / raters for rater in order), zeros) for array in arrays)
        statistics.append(stats.wilcoxon(counts - sum(means, zeros), method="approx").statistic)
    return np.array(statistics)


def interval_alpha(ratings: ArrayLike) -> FloatArray:
    """Return Krippendorff's alpha at the interval level of complete tables of shape (..., raters, units): 1 -
    observed over expected disagreement, NaN if all ratings are equal. pingouin has none, and the package
    krippendorff takes one table at a time; a bootstrap has thousands. Source: Hayes and Krippendorff 2007."""
    table = np.asarray(ratings, dtype=np.float64)
    raters, units = table.shape[-2:]
    values = table.reshape(*table.shape[:-2], raters * units)
    # Mean squared difference of two ratings is twice their variance: within units, and over all.
    observed = 2 * table.var(axis=-2, ddof=1).mean(axis=-1)
    expected = 2 * values.var(axis=-1, ddof=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(1 - observed / expected)


def limits_of_agreement(first: ArrayLike, second: ArrayLike) -> Estimate:
    """Return the mean of first minus second, and the limits within which 95 % of the differences lie if they
    are normal (Bland and Altman 1986). ``first`` and ``second`` have two items or more.

    pingouin's ``plot_blandaltman`` only draws them.
    """
    gaps = finite("first", first, None) - finite("second", second, np.size(first))
    reach = 1.96 * gaps.std(ddof=1)
    return Estimate(float(gaps.mean()), float(gaps.mean() - reach), float(gaps.mean() + reach))


def pairs_within(cases: Sequence[object]) -> NDArray[np.intp]:
    """Return every two items of the same case, as row numbers; shape (pairs, 2)."""
    members: dict[object, list[int]] = {}
    for row, case in enumerate(cases):
        members.setdefault(case, []).append(row)
    pairs = [pair for rows in members.values() for pair in combinations(rows, 2)]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def agrees(gaps: ArrayLike, wanted: ArrayLike, cases: Sequence[object]) -> NDArray[np.bool_]:
    """Return whether a metric's answer for each pair is the people's: first, second, or a tie (acc*_eq);
    shape (pairs,).

    A gap of scores up to a threshold is called a tie (Deutsch et al. 2023, section 5). The threshold of a
    case is the gap's size, or 0, that agrees most often on all other cases, the smallest of equally good
    ones. So no pair's own rating helps it, and the result does not depend on a division into folds.

    Parameters
    ----------
    gaps : the first item's scores minus the second's.
    wanted : what people say, 1, 0 or -1.
    cases : of each pair; two or more different ones.
    """
    gap = finite("gaps", gaps, None)
    numbers = group_numbers("cases", cases, len(gap))
    sizes, signs = np.abs(gap), np.sign(gap)
    tried = np.unique(np.concatenate([[0.0], sizes]))
    right = np.where(sizes > tried[:, None], signs, 0) == np.asarray(wanted)  # by threshold and pair
    of_case = np.zeros((len(gap), numbers.max() + 1))
    of_case[np.arange(len(gap)), numbers] = 1
    elsewhere = right.sum(axis=1, keepdims=True) - right @ of_case  # by threshold and case left out
    return right[elsewhere.argmax(axis=0)[numbers], np.arange(len(gap))]


def _sign(gaps: FloatArray, grades: FloatArray) -> FloatArray:
    """Return the signs of differences; 0 if a difference is only the rounding error of equal decimal
    means."""
    return np.where(np.abs(gaps) <= 1e-12 * np.abs(grades).max(initial=0.0), 0.0, np.sign(gaps))


def choices_of_others(grades: ArrayLike, pairs: NDArray[np.intp]) -> FloatArray:
    """Return the preference of the other raters' mean for each pair, leaving out each rater in turn: 1 for
    the first, -1 for the second, 0 for neither; shape (raters, pairs).

    ``grades`` has shape (items, raters), finite, two raters or more; ``pairs`` is of :func:`pairs_within`.
    """
    given = np.asarray(grades, dtype=np.float64)
    others = np.stack([np.delete(given, rater, 1).mean(axis=1) for rater in range(given.shape[1])])
    return _sign(others[:, pairs[:, 0]] - others[:, pairs[:, 1]], given)


def choices_of_raters(grades: ArrayLike, pairs: NDArray[np.intp]) -> FloatArray:
    """Return how often one rater's answer for each pair is that of the others' mean, 0 to 1; shape
    (pairs,)."""
    given = np.asarray(grades, dtype=np.float64)
    choices = _sign(given[pairs[:, 0]] - given[pairs[:, 1]], given).T
    return np.mean(choices == choices_of_others(given, pairs), axis=0)


def choices_of_metric(
    scores: ArrayLike, grades: ArrayLike, pairs: NDArray[np.intp], cases: Sequence[object]
) -> FloatArray:
    """Return how often a metric's answer for each pair is that of :func:`choices_of_others`, according to
    :func:`agrees`. Compare it with a rater's in :func:`choices_of_raters`; ``cases`` are of the pairs; shape
    (pairs,)."""
    score = np.asarray(scores, dtype=np.float64)
    gaps = score[pairs[:, 0]] - score[pairs[:, 1]]
    return np.mean([agrees(gaps, wanted, cases) for wanted in choices_of_others(grades, pairs)], axis=0)
