"""F1 of precision and recall; of counts it is in :mod:`radeval_lib.stats.measures`."""

from __future__ import annotations


def f1(precision: float, recall: float) -> float:
    """Return harmonic mean of precision and recall, both in the same unit; 0 where the two sum to 0.

    Of opposite sign, as means of cosines can be, they can put it outside of what lies between them.
    """
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0
