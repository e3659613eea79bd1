"""The records of a reading: findings and normal statements of a report, and mentions in a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from radeval_lib.rules.reader.phrases import Quality
from radeval_lib.rules.report_text import tokens

Presence = Literal["present", "absent", "uncertain"]


#: The count of several findings without a number.
SEVERAL = 0


#: Attributes that a finding takes unchanged from its mention, and that the judge compares.
MEASURED = ("severity", "size_mm", "span_mm", "distance_mm", "count", "greater", "grade", "volume_ml")


@dataclass(frozen=True, slots=True)
class Location:
    """A place of the lexicon and its side; either may be None, not both.

    ``place`` is a key of the lexicon's places ("lower_lobe") or of ``reading.yml``; ``side`` is left, right
    or bilateral.
    """

    place: str | None
    side: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A report's statement about one observation.

    Attributes
    ----------
    observation : the lexicon's key of the finding, "pleural_effusion".
    presence : "uncertain" if the report hedges.
    start, end : of the name in the report, in characters, half-open.
    words : the report's words for it, ``text[start:end]``.
    severity : its step on the scale of the observation, 0 the mildest; None if no degree is given.
    size_mm : its diameters, in the report's order.
    change : the kind of change since an earlier study, as the lexicon calls it.
    sign_of : the indices, in the reading's findings, of the diagnoses that it is read as.
    probable : whether an uncertain finding is called likely, or one of two, and not merely possible.
    count : how many there are; :data:`SEVERAL` if no number is given, None if nothing is said.
    qualities : its qualities that exclude others, such as "acute" or "old".
    greater : of a finding on both sides, the side on which there is more.
    grade : its grade, stage or category, "4b", Roman numerals as digits; empty if none is given.
    volume_ml : its volume in millilitres.
    outright : whether it is denied by its bare name ("no effusion"), without place, severity, size or change:
        such a denial contradicts every mention of the finding.
    distance_mm : the distance of a tip from the place that is named with it.
    span_mm : the least and the largest diameter that it may have, "5-7 mm", "less than 1 cm"; None if its
        size is exact or not given.
    """

    observation: str
    presence: Presence
    start: int
    end: int
    words: str
    locations: tuple[Location, ...] = ()
    severity: int | None = None
    size_mm: tuple[float, ...] = ()
    change: str | None = None
    sign_of: tuple[int, ...] = ()
    outright: bool = False
    distance_mm: float | None = None
    probable: bool = False
    count: int | None = None
    qualities: frozenset[Quality] = frozenset()
    greater: str | None = None
    grade: str = ""
    volume_ml: float | None = None
    span_mm: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class NormalStatement:
    """A structure that a report calls normal ("the lungs are clear"), by its key in the lexicon. ``start``,
    ``end`` and ``words`` are as in a :class:`Finding`."""

    key: str
    start: int
    end: int
    words: str
    change: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A report's findings and normal statements, in its order.

    ``strays`` are the characters of names that are left out, since they alone would bring another region of
    the body into the report.
    """

    findings: tuple[Finding, ...]
    normals: tuple[NormalStatement, ...]
    strays: tuple[tuple[int, int], ...] = ()


# Possible meanings of words: findings, structures and places, each of a region of the body.


#: The study or the chest as a whole, a structure that the lexicon does not have.
WHOLE = "chest_normal"
#: The region of an ambiguous name if the report does not give it.
HOME = "chest"


def plain(text: str) -> str:
    """Return words in the reader's form, joined by blanks."""
    return " ".join(token.word for token in tokens(text))


#: The key of phrases that contain a finding's name but assert none.
IGNORED = ""


class Sense(NamedTuple):
    """One possible meaning of a name; ``prefix`` are words that must come before it."""

    key: str
    region: str
    prefix: tuple[str, ...] = ()


class Subject(NamedTuple):
    """A structure's reading as the subject of a normal statement: the entry's key and its region."""

    key: str
    region: str


class Spot(NamedTuple):
    """A place, the side mentioned with it, and its region."""

    location: Location
    region: str


# What one sentence says as far as it can be read without the rest of the report.


@dataclass(slots=True)
class Mention:
    """A finding in a sentence, with its attributes.

    Attributes
    ----------
    first, end : its first word, and one past its last word.
    senses : the observations that its name may stand for.
    presence : present, absent or uncertain.
    start, stop : its characters in the sentence, with those of its structure if it is a state of one.
    spots : for each place said of it, the places that the words may stand for.
    sides : sides said of it, in words of their own.
    severity : the highest degree said of it, from 0; None if none is.
    size_mm : its diameters in millimetres; empty if none is given.
    distance_mm : of a device's tip, its distance from a landmark in millimetres; 0 at the landmark.
    change : the kind of change, such as "increased"; None if none is said.
    sign_of : the mentions, by their number in the sentence, that it is read as a sign of.
    count, qualities, greater, grade, volume_ml, span_mm : as of a :class:`Finding`.
    before : the six words before it, at most.
    probable : whether an uncertain finding is called likely, or one of two, and not merely possible.
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
    probable: bool = False
    count: int | None = None
    qualities: set[Quality] = field(default_factory=set)
    greater: str | None = None
    grade: str = ""
    volume_ml: float | None = None
    span_mm: tuple[float, float] | None = None


class NormalMention(NamedTuple):
    """A structure called normal, in the words ``state``."""

    subjects: list[Subject]
    state: str
    start: int
    stop: int
    change: str | None


class Unused(NamedTuple):
    """A word that the reading did not use: its characters, and its kind (degree, side, place, ...)."""

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
