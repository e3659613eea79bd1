"""What follows from rounded numbers: the range of a result that the rounding of its inputs allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.stats.base import Estimate

if TYPE_CHECKING:
    from radeval_lib.stats.base import FloatArray


def rounding_range(
    function: Callable[[FloatArray], float], inputs: pd.DataFrame | Sequence[Printed]
) -> Estimate:
    """Return ``function`` at the printed inputs, and its range over all inputs that round to them.

    Parameters
    ----------
    function : maps a float64 array of shape (n,) to a number.
    inputs : n printed cells, one at least, in a frame (columns ``value`` and ``half_width``) or a list.

    Raises
    ------
    ValueError
        If an input is not legible, or the function has no value at the inputs.

    Notes
    -----
    Each input moves to the end of its rounding interval that raises (or lowers) the function, by the sign of
    its slope at the printed values. This is exact if the function is monotone in every input within the
    interval, as sums, means, differences and F1 are, and first order otherwise: if the slope changes its
    sign at the printed values, as that of |a - b| does at a = b, part of the range is missed.
    """
    values, steps = _cells(inputs)
    centre = float(function(values))
    signs = np.zeros_like(values)
    for position in np.flatnonzero(steps):
        nudged = values.copy()
        nudged[position] += steps[position] * 1e-3
        signs[position] = np.sign(float(function(nudged)) - centre)
    ends = [float(function(values - signs * steps)), float(function(values + signs * steps)), centre]
    if np.isnan(ends).any():
        raise ValueError("no value at the printed inputs; leave out illegible and undefined cells")
    return Estimate(centre, min(ends), max(ends))


def _cells(inputs: pd.DataFrame | Sequence[Printed]) -> tuple[FloatArray, FloatArray]:
    """Return printed values and their half-units of rounding, see :func:`rounding_range`."""
    cells = pd.DataFrame(inputs)
    return cells["value"].to_numpy(dtype=np.float64), cells["half_width"].to_numpy(dtype=np.float64)


def correlation_range(first: pd.DataFrame, second: pd.DataFrame) -> Estimate:
    """Return Pearson's correlation of two printed columns, and its range over all columns that round to them.

    Parameters
    ----------
    first, second : frames of printed cells (columns ``value`` and ``half_width``), with the same rows in the
        same order, two at least.

    Notes
    -----
    Correlations are not monotone in their inputs, so the ends are searched for, by L-BFGS-B with the exact
    gradient: from the printed values, and from beside them, since columns on a line have no gradient.
    """
    from scipy.optimize import minimize  # here, since every command loads this module

    values, steps = map(np.stack, zip(_cells(first), _cells(second), strict=True))

    def moved(shifts: FloatArray, side: int) -> tuple[float, FloatArray]:
        columns = values + shifts.reshape(values.shape) * steps
        columns -= columns.mean(axis=1, keepdims=True)
        norms = np.sqrt((columns**2).sum(axis=1, keepdims=True))
        columns /= norms
        correlation = float(columns.prod(axis=0).sum())
        slopes = (columns[::-1] - correlation * columns) / norms * steps
        return side * correlation, side * slopes.ravel()

    printed, box = np.zeros(values.size), [(-1, 1)] * values.size
    beside = np.resize([0.5, -0.5, -0.5], values.size)
    low, high = (
        side
        * min(
            minimize(moved, start, args=(side,), jac=True, bounds=box, method="L-BFGS-B").fun
            for start in (printed, beside)
        )
        for side in (1, -1)
    )
    return Estimate(moved(printed, 1)[0], float(low), float(high))
