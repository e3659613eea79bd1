"""What a paper's digits allow, without the data behind them: inference from printed correlations and
intervals, and the whole numbers behind printed shares and means.

Intervals and tests of correlations are large-sample results for independent pairs; if several pairs share
a report, the true uncertainty is larger. Errors of estimates on the same items are correlated, and no paper
prints how strongly, so tests take that correlation as an argument: 0 is the assumption of independence.

Source of the intervals of shares: Brown, Cai and DasGupta 2001, Statistical Science 16(2).
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

from radeval_lib.stats.inference import wilson

Kind = Literal["pearson", "spearman", "kendall"]
Method = Literal["exact", "Wilson", "Wald", "bootstrap percentile", "bootstrap BCa"]
"""Of an interval of a share."""

_REACH = float(stats.norm.ppf(0.975))  # of a 95 % interval, in standard errors
_TAILS = ((1 - 0.95) / 2, 1 - (1 - 0.95) / 2)
EDGE = 1e-9
"""Slack for binary floating point at the very edge of a rounding interval."""


def correlation_interval(value: float, n: int, kind: Kind) -> tuple[float, float]:
    """Return the 95 % confidence interval of a correlation over ``n`` independent pairs, by Fisher's z.

    Pearson's is pingouin's ``compute_esci``, which gives rank correlations Pearson's standard error. The
    standard error is 1/sqrt(n - 3) for Pearson, sqrt((1 + value²/2)/(n - 3)) for Spearman (Bonett and Wright
    2000, equation 3) and sqrt(0.437/(n - 4)) for Kendall (Fieller, Hartley and Pearson 1957). The value is
    between -1 and 1, and n is 5 or more.
    """
    error = {
        "pearson": 1 / math.sqrt(n - 3),
        "spearman": math.sqrt((1 + value**2 / 2) / (n - 3)),
        "kendall": math.sqrt(0.437 / (n - 4)),
    }[kind]
    return math.tanh(math.atanh(value) - _REACH * error), math.tanh(math.atanh(value) + _REACH * error)


def williams_test(first: float, second: float, between: float, n: int) -> tuple[float, float]:
    """Return Williams's test of two Pearson correlations with the same third variable on the same ``n``
    pairs: t (positive if ``first`` is larger) and two-sided p, with n - 3 degrees of freedom. ``between`` is
    the metrics' own correlation. Source: Steiger 1980, equation 7 (Williams's T2).

    Raises
    ------
    ValueError
        If the three correlations are impossible together or leave nothing to vary, as three of 1 do, or n is
        below 4.
    """
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    possible = max(abs(first), abs(second), abs(between)) <= 1 and determinant >= -1e-12
    if not possible or n < 4:
        raise ValueError(f"correlations {first}, {second} and {between} at n = {n} are impossible together")
    mean = (first + second) / 2
    spread = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - between) ** 3
    if spread == 0:
        raise ValueError(f"correlations {first}, {second} and {between} leave nothing to vary")
    t = (first - second) * math.sqrt((n - 1) * (1 + between) / spread)
    # What scipy.stats.t.sf computes, without its checks, which cost most where thousands are asked for.
    return t, 2 * float(special.stdtr(n - 3, -abs(t)))


def needed_between(first: float, second: float, n: int) -> float:
    """Return how strongly two metrics must correlate for their printed correlations to differ at 5 % by
    :func:`williams_test`. It is the smallest possible correlation if any will do, and NaN if none will."""
    if first == second:
        return math.nan
    reach = math.sqrt((1 - first**2) * (1 - second**2))
    grid = np.linspace(first * second - reach, first * second + reach, 2001)[1:-1]

    def excess(between: float) -> float:
        return williams_test(first, second, between, n)[1] - 0.05

    failing = np.flatnonzero([excess(between) > 0 for between in grid])
    if len(failing) == 0:
        return first * second - reach
    if failing[-1] == len(grid) - 1:
        return math.nan
    return float(optimize.brentq(excess, grid[failing[-1]], grid[failing[-1] + 1]))


def standard_error(low: float, high: float) -> float:
    """Return the standard error implied by a correlation's 95 % interval on Fisher's z scale, on which it is
    symmetric."""
    return (math.atanh(high) - math.atanh(low)) / (2 * _REACH)


def two_sided_p(
    difference: ArrayLike, first_se: ArrayLike, second_se: ArrayLike, correlation: ArrayLike = 0.0
) -> NDArray[np.float64]:
    """Return the two-sided p-value of a z-test of the difference of two estimates with standard errors
    ``first_se`` and ``second_se``, whose errors have this ``correlation``; arguments broadcast.

    NaN if the difference and its variance are both 0, or the correlation makes the variance negative.
    """
    first, second = np.asarray(first_se, dtype=np.float64), np.asarray(second_se, dtype=np.float64)
    variance = first**2 + second**2 - 2 * np.asarray(correlation, dtype=np.float64) * first * second
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(np.asarray(difference, dtype=np.float64)) / np.sqrt(variance)
    return 2 * stats.norm.sf(z)


def needed_correlation(difference: float, first_se: float, second_se: float) -> float:
    """Return the correlation of two estimates' errors from which their difference is significant at 5 % by
    :func:`two_sided_p`.

    At or below 0 if independent errors suffice, NaN if no correlation does. Both standard errors are above
    0.
    """
    if difference == 0:
        return math.nan
    reach = abs(difference) / _REACH
    needed = (first_se**2 + second_se**2 - reach**2) / (2 * first_se * second_se)
    return max(needed, -1.0) if needed <= 1 else math.nan


def corners(values: Sequence[float], half_widths: Sequence[float]) -> NDArray[np.float64]:
    """Return printed numbers and, below them, all combinations of their rounding intervals' ends, one row
    each."""
    pairs = zip(values, half_widths, strict=True)
    ends = [(value - half, value + half) if half else (value,) for value, half in pairs]
    return np.array([list(values), *product(*ends)], dtype=np.float64)


def p_of_intervals(
    first: Sequence[float], second: Sequence[float], half_width: float = 0.0, between: float = 0.0
) -> tuple[float, float, float]:
    """Return :func:`two_sided_p` of two printed correlations on Fisher's scale, each (value, low, high) of
    its 95% interval: at the printed digits, and the smallest and largest that rounding allows."""
    z = np.arctanh(corners([*first, *second], [half_width] * 6))
    errors = (z[:, [2, 5]] - z[:, [1, 4]]) / (2 * _REACH)
    ps = two_sided_p(z[:, 0] - z[:, 3], errors[:, 0], errors[:, 1], between)
    touch = half_width > 0 and abs(first[0] - second[0]) <= 2 * half_width
    return float(ps[0]), float(ps.min()), 1.0 if touch else float(ps.max())


def sums_that_print(mean: float, half_width: float, n: int) -> list[int]:
    """Return the whole numbers k, from 0, with k/n rounding to a printed mean of whole numbers.

    Empty if no n counts can have that mean: the GRIM test (Brown and Heathers 2017).
    """
    first, last = math.ceil((mean - half_width - EDGE) * n), math.floor((mean + half_width + EDGE) * n)
    return list(range(max(first, 0), last + 1))


def counts_that_print(share: float, half_width: float, n: int) -> list[int]:
    """Return the whole numbers k, at most n, with k / n rounding to a printed share."""
    return [k for k in sums_that_print(share, half_width, n) if k <= n]


@cache
def interval_of_share(k: int, n: int, method: Method) -> tuple[float, float]:
    """Return the 95 % confidence interval of the share k / n.

    ``bootstrap percentile`` are the quantiles of a binomial distribution, the limit of many resamples;
    ``bootstrap BCa`` takes them at levels corrected for bias and acceleration (Efron 1987), as
    :func:`scipy.stats.bootstrap`. Raises ValueError for an unknown method.
    """
    if method == "Wilson":
        return wilson(k, n)
    if method == "exact":
        exact = stats.binomtest(k, n).proportion_ci(0.95)
        return float(exact.low), float(exact.high)
    if method == "Wald":
        reach = _REACH * math.sqrt(k / n * (1 - k / n) / n)
        return k / n - reach, k / n + reach
    if method not in get_args(Method):
        raise ValueError(f"unknown method {method!r}; use one of {', '.join(get_args(Method))}")
    levels = _bca_levels(k, n) if method == "bootstrap BCa" else _TAILS
    low, high = stats.binom.ppf(levels, n, k / n) / n
    return float(low), float(high)


def _bca_levels(k: int, n: int) -> NDArray[np.float64]:
    """Return levels of the two quantiles that the BCa interval of a share takes."""
    if k in (0, n):  # resamples are all alike
        return np.array(_TAILS)
    bias = special.ndtri((special.bdtr(k - 1, n, k / n) + special.bdtr(k, n, k / n)) / 2)
    # Jackknife: leaving out a right case changes the share by -(1 - k/n)/(n - 1), a wrong one by k/n/(n - 1).
    right, wrong = -(1 - k / n), k / n
    cubes, squares = (k * right**power + (n - k) * wrong**power for power in (3, 2))
    acceleration = -cubes / (6 * squares**1.5)
    reach = bias + special.ndtri(_TAILS)
    return special.ndtr(bias + reach / (1 - acceleration * reach))


def possible_samples(
    shares: Sequence[tuple[float, float, float]], half_width: float, largest: int
) -> pd.DataFrame:
    """Return the numbers of cases that fit printed (share, low, high), all over the same cases.

    One row per number of cases ``n`` and method: ``shares`` (how many printed shares some k / n rounds to)
    and ``ends`` (how many printed ends the method gives, at the best fitting k)."""
    rows = []
    for n in range(1, largest + 1):
        fitting = [counts_that_print(share, half_width, n) for share, _, _ in shares]
        for method in get_args(Method):
            met = 0
            for counts, (_, *printed) in zip(fitting, shares, strict=True):
                gaps = (np.abs(np.subtract(interval_of_share(k, n, method), printed)) for k in counts)
                met += max((int((gap <= half_width + EDGE).sum()) for gap in gaps), default=0)
            rows.append({"n": n, "method": method, "shares": sum(map(bool, fitting)), "ends": met})
    return pd.DataFrame(rows)


def mcnemar_range(first: int, second: int, n: int) -> tuple[float, float]:
    """Return the smallest and largest exact McNemar p that are possible for two methods' numbers correct of
    the same ``n`` cases.

    The exact test is a sign test of the discordant cases: with gap d and u cases that only the worse method
    gets right, it compares u with d + u; u runs from 0 to min(worse, n - better).
    """
    worse, better = sorted((first, second))
    only_worse = np.arange(min(worse, n - better) + 1)
    discordant = better - worse + 2 * only_worse
    # Twice the lower tail: the test of a fair coin is symmetric, and only_worse is the smaller count.
    ps = np.minimum(1.0, 2 * stats.binom.cdf(only_worse, discordant, 0.5))
    return float(ps.min()), float(ps.max())


def predictions_that_print(
    precision: float, recall: float, n: int, half_width: float
) -> tuple[int, int] | None:
    """Return the fewest and most predictions of a class of ``n`` members that fit its printed precision and
    recall (fractions). None if no whole numbers fit, if recall is 0, since precision says nothing without a
    hit, or if precision may be 0, which sets no limit."""
    least, most = precision - half_width - EDGE, precision + half_width + EDGE
    if least <= 0:
        return None
    hits = np.array([count for count in counts_that_print(recall, half_width, n) if count], dtype=np.int64)
    fewest, largest = np.maximum(hits, np.ceil(hits / most)), np.floor(hits / least)
    fits = fewest <= largest
    return (int(fewest[fits].min()), int(largest[fits].max())) if fits.any() else None
