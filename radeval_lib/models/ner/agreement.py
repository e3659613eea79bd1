"""How well predicted entities agree with gold ones: strict spans, as Tables 6 and 7 of Zhao et al. 2024
count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


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


WordSpan = tuple[int, int, str]
"""First word, one past the last word, type."""


@dataclass
class Agreement:
    """Strict agreement over a corpus."""

    overall: Counts = field(default_factory=Counts)
    by_type: dict[str, Counts] = field(default_factory=dict)
    correct_words: int = 0
    words: int = 0

    @property
    def accuracy(self) -> float:
        """Share of words with the right label among O, B-TYPE and I-TYPE."""
        return self.correct_words / self.words if self.words else 0.0


def agreement(
    gold: Sequence[Iterable[WordSpan]],
    predicted: Sequence[Iterable[WordSpan]],
    lengths: Sequence[int],
) -> Agreement:
    """Compare predicted with gold spans, sentence by sentence.

    Parameters
    ----------
    gold, predicted : spans of each sentence; types in any case. Spans that occur twice count once.
    lengths : words of each sentence.
    """
    result = Agreement()
    for wanted, found, length in zip(gold, predicted, lengths, strict=True):
        truth = {(start, end, kind.upper()) for start, end, kind in wanted}
        guess = {(start, end, kind.upper()) for start, end, kind in found}
        result.overall += Counts(len(truth & guess), len(guess), len(truth))
        tallies = [Counter(kind for *_, kind in spans) for spans in (truth & guess, guess, truth)]
        for kind in tallies[1] | tallies[2]:
            own = Counts(*(tally[kind] for tally in tallies))
            result.by_type[kind] = result.by_type.get(kind, Counts()) + own
        labels = zip(iob(truth, length), iob(guess, length), strict=True)
        result.correct_words += sum(a == b for a, b in labels)
        result.words += length
    return result


def iob(spans: Iterable[WordSpan], length: int) -> list[str]:
    """IOB labels of the words; where spans overlap, the one that begins first, then the longer, keeps its
    words."""
    labels = ["O"] * length
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1], span[2])):
        if all(label == "O" for label in labels[start:end]):
            labels[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return labels
