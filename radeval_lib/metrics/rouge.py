"""ROUGE-1, -2 and -L of each pair by Google's ``rouge_score`` (Lin 2004): lower-cased letters and digits,
stemmed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


@register
class Rouge2(_Rouge):
    """F1 of the pairs of neighbouring words."""

    name, kind = "rouge_2", "rouge2"


@register
class RougeL(_Rouge):
    """F1 of the longest common subsequence of words."""

    name, kind = "rouge_l", "rougeL"
