"""What all statistics share: arrays and their checks, numbers with intervals, and F1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radeval_lib.text_format import with_interval

FloatArray = NDArray[np.float64]
OfSums = Callable[[FloatArray], FloatArray]
"""Measures from summed statistics; shape (..., statistics) to (..., measures)."""


@dataclass(frozen=True)
class Estimate:
    """A computed number and its interval, all in the unit of the quantity.

    Attributes
    ----------
    value : the number at the data, or at the printed inputs.
    low, high : a 95% confidence interval, or what the rounding of printed inputs allows; the caller says
        which if it names the check.
    p : two-sided p value that the quantity is 0, if one was computed.
    detectable : how far from 0 the quantity must be for a chance of 80 % that its interval excludes 0.
    """

    value: float
    low: float
    high: float
    p: float | None = None
    detectable: float | None = None

    def __format__(self, form: str) -> str:
        """Return the number with its interval, e.g. ``0.12 [0.10, 0.15]`` in the format ``.2f``."""
        return with_interval(self.value, self.low, self.high, form) if form else str(self)


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall, both in the same unit; 0 if the two sum to 0.

    The mean of two numbers of opposite sign, as means of cosines can be, may be outside the range between
    them. F1 of counts is in :mod:`radeval_lib.stats.measures`.
    """
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def finite(name: str, values: ArrayLike, *shape: int | None) -> FloatArray:
    """Return ``values`` as float64 of this shape; None: any length from 1.

    A ValueError if the shape differs, or a value is missing or infinite.
    """
    array = np.asarray(values, dtype=np.float64)
    sizes = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(size == 0 or wanted not in (None, size) for size, wanted in sizes):
        wanted = ", ".join("n" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} has shape {array.shape}; give a shape of ({wanted})")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds a value that is missing or not finite; leave those items out")
    return array


def group_numbers(name: str, groups: Any, items: int, *, sort: bool = False) -> NDArray[np.intp]:
    """Return the number of each item's group, counted from 0 in order of appearance or sorted.

    A ValueError if there are not as many groups as ``items``, or an item has none.
    """
    import pandas as pd  # not above: radcliq checks its input here, and scoring by rules loads nothing heavy

    numbers = pd.factorize(pd.Series(list(groups)), sort=sort)[0]
    if len(numbers) != items:
        raise ValueError(f"{name} has {len(numbers)} values for {items} items; give each item one")
    if (numbers < 0).any():
        raise ValueError(f"{name} holds a missing value; leave those items out")
    return numbers
