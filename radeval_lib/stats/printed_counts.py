"""Whole numbers behind printed shares and means: which counts and cases a paper's digits allow.

Source of the intervals of shares: Brown, Cai and DasGupta 2001, Statistical Science 16(2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

from radeval_lib.stats.proportions import wilson

_TAILS = ((1 - 0.95) / 2, 1 - (1 - 0.95) / 2)
METHODS = ("exact", "Wilson", "Wald", "bootstrap percentile", "bootstrap BCa")
# Slack for binary floating point at the very edge of a rounding interval.
_EDGE = 1e-9


def sums_that_print(mean: float, half_width: float, n: int) -> list[int]:
    """Whole numbers k from 0 for which k/n rounds to a printed mean of whole numbers.

    Empty where no n counts can have that mean: the GRIM test (Brown and Heathers 2017). A ValueError where n
    is below 1, ``half_width`` is below 0, or the mean is not finite."""
    if n < 1 or not half_width >= 0 or not math.isfinite(mean):
        raise ValueError(f"no mean of {n} numbers prints as {mean} with half width {half_width}")
    first, last = math.ceil((mean - half_width - _EDGE) * n), math.floor((mean + half_width + _EDGE) * n)
    return list(range(max(first, 0), last + 1))


def counts_that_print(share: float, half_width: float, n: int) -> list[int]:
    """Whole numbers k, at most n, for which k / n rounds to a printed share."""
    return [k for k in sums_that_print(share, half_width, n) if k <= n]


@cache
def interval(k: int, n: int, method: str) -> tuple[float, float]:
    """Return 95 % confidence interval of the share k / n by one of :data:`METHODS`.

    ``bootstrap percentile`` are the quantiles of a binomial distribution, the limit of many resamples;
    ``bootstrap BCa`` takes them at levels corrected for bias and acceleration (Efron 1987), as
    :func:`scipy.stats.bootstrap`.

    Raises
    ------
    ValueError
        If the method is unknown, or k of n is not a share.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; methods: {', '.join(METHODS)}")
    if n < 1 or not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is not a share of cases")
    if method == "Wilson":
        return wilson(k, n)
    if method == "exact":
        found = stats.binomtest(k, n).proportion_ci(0.95, method)
        return float(found.low), float(found.high)
    if method == "Wald":
        reach = float(stats.norm.ppf(0.975)) * math.sqrt(k / n * (1 - k / n) / n)
        return k / n - reach, k / n + reach
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
    """Return which numbers of cases fit printed (share, low, high), all over the same cases.

    One row per number of cases ``n`` and method: ``shares`` (how many printed shares some k / n rounds to)
    and ``ends`` (how many printed ends the method gives, at the best fitting k)."""
    if not shares or largest < 1:
        raise ValueError(f"{len(shares)} shares of up to {largest} cases; give at least one of each")
    rows = []
    for n in range(1, largest + 1):
        fitting = [counts_that_print(share, half_width, n) for share, _, _ in shares]
        for method in METHODS:
            met = 0
            for counts, (_, *printed) in zip(fitting, shares, strict=True):
                gaps = (np.abs(np.subtract(interval(k, n, method), printed)) for k in counts)
                met += max((int((gap <= half_width + _EDGE).sum()) for gap in gaps), default=0)
            rows.append({"n": n, "method": method, "shares": sum(map(bool, fitting)), "ends": met})
    return pd.DataFrame(rows)


def mcnemar_range(first: int, second: int, n: int) -> tuple[float, float]:
    """Return smallest and largest exact McNemar p that two methods' numbers correct of the same ``n`` cases
    allow.

    The exact test is a sign test of the discordant cases: with gap d and u cases that only the worse method
    gets right, it compares u with d + u; u runs from 0 to min(worse, n - better).

    Raises
    ------
    ValueError
        If a number correct is below 0 or above n.
    """
    worse, better = sorted((first, second))
    if not 0 <= worse <= better <= n:
        raise ValueError(f"{first} and {second} of {n} are not numbers correct")
    only_worse = np.arange(min(worse, n - better) + 1)
    discordant = better - worse + 2 * only_worse
    # Twice the lower tail: the test of a fair coin is symmetric, and only_worse is the smaller count.
    ps = np.minimum(1.0, 2 * stats.binom.cdf(only_worse, discordant, 0.5))
    return float(ps.min()), float(ps.max())


def predictions_that_print(
    precision: float, recall: float, n: int, half_width: float
) -> tuple[int, int] | None:
    """Return fewest and most predictions of a class with ``n`` members that fit its printed precision and
    recall (fractions); None where no whole numbers fit, or where recall is 0: without a hit, precision says
    nothing."""
    fitting = [
        predictions
        for hits in counts_that_print(recall, half_width, n)
        if hits
        # hits / precision is at most this; one more for rounding of the quotient itself
        for predictions in range(hits, math.ceil(hits / max(precision - half_width, 1e-9)) + 1)
        if hits in counts_that_print(precision, half_width, predictions)
    ]
    return (min(fitting), max(fitting)) if fitting else None
