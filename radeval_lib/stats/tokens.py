"""Tokenizers, lengths of texts, the stemmed words of the rouge-score package, and ROUGE-L of two texts."""

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
    """Return a text on one line: each line break, with the white space around it, becomes one space.

    A word that was broken after its own hyphen is rejoined: "mid-", "lung" becomes "mid-lung". A hyphen
    before "and", "or" or "to" keeps its space: "left- and right-sided". A hyphen that was added to break a
    word cannot be distinguished from the word's own and is kept.
    """
    return _LINE_BREAK.sub(" ", _BROKEN_WORD.sub("", text)).strip()


def whitespace(text: str) -> list[str]:
    """Return the parts of a text between white space; punctuation stays with its word."""
    return text.split()


def words(text: str) -> list[str]:
    """Return lower-case runs of the letters a to z and digits, as in the rouge-score package; every other
    character separates words."""
    return re.findall(r"[a-z0-9]+", text.lower())


def words_and_signs(text: str) -> list[str]:
    """Return lower-case runs of letters, digits and underscores, and every other visible character as a
    separate token."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


TOKENIZERS: dict[str, Tokenizer] = {
    "white space": whitespace,
    "words": words,
    "words and signs": words_and_signs,
}


def share_of_letters(text: str, beyond: str) -> float:
    """Return the share of a text's letters with a Unicode code point above that of ``beyond``, 0 to 1.

    0 if the text has no letters. ``beyond`` must come after all ASCII letters, since ASCII texts are not
    searched.
    """
    letters = [char for char in text if char.isalpha()]
    return sum(char > beyond for char in letters) / len(letters) if letters and not text.isascii() else 0.0


def length_statistics(texts: Iterable[str], tokenizer: Tokenizer) -> dict[str, float]:
    """Return statistics of the numbers of tokens in two or more texts.

    Keys: ``texts`` (their number), ``min``, ``max``, ``average`` and ``standard deviation`` (of the sample,
    n - 1).
    """
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
    """Return an object whose ``stem`` method is that of NLTK's Porter stemmer, with a cache by word.

    Stemming takes most of ROUGE's time, and reports repeat words.
    """
    from nltk.stem.porter import PorterStemmer

    return SimpleNamespace(stem=lru_cache(maxsize=1 << 16)(PorterStemmer().stem))


class RougeTokenizer:
    """A tokenizer for the rouge-score package: the tokens of :func:`words`, with those of more than three
    characters stemmed unless ``stem`` is False."""

    def __init__(self, stem: bool = True) -> None:
        self._stemmer = porter_stemmer() if stem else None

    def tokenize(self, text: str) -> list[str]:
        from rouge_score.tokenize import tokenize

        return tokenize(text, self._stemmer)


def longest_common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence of two token sequences.

    Source: Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004, Figure 2, which holds each row
    of the table in the bits of one integer.
    """
    positions: dict[Hashable, int] = {}
    for position, item in enumerate(first):
        positions[item] = positions.get(item, 0) | 1 << position
    all_ones = (1 << len(first)) - 1
    row = all_ones  # bit i is 0 where the length grows by one from the first i tokens to the first i + 1
    for item in second:
        matches = row & positions.get(item, 0)
        row = ((row + matches) | (row - matches)) & all_ones
    return len(first) - row.bit_count()


def rouge_l(reference: Sequence[str], candidate: Sequence[str]) -> float:
    """Return the ROUGE-L F1 of two token sequences: the length of their longest common subsequence divided by
    their mean length, 0 to 1; 0 if either is empty.

    Source: Lin 2004, with equal weights of precision and recall.
    """
    if not reference or not candidate:
        return 0.0
    return 2 * longest_common_subsequence(reference, candidate) / (len(reference) + len(candidate))
