"""Entities as typed spans of words: decoded from taggers' labels, and compared with gold ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from radeval_lib.data import iob_tags
from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.data.restricted import reveal

_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


def words_of(text: str) -> list[tuple[int, int]]:
    """Where the words of a text are: runs of letters and digits, and each other sign by itself."""
    return [match.span() for match in _WORD.finditer(text)]


def plain_words(sentence: AnnotatedSentence) -> list[str]:
    """The sentence's words, to compute on."""
    return [reveal(token) for token in sentence.tokens]


def gold_spans(sentence: AnnotatedSentence) -> list[WordSpan]:
    """The sentence's entities; types in upper case."""
    return [(entity.start, entity.end, entity.label.upper()) for entity in sentence.entities]


Decoding = Literal["released", "standard"]


class Span(NamedTuple):
    """A stretch of tokens, both ends included, and its type."""

    start: int
    end: int
    type: str


class Tagger(Protocol):
    """Finds entities in sentences."""

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """(text, type) of each entity of each sentence, in order; types in upper case."""
        ...


def decode(labels: Sequence[str], skipped: Sequence[bool], how: Decoding = "released") -> list[Span]:
    """Spans of a sequence of ``B-TYPE``, ``I-TYPE`` and ``O``."""
    return decode_released(labels, skipped) if how == "released" else decode_standard(labels, skipped)


def decode_standard(labels: Sequence[str], skipped: Sequence[bool]) -> list[Span]:
    """Spans of IOB labels; a stray I- begins an entity, a change of type ends one."""
    kept = ["O" if special else label for label, special in zip(labels, skipped, strict=True)]
    return [Span(one.start, one.end - 1, one.label) for one in iob_tags.decode(kept)]


def decode_released(labels: Sequence[str], skipped: Sequence[bool]) -> list[Span]:
    """Spans by the released code's rules (``post_process`` in RaTEScore 0.6.0), its oddities included.

    An entity has the type of its B-, whatever types the I- after it have; an I- without a B- before it is
    dropped. An entity ends where the NEXT label is O or B-, so the label predicted for the closing special
    token decides over an entity at the end of the sentence: if that label is I-, the entity is taken to end
    before the special token, but only as long as no entity before it ended at a B-; otherwise it is lost.
    """
    spans: list[Span] = []
    opened: tuple[int, str] | None = None
    ended_at_b = False  # the reference forgets to clear the end of an entity that another followed at once
    for position in range(len(labels) - 1):
        prefix, _, kind = labels[position].partition("-")
        following = labels[position + 1][:1]
        if skipped[position] or prefix not in ("B", "I") or (prefix == "I" and following == "I"):
            continue
        begin = (position, kind) if prefix == "B" else opened
        if following == "I":
            opened = begin
            continue
        if begin is not None:
            spans.append(Span(begin[0], position, begin[1]))
        opened = (position, kind) if following == "B" else None
        ended_at_b = following == "B"
    if opened is not None and not ended_at_b:
        spans.append(Span(opened[0], len(labels) - 2, opened[1]))
    return spans


@dataclass
class Counts:
    """Sufficient statistics: add them up over sentences to resample or regroup without tagging again."""

    matched: int = 0
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.matched + other.matched, self.predicted + other.predicted, self.gold + other.gold)

    @property
    def precision(self) -> float:
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        total = self.predicted + self.gold
        return 2 * self.matched / total if total else 0.0


@dataclass
class EntityAgreement:
    """Strict agreement over a corpus."""

    overall: Counts = field(default_factory=Counts)
    correct_words: int = 0
    words: int = 0

    @property
    def accuracy(self) -> float:
        """Share of words with the right label among O, B-TYPE and I-TYPE."""
        return self.correct_words / self.words if self.words else 0.0


def agreement(
    gold: Sequence[Iterable[WordSpan]], predicted: Sequence[Iterable[WordSpan]], lengths: Sequence[int]
) -> EntityAgreement:
    """Counts of predicted against gold spans of sentences with ``lengths`` words. The case of types does
    not matter, and spans that occur twice count once."""
    result = EntityAgreement()
    for wanted, found, length in zip(gold, predicted, lengths, strict=True):
        truth = {(start, end, kind.upper()) for start, end, kind in wanted}
        guess = {(start, end, kind.upper()) for start, end, kind in found}
        result.overall += Counts(len(truth & guess), len(guess), len(truth))
        labels = zip(iob_tags.encode(truth, length), iob_tags.encode(guess, length), strict=True)
        result.correct_words += sum(a == b for a, b in labels)
        result.words += length
    return result
