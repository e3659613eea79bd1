"""Placeholders of texts stored only as numbers: the same number of words, and a reference to the text.

They pass through whatever counts words or carries texts along; whatever would read one as a report calls
:func:`refuse`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from radeval_lib.errors import RadevalError

_OPEN, _CLOSE = "⟦", "⟧"
_FIRST = re.compile(rf"{_OPEN}(\w+):([a-z]+):(\d+){_CLOSE}")  # ⟦radpref:reference:12⟧
_WORD = f"{_OPEN}_{_CLOSE}"


class PlaceholderError(RadevalError):
    """A placeholder used in a place that needs a text."""


class Placeholder(NamedTuple):
    """The set and text that a placeholder replaces; a reference or source is numbered by its case."""

    set: str
    side: str
    number: int


def placeholder(name: str, side: str, number: int, words: int) -> str:
    """Return the placeholder of a stored text of ``words`` words; empty if it has none."""
    if not words:
        return ""
    return " ".join([f"{_OPEN}{name}:{side}:{number}{_CLOSE}", *[_WORD] * (words - 1)])


def behind(text: str) -> Placeholder | None:
    """Return the text that a placeholder replaces; None for any other text."""
    match = _FIRST.match(text)
    return Placeholder(match[1], match[2], int(match[3])) if match else None


def refuse(texts: Iterable[object], reader: str) -> None:
    """Raise an error for placeholders, which have no text to read.

    Raises
    ------
    PlaceholderError
        If one of the texts is a placeholder.
    """
    for text in texts:
        if isinstance(text, str) and text.startswith(_OPEN) and (origin := behind(text)):
            raise PlaceholderError(
                f"{reader} cannot read {origin.side} {origin.number}, which is stored only as numbers",
                origin.set,
                "Give a data root with the data set, or use a metric with stored scores.",
            )
