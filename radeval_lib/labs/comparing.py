"""How hidden tests compare numbers: with their shape first, so that nothing that is no answer equals one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_EXPLAINED = 0.2
"""Share of the variance: statistics of the rows that were drawn, wrong ones too, have 0.26 to 0.99, and
numbers that were made up 0 to 0.05."""


def same_numbers(found: Any, wanted: Any, within: float = 1e-6) -> bool:
    """Whether two answers hold the same numbers, as many in each row, each within so much of the other and a
    hundred thousandth of it.

    NumPy's ``allclose`` stretches the smaller of two arrays, and finds an empty one equal to any.
    """
    try:
        one, other = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    except (TypeError, ValueError):  # rows of different lengths, or texts
        return False
    return one.shape == other.shape and bool((np.abs(one - other) <= within + 1e-5 * np.abs(other)).all())


def follows(values: Any, drawn: Sequence[Sequence[int]]) -> bool:
    """Whether each value depends on what its row of ``drawn`` drew, as a statistic of resampled cases does,
    right or wrong, and numbers that were made up do not: how often each case was drawn explains a good part
    of their variance."""
    try:
        own = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return False
    rows = np.asarray(drawn)
    if own.shape != rows.shape[:1] or not np.isfinite(own).all() or np.ptp(own) == 0:
        return False
    counts = np.stack([np.bincount(row, minlength=rows.max() + 1) for row in rows]).astype(float)
    counts, own = counts - counts.mean(axis=0), own - own.mean()
    fitted, _, rank, _ = np.linalg.lstsq(counts, own, rcond=None)
    left = float(((own - counts @ fitted) ** 2).sum() / (len(own) - 1 - rank))
    return 1 - left / float((own**2).sum() / (len(own) - 1)) > _EXPLAINED
