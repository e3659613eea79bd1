"""Marks a task by a student's own answers to earlier ones, so that a mistake costs its own task alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

_SHARE, _CORRELATION = 1 / 3, 0.9
"""What a usual mistake leaves, such as a sign, a factor or a case left out: more than this share of results
right, or numbers that correlate with the right ones; a constant or made-up answer has neither."""


def own_or_right(
    students: Callable[..., Any], right: Callable[..., Any], inputs: Iterable[Sequence[Any]]
) -> Callable[..., Any]:
    """Return the student's own function if it is right or plausibly mistaken; otherwise the right one.

    It resembles the right one if it gives the same when asked again, and if more than a third of its results
    are right, with at least two different ones among them, or if its numbers correlate with the right ones
    above 0.9. Later tasks are marked by the right function if another was made up.

    Parameters
    ----------
    own, right : functions that give answers in normal form, see :mod:`radeval_lib.labs.checks`.
    inputs : the arguments of each call, on which the right function gives several answers. Of results that
        are lists or dictionaries each part counts.
    """
    asked = list(inputs)
    try:
        first, again, wanted = (
            [_parts(function(*given)) for given in asked] for function in (students, students, right)
        )
    except Exception:  # a student's function may raise anything
        return right
    if first != again or [len(part) for part in first] != [len(part) for part in wanted]:
        return right
    pairs = [pair for mine, its in zip(first, wanted, strict=True) for pair in zip(mine, its, strict=True)]
    same = [mine for mine, its in pairs if mine == its]
    resembles = len(same) > _SHARE * len(pairs) and len(set(same)) > 1
    return students if resembles or _correlate(pairs) else right


def _parts(value: Any) -> list[Any]:
    """Return the numbers and texts that a result is made of; numbers to six decimals, NaN as text."""
    if isinstance(value, dict):
        return [part for key in sorted(value, key=str) for part in _parts(value[key])]
    if isinstance(value, str) or not np.iterable(value):
        is_number = isinstance(value, int | float | np.number)
        return [("nan" if np.isnan(value) else round(float(value), 6)) if is_number else value]
    return [part for item in value for part in _parts(item)]


def _correlate(pairs: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether four numbers or more go together, up or down."""
    try:
        first, other = np.asarray(pairs, dtype=float).T
    except (TypeError, ValueError):
        return False
    varies = len(first) >= 4 and np.isfinite([first, other]).all() and np.ptp(first) > 0 and np.ptp(other) > 0
    return bool(varies and abs(np.corrcoef(first, other)[0, 1]) > _CORRELATION)
