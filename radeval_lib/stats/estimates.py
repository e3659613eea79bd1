"""The result of every comparison: a number, its interval, and the number of cases."""

from __future__ import annotations

from dataclasses import dataclass

from radeval_lib.text_format import with_interval


@dataclass(frozen=True)
class Estimate:
    """A computed number and the interval in which it may lie, all in the unit of the quantity.

    Attributes
    ----------
    value : the number at the data, or at the printed inputs.
    low, high : a 95% confidence interval, or what the rounding of printed inputs allows; the caller says
        which where it names the check.
    p : two-sided p value that the quantity is 0, where one was computed.
    n : cases behind the number, where it counts them.
    detectable : how far from 0 the quantity must be for a chance of 80 % that its interval excludes 0.
    """

    value: float
    low: float
    high: float
    p: float | None = None
    n: int | None = None
    detectable: float | None = None

    def __format__(self, form: str) -> str:
        """Return the number with its interval, e.g. ``0.12 [0.10, 0.15]`` in the format ``.2f``."""
        return with_interval(self.value, self.low, self.high, form) if form else str(self)
