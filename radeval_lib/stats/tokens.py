"""How a text is divided into words, on one line, and how long texts are."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable

Tokenizer = Callable[[str], list[str]]


_BROKEN_WORD = re.compile(r"(?<=[^\W_]-)\s*[\r\n]\s*(?=[^\W_])(?!(?:and|or|to)\s)")
_LINE_BREAK = re.compile(r"\s*[\r\n]\s*")


def one_line(text: str) -> str:
    """Return a text whose lines may be wrapped, on one line: a break and the white space around it are one
    blank.

    A word that was parted behind its hyphen is joined again ("mid-/lung", but not "left-/and right-sided"). A
    hyphen that the wrapping itself put into a word is not known from the word's own and stays.
    """
    return _LINE_BREAK.sub(" ", _BROKEN_WORD.sub("", text)).strip()


def whitespace(text: str) -> list[str]:
    """Return pieces between white space; punctuation stays on its word."""
    return text.split()


def words(text: str) -> list[str]:
    """Return lower-cased runs of letters and digits, without punctuation: the rule of the rouge-score
    package."""
    return re.findall(r"[a-z0-9]+", text.lower())


def words_and_signs(text: str) -> list[str]:
    """Return lower-cased runs of word characters, and every other sign on its own."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


TOKENIZERS: dict[str, Tokenizer] = {
    "white space": whitespace,
    "words": words,
    "words and signs": words_and_signs,
}


def share_of_letters(text: str, beyond: str) -> float:
    """Return share of a text's letters that come after a character in Unicode; 0 where there is no letter."""
    letters = [sign for sign in text if sign.isalpha()]
    return sum(sign > beyond for sign in letters) / len(letters) if letters and not text.isascii() else 0.0


def length_statistics(texts: Iterable[str], tokenizer: Tokenizer) -> dict[str, float]:
    """Return number of texts, two or more, and min, max, average and sample standard deviation (n - 1) of
    their token counts."""
    lengths = [len(tokenizer(text)) for text in texts]
    if len(lengths) < 2:
        raise ValueError(f"a standard deviation of lengths needs at least 2 texts, not {len(lengths)}")
    return {
        "texts": len(lengths),
        "min": min(lengths),
        "max": max(lengths),
        "average": statistics.fmean(lengths),
        "standard deviation": statistics.stdev(lengths),
    }
