"""ROUGE-1, -2 and -L of each pair by Google's ``rouge_score`` (Lin 2004): lower-cased letters and digits,
stemmed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from radeval_lib.metrics.base import Metric, register
from radeval_lib.stats.tokens import RougeTokenizer, longest_common_subsequence, share_of_letters


class _Rouge(Metric):
    """Base class of the three metrics.

    ``kind`` is the name of the score in the package rouge_score, empty for ROUGE-L, and ``stem`` says whether
    words are stemmed.
    Each score's detail has ``precision`` and ``recall``.
    """

    citation = "lin2004rouge"
    variant = "f1"
    normalises = ("lowercase", "ascii-alphanumeric")
    kind = ""
    stem: bool = True

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterable[str]:
        """Yield a caution if ROUGE ignores more than a tenth of a text's letters."""
        if any(share_of_letters(text, beyond="\x7f") > 0.1 for text in (reference, candidate)):
            yield "a text has letters that ROUGE ignores: it reads only a to z and digits"

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        """Yield F1 and a dictionary of precision and recall for each pair."""
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer([self.kind], tokenizer=RougeTokenizer(self.stem))
        for reference, candidate in pairs:
            result = scorer.score(reference, candidate)[self.kind]
            yield float(result.fmeasure), {"precision": result.precision, "recall": result.recall}


@register
class Rouge1(_Rouge):
    """F1 of the words that two texts have in common, from 0 to 1; 0 if a text has no words.

    The setting ``stem`` says whether words are stemmed.
    """

    name, kind = "rouge_1", "rouge1"
    title = "ROUGE-1"


@register
class Rouge2(_Rouge):
    """F1 of the pairs of adjacent words that two texts have in common, from 0 to 1; 0 if a text has fewer
    than two words.

    The setting ``stem`` says whether words are stemmed.
    """

    name, kind = "rouge_2", "rouge2"
    title = "ROUGE-2"


@register
class RougeL(_Rouge):
    """F1 of the longest common subsequence of two texts' words, from 0 to 1; 0 if a text has no words.

    The setting ``stem`` says whether words are stemmed. Words, stems and F1 are computed by the package. This
    library computes the subsequence itself, because the package takes half a minute and a gigabyte for two
    texts of 10,000 words.
    """

    name = "rouge_l"
    title = "ROUGE-L"

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[float, Any]]:
        """Yield F1 and a dictionary of precision and recall for each pair."""
        from rouge_score.scoring import fmeasure

        tokenizer = RougeTokenizer(self.stem)
        for pair in pairs:
            reference, candidate = (tokenizer.tokenize(text) for text in pair)
            length = longest_common_subsequence(reference, candidate)
            recall, precision = (length / len(side) if side else 0.0 for side in (reference, candidate))
            yield float(fmeasure(precision, recall)), {"precision": precision, "recall": recall}
