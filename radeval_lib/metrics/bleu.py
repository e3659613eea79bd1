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

# The scorer adds these to numerator and denominator of each n-gram precision. In a text with fewer than n
# words, which has no n-gram, the precision is thus their ratio, 1e-6, instead of being left out.
TINY, SMALL = 1e-15, 1e-9


def _count_ngrams(reference: str, candidate: str, order: int) -> NDArray[np.float64]:
    """Return the counts from which BLEU is computed, float64 of shape (2 * order + 2,).

    These are, for n = 1 to ``order``, the number of the candidate's n-grams that the reference also has; for
    each n again, the number of all the candidate's n-grams; and the number of words in the candidate and in
    the reference.
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
    """Return BLEU, from 0 to 1, for counts of :func:`_count_ngrams` or sums of such counts.

    For counts of shape (..., 2 * order + 2), the result has shape (...).
    """
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
    """Return BLEU of the whole corpus, from 0 to 1, from summed n-gram counts; 0 for an empty corpus.

    ``order`` is the number of words in the longest n-grams, at least 1.

    Raises
    ------
    MetricError
        If an argument is not a sequence of str, or the lengths differ.
    """
    return float(_compute_bleu(_count_all_pairs(references, candidates, order).sum(axis=0), order))


def sentence_bleu(
    references: Sequence[str], candidates: Sequence[str], order: int = 4
) -> NDArray[np.float64]:
    """Return BLEU of each pair, from 0 to 1, float64 of shape (n,).

    ``order`` is the number of words in the longest n-grams, at least 1.

    Raises
    ------
    MetricError
        If an argument is not a sequence of str, or the lengths differ.
    """
    return _compute_bleu(_count_all_pairs(references, candidates, order), order)


@register
class Bleu(Metric):
    """BLEU of each pair, from 0 to 1; the corpus score is :func:`corpus_bleu`, not the mean over pairs.

    A text without words scores 0. Even identical texts of fewer than ``order`` words score near 0. Each
    score's detail has the pair's ``counts``, from which the corpus score is computed.

    Parameters
    ----------
    order : the number of words in the longest n-grams that are compared, at least 1.
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
        """Raise MetricError if ``order`` is below 1."""
        if self.order < 1:
            raise MetricError(f"{self.order} is below 1", "bleu.order", "Use an integer of 1 or more.")

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
                f"a text has fewer than {self.order} words, so that no {self.order}-gram can match: "
                "as a pair, even identical texts score near 0"
            )

    def corpus(self, scores: Scores) -> tuple[FloatArray, Formula]:
        """Return the n-gram counts of each pair, and the function from sums of counts to corpus BLEU."""
        table = np.array([detail["counts"] for detail in scores.details])
        return table, lambda sums: _compute_bleu(sums, self.order)[..., None]
