"""Inference from printed numbers alone: tests of printed correlations, shares and intervals, and the
integers from which printed shares and means can result.

Intervals and tests of correlations are large-sample results for independent pairs; if several pairs share
a report, the true uncertainty is larger. The errors of two estimates on the same items are correlated. No
paper prints this correlation, so tests take it as an argument; 0 means independent errors.

Source of the intervals for shares: Brown, Cai and DasGupta 2001, Statistical Science 16(2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

from radeval_lib.stats.inference import wilson_interval

Kind = Literal["pearson", "spearman", "kendall"]
Method = Literal["exact", "Wilson", "Wald", "bootstrap percentile", "bootstrap BCa"]
"""How :func:`interval_of_share` computes an interval."""

_Z = float(stats.norm.ppf(0.975))  # half of a 95% interval, in standard errors
_TAILS = ((1 - 0.95) / 2, 1 - (1 - 0.95) / 2)
EDGE = 1e-9
"""Tolerance for binary floating point at the bounds of a rounding interval."""


def correlation_interval(value: float, n: int, kind: Kind) -> tuple[float, float]:
    """Return the bounds of the 95% confidence interval for a correlation over ``n`` independent pairs, by
    Fisher's z.

    The standard error of z is 1/sqrt(n - 3) for Pearson, sqrt((1 + value²/2)/(n - 3)) for Spearman (Bonett
    and Wright 2000, equation 3) and sqrt(0.437/(n - 4)) for Kendall (Fieller, Hartley and Pearson 1957). For
    Pearson, pingouin's ``compute_esci`` gives the same interval; it uses Pearson's standard error also for
    rank correlations. The value must be above -1 and below 1, and n at least 5.
    """
    error = {
        "pearson": 1 / math.sqrt(n - 3),
        "spearman": math.sqrt((1 + value**2 / 2) / (n - 3)),
        "kendall": math.sqrt(0.437 / (n - 4)),
    }[kind]
    return math.tanh(math.atanh(value) - _Z * error), math.tanh(math.atanh(value) + _Z * error)


def williams_test(first: float, second: float, rho: float, n: int) -> tuple[float, float]:
    """Return t and the two-sided p-value, in this order, of Williams's test that two metrics' Pearson
    correlations with the same ratings are equal.

    t has n - 3 degrees of freedom and is positive if ``first`` is larger. Source: Steiger 1980, equation 7
    (Williams's T2).

    Parameters
    ----------
    first, second : each metric's correlation with the ratings.
    rho : the correlation of the two metrics.
    n : the number of pairs, at least 4.

    Raises
    ------
    ValueError
        If no data can have these three correlations, n is below 4, or t is 0 / 0, as for three correlations
        of 1.
    """
    determinant = 1 - first**2 - second**2 - rho**2 + 2 * first * second * rho
    is_possible = max(abs(first), abs(second), abs(rho)) <= 1 and determinant >= -1e-12
    if not is_possible or n < 4:
        fault = f"n = {n} is below 4" if n < 4 else f"no data have correlations {first}, {second}, {rho}"
        raise ValueError(f"{fault}; leave out this test")
    mean = (first + second) / 2
    spread = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - rho) ** 3
    if spread == 0:
        raise ValueError(f"t is 0 / 0 for correlations {first}, {second} and {rho}; leave out this test")
    t = (first - second) * math.sqrt((n - 1) * (1 + rho) / spread)
    # Equal to scipy.stats.t.sf, whose checks would take most of the time of thousands of calls.
    return t, 2 * float(special.stdtr(n - 3, -abs(t)))


def needed_rho(first: float, second: float, n: int) -> float:
    """Return the lowest correlation between two metrics above which their correlations with the same ratings
    differ at the 5% level.

    If the two correlations with the ratings differ at every possible correlation between the metrics, the
    smallest possible value is returned; if they do not differ near the largest possible value, NaN. The test,
    its parameters and its errors are those of :func:`williams_test`; ``first`` and ``second`` are above -1
    and below 1.
    """
    if first == second:
        return math.nan
    reach = math.sqrt((1 - first**2) * (1 - second**2))
    grid = np.linspace(first * second - reach, first * second + reach, 2001)[1:-1]

    def compute_excess(rho: float) -> float:
        return williams_test(first, second, rho, n)[1] - 0.05

    failing = np.flatnonzero([compute_excess(rho) > 0 for rho in grid])
    if len(failing) == 0:
        return first * second - reach
    if failing[-1] == len(grid) - 1:
        return math.nan
    return float(optimize.brentq(compute_excess, grid[failing[-1]], grid[failing[-1] + 1]))


def standard_error(low: float, high: float) -> float:
    """Return the standard error of a correlation on Fisher's z scale, from the bounds of its 95% interval.

    The interval is assumed to be symmetric on that scale. Both bounds must be above -1 and below 1.
    """
    return (math.atanh(high) - math.atanh(low)) / (2 * _Z)


def two_sided_p(
    difference: ArrayLike, first_se: ArrayLike, second_se: ArrayLike, correlation: ArrayLike = 0.0
) -> NDArray[np.float64]:
    """Return the two-sided p-value of a z-test that the ``difference`` of two estimates is 0.

    NaN if the difference and its variance are both 0, or the variance is negative.

    Parameters
    ----------
    difference : the difference of the two estimates. All arguments broadcast; the result has their common
        shape.
    first_se, second_se : the estimates' standard errors.
    correlation : the correlation of the estimates' errors, -1 to 1.
    """
    first, second = np.asarray(first_se, dtype=np.float64), np.asarray(second_se, dtype=np.float64)
    variance = first**2 + second**2 - 2 * np.asarray(correlation, dtype=np.float64) * first * second
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(np.asarray(difference, dtype=np.float64)) / np.sqrt(variance)
    return 2 * stats.norm.sf(z)


def needed_correlation(difference: float, first_se: float, second_se: float) -> float:
    """Return the smallest correlation of two estimates' errors at which their difference is significant at
    the 5% level (:func:`two_sided_p`), -1 to 1.

    The difference is also significant at every larger correlation. The result is 0 or less if independent
    errors suffice, and NaN if no correlation suffices, as for a difference of 0. Both standard errors must be
    above 0.
    """
    if difference == 0:
        return math.nan
    largest_error = abs(difference) / _Z
    needed = (first_se**2 + second_se**2 - largest_error**2) / (2 * first_se * second_se)
    return max(needed, -1.0) if needed <= 1 else math.nan


def rounding_corners(values: Sequence[float], half_widths: Sequence[float]) -> NDArray[np.float64]:
    """Return the printed numbers (row 0) and every combination of the bounds of their rounding intervals (the
    other rows); shape (1 + combinations, numbers).

    Each number's rounding interval is its value minus and plus its half-width. A number with half-width 0 is
    the same in all rows.
    """
    pairs = zip(values, half_widths, strict=True)
    ends = [(value - half, value + half) if half else (value,) for value, half in pairs]
    return np.array([list(values), *product(*ends)], dtype=np.float64)


def p_of_intervals(
    first: Sequence[float], second: Sequence[float], half_width: float = 0.0, error_correlation: float = 0.0
) -> tuple[float, float, float]:
    """Return (p-value, its minimum, its maximum) for the two-sided test that two printed correlations are
    equal.

    The p-value is that of the numbers as printed; rounding allows every p-value from the minimum to the
    maximum. The test is :func:`two_sided_p` on Fisher's z scale; equal correlations have p = 1.

    Parameters
    ----------
    first, second : each correlation as (value, low, high), with its 95% interval.
    half_width : half a unit of the last printed digit.
    error_correlation : the correlation of the errors of the two estimates, -1 to 1.

    Raises
    ------
    ValueError
        If rounding allows a number to be -1 or less, or 1 or more, where Fisher's z is not defined.
    """
    rows = rounding_corners([*first, *second], [half_width] * 6)
    if np.abs(rows).max() >= 1:
        raise ValueError(f"one of {(*first, *second)} may be outside (-1, 1) unrounded; leave out this test")
    z = np.arctanh(rows)
    standard_errors = (z[:, [2, 5]] - z[:, [1, 4]]) / (2 * _Z)
    differences = z[:, 0] - z[:, 3]
    p_values = two_sided_p(differences, standard_errors[:, 0], standard_errors[:, 1], error_correlation)
    p_values = np.where(differences == 0, 1.0, p_values)
    may_be_equal = abs(first[0] - second[0]) <= 2 * half_width
    return float(p_values[0]), float(p_values.min()), 1.0 if may_be_equal else float(p_values.max())


def sums_that_print(mean: float, half_width: float, n: int) -> list[int]:
    """Return every sum of ``n`` counts whose mean rounds to a printed mean, in rising order.

    A count is an integer, 0 or more. The list is empty if no n counts can have that mean: the GRIM test
    (Brown and Heathers 2017). ``half_width`` is half a unit of the last printed digit.
    """
    first, last = math.ceil((mean - half_width - EDGE) * n), math.floor((mean + half_width + EDGE) * n)
    return list(range(max(first, 0), last + 1))


def counts_that_print(share: float, half_width: float, n: int) -> list[int]:
    """Return every integer k from 0 to n for which k / n rounds to a printed share, in rising order.

    The list is empty if there is none. ``half_width`` is half a unit of the last printed digit, as a
    fraction.
    """
    return [k for k in sums_that_print(share, half_width, n) if k <= n]


@cache
def interval_of_share(k: int, n: int, method: Method) -> tuple[float, float]:
    """Return the bounds of the 95% confidence interval for the share k / n.

    ``exact`` is Clopper and Pearson's interval. ``bootstrap percentile`` returns quantiles of the binomial
    distribution, the limit of many resamples. ``bootstrap BCa`` returns its quantiles at levels corrected for
    bias and acceleration (Efron 1987), as :func:`scipy.stats.bootstrap` does. The bounds of ``Wald`` may be
    below 0 or above 1. Raises ValueError for another method.
    """
    if method == "Wilson":
        return wilson_interval(k, n)
    if method == "exact":
        exact = stats.binomtest(k, n).proportion_ci(0.95)
        return float(exact.low), float(exact.high)
    if method == "Wald":
        half_width = _Z * math.sqrt(k / n * (1 - k / n) / n)
        return k / n - half_width, k / n + half_width
    if method not in (methods := get_args(Method)):
        raise ValueError(f"unknown interval method {method!r}; use one of {', '.join(methods)}")
    levels = _find_bca_levels(k, n) if method == "bootstrap BCa" else _TAILS
    low, high = stats.binom.ppf(levels, n, k / n) / n
    return float(low), float(high)


def _find_bca_levels(k: int, n: int) -> NDArray[np.float64]:
    """Return the levels of the two quantiles that are the bounds of the BCa interval for the share k / n."""
    if k in (0, n):  # every resample equals the data, so nothing can be corrected
        return np.array(_TAILS)
    bias = special.ndtri((special.bdtr(k - 1, n, k / n) + special.bdtr(k, n, k / n)) / 2)
    # Jackknife: leaving out a hit changes the share by -(1 - k/n)/(n - 1), and a miss by k/n/(n - 1). The
    # common factor 1/(n - 1) cancels in the acceleration.
    hit, miss = -(1 - k / n), k / n
    cubes, squares = (k * hit**power + (n - k) * miss**power for power in (3, 2))
    acceleration = -cubes / (6 * squares**1.5)
    shifted = bias + special.ndtri(_TAILS)
    return special.ndtr(bias + shifted / (1 - acceleration * shifted))


def possible_samples(
    shares: Sequence[tuple[float, float, float]], half_width: float, largest: int
) -> pd.DataFrame:
    """Return how many printed shares and interval bounds are reproduced by each number of cases with each
    kind of interval.

    Parameters
    ----------
    shares : printed shares of the same cases, each with the bounds of its interval: (share, low, high).
    half_width : half a unit of the last printed digit.
    largest : the largest number of cases to try; the smallest is 1.

    Returns
    -------
    DataFrame
        One row per number of cases ``n`` and ``method`` (of :data:`Method`). ``shares`` is the number of
        printed shares that equal a rounded k / n for some k. ``ends`` is the number of printed bounds that
        the method reproduces; for each share, k is the count with which the most of its two bounds agree.
    """
    rows = []
    for n in range(1, largest + 1):
        fitting = [counts_that_print(share, half_width, n) for share, _, _ in shares]
        for method in get_args(Method):
            matching_ends = 0
            for counts, (_, *ends) in zip(fitting, shares, strict=True):
                gaps = (np.abs(np.subtract(interval_of_share(k, n, method), ends)) for k in counts)
                matching_ends += max((int((gap <= half_width + EDGE).sum()) for gap in gaps), default=0)
            rows.append({"n": n, "method": method, "shares": sum(map(bool, fitting)), "ends": matching_ends})
    return pd.DataFrame(rows)


def mcnemar_range(first: int, second: int, n: int) -> tuple[float, float]:
    """Return the smallest and the largest possible p-value of McNemar's exact test of two methods.

    The test compares the numbers of cases that only one of the methods gets right: u for the worse method,
    u + d for the better, which is right in d cases more. Since u is not known, the p-value of every
    possible u is computed, from 0 to min(worse, n - better).

    Parameters
    ----------
    first, second : how many cases each method gets right, 0 to ``n``.
    n : the number of cases, the same for both methods.
    """
    worse, better = sorted((first, second))
    only_worse = np.arange(min(worse, n - better) + 1)
    discordant = better - worse + 2 * only_worse
    # The two-sided p-value is twice the lower tail, since only_worse is the smaller of two symmetric counts.
    p_values = np.minimum(1.0, 2 * stats.binom.cdf(only_worse, discordant, 0.5))
    return float(p_values.min()), float(p_values.max())


def predictions_that_print(
    precision: float, recall: float, n: int, half_width: float
) -> tuple[int, int] | None:
    """Return the smallest and the largest number of predictions of a class that fit its printed precision
    and recall.

    The result is None in three cases: no integers fit; the recall is 0, because the precision is then 0 for
    any number of predictions; or the printed precision may be 0 before rounding, so that there is no largest
    number.

    Parameters
    ----------
    precision, recall : as fractions, 0 to 1.
    n : the number of members of the class.
    half_width : half a unit of the last printed digit, as a fraction.
    """
    low, high = precision - half_width - EDGE, precision + half_width + EDGE
    if low <= 0:
        return None
    hits = np.array([count for count in counts_that_print(recall, half_width, n) if count], dtype=np.int64)
    fewest, largest = np.maximum(hits, np.ceil(hits / high)), np.floor(hits / low)
    fits = fewest <= largest
    return (int(fewest[fits].min()), int(largest[fits].max())) if fits.any() else None
