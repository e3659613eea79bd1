"""ROUGE-L of two sequences of tokens, and the tokens of the rouge-score package."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def porter_stemmer() -> Any:
    """Return NLTK's Porter stemmer, each word's stem found once: stemming is most of what ROUGE costs, and
    reports repeat their words."""
    from nltk.stem.api import StemmerI
    from nltk.stem.porter import PorterStemmer

    class Remembering(StemmerI):
        stem = staticmethod(lru_cache(maxsize=1 << 16)(PorterStemmer().stem))

    return Remembering()


class RougeTokenizer:
    """The words of the rouge-score package: as :func:`~radeval_lib.stats.tokens.words`, those of more than
    three letters stemmed."""

    def __init__(self, stem: bool = True) -> None:
        self._stemmer = porter_stemmer() if stem else None

    def tokenize(self, text: str) -> list[str]:
        from rouge_score.tokenize import tokenize

        return tokenize(text, self._stemmer)


def longest_common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return length of the longest sequence of tokens that both have in this order, gaps allowed.

    A row of the table at a time is the bits of one integer. Source: Hyyroe, "Bit-parallel LCS-length
    computation revisited", AWOCA 2004, Figure 2.
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


def rouge_l(reference: Sequence[str], candidate: Sequence[str]) -> float:
    """Return ROUGE-L F1 of two token sequences: longest common subsequence over mean length; 0 if either is
    empty.

    Source: Lin 2004, with equal weight of precision and recall.
    """
    if not reference or not candidate:
        return 0.0
    return 2 * longest_common_subsequence(reference, candidate) / (len(reference) + len(candidate))
