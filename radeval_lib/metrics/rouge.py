"""ROUGE-1, -2 and -L of each pair by Google's ``rouge_score`` (Lin 2004): lower-cased letters and digits,
stemmed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from radeval_lib.metrics.base import Metric, register


class _Rouge(Metric):
    citation = "lin2004rouge"
    kind = ""

    def __init__(self, *, stem: bool = True) -> None:
        self.stem = stem

    def settings(self) -> dict[str, Any]:
        return {"stem": self.stem}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer([self.kind], use_stemmer=self.stem)
        for reference, candidate in pairs:
            found = scorer.score(reference, candidate)[self.kind]
            yield float(found.fmeasure), {"precision": found.precision, "recall": found.recall}


@register
class Rouge1(_Rouge):
    """F1 of the words. A text without words scores 0."""

    name, kind = "rouge_1", "rouge1"
    title = "ROUGE-1"


@register
class Rouge2(_Rouge):
    """F1 of the pairs of neighbouring words."""

    name, kind = "rouge_2", "rouge2"
    title = "ROUGE-2"


@register
class RougeL(_Rouge):
    """F1 of the longest common subsequence of words.

    With the package's words, stems and F1; its table of all pairs of positions takes half a minute and a
    gigabyte for two texts of 10,000 words.
    """

    name = "rouge_l"
    title = "ROUGE-L"

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        from rouge_score.scoring import fmeasure
        from rouge_score.tokenizers import DefaultTokenizer

        tokenizer = DefaultTokenizer(self.stem)
        for pair in pairs:
            reference, candidate = (tokenizer.tokenize(text) for text in pair)
            common = common_subsequence(reference, candidate)
            recall, precision = (common / len(side) if side else 0.0 for side in (reference, candidate))
            yield float(fmeasure(precision, recall)), {"precision": precision, "recall": recall}


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence, a row of the table at a time as the bits of one integer.

    Source: Hyyroe, "Bit-parallel LCS-length computation revisited", AWOCA 2004, Figure 2.
    """
    places: dict[Hashable, int] = {}
    for place, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << place
    every = (1 << len(first)) - 1
    row = every  # a zero where the length grows by one
    for item in second:
        matches = row & places.get(item, 0)
        row = ((row + matches) | (row - matches)) & every
    return len(first) - row.bit_count()
