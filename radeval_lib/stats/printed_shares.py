"""What printed shares and means allow to say about the number of cases behind them.

Source of the interval methods: Brown, Cai and DasGupta 2001, Statistical Science 16(2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

METHODS = ("exact", "Wilson", "Wald", "bootstrap percentile", "bootstrap BCa")
# Slack for binary floating point at the very edge of a rounding interval.
_EDGE = 1e-9


def sums_that_print(mean: float, half_width: float, n: int) -> list[int]:
    """Whole numbers from 0 whose division by n rounds to a printed mean of whole numbers.

    None are left where no n counts can have that mean: the GRIM test (Brown and Heathers 2017, Social
    Psychological and Personality Science 8(4)).
    """
    first, last = math.ceil((mean - half_width - _EDGE) * n), math.floor((mean + half_width + _EDGE) * n)
    return list(range(max(first, 0), last + 1))


def counts_that_print(share: float, half_width: float, n: int) -> list[int]:
    """Whole numbers k, at most n, for which k / n rounds to a printed share."""
    return [k for k in sums_that_print(share, half_width, n) if k <= n]


@cache
def interval(k: int, n: int, method: str, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the share k / n.

    Parameters
    ----------
    method : one of :data:`METHODS`. ``bootstrap percentile`` are the quantiles of k / n over resampled cases,
        in the limit of many resamples: those of a binomial distribution. ``bootstrap BCa`` are its quantiles
        at levels corrected for bias and acceleration (Efron 1987), as :func:`scipy.stats.bootstrap` has them.

    Raises
    ------
    ValueError
        Where the method is unknown or not 0 <= k <= n with n > 0.
    """
    if n < 1 or not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is no share of cases")
    tail = (1 - level) / 2
    if method in ("exact", "Wilson"):
        found = stats.binomtest(k, n).proportion_ci(level, method.lower())
        return float(found.low), float(found.high)
    if method == "Wald":
        reach = float(stats.norm.ppf(1 - tail)) * math.sqrt(k / n * (1 - k / n) / n)
        return k / n - reach, k / n + reach
    if method == "bootstrap percentile":
        low, high = stats.binom.ppf([tail, 1 - tail], n, k / n) / n
        return float(low), float(high)
    if method == "bootstrap BCa":
        low, high = stats.binom.ppf(_bca_levels(k, n, tail), n, k / n) / n
        return float(low), float(high)
    raise ValueError(f"unknown method {method!r}; methods: {', '.join(METHODS)}")


def _bca_levels(k: int, n: int, tail: float) -> NDArray[np.float64]:
    """Levels of the two quantiles that the BCa interval of a share takes."""
    if k in (0, n):  # resamples are all alike
        return np.array([tail, 1 - tail])
    bias = special.ndtri((special.bdtr(k - 1, n, k / n) + special.bdtr(k, n, k / n)) / 2)
    # Jackknife: leaving out a right case changes the share by -(1 - k/n)/(n - 1), a wrong one by k/n/(n - 1).
    right, wrong = -(1 - k / n), k / n
    cubes, squares = (k * right**power + (n - k) * wrong**power for power in (3, 2))
    acceleration = -cubes / (6 * squares**1.5)
    reach = bias + special.ndtri([tail, 1 - tail])
    levels: NDArray[np.float64] = special.ndtr(bias + reach / (1 - acceleration * reach))
    return levels


def possible_samples(
    shares: Sequence[tuple[float, float, float]], half_width: float, largest: int
) -> pd.DataFrame:
    """Which numbers of cases fit printed shares and the ends of their intervals.

    Parameters
    ----------
    shares : printed (share, low, high), all over the same cases.
    half_width : half a unit of the last printed digit.
    largest : the largest number of cases to try.

    Returns
    -------
    DataFrame
        One row a number of cases ``n`` and method: ``shares`` (how many printed shares some k / n rounds to)
        and ``ends`` (how many of the 2 x shares printed ends the method gives, at the best fitting k).
    """
    rows = []
    for n in range(1, largest + 1):
        fitting = [counts_that_print(share, half_width, n) for share, _, _ in shares]
        for method in METHODS:
            ends = sum(
                max((_ends_met(k, n, method, low, high, half_width) for k in counts), default=0)
                for counts, (_, low, high) in zip(fitting, shares, strict=True)
            )
            rows.append({"n": n, "method": method, "shares": sum(map(bool, fitting)), "ends": ends})
    return pd.DataFrame(rows)


def _ends_met(k: int, n: int, method: str, low: float, high: float, half_width: float) -> int:
    found = np.array(interval(k, n, method))
    return int((np.abs(found - [low, high]) <= half_width + _EDGE).sum())


def mcnemar_range(first: int, second: int, n: int) -> tuple[float, float]:
    """Smallest and largest exact McNemar p that two methods' numbers of right cases allow.

    Parameters
    ----------
    first, second : right cases of each of two methods on the same ``n`` cases.

    Returns
    -------
    tuple of float
        p if every case that one method alone gets right is due to the better one, and if the methods overlap
        as little as they can.

    Raises
    ------
    ValueError
        Where a number of right cases is not from 0 to n.

    Notes
    -----
    The exact test is a sign test of the discordant cases. With gap d and u cases that only the worse method
    gets right, it compares u with d + u; u runs from 0 to min(worse, n - better).
    """
    if not (0 <= first <= n and 0 <= second <= n):
        raise ValueError(f"{first} and {second} of {n} are no numbers of right cases")
    worse, better = sorted((first, second))
    ps = []
    for only_worse in range(min(worse, n - better) + 1):
        discordant = better - worse + 2 * only_worse
        ps.append(float(stats.binomtest(only_worse, discordant).pvalue) if discordant else 1.0)
    return min(ps), max(ps)
