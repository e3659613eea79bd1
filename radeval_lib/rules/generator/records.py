"""What the generator yields: the meaning of a report, and its text with gold annotations.

A report is first a *plan*, a tuple of statements with a meaning each (:class:`PlannedFinding`,
:class:`Denial`, :class:`Normal`, :class:`Remark`), and then a text that says it. Errors and rewrites change
the plan, or only the wording of its statements; the text and every annotation are always derived again.
Character positions are 0-based and half-open within their own :class:`AnnotatedText`; RadGraph token
positions are 0-based and inclusive, over the tokens of :func:`radeval_lib.rules.lexicon.entries.tokenize`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from radeval_lib.errors import RadevalError
from radeval_lib.rules.lexicon.entries import tokenize

Style = Literal["hospital", "encyclopaedic"]
Side = Literal["left", "right", "bilateral"]
Change = Literal["new", "increased", "decreased", "unchanged"]
Certainty = Literal["present", "uncertain"]

STYLES: tuple[Style, ...] = ("hospital", "encyclopaedic")
CHANGES: tuple[Change, ...] = ("new", "increased", "decreased", "unchanged")


class SyntheticError(RadevalError):
    """A request that the generator cannot meet."""


# --- meaning ---


@dataclass(frozen=True, slots=True)
class PlannedFinding:
    """One thing that the report states as present or possible.

    ``severity`` is a step (0 is the mildest) of the concept's own scale, ``size_mm`` one or two diameters in
    millimetres (for a device: the distance of its tip from ``place``), ``looks`` descriptors such as
    "spiculated", ``many`` that there are several, ``suggests`` the concept that the finding is read as a
    sign of.
    """

    concept: str
    certainty: Certainty = "present"
    place: str | None = None
    side: Side | None = None
    severity: int | None = None
    size_mm: tuple[int, ...] | None = None
    looks: tuple[str, ...] = ()
    many: bool = False
    change: Change | None = None
    suggests: str | None = None


@dataclass(frozen=True, slots=True)
class Denial:
    """The report's statement that none of these concepts is present."""

    concepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Normal:
    """A statement of normality, by its key in the lexicon; ``opposite`` reverses it ("not clear")."""

    key: str
    opposite: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence without a finding: technique, limitation, conclusion or recommendation, by its key."""

    key: str


Meaning = PlannedFinding | Denial | Normal | Remark


@dataclass(frozen=True, slots=True)
class Statement:
    """A meaning, its identity within the report, and the number that decides its wording.

    ``wording`` is a 96-bit integer whose bytes pick frame, synonyms and so on; it carries no meaning.
    ``joined`` asks to say this in one sentence with the statement before it.
    """

    uid: int
    content: Meaning
    wording: int
    joined: bool = False


Plan = tuple[Statement, ...]

# --- text ---


@dataclass(frozen=True, slots=True)
class RateEntity:
    """A RaTE entity: ``text[start:end]`` and its type, such as "Abnormality"."""

    start: int
    end: int
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class RadGraphEntity:
    """A RadGraph entity. ``relations`` are (type, id of the target); ids are 1-based positions as text."""

    start: int
    end: int
    start_ix: int
    end_ix: int
    tokens: str
    label: str
    relations: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SpatialRelation:
    """Spatial roles as in RadSpRL; every role is a (start, end) span.

    ``indicator`` is the spatial expression, ``trajector`` the finding or device that is located,
    ``landmark`` its place, and ``diagnosis`` its interpretation with the ``hedge``.
    """

    indicator: tuple[int, int]
    trajector: tuple[int, int]
    landmark: tuple[int, int]
    diagnosis: tuple[int, int] | None = None
    hedge: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence's span and the uids of the statements that it says."""

    start: int
    end: int
    statements: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A section of a report with its gold annotations, all positions relative to ``text``."""

    text: str
    sentences: tuple[Sentence, ...]
    entities: tuple[RateEntity, ...]
    radgraph: tuple[RadGraphEntity, ...]
    roles: tuple[SpatialRelation, ...]


@dataclass(frozen=True, slots=True)
class SyntheticReport:
    """One report: patient and indication, meaning (``plan``), text, and labels of the whole report.

    ``chexpert`` maps each of :data:`CHEXPERT` to 1 (positive), 0 (negative), -1 (uncertain) or None (not
    mentioned), over findings and impression. ``procedure`` is the code of the examination that fits
    ``indication``; ``wording`` decides the words of what no statement of the plan brings along.
    """

    report_id: str
    style: Style
    modality: str
    anatomy: str
    sex: str
    age: int
    procedure: str
    procedure_title: str
    indication: str
    comparison: str
    technique: str
    plan: Plan
    findings: AnnotatedText
    impression: AnnotatedText
    chexpert: Mapping[str, int | None]
    wording: int

    @property
    def text(self) -> str:
        """The whole report under the usual headers."""
        return (
            f"INDICATION: {self.indication}\nCOMPARISON: {self.comparison}\nTECHNIQUE: {self.technique}\n"
            f"FINDINGS: {self.findings.text}\nIMPRESSION: {self.impression.text}"
        )


def graph(text: AnnotatedText) -> tuple[list[tuple[int, int, str]], list[tuple[int, int, str]]]:
    """Return RadGraph entities as (first token, token after the last, label), relations as (head, tail,
    type)."""
    entities = [(unit.start_ix, unit.end_ix + 1, unit.label) for unit in text.radgraph]
    links = [(head, link) for head, unit in enumerate(text.radgraph) for link in unit.relations]
    return entities, [(head, int(tail) - 1, kind) for head, (kind, tail) in links]


def token_places(text: str) -> tuple[tuple[str, ...], list[int]]:
    """Return tokens and, for each character position, its token or the next one."""
    tokens, token_at, position = tokenize(text), [], 0
    for number, token in enumerate(tokens):
        end = text.index(token, position) + len(token)
        token_at += [number] * (end - position)
        position = end
    return tokens, token_at


def sentence_tokens(text: AnnotatedText) -> Iterator[tuple[list[str], list[tuple[int, int, str]]]]:
    """Yield each sentence's tokens, and its RaTE entities as (first token, last token, type)."""
    for sentence in text.sentences:
        begin, end = sentence.start, sentence.end
        tokens, places = token_places(text.text[begin:end])
        inside = (e for e in text.entities if begin <= e.start < end)
        yield (list(tokens), [(places[e.start - begin], places[e.end - 1 - begin], e.label) for e in inside])
