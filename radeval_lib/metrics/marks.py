"""A text cut where marks of a judge or metric begin and end, for pages that show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple


class Highlight(NamedTuple):
    """Characters of a text to be marked; errors have a number."""

    start: int
    end: int
    kind: str
    number: int = 0


class Segment(NamedTuple):
    """A stretch of a text that is marked in one way, and the numbers of the errors that end with it."""

    text: str
    kinds: str
    numbers: tuple[int, ...]


def segments(text: str, marks: Iterable[Highlight]) -> Iterator[Segment]:
    """The text in stretches; joined, they are the text. A mark without characters shows nowhere, one that
    reaches beyond the text is a ValueError."""
    marks = [mark for mark in marks if mark.start < mark.end]
    if beyond := [mark for mark in marks if mark.start < 0 or mark.end > len(text)]:
        raise ValueError(f"a mark from {beyond[0].start} to {beyond[0].end} of {len(text)} characters")
    borders = sorted({0, len(text), *(mark.start for mark in marks), *(mark.end for mark in marks)})
    for start, end in pairwise(borders):
        here = [mark for mark in marks if mark.start <= start and end <= mark.end]
        kinds = " ".join(sorted({mark.kind for mark in here}))
        yield Segment(
            text[start:end], kinds, tuple(one.number for one in here if one.number and one.end == end)
        )


def mark_kind(reason: str, significant: bool | None) -> str:
    """What a reason of that kind is marked as: an error by its significance, anything else as what it is."""
    if reason != "error":
        return reason
    return "significant" if significant else "insignificant"
