"""Observations whose names an encoder puts close together: what the lexicon's hierarchy does not relate.

The judge's default has none of it; the study measures what it would add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from radeval_lib.models.judges.rules.items import name

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Vectors of texts, float32, shape (texts, dimension)."""


class EncodedNames:
    """Says whether two observations are the same in other words.

    Parameters
    ----------
    encode : an encoder's ``encode``.
    threshold : the cosine of both names from which on they are taken for synonyms.
    """

    def __init__(self, encode: Encode, threshold: float) -> None:
        self.threshold = threshold
        self._vector = lru_cache(maxsize=None)(lambda text: encode([text])[0])

    def likeness(self, one: str, other: str) -> float:
        """The cosine of two names."""
        a, b = self._vector(one), self._vector(other)
        return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))

    def __call__(self, one: str, other: str) -> bool:
        """Whether two observations (keys of the lexicon) are synonyms."""
        return self.likeness(name(one), name(other)) >= self.threshold
