"""Fact counting: precision, recall, F-score and accuracy from a rater's raw counts, and coherence codes.

Source: Moramarco et al. 2021, Section 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

COHERENCE = {"Coherent": 1.0, "Minor Errors": 0.5, "Major Errors": 0.0}
"""The code of each answer on a description's coherence."""


@dataclass(frozen=True)
class FactCounts:
    """One rater's counts for one generated description.

    Attributes
    ----------
    reference : R, facts in the reference description.
    generated : G, facts in the generated description.
    common : R&G, facts of the generated description that are also in the reference.
    correct : C, facts of the generated description that are correct.

    Raises
    ------
    ValueError
        Where a count is negative or no whole number, or a part exceeds its whole.
    """

    reference: int
    generated: int
    common: int
    correct: int

    def __post_init__(self) -> None:
        for name in ("reference", "generated", "common", "correct"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise ValueError(f"{name} must be a whole number from 0, not {count!r}")
        for part, whole in (("common", "generated"), ("common", "reference"), ("correct", "generated")):
            if getattr(self, part) > getattr(self, whole):
                raise ValueError(
                    f"{part} = {getattr(self, part)} exceeds {whole} = {getattr(self, whole)}; "
                    "count facts of both texts at one level of detail"
                )

    @property
    def precision(self) -> float:
        """R&G / G; NaN where the generated description has no fact."""
        return self.common / self.generated if self.generated else math.nan

    @property
    def recall(self) -> float:
        """R&G / R; NaN where the reference has no fact."""
        return self.common / self.reference if self.reference else math.nan

    @property
    def f_score(self) -> float:
        """Harmonic mean of precision and recall; 0 where both are 0, NaN where one is not defined."""
        if not (self.generated and self.reference):
            return math.nan
        return 2 * self.common / (self.generated + self.reference)

    @property
    def accuracy(self) -> float:
        """C / G; NaN where the generated description has no fact."""
        return self.correct / self.generated if self.generated else math.nan
