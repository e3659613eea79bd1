"""How hidden tests compare numbers: with their shape first, so that nothing that is no answer equals one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

_TOGETHER = 0.6
"""Correlation over resamples: of a wrong statistic, such as one of other rows of the same cases, with a right
one it is 0.66 and more, of means and spreads of what was drawn at most 0.6, and of made-up numbers near 0."""


def same_numbers(found: Any, wanted: Any, within: float = 1e-6) -> bool:
    """Whether two answers hold the same numbers, as many in each row, each within so much of the other and a
    hundred thousandth of it.

    NumPy's ``allclose`` stretches the smaller of two arrays, and finds an empty one equal to any.
    """
    try:
        given, right = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    except (TypeError, ValueError):  # rows of different lengths, or texts
        return False
    return given.shape == right.shape and bool((np.abs(given - right) <= within + 1e-5 * np.abs(right)).all())


def goes_with(values: Any, right: Iterable[Any]) -> bool:
    """Whether values go together with one of several right ones over the same resamples, up or down, as those
    of a mistaken statistic do, and numbers do not that were made up to look like them."""
    try:
        own = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return False
    if own.ndim != 1 or not own.size or not np.isfinite(own).all() or np.ptp(own) == 0:
        return False
    return any(own.shape == np.shape(one) and abs(np.corrcoef(own, one)[0, 1]) > _TOGETHER for one in right)
