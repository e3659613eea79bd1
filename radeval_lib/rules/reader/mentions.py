"""What one sentence says as far as it can be read without the rest of the report.

Names and places stay as ambiguous as they are ("mass", "base"); :mod:`.reader` decides by the whole report.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from radeval_lib.rules.reader.meanings import Sense, Spot, Subject
from radeval_lib.rules.reader.records import Presence


@dataclass(slots=True)
class Mention:
    """A finding in a sentence, and what is said of it.

    Attributes
    ----------
    first, end : its first word, and one past its last word.
    senses : the observations that its name may stand for.
    presence : present, absent or uncertain.
    start, stop : its characters in the sentence, with those of its structure where it is a state of one.
    spots : for each place said of it, the places that the words may stand for.
    sides : sides said of it, in words of their own.
    severity : the highest degree said of it, from 0; None where none is.
    size_mm : its diameters in millimetres; empty where none is given.
    distance_mm : of a device's tip, its distance from a landmark in millimetres; 0 at the landmark.
    change : the kind of change, such as "increased"; None where none is said.
    sign_of : the mentions, by their number in the sentence, that it is read as a sign of.
    before : the six words before it, at most.
    """

    first: int
    end: int
    senses: list[Sense]
    presence: Presence
    start: int
    stop: int
    spots: list[list[Spot]] = field(default_factory=list)
    sides: list[str] = field(default_factory=list)
    severity: int | None = None
    size_mm: tuple[float, ...] = ()
    distance_mm: float | None = None
    change: str | None = None
    sign_of: tuple[int, ...] = ()
    before: tuple[str, ...] = ()


class NormalMention(NamedTuple):
    """A structure called normal, in the words ``state``."""

    subjects: list[Subject]
    state: str
    start: int
    stop: int
    change: str | None


class Unused(NamedTuple):
    """A word that the reading did not use: its characters, and what it is (degree, side, place, ...)."""

    start: int
    stop: int
    kind: str


class Parsed(NamedTuple):
    """A sentence as read; positions are relative to it.

    ``used`` is how many of its words that carry meaning were used, ``unused`` are those that were not;
    ``misspelt`` are (start, end, word that was read).
    """

    mentions: tuple[Mention, ...]
    normals: tuple[NormalMention, ...]
    spots: tuple[list[Spot], ...]
    used: int
    unused: tuple[Unused, ...]
    misspelt: tuple[tuple[int, int, str], ...]
