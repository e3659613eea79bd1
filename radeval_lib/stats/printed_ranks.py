"""Ranks of rounded numbers: what rounding leaves open."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Ends of neighbouring rounding intervals are equal on paper but not in binary floating point.
_DIGITS = 9


def rank_range(low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lowest and highest rank that each of n numbers can have, where 1 is the rank of the smallest.

    Parameters
    ----------
    low, high : float, shape (n,): the interval in which each number lies; ends that touch count as apart.

    Returns
    -------
    lowest, highest : int, shape (n,): the rank after all that are surely smaller, and before all that are
        surely larger.
    """
    bottom, top = (np.round(np.asarray(end, dtype=np.float64), _DIGITS) for end in (low, high))
    if bottom.shape != top.shape or bottom.ndim != 1 or (bottom > top).any():
        raise ValueError("low and high must be two lists of equal length with low <= high")
    others = ~np.eye(len(bottom), dtype=bool)
    # An exact number must not come out both below and above another exact number of the same value.
    apart = (top[None, :] <= bottom[:, None]) & (
        (bottom[None, :] < bottom[:, None]) | (top[None, :] < top[:, None])
    )
    smaller = (apart & others).sum(axis=1)
    larger = (apart.T & others).sum(axis=1)
    return 1 + smaller.astype(np.int64), len(bottom) - larger.astype(np.int64)
