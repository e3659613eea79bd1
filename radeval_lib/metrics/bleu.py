"""BLEU as the COCO caption scorer computes it, which RaLEs, vilmedic and RadEval bundle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.metrics.base import Metric, MetricError, Scores, register

if TYPE_CHECKING:
    from radeval_lib.stats.inputs import FloatArray, OfSums

# The scorer adds these to numerator and denominator of each n-gram precision. A text shorter than n words has
# no n-gram, so its precision becomes their ratio, 1e-6, instead of being left out.
TINY, SMALL = 1e-15, 1e-9


def _counts(candidate: str, reference: str, order: int) -> NDArray[np.float64]:
    """Matching n-grams, n-grams of the candidate (both for n = 1..order), and the two lengths in words."""
    words, wanted = candidate.split(), reference.split()
    matched, total = [], []
    for n in range(1, order + 1):
        have, want = (
            Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1)) for text in (words, wanted)
        )
        matched.append(sum((have & want).values()))
        total.append(max(0, len(words) - n + 1))
    return np.array([*matched, *total, len(words), len(wanted)], dtype=np.float64)


def _bleu(counts: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """BLEU from counts as :func:`_counts` has them, or sums of these; shape (..., counts) to (...)."""
    matched, total = counts[..., :order], counts[..., order : 2 * order]
    precision = np.prod((matched + TINY) / (total + SMALL), axis=-1) ** (1 / order)
    ratio = (counts[..., -2] + TINY) / (counts[..., -1] + SMALL)
    brevity = np.exp(np.minimum(0.0, 1 - 1 / ratio))
    return np.asarray(precision * brevity, dtype=np.float64)


def _all_counts(candidates: Sequence[str], references: Sequence[str], order: int) -> NDArray[np.float64]:
    pairs = zip(candidates, references, strict=True)
    return np.stack([_counts(candidate, reference, order) for candidate, reference in pairs])


def corpus_bleu(candidates: Sequence[str], references: Sequence[str], order: int = 4) -> float:
    """BLEU of the whole corpus, from 0 to 1: n-gram counts are summed before precisions are formed."""
    return float(_bleu(_all_counts(candidates, references, order).sum(axis=0), order))


def sentence_bleu(
    candidates: Sequence[str], references: Sequence[str], order: int = 4
) -> NDArray[np.float64]:
    """BLEU of each pair on its own, from 0 to 1; float64 of shape (n,)."""
    return _bleu(_all_counts(candidates, references, order), order)


def chunked_bleu(candidates: Sequence[str], references: Sequence[str], chunk: int, order: int = 4) -> float:
    """Corpus BLEU of consecutive chunks, averaged by size, as the RaLEs evaluator reports above 1,000."""
    counts = _all_counts(candidates, references, order)
    starts = range(0, len(counts), chunk)
    values = [float(_bleu(counts[start : start + chunk].sum(axis=0), order)) for start in starts]
    sizes = [len(counts[start : start + chunk]) for start in starts]
    return float(np.average(values, weights=sizes))


@register
class Bleu(Metric):
    """Sentence BLEU; the corpus value is not the mean of these (see :mod:`radeval_lib.metrics.bleu`).

    A text without words scores 0. Even identical texts shorter than ``order`` words score below 1.

    Parameters
    ----------
    order : the longest n-gram, in words.
    """

    name = "bleu"
    title = "BLEU"
    citation = "papineni2002bleu"
    variant = "sentence-coco"
    normalises = ("words-at-blanks",)

    order: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order < 1:
            raise MetricError(f"order must be 1 or more, not {self.order}", "bleu")

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        for reference, candidate in pairs:
            counts = _counts(candidate, reference, self.order)
            filled = bool(reference.split() and candidate.split())
            yield float(_bleu(counts, self.order)) if filled else 0.0, {"counts": counts}

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        if any(0 < len(text.split()) < self.order for text in (reference, candidate)):
            yield (
                f"a text has fewer than {self.order} words, so that no {self.order} in a row can match: "
                "alone, even identical texts score near 0"
            )

    def corpus(self, scores: Scores) -> tuple[FloatArray, OfSums]:
        table = np.array([detail["counts"] for detail in scores.details])
        return table, lambda sums: _bleu(sums, self.order)[..., None]
