"""Labs: what a lab's notebook draws its parameters from, and how labs are built and graded."""

from __future__ import annotations

import hashlib
import warnings

import numpy as np

PLACEHOLDER = "your id"
"""What stands in a lab's first cell until a student puts an id there."""


def seed(student_id: str) -> int:
    """The seed of a student; case and blanks around the id do not count. It warns where the id is still the
    placeholder."""
    if student_id == PLACEHOLDER:
        warnings.warn("put your own id into the first cell: these data are nobody's", stacklevel=2)
    return int.from_bytes(hashlib.sha256(student_id.strip().lower().encode()).digest()[:4])


def rng(student_id: str, name: str) -> np.random.Generator:
    """The one source of chance of a lab, for a student and what is drawn."""
    return np.random.default_rng([seed(student_id), *name.encode()])
