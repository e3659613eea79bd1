"""Placeholders for texts of which only scores and word counts are stored.

A placeholder identifies a text and has the same number of words. Code that counts words or passes texts on
accepts placeholders; code that must read a report calls :func:`refuse_placeholders` first.
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
    """A placeholder given where a report is needed."""


class Placeholder(NamedTuple):
    """The text that a placeholder stands for.

    Attributes
    ----------
    set : the name of the stored set.
    side : the kind of text, such as ``reference`` or ``candidate``.
    number : the number of the case for a reference or source, otherwise the number of the row.
    """

    set: str
    side: str
    number: int


def make_placeholder(name: str, side: str, number: int, n_words: int) -> str:
    """Return the placeholder of a text with ``n_words`` words; an empty string if ``n_words`` is 0.

    ``name``, ``side`` and ``number`` become the attributes of :class:`Placeholder`.
    """
    if not n_words:
        return ""
    return " ".join([f"{_OPEN}{name}:{side}:{number}{_CLOSE}", *[_WORD] * (n_words - 1)])


def parse_placeholder(text: str) -> Placeholder | None:
    """Return the text that a placeholder stands for; None for any other string."""
    match = _FIRST.match(text)
    return Placeholder(match[1], match[2], int(match[3])) if match else None


def refuse_placeholders(texts: Iterable[object], reader: str) -> None:
    """Raise PlaceholderError if one of the texts is a placeholder.

    ``reader`` names the metric or function that must read the texts, for the message. Items that are not
    strings are ignored.
    """
    for text in texts:
        if isinstance(text, str) and text.startswith(_OPEN) and (origin := parse_placeholder(text)):
            problem = f"{reader} needs the text of {origin.side} {origin.number}; only its scores are stored"
            remedy = "Use a data root and a profile with these texts, or a metric with stored scores."
            raise PlaceholderError(problem, origin.set, remedy)
