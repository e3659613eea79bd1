"""Agreement of raters who counted or graded the same items, and of metrics with raters on pairs of items.

The two items of a pair belong to one case. Raters and metrics prefer the first, the second, or neither
(a tie). ``counts`` and ``grades`` have shape (items, raters), two raters or more, without missing values. A
test compares the agreement on pairs with numbers of mt-metrics-eval's code; pingouin has no such measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from radeval_lib.stats.base import Estimate, FloatArray, check_array, number_groups


def mean_absolute_differences(counts: ArrayLike) -> FloatArray:
    """Return the mean absolute difference between the counts of each pair of raters, in counts per item.

    Symmetric, shape (raters, raters), 0 on the diagonal.
    """
    array = np.asarray(counts, dtype=np.float64)
    return np.abs(array[:, :, None] - array[:, None, :]).mean(axis=0)


def kendall_matrix(counts: ArrayLike) -> FloatArray:
    """Return Kendall's tau-b between the counts of each pair of raters, -1 to 1.

    Symmetric, shape (raters, raters), 1 on the diagonal. The other entries of a rater who gives every item
    the same count are NaN.
    """
    return pd.DataFrame(counts).corr("kendall").to_numpy()


def upper_triangle(matrix: ArrayLike) -> FloatArray:
    """Return the entries above the diagonal of a symmetric (raters, raters) matrix, row by row.

    Shape (pairs,): one entry for each pair of raters.
    """
    array = np.asarray(matrix, dtype=np.float64)
    return array[np.triu_indices(array.shape[0], k=1)]


def mean_of_others(counts: ArrayLike) -> FloatArray:
    """Return, for each item and rater, the mean count of all other raters; shape (items, raters)."""
    array = np.asarray(counts, dtype=np.float64)
    return (array.sum(axis=1, keepdims=True) - array) / (array.shape[1] - 1)


def kendall_with_reference(counts: ArrayLike, reference: ArrayLike) -> FloatArray:
    """Return Kendall's tau-b between each rater's counts and reference values, -1 to 1; shape (raters,).

    NaN if a rater's counts, or the reference values, are all equal. ``reference`` has shape (items,) or
    (items, 1) if it is the same for all raters, or (items, raters).
    """
    array, values = np.asarray(counts, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    columns = np.broadcast_to(values[:, None] if values.ndim == 1 else values, array.shape)
    return np.array([stats.kendalltau(*pair).statistic for pair in zip(array.T, columns.T, strict=True)])


def wilcoxon_by_order(parts: Sequence[ArrayLike]) -> FloatArray:
    """Return Wilcoxon's signed-rank W of each rater against the mean of all raters, for every order in
    which the raters' counts can be summed; shape (orders, raters).

    In floating point, a mean that is summed from six sixths differs from the exact mean in its last binary
    digits. This turns zero differences into tiny ones and breaks ties, so W varies with the order of the sum.
    The test is SciPy's, because pingouin's also computes effect sizes in each call.

    Parameters
    ----------
    parts : the counts of errors of each kind, one array of shape (items, raters) per kind; W is computed from
        the sums over kinds.
    """
    arrays = [np.asarray(part, dtype=np.float64) for part in parts]
    counts = np.sum(arrays, axis=0)
    raters = counts.shape[1]
    statistics, zeros = [], np.zeros((len(counts), 1))
    for order in permutations(range(raters)):
        # Each part's mean is summed rater by rater in this order; the means of the parts are summed last.
        means = (sum((array[:, [rater]] / raters for rater in order), zeros) for array in arrays)
        statistics.append(stats.wilcoxon(counts - sum(means, zeros), method="approx").statistic)
    return np.array(statistics)


def interval_alpha(ratings: ArrayLike) -> FloatArray:
    """Return Krippendorff's alpha at the interval level for each table of ratings: 1 minus the ratio of
    observed to expected disagreement.

    ``ratings`` has shape (..., raters, units), without missing values; the result has shape (...). Alpha is
    at most 1, negative if raters disagree more than expected by chance, and NaN if all ratings of a table are
    equal. pingouin has no such function, and the package krippendorff takes one table per call, while a
    bootstrap has thousands. Source: Hayes and Krippendorff 2007.
    """
    table = np.asarray(ratings, dtype=np.float64)
    raters, units = table.shape[-2:]
    values = table.reshape(*table.shape[:-2], raters * units)
    # The mean squared difference of two ratings is twice their variance, within units and over all.
    observed = 2 * table.var(axis=-2, ddof=1).mean(axis=-1)
    expected = 2 * values.var(axis=-1, ddof=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(1 - observed / expected)


def limits_of_agreement(first: ArrayLike, second: ArrayLike) -> Estimate:
    """Return the mean of the differences ``first - second`` and their limits of agreement (Bland and Altman
    1986).

    The limits are ``low`` and ``high`` of the result, the mean minus and plus 1.96 standard deviations. If
    the differences are normal, 95% of them are between the limits, which are not a confidence interval.
    Both arguments have the same unit and the same shape (items,), with at least two items. Raises ValueError
    if a value is missing or infinite, or the shapes differ. pingouin's ``plot_blandaltman`` only draws the
    limits.
    """
    differences = check_array("first", first, None) - check_array("second", second, np.size(first))
    mean, half_width = float(differences.mean()), float(1.96 * differences.std(ddof=1))
    return Estimate(mean, mean - half_width, mean + half_width)


def pairs_within(cases: Sequence[object]) -> NDArray[np.intp]:
    """Return the row numbers of each pair of items that belong to the same case; shape (pairs, 2).

    ``cases`` has the case of each row. The array has no rows if every case has one item.
    """
    members: dict[object, list[int]] = {}
    for row, case in enumerate(cases):
        members.setdefault(case, []).append(row)
    pairs = [pair for rows in members.values() for pair in combinations(rows, 2)]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def metric_agrees(gaps: ArrayLike, preferred: ArrayLike, cases: Sequence[object]) -> NDArray[np.bool_]:
    """Return whether a metric and people have the same preference in each pair; bool, shape (pairs,).

    The metric prefers neither item if its two scores differ by at most a threshold. The threshold of a case
    is chosen on all other cases: among 0 and the absolute differences of all pairs, the smallest one with
    which the metric agrees with people most often there. A pair's own rating therefore never influences its
    threshold. The mean of the result is the accuracy acc*_eq of Deutsch et al. 2023, section 5.

    Parameters
    ----------
    gaps : the metric's score of the first item minus that of the second; finite, shape (pairs,).
    preferred : people's preference: 1 for the first item, -1 for the second, 0 for neither.
    cases : the case of each pair; at least two different cases.

    Raises
    ------
    ValueError
        If a gap is missing or infinite, a case is missing, or there is not one case per gap.
    """
    gap = check_array("gaps", gaps, None)
    numbers = number_groups("cases", cases, len(gap))
    sizes, signs = np.abs(gap), np.sign(gap)
    thresholds = np.unique(np.concatenate([[0.0], sizes]))
    # Shape (thresholds, pairs).
    is_same = np.where(sizes > thresholds[:, None], signs, 0) == np.asarray(preferred)
    is_in_case = np.zeros((len(gap), numbers.max() + 1))
    is_in_case[np.arange(len(gap)), numbers] = 1
    # How many pairs of all other cases agree; shape (thresholds, cases).
    same_elsewhere = is_same.sum(axis=1, keepdims=True) - is_same @ is_in_case
    return is_same[same_elsewhere.argmax(axis=0)[numbers], np.arange(len(gap))]


def _signs_of_gaps(gaps: FloatArray, grades: FloatArray) -> FloatArray:
    """Return the signs of ``gaps``, which are differences between means of ``grades``: 1, 0 or -1.

    A difference of at most 1e-12 of the largest grade counts as 0, because equal means of decimals can differ
    by that much in binary floating point.
    """
    return np.where(np.abs(gaps) <= 1e-12 * np.abs(grades).max(initial=0.0), 0.0, np.sign(gaps))


def choices_of_others(grades: ArrayLike, pairs: NDArray[np.intp]) -> FloatArray:
    """Return which item of each pair the other raters grade higher on average, once for each rater left out.

    The values are 1 for the first item, -1 for the second and 0 if the means are equal; shape (raters left
    out, pairs). ``grades`` has shape (items, raters), finite, with two raters or more; ``pairs`` comes from
    :func:`pairs_within`.
    """
    ratings = np.asarray(grades, dtype=np.float64)
    means = np.stack([np.delete(ratings, rater, 1).mean(axis=1) for rater in range(ratings.shape[1])])
    return _signs_of_gaps(means[:, pairs[:, 0]] - means[:, pairs[:, 1]], ratings)


def rater_agreement(grades: ArrayLike, pairs: NDArray[np.intp]) -> FloatArray:
    """Return, for each pair, the share of raters whose preference is that of the other raters' mean grade.

    The preference is the first item, the second, or neither. The share is from 0 to 1; shape (pairs,).
    :func:`choices_of_others` describes the parameters.
    """
    ratings = np.asarray(grades, dtype=np.float64)
    choices = _signs_of_gaps(ratings[pairs[:, 0]] - ratings[pairs[:, 1]], ratings).T
    return np.mean(choices == choices_of_others(ratings, pairs), axis=0)


def metric_agreement(
    scores: ArrayLike, grades: ArrayLike, pairs: NDArray[np.intp], cases: Sequence[object]
) -> FloatArray:
    """Return, for each pair, how often a metric prefers the item that the mean grade of all raters but one
    prefers.

    The share, from 0 to 1, is over the raters who are left out in turn; shape (pairs,). It can be compared
    with :func:`rater_agreement`, which uses the same means. :func:`metric_agrees` decides which
    differences between scores are preferences.

    Parameters
    ----------
    scores : the metric's score of each item, higher for a better item; shape (items,).
    grades, pairs : as in :func:`choices_of_others`.
    cases : the case of each pair, shape (pairs,); two or more different ones.

    Raises
    ------
    ValueError
        If a score is missing or infinite, a case is missing, or there is not one case per pair.
    """
    score = np.asarray(scores, dtype=np.float64)
    gaps = score[pairs[:, 0]] - score[pairs[:, 1]]
    choices = choices_of_others(grades, pairs)
    return np.mean([metric_agrees(gaps, choice, cases) for choice in choices], axis=0)
