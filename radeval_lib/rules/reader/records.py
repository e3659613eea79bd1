"""Records of what was read: the findings and normal statements of a report, and the mentions in a
sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from radeval_lib.rules.reader.phrases import Quality
from radeval_lib.rules.report_text import tokens

Presence = Literal["present", "absent", "uncertain"]


#: The count of several findings without a number.
SEVERAL = 0


#: The attributes that a finding has from its mention without change, and that the judge compares.
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
    """A statement of a report that an observation is present, absent or uncertain.

    Attributes
    ----------
    observation : the lexicon's key of the finding, "pleural_effusion".
    presence : "uncertain" if the report hedges.
    start, end : the characters of its name in the report, end exclusive.
    words : the report's words for it, ``text[start:end]``.
    locations : its places and sides; empty if none is named.
    severity : its step on the scale of the observation, 0 for the mildest; None if no degree is stated.
    size_mm : its diameters in millimetres, in the report's order; empty if none is stated.
    change : the kind of change since an earlier study: new, increased, decreased or unchanged; None if none
        is stated.
    sign_of : the indices, in the reading's findings, of the diagnoses that it is read as.
    probable : whether an uncertain finding is called likely, or one of two, and not merely possible.
    count : the number of such findings; :data:`SEVERAL` for several without a number, None if not stated.
    qualities : its qualities that exclude others, such as "acute" or "old".
    greater : the side on which there is more of a bilateral finding; None if not stated.
    grade : its grade, stage or category, such as "4b", with Roman numerals as digits; empty if not stated.
    volume_ml : its volume in millilitres; None if not stated.
    outright : whether it is denied by its name alone ("no effusion"), without place, severity, size or
        change, so that the denial contradicts every other mention of the finding.
    distance_mm : the distance of a device's tip from the place that is named with it; None if not stated.
    span_mm : the smallest and largest diameter that it may have ("5-7 mm", "less than 1 cm"); None if its
        size is exact or not stated.
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
    """A statement that a structure is normal ("the lungs are clear"); ``key`` is the lexicon's for it,
    and the other fields are as in a :class:`Finding`."""

    key: str
    start: int
    end: int
    words: str
    change: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """The findings and normal statements of a report, in its order.

    ``strays`` are the (start, end) of names that were left out because they would be the only words of
    another region of the body.
    """

    findings: tuple[Finding, ...]
    normals: tuple[NormalStatement, ...]
    strays: tuple[tuple[int, int], ...] = ()


# Possible meanings of words: findings, structures and places, each of a region of the body.


#: The key of the study or the chest as a whole, which is not in the lexicon.
WHOLE = "chest_normal"
#: The region to which ambiguous names belong if the report does not decide it.
HOME = "chest"


def normalize(text: str) -> str:
    """Return the words of a text in the form of the vocabularies, joined by blanks."""
    return " ".join(token.word for token in tokens(text))


#: The key of phrases that contain a finding's name but assert none.
IGNORED = ""


class Sense(NamedTuple):
    """A possible meaning of a name: the key and region of an observation, and the words that must come
    before the name (``prefix``)."""

    key: str
    region: str
    prefix: tuple[str, ...] = ()


class Subject(NamedTuple):
    """A possible meaning of a structure's name: the key and region of the normal statement about it."""

    key: str
    region: str


class Spot(NamedTuple):
    """A possible meaning of the name of a place: the place with the side in its name, and its region."""

    location: Location
    region: str


# Mentions in one sentence, before the rest of the report decides what ambiguous words mean.


@dataclass(slots=True)
class Mention:
    """A finding in a sentence, with its attributes.

    Attributes
    ----------
    first, end : the indices of its first word and of the word after its last one.
    senses : the observations that its name may stand for.
    presence : present, absent or uncertain.
    char_start, char_stop : its characters in the sentence, end exclusive, including those of its structure if
        it is the state of one.
    spots : for each place named with it, the possible meanings of the place.
    sides : the sides that are named with it apart from places.
    severity : the highest degree stated, from 0; None if none is.
    size_mm : its diameters in millimetres; empty if none is stated.
    distance_mm : the distance of a device's tip from a landmark in millimetres, 0 at the landmark.
    change : the kind of change, such as "increased"; None if none is stated.
    sign_of : the indices, in the sentence, of the mentions of the diagnoses that it is a sign of.
    count, qualities, greater, grade, volume_ml, span_mm : as in a :class:`Finding`.
    before : at most six words before it.
    probable : whether an uncertain finding is called likely, or one of two, and not merely possible.
    """

    first: int
    end: int
    senses: list[Sense]
    presence: Presence
    char_start: int
    char_stop: int
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
    """A mention of a structure as normal: the possible meanings of the structure, the words that call it
    normal (``state``), its (char_start, char_stop) in the sentence, and the stated change."""

    subjects: list[Subject]
    state: str
    char_start: int
    char_stop: int
    change: str | None


class Unused(NamedTuple):
    """A meaningful word that was not used in reading the sentence.

    Attributes
    ----------
    char_start, char_stop : its characters in the sentence, end exclusive.
    kind : "size", "place", "side", "degree", "change", "negation", or "word" for any other.
    """

    char_start: int
    char_stop: int
    kind: str


class Parsed(NamedTuple):
    """The mentions in a sentence; positions are relative to the sentence.

    ``spots`` are its places, ``used`` is the number of meaningful words that were used, ``unused`` are those
    that were not, and ``misspelt`` are (start, end, corrected word).
    """

    mentions: tuple[Mention, ...]
    normals: tuple[NormalMention, ...]
    spots: tuple[list[Spot], ...]
    used: int
    unused: tuple[Unused, ...]
    misspelt: tuple[tuple[int, int, str], ...]
