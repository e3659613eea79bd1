"""Input checks of the statistics: a wrong number is worse than none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
OfSums = Callable[[FloatArray], FloatArray]
"""Measures from summed statistics; shape (..., statistics) to (..., measures)."""


def finite(name: str, values: ArrayLike, *shape: int | None) -> FloatArray:
    """Return ``values`` as float64 of this shape, where None is any length from 1; none is missing or
    infinite."""
    array = np.asarray(values, dtype=np.float64)
    sizes = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(size == 0 or wanted not in (None, size) for size, wanted in sizes):
        wanted = ", ".join("n" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} has shape {array.shape}; give a shape of ({wanted})")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds a value that is missing or not finite; leave those items out")
    return array


def at_least_one(name: str, number: int) -> int:
    """Return a number of repetitions, which must be 1 or more."""
    if not number >= 1:
        raise ValueError(f"{name} must be at least 1, not {number}")
    return number


def group_numbers(name: str, groups: Any, items: int, *, sort: bool = False) -> NDArray[np.intp]:
    """Return the number of each item's group, from 0 in order of appearance or sorted; every item has a
    group."""
    import pandas as pd  # not above: radcliq checks its input here, and scoring by rules loads nothing heavy

    found = pd.factorize(pd.Series(list(groups)), sort=sort)[0]
    if len(found) != items:
        raise ValueError(f"{name} has {len(found)} values for {items} items; give each item one")
    if (found < 0).any():
        raise ValueError(f"{name} holds a missing value; leave those items out")
    return found


def classes_of(labels: ArrayLike, samples: int, classes: int) -> NDArray[np.int64]:
    """Return ``labels`` as one whole number per sample, from 0 and below the number of classes."""
    truth = np.asarray(labels)
    whole = truth.shape == (samples,) and np.issubdtype(truth.dtype, np.integer)
    if not whole or truth.min() < 0 or truth.max() >= classes:
        raise ValueError(f"labels must be {samples} whole numbers from 0 to {classes - 1}, one per sample")
    return truth.astype(np.int64)
