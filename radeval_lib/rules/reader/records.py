"""Records of the reader: the findings and normal statements of a report, and the mentions in a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from radeval_lib.rules.reader.phrases import Quality
from radeval_lib.rules.report_text import tokenize

Presence = Literal["present", "absent", "uncertain"]


#: The count of several findings that are stated without a number.
SEVERAL = 0


#: The attributes that a finding takes unchanged from its mention and that the judge compares.
MEASURED = ("severity", "size_mm", "span_mm", "distance_mm", "count", "greater", "grade", "volume_ml")


@dataclass(frozen=True, slots=True)
class Location:
    """An anatomical location; place or side may be None, but not both.

    Attributes
    ----------
    place : the key of a place in the lexicon or ``reading.yml``, such as "lower_lobe".
    side : "left", "right" or "bilateral".
    """

    place: str | None
    side: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement of a report that an observation is present, absent or uncertain.

    Attributes
    ----------
    observation : the finding's key in the lexicon, such as "pleural_effusion".
    presence : "present", "absent", or "uncertain" if the report hedges.
    start, end : the characters of the finding's name in the report, end exclusive.
    words : the name as the report has it, ``text[start:end]``.
    locations : the stated locations; empty if none is stated.
    severity : the step on the observation's scale, 0 for the mildest; None if no degree is stated.
    size_mm : the diameters in millimetres, in the report's order; empty if none is stated.
    change : the kind of change since an earlier study: new, increased, decreased or unchanged; None if none
        is stated.
    sign_of : indices into the reading's findings: the diagnoses of which the finding is a sign.
    outright : whether the finding is denied by its name alone ("no effusion"), without place, severity, size
        or change, so that the denial contradicts every other mention of the finding.
    distance_mm : the distance of a device's tip from a landmark, in millimetres; None if not stated.
    probable : whether an uncertain finding is called likely, or one of two alternatives, and not merely
        possible.
    count : the number of such findings; :data:`SEVERAL` for several without a number, None if not stated.
    qualities : mutually exclusive qualities, such as "acute", as opposed to "old".
    greater : the side with more of a bilateral finding; None if not stated.
    grade : the grade, stage or category, such as "4b", with Roman numerals as digits; empty if not stated.
    volume_ml : the volume in millilitres; None if not stated.
    span_mm : the smallest and the largest possible diameter, in millimetres ("5-7 mm", "less than 1 cm");
        None if the size is exact or not stated.
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
    """A statement that a structure is normal, such as "the lungs are clear".

    Attributes
    ----------
    key : the statement's key in the lexicon, such as "lungs_clear".
    start, end : the characters of the statement in the report, end exclusive.
    words : the statement as the report has it, ``text[start:end]``.
    change : the stated kind of change, such as "unchanged"; None if none is stated.
    """

    key: str
    start: int
    end: int
    words: str
    change: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """The findings and normal statements of a report, in the order of its statements.

    The statements have the order of :func:`radeval_lib.rules.report_text.statements`. In a statement, a
    finding that is stated for each side separately may come after later findings. ``strays`` are the
    (start, end) of names that were left out because they would be the only words of another region of the
    body.
    """

    findings: tuple[Finding, ...]
    normals: tuple[NormalStatement, ...]
    strays: tuple[tuple[int, int], ...] = ()


# Possible meanings of names: observations, structures and places, each in a region of the body.


#: The key of the study or the chest as a whole, which is not in the lexicon.
WHOLE = "chest_normal"
#: The region of ambiguous names in a report that names no region.
HOME = "chest"


def normalize(text: str) -> str:
    """Return the normalized words of a text, separated by spaces, as vocabularies store them."""
    return " ".join(token.word for token in tokenize(text))


#: The key of phrases that contain the name of a finding but assert no finding.
IGNORED = ""


class Sense(NamedTuple):
    """A possible meaning of a finding's name: the key and region of an observation, and the words that must
    come before the name (``prefix``)."""

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


# Mentions in a sentence, in which ambiguous names still have all their possible meanings.


@dataclass(slots=True)
class Mention:
    """A finding in a sentence, with its attributes.

    Attributes
    ----------
    first, end : the indices of the first word of the name and of the word after its last word.
    senses : the observations for which the name may stand.
    presence : "present", "absent" or "uncertain".
    char_start, char_end : the characters of the name in the sentence, end exclusive; for the state of a
        structure, those of both.
    spots : for each place that is stated with the finding, the possible meanings of the place.
    sides : the sides that are stated apart from a place.
    severity : the highest stated degree, from 0; None if none is stated.
    size_mm : the diameters in millimetres; empty if none is stated.
    distance_mm : the distance of a device's tip from a landmark, in millimetres, 0 at the landmark; None if
        not stated.
    change : the kind of change, such as "increased"; None if none is stated.
    sign_of : indices into the sentence's mentions: the diagnoses of which the finding is a sign.
    words_before : at most six words before the name.
    probable, count, qualities, greater, grade, volume_ml, span_mm : as in a :class:`Finding`.
    """

    first: int
    end: int
    senses: list[Sense]
    presence: Presence
    char_start: int
    char_end: int
    spots: list[list[Spot]] = field(default_factory=list)
    sides: list[str] = field(default_factory=list)
    severity: int | None = None
    size_mm: tuple[float, ...] = ()
    distance_mm: float | None = None
    change: str | None = None
    sign_of: tuple[int, ...] = ()
    words_before: tuple[str, ...] = ()
    probable: bool = False
    count: int | None = None
    qualities: set[Quality] = field(default_factory=set)
    greater: str | None = None
    grade: str = ""
    volume_ml: float | None = None
    span_mm: tuple[float, float] | None = None


class NormalMention(NamedTuple):
    """A mention of a structure as normal.

    Attributes
    ----------
    subjects : the possible meanings of the structure's name.
    state : the normalized words that call the structure normal.
    char_start, char_end : the characters of structure and state in the sentence, end exclusive.
    change : the stated kind of change; None if none is stated.
    """

    subjects: list[Subject]
    state: str
    char_start: int
    char_end: int
    change: str | None


class UnusedWord(NamedTuple):
    """A meaningful word that was not used in reading the sentence.

    Attributes
    ----------
    char_start, char_end : the characters of the word in the sentence, end exclusive.
    kind : "size", "place", "side", "degree", "change", "negation", or "word" for any other.
    """

    char_start: int
    char_end: int
    kind: str


class Parsed(NamedTuple):
    """The mentions in a sentence; all character positions are positions in the sentence.

    Attributes
    ----------
    mentions, normals : the mentions of findings and of normal structures.
    spots : for each place in the sentence, its possible meanings.
    used : the number of meaningful words that were used in reading the sentence.
    unused : the meaningful words that were not used.
    misspelt : (start, end, corrected word) of each misspelt word, in characters.
    """

    mentions: tuple[Mention, ...]
    normals: tuple[NormalMention, ...]
    spots: tuple[list[Spot], ...]
    used: int
    unused: tuple[UnusedWord, ...]
    misspelt: tuple[tuple[int, int, str], ...]
