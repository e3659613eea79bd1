"""Intervals of a share of cases."""

from __future__ import annotations

from math import sqrt

from scipy import stats


def wilson(count: float, cases: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, ``count`` of ``cases`` (Wilson 1927).

    A tie may count as half, which SciPy's ``binomtest`` refuses; of whole numbers the two are the same. A
    :class:`ValueError` where there are no cases, or the count is not from 0 to ``cases``.
    """
    if cases < 1 or not 0 <= count <= cases:
        raise ValueError(f"{count} of {cases} is not a share of cases")
    z, share = float(stats.norm.isf(0.025)), count / cases
    middle = share + z**2 / (2 * cases)
    half = z * sqrt(share * (1 - share) / cases + z**2 / (4 * cases**2))
    low, high = ((middle + sign * half) / (1 + z**2 / cases) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def rule_of_three(cases: int) -> float:
    """Return an upper 95 % bound of the share of something that none of ``cases`` cases, one or more, has
    (Hanley and Lippman-Hand 1983). A :class:`ValueError` where there are no cases."""
    if cases < 1:
        raise ValueError(f"a share needs at least 1 case, not {cases}")
    return min(1.0, 3 / cases)
