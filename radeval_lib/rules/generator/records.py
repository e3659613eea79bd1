"""Records of the generator: the meaning of a report, and its text with gold annotations.

A report is first a *plan*, a tuple of statements with one meaning each (:class:`PlannedFinding`,
:class:`Denial`, :class:`Normal`, :class:`Remark`), and then a text that states it. Errors and rewrites change
the plan, or only the wording of its statements; the text and all annotations are always derived from the
plan. Character positions are 0-based and half-open within their own :class:`AnnotatedText`; RadGraph token
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
    """A finding that the report states as present or uncertain.

    ``concept``, ``place`` and ``suggests`` are keys of the lexicon. ``severity`` is a step of the concept's
    own scale, 0 for the mildest; ``size_mm`` one or two diameters in millimetres (for a device: the distance
    of its tip from ``place``); ``looks`` are descriptors such as "spiculated"; ``many`` says whether there
    are several; ``suggests`` is the diagnosis that the finding is called a sign of.
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
    """A statement that none of these concepts is present."""

    concepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Normal:
    """A statement of normality, by its key in the lexicon; ``opposite`` reverses it ("not clear")."""

    key: str
    opposite: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence without a finding, by its key in the lexicon: technique, limitation, conclusion or
    recommendation."""

    key: str


Meaning = PlannedFinding | Denial | Normal | Remark


@dataclass(frozen=True, slots=True)
class Statement:
    """A meaning with an id that is unique within the report, and the number that decides its wording.

    ``wording`` is a 96-bit integer whose bytes select the frame, the synonyms and so on; it has no meaning.
    ``joined`` says whether the statement is worded in one sentence with the statement before it.
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
    """A RadGraph entity; ``relations`` are (type, id of the target entity), with ids as 1-based positions
    in text form."""

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
    """The (start, end) of a sentence, and the uids of the statements that it words."""

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
    """A generated report: patient and indication, meaning (``plan``), text, and labels.

    ``chexpert`` maps each of :data:`CHEXPERT` to 1 (positive), 0 (negative), -1 (uncertain) or None (not
    mentioned), for findings and impression together. ``procedure`` is the code of the examination that fits
    ``indication``; ``wording`` decides the words of sentences that are not of the plan, such as a conclusion.
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
        """The whole report, with headers from INDICATION to IMPRESSION."""
        return (
            f"INDICATION: {self.indication}\nCOMPARISON: {self.comparison}\nTECHNIQUE: {self.technique}\n"
            f"FINDINGS: {self.findings.text}\nIMPRESSION: {self.impression.text}"
        )


def index_graph(text: AnnotatedText) -> tuple[list[tuple[int, int, str]], list[tuple[int, int, str]]]:
    """Return the RadGraph entities and relations of a text by index.

    Returns
    -------
    entities : for each entity, the index of its first token, of the token after its last one, and its label.
    relations : for each relation, the index, in ``entities``, of its source and of its target, and its type.
        All indices count from 0.
    """
    entities = [(unit.start_ix, unit.end_ix + 1, unit.label) for unit in text.radgraph]
    links = [(head, link) for head, unit in enumerate(text.radgraph) for link in unit.relations]
    return entities, [(head, int(tail) - 1, kind) for head, (kind, tail) in links]


def index_tokens(text: str) -> tuple[tuple[str, ...], list[int]]:
    """Return the tokens of a text, and a list with the index of a token for each character.

    A character between tokens has the index of the next token. The list ends with the last token's end.
    """
    tokens, token_at, position = tokenize(text), [], 0
    for number, token in enumerate(tokens):
        end = text.index(token, position) + len(token)
        token_at += [number] * (end - position)
        position = end
    return tokens, token_at


def tokenize_sentences(text: AnnotatedText) -> Iterator[tuple[list[str], list[tuple[int, int, str]]]]:
    """Yield, for each sentence, its tokens and its RaTE entities as (index of the first token, index of the
    last token, type); indices count from 0 in the sentence."""
    for sentence in text.sentences:
        begin, end = sentence.start, sentence.end
        tokens, places = index_tokens(text.text[begin:end])
        inside = (e for e in text.entities if begin <= e.start < end)
        yield (list(tokens), [(places[e.start - begin], places[e.end - 1 - begin], e.label) for e in inside])
