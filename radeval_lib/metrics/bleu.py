"""BLEU (Papineni et al. 2002) as in the COCO caption scorer, which RaLEs, vilmedic and RadEval bundle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.metrics.base import Metric, MetricError, Pair, Scores, check_pairs, register

if TYPE_CHECKING:
    from radeval_lib.stats.base import FloatArray, Formula

# The scorer adds these to numerator and denominator of each n-gram precision. A text shorter than n words has
# no n-gram, so its precision becomes their ratio, 1e-6, instead of being left out.
TINY, SMALL = 1e-15, 1e-9


def _count_ngrams(reference: str, candidate: str, order: int) -> NDArray[np.float64]:
    """Return the counts from which BLEU is computed, float64 of shape (2 * order + 2,).

    First come, for n = 1 to ``order``, the n-grams of the candidate that the reference has too; then all
    n-grams of the candidate; then the number of words of the candidate and of the reference.
    """
    words_of_sides = reference.split(), candidate.split()
    matched, total = [], []
    for n in range(1, order + 1):
        reference_ngrams, candidate_ngrams = (
            Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in words_of_sides
        )
        matched.append((reference_ngrams & candidate_ngrams).total())
        total.append(candidate_ngrams.total())
    return np.array([*matched, *total, *map(len, reversed(words_of_sides))], dtype=np.float64)


def _compute_bleu(counts: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """Return BLEU, from 0 to 1, of counts that :func:`_count_ngrams` returned, or of sums of such counts;
    shape (..., 2 * order + 2) gives shape (...)."""
    matched, total = counts[..., :order], counts[..., order : 2 * order]
    precision = np.prod((matched + TINY) / (total + SMALL), axis=-1) ** (1 / order)
    length_ratio = (counts[..., -2] + TINY) / (counts[..., -1] + SMALL)
    brevity = np.exp(np.minimum(0.0, 1 - 1 / length_ratio))
    return np.asarray(precision * brevity, dtype=np.float64)


def _count_all_pairs(references: Sequence[str], candidates: Sequence[str], order: int) -> NDArray[np.float64]:
    """Return the counts of :func:`_count_ngrams` for n pairs, float64 of shape (n, 2 * order + 2)."""
    counts = [_count_ngrams(*pair, order) for pair in check_pairs(references, candidates)]
    return np.array(counts).reshape(len(counts), 2 * order + 2)


def corpus_bleu(references: Sequence[str], candidates: Sequence[str], order: int = 4) -> float:
    """Return BLEU of the whole corpus, from 0 to 1, with n-gram counts summed before precisions are computed;
    0 for an empty corpus.

    Raises
    ------
    MetricError
        If an argument is not a sequence of str, or the lengths differ.
    """
    return float(_compute_bleu(_count_all_pairs(references, candidates, order).sum(axis=0), order))


def sentence_bleu(
    references: Sequence[str], candidates: Sequence[str], order: int = 4
) -> NDArray[np.float64]:
    """Return BLEU of each pair, from 0 to 1, float64 of shape (n,); raises as :func:`corpus_bleu`."""
    return _compute_bleu(_count_all_pairs(references, candidates, order), order)


@register
class Bleu(Metric):
    """BLEU of each pair, from 0 to 1; the value of a corpus is :func:`corpus_bleu`, not the mean of these.

    A text without words scores 0. Even identical texts of fewer than ``order`` words score near 0. Each
    value's detail has the pair's ``counts``, from which the value of a corpus is computed.

    Parameters
    ----------
    order : the number of words of the longest n-grams that are compared, at least 1.
    """

    name = "bleu"
    title = "BLEU"
    citation = "papineni2002bleu"
    variant = "sentence-coco"
    corpus_variant = "corpus-coco"
    remark = (
        "this BLEU splits words at blanks and keeps capitals, as the COCO caption scorer does; sacrebleu's "
        "default gives other numbers"
    )
    normalises = ("words-at-blanks",)

    order: int = 4

    def __post_init__(self) -> None:
        """Check that ``order`` is at least 1."""
        if self.order < 1:
            raise MetricError(f"order is {self.order}", "bleu.order", "Give a whole number, 1 or more.")

    def _score_pairs(self, pairs: Sequence[Pair]) -> Iterable[tuple[float, Any]]:
        """Yield BLEU and a dictionary with the counts for each pair; 0 if a text has no words."""
        for pair in pairs:
            counts = _count_ngrams(*pair, self.order)
            both_have_words = counts[-2:].all()
            yield float(_compute_bleu(counts, self.order)) if both_have_words else 0.0, {"counts": counts}

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        """Yield a caution if a text has words, but fewer than the longest n-gram."""
        if any(0 < len(text.split()) < self.order for text in (reference, candidate)):
            yield (
                f"a text has fewer than {self.order} words, so that no {self.order} in a row can match: "
                "alone, even identical texts score near 0"
            )

    def corpus(self, scores: Scores) -> tuple[FloatArray, Formula]:
        """Return the counts of each pair, and the function from their sums to corpus BLEU."""
        table = np.array([detail["counts"] for detail in scores.details])
        return table, lambda sums: _compute_bleu(sums, self.order)[..., None]
