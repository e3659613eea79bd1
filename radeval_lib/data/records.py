"""Typed records that loaders return: frozen dataclasses that pydantic validates on creation.

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
FilledText = Annotated[Text, Field(min_length=1)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, config=_CHECKED)
class Report:
    """The findings and impression sections of a report, as its source gives them; either may be empty."""

    id: Name
    findings: Text
    impression: Text


@dataclass(frozen=True, config=_CHECKED)
class CodedStudy:
    """The manual coding of a report: its findings (``codes``), and whether it is coded as ``normal``."""

    id: Name
    codes: frozenset[str]
    normal: bool


@dataclass(frozen=True, config=_CHECKED)
class SystemReport:
    """A system's report on a study, or the study's reference report; ``id`` is the id of the study."""

    id: Name
    system: Name
    text: Text


@dataclass(frozen=True, config=_CHECKED)
class ReportPair:
    """The findings of a report and the impression that summarizes them; neither is empty.

    ``group`` is the modality and anatomy, or the institution. ``patient`` is the patient's id, empty if the
    source has none. ``split`` is ``train``, ``dev`` (in MIMIC-CXR, ``validate``), ``test`` or empty.
    """

    id: Name
    findings: FilledText
    impression: FilledText
    patient: str = ""
    group: str = ""
    split: str = ""


@dataclass(frozen=True, config=_CHECKED)
class Entity:
    """A labelled span of tokens from ``start`` to ``end``, both counted from 0; ``end`` is exclusive."""

    start: Count
    end: Count
    label: Name

    def __post_init__(self) -> None:
        if self.start >= self.end:
            raise ValueError(f"span [{self.start}, {self.end}) is empty; its end must exceed its start")


@dataclass(frozen=True, config=_CHECKED)
class Relation:
    """A labelled relation from ``head`` to ``tail``, which are indices into the sentence's ``entities``."""

    head: Count
    tail: Count
    label: Name


@dataclass(frozen=True, config=_CHECKED)
class AnnotatedSentence:
    """The tokens of a sentence, or of a short report, with entities and relations.

    ``group`` is the source of the text, such as the institution. ``group`` and ``split`` may be empty.
    """

    id: str
    tokens: Annotated[tuple[Text, ...], Field(min_length=1)]
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    group: str = ""
    split: str = ""

    def __post_init__(self) -> None:
        if any((span := entity).end > len(self.tokens) for entity in self.entities):
            raise ValueError(f"span [{span.start}, {span.end}) extends beyond the {len(self.tokens)} tokens")
        if any(max(relation.head, relation.tail) >= len(self.entities) for relation in self.relations):
            raise ValueError(f"a relation leads to none of the sentence's {len(self.entities)} entities")

    @property
    def report(self) -> str:
        """The report's id: the sentence's id up to the last slash, or the whole id if it has no slash."""
        return self.id.rpartition("/")[0] or self.id


def reveal_tokens(sentence: AnnotatedSentence) -> list[str]:
    """Return the tokens of a sentence as plain strings, for computation only: they may be restricted text."""
    return [reveal(token) for token in sentence.tokens]


@dataclass(frozen=True, config=_CHECKED)
class RatedPair:
    """A reference, a candidate and one rating of the candidate.

    ``rating`` is a number on ``scale``: ``grade`` (higher is better), ``errors`` (number of errors),
    ``error_share`` (errors divided by possible errors, 0 to 1), ``facets`` (sum of points for three facets, 0
    to 6), or the name of a part of the data set that has a separate scale. ``rater`` is empty if the source
    averages over raters. ``group`` is the origin of the candidate, such as the system that generated it.
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
    """A reference and a candidate without a rating.

    Candidates of one ``case`` belong to the same study. ``source`` is the text that candidates summarize,
    empty if there is none. ``group`` is the origin of the candidate, such as the system that generated it.
    """

    id: Name
    case: Name
    reference: Text
    candidate: Text
    source: Text = ""
    group: str = ""


@dataclass(frozen=True, config=_CHECKED)
class ErrorCount:
    """The number of errors of one category that one rater counted in one candidate of ReXVal.

    ``study`` and ``origin`` identify the candidate; ``category`` is 1 to 6; ``significant`` is true for
    clinically significant errors and false for all others.
    """

    study: int
    origin: str
    category: Annotated[int, Field(ge=1, le=6)]
    rater: str
    significant: bool
    count: Annotated[float, Field(ge=0)]


@dataclass(frozen=True, config=_CHECKED)
class Document:
    """A text with its summary, label, group (such as a specialty), patient and split; all may be empty."""

    id: Name
    text: Text
    summary: Text = ""
    label: str = ""
    group: str = ""
    patient: str = ""
    split: str = ""


@dataclass(frozen=True, config=_CHECKED)
class JudgedPair:
    """A prompt that gives a judge two reports, and the judge's written analysis (GREEN's training data)."""

    id: str
    prompt: FilledText
    analysis: FilledText


@dataclass(frozen=True, config=_CHECKED)
class FactRating:
    """Rates, 0 to 1, from counts of facts in a machine-generated candidate and its reference.

    ``precision`` is the share of the candidate's facts that are in the reference, ``recall`` the share of the
    reference's facts that are in the candidate, ``f1`` their harmonic mean. ``hallucination`` is the share of
    the candidate's facts that are invented, ``omission`` the share of the reference's facts that are missing
    (None if the source states an impossible value). Candidates of one ``case`` share reference and source;
    ``group`` is the system that generated the candidate.
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
    """An incorrect statement or omission that a clinician listed, and whether it is critical."""

    text: Text
    critical: bool


@dataclass(frozen=True, config=_CHECKED)
class NoteJudgement:
    """The errors that one clinician listed in one machine-generated note (PriMock57).

    ``reference`` is the clinician's own note, ``candidate`` the note that the system ``group`` generated.
    ``seconds`` is the time that the clinician took to correct the candidate; None if it was not measured.
    """

    case: Name
    group: Name
    rater: Name
    reference: Text
    candidate: Text
    incorrect: tuple[NoteError, ...]
    omissions: tuple[NoteError, ...]
    seconds: Annotated[float, Field(ge=0)] | None = None


def to_text_pair(record: TextPair | FactRating | RatedPair) -> TextPair:
    """Return a record's texts as a TextPair, without the rating.

    The case of a RatedPair is its id up to the last slash, or the whole id if it has no slash.
    """
    if isinstance(record, TextPair):
        return record
    rated_case = record.id.rpartition("/")[0] or record.id
    case, source = getattr(record, "case", rated_case), getattr(record, "source", "")
    return TextPair(record.id, case, record.reference, record.candidate, source, record.group)
