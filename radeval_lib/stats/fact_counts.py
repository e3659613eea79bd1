"""Fact counting: precision, recall, F-score and accuracy from a rater's raw counts, and coherence codes.

Source: Moramarco et al. 2021, Section 5.
"""

from __future__ import annotations

import math
from typing import NamedTuple

COHERENCE = {"Coherent": 1.0, "Minor Errors": 0.5, "Major Errors": 0.0}


class FactCounts(NamedTuple):
    """One rater's counts for one generated description: facts of the reference (R) and of the description
    (G), and how many of the latter are also in the reference (R&G) and correct (C)."""

    reference: int
    generated: int
    common: int
    correct: int

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
