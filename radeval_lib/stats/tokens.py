"""How a text becomes tokens, and two statistics that depend on it: report length and ROUGE-L."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Sequence

Tokenizer = Callable[[str], list[str]]


def whitespace(text: str) -> list[str]:
    """Pieces between white space; punctuation stays on its word."""
    return text.split()


def words(text: str) -> list[str]:
    """Lower-cased runs of letters and digits, without punctuation: the rule of the rouge-score package."""
    return re.findall(r"[a-z0-9]+", text.lower())


def words_and_signs(text: str) -> list[str]:
    """Lower-cased runs of word characters, and every other sign on its own."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


TOKENIZERS: dict[str, Tokenizer] = {
    "white space": whitespace,
    "words": words,
    "words and signs": words_and_signs,
}


def length_statistics(texts: Iterable[str], tokenizer: Tokenizer) -> dict[str, float]:
    """Number of texts, and min, max, average and sample standard deviation (n - 1) of their token counts.

    Raises
    ------
    ValueError
        Where there are fewer than two texts.
    """
    lengths = [len(tokenizer(text)) for text in texts]
    if len(lengths) < 2:
        raise ValueError(f"{len(lengths)} texts have no standard deviation; give at least two")
    return {
        "texts": len(lengths),
        "min": min(lengths),
        "max": max(lengths),
        "average": statistics.fmean(lengths),
        "standard deviation": statistics.stdev(lengths),
    }


def longest_common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest sequence of tokens that both have in this order, gaps allowed."""
    row = [0] * (len(second) + 1)
    for token in first:
        diagonal = 0
        for place, other in enumerate(second, start=1):
            above = row[place]
            row[place] = diagonal + 1 if token == other else max(above, row[place - 1])
            diagonal = above
    return row[-1]


def rouge_l(reference: Sequence[str], candidate: Sequence[str]) -> float:
    """ROUGE-L F1 of two token sequences: longest common subsequence over mean length; 0 if either is empty.

    Source: Lin 2004, with equal weight of precision and recall.
    """
    if not reference or not candidate:
        return 0.0
    return 2 * longest_common_subsequence(reference, candidate) / (len(reference) + len(candidate))
