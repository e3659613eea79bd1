"""What a printed correlation and the number of pairs allow to say, without the pairs themselves.

All intervals and tests are large-sample results for independent pairs; where several pairs share a report,
the true uncertainty is larger.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy import optimize, special, stats

Kind = Literal["pearson", "spearman", "kendall"]


def _standard_error(value: float, n: int, kind: Kind) -> float:
    """Standard error of the coefficient's inverse hyperbolic tangent."""
    if kind == "pearson":
        return 1 / math.sqrt(n - 3)
    if kind == "spearman":  # Bonett and Wright 2000, equation 3
        return math.sqrt((1 + value**2 / 2) / (n - 3))
    return math.sqrt(0.437 / (n - 4))  # Fieller, Hartley and Pearson 1957


def correlation_interval(
    value: float, n: int, kind: Kind = "pearson", level: float = 0.95
) -> tuple[float, float]:
    """Confidence interval of a correlation from its value and the number of pairs.

    Parameters
    ----------
    value : the coefficient, strictly between -1 and 1.
    n : pairs; at least 5.
    kind : which coefficient; sets the variance on Fisher's z scale.
    level : coverage, strictly between 0 and 1.

    Returns
    -------
    tuple of float
        Low and high end.

    Raises
    ------
    ValueError
        Where an argument is outside its range.

    Notes
    -----
    Fisher's z: ``tanh(atanh(value) ± q se)``; se is 1/sqrt(n - 3) for Pearson, sqrt((1 + value²/2)/(n - 3))
    for Spearman (Bonett and Wright 2000) and sqrt(0.437/(n - 4)) for Kendall (Fieller et al. 1957).
    """
    if not -1 < value < 1 or n < 5 or not 0 < level < 1:
        raise ValueError(f"needs |value| < 1, n >= 5 and 0 < level < 1, not {value}, {n} and {level}")
    reach = float(stats.norm.ppf(0.5 + level / 2)) * _standard_error(value, n, kind)
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)


def williams_test(first: float, second: float, between: float, n: int) -> tuple[float, float]:
    """Williams's test of two Pearson correlations with the same third variable, on the same pairs.

    Parameters
    ----------
    first, second : correlations of two metrics with the ratings.
    between : correlation of the two metrics with each other.
    n : pairs; at least 4.

    Returns
    -------
    tuple of float
        t (positive where ``first`` is larger) and the two-sided p from n - 3 degrees of freedom.

    Raises
    ------
    ValueError
        Where no three variables can correlate so.

    Notes
    -----
    Steiger 1980, equation 7 (Williams's T2).
    """
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    if determinant < -1e-12 or n < 4:
        raise ValueError(f"correlations {first}, {second} and {between} at n = {n} are impossible together")
    mean = (first + second) / 2
    spread = 2 * (n - 1) / (n - 3) * max(determinant, 0.0) + mean**2 * (1 - between) ** 3
    t = (first - second) * math.sqrt((n - 1) * (1 + between) / spread)
    # What scipy.stats.t.sf computes, without its checks, which cost most where thousands are asked for.
    return t, 2 * float(special.stdtr(n - 3, -abs(t)))


def lowest_between(first: float, second: float) -> float:
    """The smallest correlation that two metrics can have with each other, given theirs with the ratings."""
    return first * second - math.sqrt((1 - first**2) * (1 - second**2))


def needed_between(first: float, second: float, n: int, alpha: float = 0.05) -> float:
    """How strongly two metrics must correlate with each other for their printed correlations to differ.

    Returns
    -------
    float
        The correlation between the metrics from which on :func:`williams_test` gives p <= ``alpha``; the
        smallest possible one where any will do; NaN where none will.
    """
    if first == second:
        return math.nan
    reach = math.sqrt((1 - first**2) * (1 - second**2))
    grid = np.linspace(first * second - reach, first * second + reach, 2001)[1:-1]

    def excess(between: float) -> float:
        return williams_test(first, second, between, n)[1] - alpha

    failing = np.flatnonzero([excess(between) > 0 for between in grid])
    if len(failing) == 0:
        return lowest_between(first, second)
    if failing[-1] == len(grid) - 1:
        return math.nan
    return float(optimize.brentq(excess, grid[failing[-1]], grid[failing[-1] + 1]))
