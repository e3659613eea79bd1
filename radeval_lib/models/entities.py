"""Entities as typed spans of words: decoded from an NER model's labels, and compared with gold ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from radeval_lib.data import iob_tags
from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence

# A run of letters and digits, or one other sign: "a2", ".", "5", "cm", "_".
_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


def words_of(text: str) -> list[tuple[int, int]]:
    """Return the spans of a text's words: runs of letters and digits, and each other character alone."""
    return [match.span() for match in _WORD.finditer(text)]


def gold_spans(sentence: AnnotatedSentence) -> list[WordSpan]:
    """Return the sentence's entities; types in upper case."""
    return [(entity.start, entity.end, entity.label.upper()) for entity in sentence.entities]


Decoding = Literal["released", "standard"]
"""How labels are read: like in RaTEScore's released code, or as IOB labels usually are."""


class NerModel(Protocol):
    """Finds entities in sentences."""

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return (text, type) of each entity in each sentence, in order; types are in upper case."""


def decode(labels: Sequence[str], special: Sequence[bool], decoding: Decoding) -> list[WordSpan]:
    """Return spans of tokens' ``B-TYPE``, ``I-TYPE`` and ``O``; no entity contains a ``special`` token."""
    if decoding == "released":
        return decode_released(labels, special)
    return decode_standard(["O" if skip else label for label, skip in zip(labels, special, strict=True)])


def decode_standard(labels: Sequence[str]) -> list[WordSpan]:
    """Return the spans of IOB labels; a stray I- begins an entity, a change of type ends one."""
    return [(entity.start, entity.end, entity.label) for entity in iob_tags.decode(labels)]


def decode_released(labels: Sequence[str], special: Sequence[bool]) -> list[WordSpan]:
    """Return the spans that the released code finds (``post_process`` in RaTEScore 0.6.0), oddities included.

    An entity has the type of its B-, whatever types the I- after it have; an I- without a B- before it is
    dropped. An entity ends if the NEXT label is O or B-, so the label predicted for the closing special token
    decides over an entity at the end of the sentence: if that label is I-, the entity is taken to end before
    the special token, but only as long as no entity before it ended at a B-; otherwise it is lost.
    """
    spans: list[WordSpan] = []
    opened: tuple[int, str] | None = None
    ended_at_b = False  # the reference forgets to clear the end of an entity that another followed at once
    for position in range(len(labels) - 1):
        prefix, _, kind = labels[position].partition("-")
        following = labels[position + 1][:1]
        if special[position] or prefix not in ("B", "I") or (prefix == "I" and following == "I"):
            continue
        begin = (position, kind) if prefix == "B" else opened
        if following == "I":
            opened = begin
            continue
        if begin is not None:
            spans.append((begin[0], position + 1, begin[1]))
        opened = (position, kind) if following == "B" else None
        ended_at_b = following == "B"
    if opened is not None and not ended_at_b:
        spans.append((opened[0], len(labels) - 1, opened[1]))
    return spans


@dataclass(frozen=True)
class Counts:
    """Counts of matched, predicted and gold spans, which can be added up over sentences.

    A measure with a denominator of 0 is 0.
    """

    matched: int = 0
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.matched + other.matched, self.predicted + other.predicted, self.gold + other.gold)

    @property
    def precision(self) -> float:
        """Share of the predicted spans that are right."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold spans that are found."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.predicted + self.gold
        return 2 * self.matched / total if total else 0.0


@dataclass(frozen=True)
class SpanScores:
    """Predicted spans against gold ones: those with the same words and type, and the words' labels."""

    spans: Counts
    correct_words: int
    words: int

    @property
    def accuracy(self) -> float:
        """Share of words with the right label among O, B-TYPE and I-TYPE."""
        return self.correct_words / self.words if self.words else 0.0


def span_scores(
    gold: Sequence[Iterable[WordSpan]], predicted: Sequence[Iterable[WordSpan]], lengths: Sequence[int]
) -> SpanScores:
    """Return strict matches of the spans in sentences with ``lengths`` words. Case of types is ignored, and
    repeated spans count once."""
    counts, correct_words = Counts(), 0
    for annotated, tagged, length in zip(gold, predicted, lengths, strict=True):
        truth = {(start, end, kind.upper()) for start, end, kind in annotated}
        guess = {(start, end, kind.upper()) for start, end, kind in tagged}
        counts += Counts(len(truth & guess), len(guess), len(truth))
        labels = zip(iob_tags.encode(truth, length), iob_tags.encode(guess, length), strict=True)
        correct_words += sum(right == given for right, given in labels)
    return SpanScores(counts, correct_words, sum(lengths))
