"""Marks a task by a student's own answers to earlier ones, so that a mistake costs its own task alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from radeval_lib.labs.comparing import correlation

_SHARE, _CORRELATION = 1 / 3, 0.9
"""What a usual mistake leaves, such as a sign, a factor or a case left out: more than this share of results
right, or numbers that go with the right ones; a constant or made-up answer has neither."""

_LEAST = 4  # numbers whose correlation says something
_NAN = object()


def own_or_right(
    own: Callable[..., Any], right: Callable[..., Any], inputs: Iterable[Sequence[Any]]
) -> Callable[..., Any]:
    """The student's own function where it is right or resembles the right one, as after a mistake; else the
    right one.

    It resembles the right one if it gives the same when asked again, and if more than a third of its results
    are right, with at least two different ones among them, or if its numbers correlate with the right ones
    above 0.9. Any other counts as made up, as does a mistake that leaves nothing right, such as to choose the
    least similar where the most similar is asked for: later tasks are then marked by the right function.

    Parameters
    ----------
    own, right : functions that give answers in normal form, see :mod:`radeval_lib.labs.answers`.
    inputs : the arguments of each call, on which the right function gives several answers, and on which usual
        mistakes leave some of them right. Of results that are lists or dictionaries each part counts.
    """
    asked = list(inputs)
    try:
        first, again, wanted = (
            [_parts(function(*given)) for given in asked] for function in (own, own, right)
        )
    except Exception:  # a student's function may raise anything
        return right
    pairs = [pair for mine, its in zip(first, wanted, strict=True) for pair in _paired(mine, its)]
    same = [mine for mine, its in pairs if mine == its]
    resembles = len(same) > _SHARE * len(pairs) and len(set(same)) > 1
    return own if first == again and (resembles or _correlate(first, wanted)) else right


def _parts(value: Any) -> list[Any]:
    """The numbers and texts that a result is made of, whatever holds them; numbers to six decimals, and
    ``_NAN`` for NaN, which equals itself."""
    if isinstance(value, dict):
        return [part for key in sorted(value, key=str) for part in _parts(value[key])]
    if isinstance(value, str) or not np.iterable(value):
        if not isinstance(value, int | float | np.number):
            return [value]
        return [_NAN if np.isnan(value) else round(float(value), 6)]
    return [part for item in value for part in _parts(item)]


def _paired(mine: list[Any], its: list[Any]) -> list[tuple[Any, Any]]:
    """Parts in the same place; results of different length have none in common."""
    return list(zip(mine, its, strict=True)) if len(mine) == len(its) else [(None, part) for part in its]


def _correlate(first: list[list[Any]], wanted: list[list[Any]]) -> bool:
    """Whether single numbers go together, up or down."""
    one, other = ([part for parts in every for part in parts] for every in (first, wanted))
    return len(one) >= _LEAST and abs(correlation(one, other)) > _CORRELATION
