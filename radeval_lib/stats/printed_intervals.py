"""What printed estimates with confidence intervals allow to say about their differences.

The estimates come from the same items, so their errors are correlated, and no paper prints how strongly.
Tests here therefore take that correlation as an argument: 0 is the assumption of independent estimates.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pingouin as pg
from numpy.typing import ArrayLike, NDArray
from scipy import stats


def standard_error(low: float, high: float, level: float = 0.95) -> float:
    """Standard error on Fisher's z scale that a correlation's confidence interval implies.

    Parameters
    ----------
    low, high : ends of the interval, strictly between -1 and 1.
    level : its coverage.

    Returns
    -------
    float
        ``(atanh(high) - atanh(low)) / (2 q)`` with the normal quantile q: symmetric on this scale, as the
        intervals of correlations are there, to good approximation.

    Raises
    ------
    ValueError
        Where the ends are out of order or out of range.
    """
    if not -1 < low < high < 1:
        raise ValueError(f"interval from {low} to {high}: the ends must be in order, between -1 and 1")
    return (math.atanh(high) - math.atanh(low)) / (2 * float(stats.norm.ppf(0.5 + level / 2)))


def two_sided_p(
    difference: ArrayLike, first_se: ArrayLike, second_se: ArrayLike, between: ArrayLike = 0.0
) -> NDArray[np.float64]:
    """Two-sided p of a z-test of two estimates whose errors correlate by ``between``.

    ``Var(x - y) = se_x² + se_y² - 2 between se_x se_y``. Arguments are broadcast against each other.
    """
    x, y = np.asarray(first_se, dtype=np.float64), np.asarray(second_se, dtype=np.float64)
    variance = x**2 + y**2 - 2 * np.asarray(between, dtype=np.float64) * x * y
    with np.errstate(divide="ignore"):
        z = np.abs(np.asarray(difference, dtype=np.float64)) / np.sqrt(variance)
    result: NDArray[np.float64] = 2 * stats.norm.sf(z)
    return result


def needed_correlation(difference: float, first_se: float, second_se: float, alpha: float = 0.05) -> float:
    """How strongly the errors of two estimates must correlate for their difference to reach ``alpha``.

    Returns
    -------
    float
        The smallest correlation of [-1, 1] at which :func:`two_sided_p` is at most ``alpha``: at or below 0
        where independent errors suffice; NaN where no correlation does.
    """
    reach = abs(difference) / float(stats.norm.ppf(1 - alpha / 2))
    needed = (first_se**2 + second_se**2 - reach**2) / (2 * first_se * second_se)
    return max(needed, -1.0) if needed <= 1 else math.nan


def pairwise_tests(frame: pd.DataFrame, *, name: str, between: float = 0.0) -> pd.DataFrame:
    """z-test of every two printed correlations on Fisher's z scale, with Holm's correction.

    Parameters
    ----------
    frame : one row an estimate: the column ``name`` and ``estimate``, ``ci_low``, ``ci_high`` (95%).
    between : assumed correlation of the errors of every two estimates.

    Returns
    -------
    DataFrame
        One row a pair, in the frame's order: ``first``, ``second``, ``difference`` (first minus second, on
        the printed scale), ``p``, ``p_holm`` and ``needed``, the correlation of errors from which on the
        pair alone reaches 0.05 (:func:`needed_correlation`).
    """
    errors = [standard_error(low, high) for low, high in zip(frame["ci_low"], frame["ci_high"], strict=True)]
    names, values = frame[name].tolist(), frame["estimate"].to_numpy(dtype=np.float64)
    rows = []
    for i, j in combinations(range(len(frame)), 2):
        gap = math.atanh(values[i]) - math.atanh(values[j])
        rows.append(
            {
                "first": names[i],
                "second": names[j],
                "difference": values[i] - values[j],
                "p": float(two_sided_p(gap, errors[i], errors[j], between)),
                "needed": needed_correlation(gap, errors[i], errors[j]),
            }
        )
    result = pd.DataFrame(rows)
    result["p_holm"] = pg.multicomp(result["p"].to_numpy(), method="holm")[1]
    return result[["first", "second", "difference", "p", "p_holm", "needed"]]
