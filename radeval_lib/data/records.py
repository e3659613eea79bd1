"""The typed records that loaders yield: frozen, and checked when they are made.

Text fields are ``str``, or :class:`~radeval_lib.data.restricted.RestrictedText` where the data set may not be
redistributed; code that computes on them calls :func:`~radeval_lib.data.restricted.reveal`. Token spans are
half-open: ``[start, end)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from radeval_lib.data.error_categories import LETTERS
from radeval_lib.data.restricted import Text


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


@dataclass(frozen=True)
class Report:
    """A report as its source has it; any section may be empty.

    ``problems`` are the source's own labels (Open-i: MeSH terms).
    """

    id: str
    findings: Text
    impression: Text
    indication: Text = ""
    comparison: Text = ""
    technique: str = ""
    problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require(bool(self.id), "a report needs an id")


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
    """A labelled span of tokens ``[start, end)``; ``tokens`` lists them only where the span has gaps."""

    start: int
    end: int
    label: str
    tokens: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _require(0 <= self.start < self.end, f"span [{self.start}, {self.end}) is empty or negative")
        _require(bool(self.label), "an entity needs a label")
        _require(
            not self.tokens or (self.tokens[0] == self.start and self.tokens[-1] == self.end - 1),
            "the tokens of a discontinuous span must begin and end it",
        )


@dataclass(frozen=True)
class Relation:
    """A labelled relation from entity ``head`` to entity ``tail``: indices into the sentence's entities."""

    head: int
    tail: int
    label: str


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
        _require(math.isfinite(self.rating), "the rating is not a number")


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
        _require(1 <= self.category <= len(LETTERS), f"error category {self.category} is not 1 to 6")
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
