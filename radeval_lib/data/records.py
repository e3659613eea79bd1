"""The typed records that loaders yield: frozen, and checked when they are made.

Text fields are ``str``, or :class:`~radeval_lib.data.restricted.RestrictedText` where the data set may not be
redistributed; code that computes on them calls :func:`~radeval_lib.data.restricted.reveal`. Token spans are
half-open: ``[start, end)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from radeval_lib.categories import LETTERS
from radeval_lib.data.restricted import Text, reveal
from radeval_lib.stats.base import f1


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


@dataclass(frozen=True)
class Report:
    """A report as its source has it; any section may be empty."""

    id: str
    findings: Text
    impression: Text
    indication: Text = ""
    comparison: Text = ""
    technique: str = ""

    def __post_init__(self) -> None:
        _require(bool(self.id), "a report needs an id")


@dataclass(frozen=True)
class CodedStudy:
    """What people coded in a report: the names of findings, and whether they called it normal."""

    id: str
    codes: frozenset[str]
    normal: bool

    def __post_init__(self) -> None:
        _require(not (self.normal and self.codes), "a normal report has findings")


@dataclass(frozen=True)
class SystemReport:
    """What a system wrote for a study, or the reference; ``id`` is the study's."""

    id: str
    system: str
    text: Text

    def __post_init__(self) -> None:
        _require(bool(self.id and self.system), "a system's report needs an id and a system")


@dataclass(frozen=True)
class ReportPair:
    """Findings and the impression that summarizes them; neither is empty.

    ``group`` is the modality-anatomy pair or the institution; ``patient`` is empty where the source hides it.
    """

    id: str
    findings: Text
    impression: Text
    background: Text = ""
    patient: str = ""
    group: str = ""
    split: str = ""

    def __post_init__(self) -> None:
        _require(bool(self.id), "a report pair needs an id")
        _require(len(self.findings) > 0, "empty findings")
        _require(len(self.impression) > 0, "empty impression")


@dataclass(frozen=True)
class Entity:
    """A labelled span of tokens ``[start, end)``."""

    start: int
    end: int
    label: str

    def __post_init__(self) -> None:
        _require(0 <= self.start < self.end, f"span [{self.start}, {self.end}) is empty or negative")
        _require(bool(self.label), "an entity needs a label")


@dataclass(frozen=True)
class Relation:
    """A labelled relation from entity ``head`` to entity ``tail``: indices into the sentence's entities."""

    head: int
    tail: int
    label: str

    def __post_init__(self) -> None:
        _require(self.head >= 0 and self.tail >= 0, "a relation joins a negative index")
        _require(bool(self.label), "a relation needs a label")


@dataclass(frozen=True)
class AnnotatedSentence:
    """Tokens of a sentence (or of a short report taken as one) with entities and relations."""

    id: str
    tokens: tuple[Text, ...]
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    group: str = ""
    split: str = ""

    def __post_init__(self) -> None:
        _require(len(self.tokens) > 0, "a sentence needs a token")
        for entity in self.entities:
            _require(
                entity.end <= len(self.tokens), f"span [{entity.start}, {entity.end}) leaves the sentence"
            )
        for relation in self.relations:
            ends = (relation.head, relation.tail)
            _require(all(0 <= end < len(self.entities) for end in ends), "a relation joins a missing entity")

    @property
    def report(self) -> str:
        """The report that the sentence is from: its id up to the last slash, or all of it where it has
        none."""
        return self.id.rpartition("/")[0] or self.id


def plain_words(sentence: AnnotatedSentence) -> list[str]:
    """Return the sentence's words, to compute on."""
    return [reveal(token) for token in sentence.tokens]


@dataclass(frozen=True)
class RatedPair:
    """A reference, a candidate and a person's rating of the candidate.

    ``rating`` is a number on ``scale``: ``grade`` (higher is better), ``errors`` (how many the rater
    counted), ``error_share`` (errors by possible errors), or the name of a part of the data set, on that
    part's own scale. ``rater`` is empty for a rating that the source has averaged; ``group`` is where the
    candidate comes from.
    """

    id: str
    reference: Text
    candidate: Text
    rating: float
    rater: str = ""
    group: str = ""
    split: str = ""
    scale: str = "grade"

    def __post_init__(self) -> None:
        _require(bool(self.id), "a rated pair needs an id")
        _require(math.isfinite(self.rating), "the rating is not a number")


@dataclass(frozen=True)
class TextPair:
    """A reference and a candidate as texts to read, without a rating.

    Candidates of one ``case`` were written for the same study; ``source`` is what they were written from,
    empty where it is not known; ``group`` is where the candidate comes from.
    """

    id: str
    case: str
    reference: Text
    candidate: Text
    source: Text = ""
    group: str = ""

    def __post_init__(self) -> None:
        _require(bool(self.id and self.case), "a pair of texts needs an id and a case")


@dataclass(frozen=True)
class Triad:
    """A text, a rewrite that keeps its meaning and one that turns it round (RaTE-Eval task 3)."""

    id: str
    reference: Text
    synonymous: Text
    opposite: Text


@dataclass(frozen=True)
class ErrorCount:
    """How many errors of one category one rater counted in one candidate (ReXVal)."""

    study: int
    origin: str
    category: int
    rater: str
    significant: bool
    count: float

    def __post_init__(self) -> None:
        _require(self.category in range(1, len(LETTERS) + 1), f"error category {self.category} is not 1 to 6")
        _require(self.count >= 0, "a negative count")


@dataclass(frozen=True)
class Document:
    """A text with what describes it: a summary, a label, a group (specialty), the patient it is about."""

    id: str
    text: Text
    summary: Text = ""
    label: str = ""
    group: str = ""
    patient: str = ""
    split: str = ""

    def __post_init__(self) -> None:
        _require(bool(self.id), "a document needs an id")


@dataclass(frozen=True)
class JudgedPair:
    """A prompt to a judge and its written analysis of a candidate report (GREEN's training data)."""

    id: str
    prompt: Text
    analysis: Text

    def __post_init__(self) -> None:
        _require(len(self.prompt) > 0 and len(self.analysis) > 0, "empty prompt or analysis")


@dataclass(frozen=True)
class FactRating:
    """A machine-written text judged by counting facts, as rates and, where the source keeps them, counts.

    ``precision``, ``recall`` and ``f1`` are of the candidate's facts against the reference's;
    ``hallucination`` is the share of the candidate's facts that are invented, ``omission`` the share of the
    reference's that are left out (None where the source prints what is not a rate; ``fault`` says what).
    Candidates of one ``case`` share reference and source; ``group`` is the system that wrote the candidate.
    """

    id: str
    case: str
    reference: Text
    candidate: Text
    precision: float
    recall: float
    f1: float
    hallucination: float
    omission: float | None
    reference_facts: int | None = None
    candidate_facts: int | None = None
    common_facts: int | None = None
    source: Text = ""
    group: str = ""
    rater: str = ""
    fault: str = ""

    def __post_init__(self) -> None:
        counts = (self.reference_facts, self.candidate_facts, self.common_facts)
        if None not in counts:
            reference, candidate, common = (int(count or 0) for count in counts)
            _require(
                0 <= common <= min(reference, candidate),
                f"{common} common facts, but {reference} in the reference and {candidate} in the candidate",
            )
        for name in ("precision", "recall", "f1", "hallucination", "omission"):
            rate = getattr(self, name)
            _require(rate is None or 0 <= rate <= 1, f"{name} {rate} is not a rate from 0 to 1")
        harmonic = f1(self.precision, self.recall)
        _require(
            abs(self.f1 - harmonic) < 1e-5,
            f"f1 {self.f1:g} is not the harmonic mean {harmonic:g} of precision and recall",
        )
        _require(
            self.hallucination <= 1 - self.precision + 1e-5,
            f"hallucination {self.hallucination:g} exceeds 1 - precision {1 - self.precision:g}: "
            "a fact that is in the reference is not invented",
        )


@dataclass(frozen=True)
class NoteError:
    """An incorrect statement or an omission that a clinician listed."""

    text: Text
    critical: bool


@dataclass(frozen=True)
class NoteJudgement:
    """What one clinician listed as wrong in one note (PriMock57).

    ``reference`` is the clinician's own note, ``candidate`` the judged one, ``edited`` its correction;
    ``seconds`` is the time that the correction took, None where it was not taken.
    """

    case: str
    group: str
    rater: str
    reference: Text
    candidate: Text
    edited: Text
    incorrect: tuple[NoteError, ...]
    omissions: tuple[NoteError, ...]
    seconds: float | None = None
    remarks: Text = ""

    def __post_init__(self) -> None:
        _require(bool(self.case and self.group and self.rater), "a judgement needs case, system and rater")
        _require(self.seconds is None or self.seconds >= 0, "a negative time")
