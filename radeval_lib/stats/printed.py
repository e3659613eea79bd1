"""Inference from printed correlations and intervals, without the data behind them.

Intervals and tests of correlations are large-sample results for independent pairs; where several pairs share
a report, the true uncertainty is larger. Errors of estimates on the same items are correlated, and no paper
prints how strongly, so tests take that correlation as an argument: 0 is the assumption of independence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

Kind = Literal["pearson", "spearman", "kendall"]
_REACH = float(stats.norm.ppf(0.975))  # of a 95 % interval, in standard errors


def correlation_interval(value: float, n: int, kind: Kind) -> tuple[float, float]:
    """Return 95 % confidence interval of a correlation of ``n`` independent pairs, by Fisher's z.

    Pearson's is pingouin's ``compute_esci``, which gives rank correlations Pearson's standard error.
    The standard error is 1/sqrt(n - 3) for Pearson, sqrt((1 + value²/2)/(n - 3)) for Spearman (Bonett and
    Wright 2000, equation 3) and sqrt(0.437/(n - 4)) for Kendall (Fieller, Hartley and Pearson 1957).

    Raises
    ------
    ValueError
        If the value is not between -1 and 1, n is below 5, or the kind is unknown.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind must be {', '.join(get_args(Kind))}, not {kind!r}")
    if not -1 < value < 1 or n < 5:
        raise ValueError(f"needs |value| < 1 and n >= 5, not {value} and {n}")
    error = {
        "pearson": 1 / math.sqrt(n - 3),
        "spearman": math.sqrt((1 + value**2 / 2) / (n - 3)),
        "kendall": math.sqrt(0.437 / (n - 4)),
    }[kind]
    return math.tanh(math.atanh(value) - _REACH * error), math.tanh(math.atanh(value) + _REACH * error)


def williams_test(first: float, second: float, between: float, n: int) -> tuple[float, float]:
    """Return Williams's test of two Pearson correlations with the same third variable on the same ``n``
    pairs, where the two metrics correlate by ``between``: t (positive where ``first`` is larger) and
    two-sided p, n - 3 degrees of freedom. Source: Steiger 1980, equation 7 (Williams's T2).

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
    :func:`williams_test`; the smallest possible correlation where any will do, NaN where none will. A
    ValueError where one is not between -1 and 1, or n is below 4."""
    if not max(abs(first), abs(second)) < 1 or n < 4:
        raise ValueError(f"needs correlations between -1 and 1 and n >= 4, not {first}, {second} and {n}")
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
    """Return standard error on Fisher's z scale, on which it is symmetric, that a correlation's 95 % interval
    implies.

    Raises
    ------
    ValueError
        If the ends are not in order between -1 and 1.
    """
    if not -1 < low < high < 1:
        raise ValueError(f"interval from {low} to {high}: the ends must be in order, between -1 and 1")
    return (math.atanh(high) - math.atanh(low)) / (2 * _REACH)


def two_sided_p(
    difference: ArrayLike, first_se: ArrayLike, second_se: ArrayLike, between: ArrayLike = 0.0
) -> NDArray[np.float64]:
    """Return two-sided p of a z-test of two estimates whose errors correlate by ``between``, by broadcasting;
    NaN where the difference and its standard error are both 0.

    Raises
    ------
    ValueError
        If a standard error is negative or missing, or ``between`` is not from -1 to 1.
    """
    x, y = np.asarray(first_se, dtype=np.float64), np.asarray(second_se, dtype=np.float64)
    correlation = np.asarray(between, dtype=np.float64)
    if not ((x >= 0).all() and (y >= 0).all() and (np.abs(correlation) <= 1).all()):
        raise ValueError("standard errors must be 0 or more, and their correlation from -1 to 1")
    variance = x**2 + y**2 - 2 * correlation * x * y
    with np.errstate(divide="ignore"):
        z = np.abs(np.asarray(difference, dtype=np.float64)) / np.sqrt(variance)
    return 2 * stats.norm.sf(z)


def needed_correlation(difference: float, first_se: float, second_se: float) -> float:
    """From which correlation of their errors on the difference of two estimates is significant at 5 % by
    :func:`two_sided_p`; at or below 0 where independent errors suffice, NaN where no correlation does. Both
    standard errors must be above 0."""
    if not (first_se > 0 and second_se > 0):
        raise ValueError(f"standard errors must be above 0, not {first_se} and {second_se}")
    if difference == 0:
        return math.nan
    reach = abs(difference) / _REACH
    needed = (first_se**2 + second_se**2 - reach**2) / (2 * first_se * second_se)
    return max(needed, -1.0) if needed <= 1 else math.nan


def corners(values: Sequence[float], half_widths: Sequence[float]) -> NDArray[np.float64]:
    """Return printed numbers and, below them, all combinations of the ends of what rounds to them: one row
    each."""
    pairs = zip(values, half_widths, strict=True)
    ends = [(value - half, value + half) if half else (value,) for value, half in pairs]
    return np.array([list(values), *product(*ends)], dtype=np.float64)


def p_of_intervals(
    first: Sequence[float], second: Sequence[float], half_width: float = 0.0, between: float = 0.0
) -> tuple[float, float, float]:
    """Return p of :func:`two_sided_p` for two printed correlations on Fisher's scale, each as (value, low,
    high) of its 95% interval: at the printed digits, and the smallest and largest that their rounding allows.
    A ValueError where low, value and high are not in order, or what rounds to them is not between -1 and
    1."""
    one = corners([*first, *second], [half_width] * 6)
    value, low, high = one[0].reshape(2, 3).T
    if half_width < 0 or not ((low <= value) & (value <= high)).all() or not (np.abs(one) < 1).all():
        raise ValueError(f"{first} and {second}: give (value, low, high) in order and between -1 and 1")
    z = np.arctanh(one)
    errors = (z[:, [2, 5]] - z[:, [1, 4]]) / (2 * _REACH)
    ps = two_sided_p(z[:, 0] - z[:, 3], errors[:, 0], errors[:, 1], between)
    touch = half_width > 0 and abs(first[0] - second[0]) <= 2 * half_width
    return float(ps[0]), float(ps.min()), 1.0 if touch else float(ps.max())
