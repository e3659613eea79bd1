"""What words of a report may stand for: findings, structures and places, each of a region of the body."""

from __future__ import annotations

from typing import NamedTuple

from radeval_lib.rules.reader.records import Location
from radeval_lib.rules.report_text import tokens

WHOLE = "chest_normal"
"""The study or the chest as a whole, a structure that the lexicon does not have."""
HOME = "chest"
"""The region that an ambiguous name falls to where the report does not tell its region."""


def plain(text: str) -> str:
    """Words as the reader sees them, joined by blanks."""
    return " ".join(token.word for token in tokens(text))


IGNORED = ""
"""The key of phrases that contain a finding's name but assert none."""


class Sense(NamedTuple):
    """One thing that a name may stand for: ``lead`` are words that must stand before it."""

    key: str
    region: str
    lead: tuple[str, ...] = ()


class Subject(NamedTuple):
    """A structure's reading as the subject of a normal statement: the entry's key and its region."""

    key: str
    region: str


class Spot(NamedTuple):
    """A place, the side mentioned with it, and its region."""

    location: Location
    region: str
