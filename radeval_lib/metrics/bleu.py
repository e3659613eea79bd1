"""BLEU of each pair, as the COCO caption scorer computes it (Papineni et al. 2002)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.metrics.coco_bleu import sentence_bleu


@register
class Bleu(Metric):
    """Sentence BLEU; the corpus value is not the mean of these (see :mod:`radeval_lib.metrics.coco_bleu`).

    A text without words scores 0. Even identical texts shorter than ``order`` words score below 1.

    Parameters
    ----------
    order : the longest n-gram, in words.
    """

    name = "bleu"
    title = "BLEU"
    citation = "papineni2002bleu"

    def __init__(self, *, order: int = 4) -> None:
        if order < 1:
            raise MetricError(f"order must be 1 or more, not {order}", "bleu")
        self.order = order

    def settings(self) -> dict[str, Any]:
        return {"order": self.order}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        for reference, candidate in pairs:
            filled = bool(reference.split() and candidate.split())
            value = float(sentence_bleu([candidate], [reference], self.order)[0]) if filled else 0.0
            yield value, {"order": self.order}
