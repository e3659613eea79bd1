"""Decode entities (typed spans of words) from an NER model's labels, and compare spans with gold spans."""

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
    """Return (start, end) of each word of a text, in character offsets; ``end`` is exclusive.

    A word is a run of letters and digits, or any other single character that is not white space.
    """
    return [match.span() for match in _WORD.finditer(text)]


def read_gold(sentence: AnnotatedSentence) -> list[WordSpan]:
    """Return (start, end, type) of each annotated entity of a sentence, with its type in upper case.

    ``start`` is the index of the entity's first word, ``end`` one past that of its last word.
    """
    return [(entity.start, entity.end, entity.label.upper()) for entity in sentence.entities]


Decoding = Literal["released", "standard"]
"""How IOB labels are decoded: by :func:`decode_released`, as in RaTEScore, or by :func:`decode_standard`."""


class NerModel(Protocol):
    """A model that finds entities in sentences."""

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return for each sentence a list with (string, type) of each entity, in order, with types in upper
        case."""


def decode_labels(labels: Sequence[str], special: Sequence[bool], decoding: Decoding) -> list[WordSpan]:
    """Return (start, end, type) of the entities in the IOB labels of a sentence's tokens.

    ``start`` is the index of the entity's first token, ``end`` one past that of its last token.

    Parameters
    ----------
    labels : the label of each token: ``B-TYPE``, ``I-TYPE`` or ``O``.
    special : whether each token is a special token, such as [CLS], which no entity contains.
    decoding : ``released`` for :func:`decode_released`, ``standard`` for :func:`decode_standard`.
    """
    if decoding == "released":
        return decode_released(labels, special)
    return decode_standard(["O" if skip else label for label, skip in zip(labels, special, strict=True)])


def decode_standard(labels: Sequence[str]) -> list[WordSpan]:
    """Return (start, end, type) of the entities in IOB labels, by the usual rules.

    ``start`` is the index of the entity's first label, ``end`` one past that of its last label. A label
    I-TYPE begins an entity if the label before it is not B-TYPE or I-TYPE.
    """
    return [(entity.start, entity.end, entity.label) for entity in iob_tags.decode(labels)]


def decode_released(labels: Sequence[str], special: Sequence[bool]) -> list[WordSpan]:
    """Return (start, end, type) of the entities that RaTEScore 0.6.0 finds in IOB labels, flaws included.

    ``labels``: the label of each token. ``special``: whether each token is a special token, such as [CLS].
    ``start`` is the index of the entity's first token, ``end`` one past that of its last token. Source:
    ``post_process`` in RaTEScore.

    An entity has the type of its B- label, whatever the types of the I- labels that follow; an I- label
    without a preceding B- is dropped. An entity ends if the NEXT label is O or B-, so an entity at the end of
    the sentence depends on the label of the closing special token. If this label is I-, the entity ends
    before the special token; but if the previous entity ended at a B- label, the last entity is lost.
    """
    spans: list[WordSpan] = []
    open_entity: tuple[int, str] | None = None
    ended_at_b = False  # RaTEScore does not reset the end of an entity that another one follows directly
    for position in range(len(labels) - 1):
        prefix, _, kind = labels[position].partition("-")
        next_prefix = labels[position + 1][:1]
        if special[position] or prefix not in ("B", "I") or (prefix == "I" and next_prefix == "I"):
            continue
        entity = (position, kind) if prefix == "B" else open_entity
        if next_prefix == "I":
            open_entity = entity
            continue
        if entity is not None:
            spans.append((entity[0], position + 1, entity[1]))
        open_entity = (position, kind) if next_prefix == "B" else None
        ended_at_b = next_prefix == "B"
    if open_entity is not None and not ended_at_b:
        spans.append((open_entity[0], len(labels) - 1, open_entity[1]))
    return spans


@dataclass(frozen=True)
class Counts:
    """Counts of matched, predicted and gold spans, which ``+`` adds up.

    Precision, recall and F1 are from 0 to 1; each is 0 if its denominator is 0.
    """

    matched: int = 0
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.matched + other.matched, self.predicted + other.predicted, self.gold + other.gold)

    @property
    def precision(self) -> float:
        """The share of the predicted spans that match a gold span."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold spans that match a predicted span."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
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
    words : total number of words.
    """

    spans: Counts
    correct_words: int
    words: int

    @property
    def accuracy(self) -> float:
        """The share of the words (0 to 1) with the correct IOB label; 0 if there are no words."""
        return self.correct_words / self.words if self.words else 0.0


def compare_spans(
    gold: Sequence[Iterable[WordSpan]], predicted: Sequence[Iterable[WordSpan]], lengths: Sequence[int]
) -> SpanScores:
    """Return the counts of matched, predicted and gold spans, and of correctly labelled words, over all
    sentences.

    The case of types is ignored; repeated spans of a sentence count once.

    Parameters
    ----------
    gold, predicted : the (start, end, type) spans of each sentence, as word offsets; ``end`` is exclusive.
    lengths : the number of words of each sentence.

    Raises
    ------
    ValueError
        If a span is empty or extends beyond its sentence, or if the three sequences differ in length.
    """
    counts, correct_words = Counts(), 0
    for gold_spans, predicted_spans, length in zip(gold, predicted, lengths, strict=True):
        gold_set = {(start, end, kind.upper()) for start, end, kind in gold_spans}
        predicted_set = {(start, end, kind.upper()) for start, end, kind in predicted_spans}
        counts += Counts(len(gold_set & predicted_set), len(predicted_set), len(gold_set))
        tags = (iob_tags.encode(spans, length) for spans in (gold_set, predicted_set))
        correct_words += sum(gold_tag == tag for gold_tag, tag in zip(*tags, strict=True))
    return SpanScores(counts, correct_words, sum(lengths))
