"""Marks a task by a student's own answers to earlier ones, so that a mistake costs its own task alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

_DIFFERENT = 3  # answers that a function must give to count as one


def own_or_right(
    own: Callable[..., Any], right: Callable[..., Any], inputs: Iterable[Sequence[Any]]
) -> Callable[..., Any]:
    """The student's own function, right or wrong, where it is a function of its inputs; else the right one.

    One that gives nearly always the same, gives something else when asked again, or raises, is made up, and
    what follows from it shows nothing.

    Parameters
    ----------
    inputs : arguments on which the right function gives several answers.
    """
    asked = list(inputs)
    try:
        first, again = ([_comparable(own(*one)) for one in asked] for _ in range(2))
    except Exception:  # a student's function may raise anything
        return right
    return own if first == again and len(set(first)) >= _DIFFERENT else right


def _comparable(value: Any) -> str:
    """What two equal answers have in common, whatever they are made of."""
    if isinstance(value, dict):
        return str({str(key): _comparable(part) for key, part in value.items()})
    try:
        return str(np.asarray(value, dtype=float).round(6).tolist())
    except (TypeError, ValueError):
        return str(value)
