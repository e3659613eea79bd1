"""Decode entities (typed spans of words) from an NER model's labels, and compare them with gold entities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from radeval_lib.data import iob_tags
from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence

# A run of letters and digits, or any other single character: "a2", ".", "5", "cm", "_".
_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


def find_words(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each word of a text, in characters; ``end`` is one past the last character.

    A word is a run of letters and digits, or any other single character that is not white space.
    """
    return [match.span() for match in _WORD.finditer(text)]


def read_gold(sentence: AnnotatedSentence) -> list[WordSpan]:
    """Return (start, end, type) of a sentence's annotated entities, with types in upper case.

    ``start`` is the index of the entity's first word, ``end`` one past that of its last word.
    """
    return [(entity.start, entity.end, entity.label.upper()) for entity in sentence.entities]


Decoding = Literal["released", "standard"]
"""How IOB labels are read: by :func:`decode_released`, as in RaTEScore, or by :func:`decode_standard`."""


class NerModel(Protocol):
    """A model that finds entities in sentences."""

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return for each sentence a list with (string, type) of each entity, in order; types are in upper
        case."""


def decode_labels(labels: Sequence[str], special: Sequence[bool], decoding: Decoding) -> list[WordSpan]:
    """Return (start, end, type) of the entities in the IOB labels of a sentence's tokens.

    ``start`` is the index of the entity's first token, ``end`` one past that of its last token.

    Parameters
    ----------
    labels : for each token, ``B-TYPE``, ``I-TYPE`` or ``O``.
    special : for each token, whether it is a special token, such as [CLS]; entities contain none.
    decoding : how labels are read.
    """
    if decoding == "released":
        return decode_released(labels, special)
    return decode_standard(["O" if skip else label for label, skip in zip(labels, special, strict=True)])


def decode_standard(labels: Sequence[str]) -> list[WordSpan]:
    """Return (start, end, type) of the entities in IOB labels, by the usual rules; ``end`` is one past the
    entity's last label. A label I-TYPE begins an entity if the label before it is not B-TYPE or I-TYPE."""
    return [(entity.start, entity.end, entity.label) for entity in iob_tags.decode(labels)]


def decode_released(labels: Sequence[str], special: Sequence[bool]) -> list[WordSpan]:
    """Return (start, end, type) of the entities as RaTEScore 0.6.0 finds them, flaws included.

    ``labels`` and ``special`` are those of :func:`decode_labels`. Source: ``post_process`` in RaTEScore.

    An entity has the type of its label B-, whatever the types of the labels I- that follow; a label I-
    without a B- before it is dropped. An entity ends if the NEXT label is O or B-. So the label of the
    closing special token decides on an entity at the end of the sentence. If this label is I-, the entity
    ends before the special token; but if the entity before it ended at a label B-, the last entity is lost.
    """
    spans: list[WordSpan] = []
    opened: tuple[int, str] | None = None
    ended_at_b = False  # RaTEScore does not reset the end of an entity that another follows at once
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
    """Numbers of matched, predicted and gold spans. ``+`` adds up the numbers of several sentences.

    Precision, recall and F1 are from 0 to 1; each is 0 if its denominator is 0.
    """

    matched: int = 0
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.matched + other.matched, self.predicted + other.predicted, self.gold + other.gold)

    @property
    def precision(self) -> float:
        """Share of the predicted spans that match a gold span."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold spans that match a predicted span."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.predicted + self.gold
        return 2 * self.matched / total if total else 0.0


@dataclass(frozen=True)
class SpanScores:
    """Agreement of predicted with gold spans, over all sentences.

    Attributes
    ----------
    spans : counts of spans; a predicted span matches a gold span with the same words and type.
    correct_words : number of words whose IOB label (O, B-TYPE or I-TYPE) is the same for predicted and gold
        spans.
    words : number of all words.
    """

    spans: Counts
    correct_words: int
    words: int

    @property
    def accuracy(self) -> float:
        """Share of the words (0 to 1) with the right IOB label; 0 if there are no words."""
        return self.correct_words / self.words if self.words else 0.0


def compare_spans(
    gold: Sequence[Iterable[WordSpan]], predicted: Sequence[Iterable[WordSpan]], lengths: Sequence[int]
) -> SpanScores:
    """Return how well predicted spans agree with gold spans, over all sentences.

    Types are compared without regard to case; repeated spans of a sentence count once.

    Parameters
    ----------
    gold, predicted : (start, end, type) of the spans of each sentence, in words.
    lengths : the number of words of each sentence.
    """
    counts, correct_words = Counts(), 0
    for annotated, tagged, length in zip(gold, predicted, lengths, strict=True):
        truth = {(start, end, kind.upper()) for start, end, kind in annotated}
        guess = {(start, end, kind.upper()) for start, end, kind in tagged}
        counts += Counts(len(truth & guess), len(guess), len(truth))
        labels = zip(iob_tags.encode(truth, length), iob_tags.encode(guess, length), strict=True)
        correct_words += sum(gold_label == label for gold_label, label in labels)
    return SpanScores(counts, correct_words, sum(lengths))
