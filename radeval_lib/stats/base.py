"""Checks of arrays, numbers with intervals, and F1: the base of all statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radeval_lib.text_format import with_interval

FloatArray = NDArray[np.float64]
Formula = Callable[[FloatArray], FloatArray]
"""A function that computes measures from statistics summed over cases: shape (..., statistics) to (...,
measures)."""


@dataclass(frozen=True)
class Estimate:
    """A computed number with its interval, all in the unit of the quantity.

    Attributes
    ----------
    value : the number computed from the data, or from printed inputs as they are printed.
    low, high : the bounds of a 95% confidence interval, or of the range that the rounding of printed inputs
        allows; the check that holds the estimate says which.
    p : the two-sided p-value for the hypothesis that the quantity is 0; None if no test was made.
    detectable : the distance from 0 at which the interval would exclude 0 with a probability of 80%; None if
        it was not computed.
    """

    value: float
    low: float
    high: float
    p: float | None = None
    detectable: float | None = None

    def __format__(self, form: str) -> str:
        """Return the number with its interval: ``0.12 [0.10, 0.15]`` in the format ``.2f``. Without a format,
        return the representation of the object."""
        return with_interval(self.value, self.low, self.high, form) if form else str(self)


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean of precision and recall, in the same unit; 0 if the two sum to 0.

    If one is negative, as a mean cosine can be, the result may lie outside the range between the two.
    :func:`radeval_lib.stats.measures.f1` takes counts.
    """
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def check_array(name: str, values: ArrayLike, *shape: int | None) -> FloatArray:
    """Return ``values`` as a float64 array after checking its shape and that all values are finite.

    Parameters
    ----------
    name : the argument's name, for error messages.
    shape : the required length of each dimension; None allows any length above 0.

    Raises
    ------
    ValueError
        If the array does not have this shape, or a value is NaN or infinite.
    """
    array = np.asarray(values, dtype=np.float64)
    sizes = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(size == 0 or required not in (None, size) for size, required in sizes):
        required_shape = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} has shape {array.shape}; pass a non-empty array, shape ({required_shape})")
    if bad := int((~np.isfinite(array)).sum()):
        raise ValueError(f"{name} has {bad} missing or infinite values; leave out the items with such values")
    return array


def number_groups(name: str, groups: Any, items: int, *, sort: bool = False) -> NDArray[np.intp]:
    """Return each item's group as a number from 0, in the order in which groups appear; shape (items,).

    Parameters
    ----------
    name : the argument's name, for error messages.
    groups : the group of each item.
    items : the required number of items.
    sort : whether to number the groups in sorted order instead.

    Raises
    ------
    ValueError
        If the length of ``groups`` is not ``items``, or the group of an item is missing.
    """
    import pandas as pd  # imported here because metrics that use this module must load without pandas

    numbers = pd.factorize(pd.Series(list(groups)), sort=sort)[0]
    if len(numbers) != items:
        raise ValueError(f"{name} has {len(numbers)} values for {items} items; give each item one group")
    if missing := int((numbers < 0).sum()):
        raise ValueError(f"{name} has {missing} missing values; leave out the items without a group")
    return numbers
