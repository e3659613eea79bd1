"""The typed records that loaders yield: frozen, and checked by pydantic when they are made.

Text fields are ``str``, or :class:`~radeval_lib.data.restricted.RestrictedText` if the data set may not be
redistributed; code that computes on them calls :func:`~radeval_lib.data.restricted.reveal`. Token spans are
half-open: ``[start, end)``.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from radeval_lib.data.restricted import Text, reveal

_CHECKED = ConfigDict(arbitrary_types_allowed=True, hide_input_in_errors=True)
Name = Annotated[str, Field(min_length=1)]
Given = Annotated[Text, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, config=_CHECKED)
class Report:
    """Two sections of a report as its source has them; either may be empty."""

    id: Name
    findings: Text
    impression: Text


@dataclass(frozen=True, config=_CHECKED)
class CodedStudy:
    """What people coded in a report: the names of findings, and whether they called it normal."""

    id: Name
    codes: frozenset[str]
    normal: bool


@dataclass(frozen=True, config=_CHECKED)
class SystemReport:
    """What a system wrote for a study, or the reference; ``id`` is the study's."""

    id: Name
    system: Name
    text: Text


@dataclass(frozen=True, config=_CHECKED)
class ReportPair:
    """Findings and the impression that summarizes them; neither is empty.

    ``group`` is the modality-anatomy pair or the institution; ``patient`` is empty if the source hides it.
    """

    id: Name
    findings: Given
    impression: Given
    patient: str = ""
    group: str = ""
    split: str = ""


@dataclass(frozen=True, config=_CHECKED)
class Entity:
    """A labelled span of tokens ``[start, end)``."""

    start: Count
    end: Count
    label: Name

    def __post_init__(self) -> None:
        if self.start >= self.end:
            raise ValueError(f"span [{self.start}, {self.end}) is empty")


@dataclass(frozen=True, config=_CHECKED)
class Relation:
    """A labelled relation from entity ``head`` to entity ``tail``: indices into the sentence's entities."""

    head: Count
    tail: Count
    label: Name


@dataclass(frozen=True, config=_CHECKED)
class AnnotatedSentence:
    """Tokens of a sentence (or of a short report taken as one) with entities and relations."""

    id: str
    tokens: Annotated[tuple[Text, ...], Field(min_length=1)]
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    group: str = ""
    split: str = ""

    def __post_init__(self) -> None:
        if any(entity.end > len(self.tokens) for entity in self.entities):
            raise ValueError(f"a span extends beyond the sentence of {len(self.tokens)} tokens")
        if any(max(relation.head, relation.tail) >= len(self.entities) for relation in self.relations):
            raise ValueError("a relation joins a missing entity")

    @property
    def report(self) -> str:
        """The report that the sentence is from: its id up to the last slash, or all of it if it has none."""
        return self.id.rpartition("/")[0] or self.id


def plain_words(sentence: AnnotatedSentence) -> list[str]:
    """Return the sentence's words, to compute on."""
    return [reveal(token) for token in sentence.tokens]


@dataclass(frozen=True, config=_CHECKED)
class RatedPair:
    """A reference, a candidate and a person's rating of the candidate.

    ``rating`` is a number on ``scale``: ``grade`` (higher is better), ``errors`` (how many the rater
    counted), ``error_share`` (errors by possible errors), or the name of a part of the data set, on that
    part's own scale. ``rater`` is empty for a rating that the source has averaged; ``group`` is where the
    candidate comes from.
    """

    id: Name
    reference: Text
    candidate: Text
    rating: Annotated[float, Field(allow_inf_nan=False)]
    rater: str = ""
    group: str = ""
    split: str = ""
    scale: str = "grade"


@dataclass(frozen=True, config=_CHECKED)
class TextPair:
    """A reference and a candidate as texts to read, without a rating.

    Candidates of one ``case`` were written for the same study; ``source`` is what they were written from,
    empty if it is not known; ``group`` is where the candidate comes from.
    """

    id: Name
    case: Name
    reference: Text
    candidate: Text
    source: Text = ""
    group: str = ""


@dataclass(frozen=True, config=_CHECKED)
class ErrorCount:
    """How many errors of one category (1 to 6) one rater counted in one candidate (ReXVal)."""

    study: int
    origin: str
    category: Annotated[int, Field(ge=1, le=6)]
    rater: str
    significant: bool
    count: Annotated[float, Field(ge=0)]


@dataclass(frozen=True, config=_CHECKED)
class Document:
    """A text with its description: a summary, a label, a group (specialty), the patient it is about."""

    id: Name
    text: Text
    summary: Text = ""
    label: str = ""
    group: str = ""
    patient: str = ""
    split: str = ""


@dataclass(frozen=True, config=_CHECKED)
class JudgedPair:
    """A prompt to a judge and its written analysis of a candidate report (GREEN's training data)."""

    id: str
    prompt: Given
    analysis: Given


@dataclass(frozen=True, config=_CHECKED)
class FactRating:
    """A machine-written text judged by counting facts, as rates.

    ``precision``, ``recall`` and ``f1`` are of the candidate's facts against the reference's;
    ``hallucination`` is the share of the candidate's facts that are invented, ``omission`` the share of the
    reference's that are left out (None if the source prints what is not a rate).
    Candidates of one ``case`` share reference and source; ``group`` is the system that wrote the candidate.
    """

    id: str
    case: str
    reference: Text
    candidate: Text
    precision: Share
    recall: Share
    f1: Share
    hallucination: Share
    omission: Share | None
    source: Text = ""
    group: str = ""
    rater: str = ""


@dataclass(frozen=True, config=_CHECKED)
class NoteError:
    """An incorrect statement or an omission that a clinician listed."""

    text: Text
    critical: bool


@dataclass(frozen=True, config=_CHECKED)
class NoteJudgement:
    """What one clinician listed as wrong in one note (PriMock57).

    ``reference`` is the clinician's own note, ``candidate`` the judged one; ``seconds`` is the time that its
    correction took, None if it was not taken.
    """

    case: Name
    group: Name
    rater: Name
    reference: Text
    candidate: Text
    incorrect: tuple[NoteError, ...]
    omissions: tuple[NoteError, ...]
    seconds: Annotated[float, Field(ge=0)] | None = None


def text_pair(record: TextPair | FactRating | RatedPair) -> TextPair:
    """Return a candidate with its reference, without its rating. The case of a RatedPair is its id up to the
    last slash."""
    if isinstance(record, TextPair):
        return record
    rated_case = record.id.rpartition("/")[0] or record.id
    case, source = getattr(record, "case", rated_case), getattr(record, "source", "")
    return TextPair(record.id, case, record.reference, record.candidate, source, record.group)
