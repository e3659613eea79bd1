"""Labs: what a lab's notebook draws its parameters from, and how labs are built and graded."""

from __future__ import annotations

import hashlib
import unicodedata
import warnings
from numbers import Real

import numpy as np

PLACEHOLDER = "your id"
"""What a lab's first cell says until a student puts an id there."""
_LONGEST = 80  # characters of an id


def known_id(value: object) -> str:
    """An id as text in Unicode's form NFKC, whether it was written as text or as a whole number, 17.0 as 17.

    Raises
    ------
    ValueError
        With a remedy, where it is neither, empty, longer than 80 characters, or not on one line.
    """
    if isinstance(value, Real) and not isinstance(value, bool) and value % 1 == 0:
        value = f"{value:.0f}" if isinstance(value, float) else str(value)
    elif not isinstance(value, str):
        kind = type(value).__name__
        raise ValueError(f"an id is a text or a whole number, not a {kind}: write it in quotes")
    text = unicodedata.normalize("NFKC", str(value)).strip()
    if not text or len(text) > _LONGEST or not text.isprintable():
        raise ValueError(f"an id is a text of 1 to {_LONGEST} characters on one line")
    return text


def seed(student_id: object) -> int:
    """The seed of a student, from 0 to 2³² − 1; case and blanks around the id do not count. It warns where
    the id is still the placeholder; a ValueError where it cannot be read."""
    known = known_id(student_id)
    if known == PLACEHOLDER:
        warnings.warn("put your own id into the first cell: these data are nobody's", stacklevel=2)
    return int.from_bytes(hashlib.sha256(known.lower().encode()).digest()[:4])


def rng(student_id: object, name: str) -> np.random.Generator:
    """The one source of chance of a lab, for a student and what is drawn, its ``name``."""
    return np.random.default_rng([seed(student_id), *name.encode()])
