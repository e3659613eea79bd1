"""Tokens of texts, their lengths, the stemmed words of the rouge-score package, and ROUGE-L of two texts."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

Tokenizer = Callable[[str], list[str]]

_BROKEN_WORD = re.compile(r"(?<=[^\W_]-)\s*[\r\n]\s*(?=[^\W_])(?!(?:and|or|to)\s)")
_LINE_BREAK = re.compile(r"\s*[\r\n]\s*")


def one_line(text: str) -> str:
    """Return a text on one line; each line break, with the white space around it, becomes one blank.

    A word that was broken after its hyphen is rejoined ("mid-/lung", but not "left-/and right-sided"). A
    hyphen that wrapping added to a word looks like the word's own, and stays.
    """
    return _LINE_BREAK.sub(" ", _BROKEN_WORD.sub("", text)).strip()


def whitespace(text: str) -> list[str]:
    """Return tokens between white space; punctuation stays on its word."""
    return text.split()


def words(text: str) -> list[str]:
    """Return lower-cased runs of letters and digits, without punctuation, as in the rouge-score package."""
    return re.findall(r"[a-z0-9]+", text.lower())


def words_and_signs(text: str) -> list[str]:
    """Return lower-cased runs of word characters, and every other character alone."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


TOKENIZERS: dict[str, Tokenizer] = {
    "white space": whitespace,
    "words": words,
    "words and signs": words_and_signs,
}


def share_of_letters(text: str, beyond: str) -> float:
    """Return the share of a text's letters that come after the character ``beyond`` in Unicode, which itself
    comes after all ASCII letters; 0 if the text has no letters."""
    letters = [sign for sign in text if sign.isalpha()]
    return sum(sign > beyond for sign in letters) / len(letters) if letters and not text.isascii() else 0.0


def length_statistics(texts: Iterable[str], tokenizer: Tokenizer) -> dict[str, float]:
    """Return the number of texts, two or more, and the minimum, maximum, average and sample standard
    deviation (n - 1) of their token counts."""
    lengths = [len(tokenizer(text)) for text in texts]
    return {
        "texts": len(lengths),
        "min": min(lengths),
        "max": max(lengths),
        "average": statistics.fmean(lengths),
        "standard deviation": statistics.stdev(lengths),
    }


@lru_cache(maxsize=1)
def porter_stemmer() -> Any:
    """Return NLTK's Porter stemmer with a cache: stemming is most of ROUGE's cost, and reports repeat
    words."""
    from nltk.stem.porter import PorterStemmer

    return SimpleNamespace(stem=lru_cache(maxsize=1 << 16)(PorterStemmer().stem))


class RougeTokenizer:
    """The words of the rouge-score package: those of :func:`words`, stemmed if longer than three letters."""

    def __init__(self, stem: bool = True) -> None:
        self._stemmer = porter_stemmer() if stem else None

    def tokenize(self, text: str) -> list[str]:
        from rouge_score.tokenize import tokenize

        return tokenize(text, self._stemmer)


def longest_common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence of two token sequences.

    Each row of the table is held in the bits of one integer. Source: Hyyroe, "Bit-parallel LCS-length
    computation revisited", AWOCA 2004, Figure 2.
    """
    positions: dict[Hashable, int] = {}
    for position, item in enumerate(first):
        positions[item] = positions.get(item, 0) | 1 << position
    every = (1 << len(first)) - 1
    row = every  # a zero if the length grows by one
    for item in second:
        matches = row & positions.get(item, 0)
        row = ((row + matches) | (row - matches)) & every
    return len(first) - row.bit_count()


def rouge_l(reference: Sequence[str], candidate: Sequence[str]) -> float:
    """Return ROUGE-L F1 of two token sequences: their longest common subsequence over their mean length; 0 if
    either is empty.

    Source: Lin 2004, with equal weight of precision and recall.
    """
    if not reference or not candidate:
        return 0.0
    return 2 * longest_common_subsequence(reference, candidate) / (len(reference) + len(candidate))
