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
    """Return (start, end) of each word of a text, in characters.

    A word is a run of letters and digits, or any other single character that is not white space.
    """
    return [match.span() for match in _WORD.finditer(text)]


def read_gold(sentence: AnnotatedSentence) -> list[WordSpan]:
    """Return (start, end, type) of a sentence's entities, in words, with types in upper case."""
    return [(entity.start, entity.end, entity.label.upper()) for entity in sentence.entities]


Decoding = Literal["released", "standard"]
"""How IOB labels are read: ``released``, by the rules of RaTEScore's released code, or ``standard``."""


class NerModel(Protocol):
    """A model that finds entities in sentences."""

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """Return (text, type) of each entity, in order, for each sentence; types are in upper case."""


def decode_labels(labels: Sequence[str], special: Sequence[bool], decoding: Decoding) -> list[WordSpan]:
    """Return (start, end, type) of the entities of a sentence, in tokens.

    ``labels``: each token's ``B-TYPE``, ``I-TYPE`` or ``O``. ``special``: whether each token is a special
    one, which no entity contains.
    """
    if decoding == "released":
        return decode_released(labels, special)
    return decode_standard(["O" if skip else label for label, skip in zip(labels, special, strict=True)])


def decode_standard(labels: Sequence[str]) -> list[WordSpan]:
    """Return (start, end, type) of the entities in IOB labels; an I- without an entity of its type before it
    begins one."""
    return [(entity.start, entity.end, entity.label) for entity in iob_tags.decode(labels)]


def decode_released(labels: Sequence[str], special: Sequence[bool]) -> list[WordSpan]:
    """Return (start, end, type) of the entities as RaTEScore 0.6.0 finds them (``post_process``), flaws
    included.

    An entity has the type of its B-, whatever the types of the following I-; an I- without a B- before it is
    dropped. An entity ends if the NEXT label is O or B-. So the label of the closing special token decides on
    an entity at the end of the sentence: if it is I-, the entity ends before the special token, unless the
    entity before it ended at a B-, in which case the last entity is lost.
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
    """Numbers of matched, predicted and gold spans, which can be added up over sentences.

    A measure (0 to 1) with a denominator of 0 is 0.
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
    """Comparison of predicted with gold spans, over all sentences.

    Attributes
    ----------
    spans : counts of spans; a predicted span matches a gold one with the same words and type.
    correct_words : words whose IOB label (O, B-TYPE or I-TYPE) is the same in both.
    words : all words.
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
    """Return the comparison of predicted with gold spans, sentence by sentence.

    ``lengths``: the number of words of each sentence. Types are compared without regard to case, and repeated
    spans of a sentence count once.
    """
    counts, correct_words = Counts(), 0
    for annotated, tagged, length in zip(gold, predicted, lengths, strict=True):
        truth = {(start, end, kind.upper()) for start, end, kind in annotated}
        guess = {(start, end, kind.upper()) for start, end, kind in tagged}
        counts += Counts(len(truth & guess), len(guess), len(truth))
        labels = zip(iob_tags.encode(truth, length), iob_tags.encode(guess, length), strict=True)
        correct_words += sum(gold_label == label for gold_label, label in labels)
    return SpanScores(counts, correct_words, sum(lengths))
