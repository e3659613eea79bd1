"""Phrases of words, and where they are in a statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from radeval_lib.rules.report_text import tokens

V = TypeVar("V")


def word_set(text: str) -> frozenset[str]:
    """The words of a text that are parted by blanks or line ends."""
    return frozenset(text.split())


class PhraseMatch(NamedTuple, Generic[V]):
    """A phrase found: its first word, the word behind its last one, and what it stands for."""

    first: int
    end: int
    value: V


class Phrases(Generic[V]):
    """A set of phrases with a value each; a phrase added twice keeps the value that it had first."""

    def __init__(self, entries: Iterable[tuple[str, V]] = ()) -> None:
        self._known: dict[tuple[str, ...], V] = {}
        self._lengths: dict[str, list[int]] = {}
        for text, value in entries:
            self.add(text, value)

    def add(self, text: str, value: V) -> V:
        """Add a phrase as the reader would see it in a text; returns the value that it now has.

        Raises :class:`ValueError` if the text has no word.
        """
        words = tuple(token.word for token in tokens(text))
        if not words:
            raise ValueError(f"a phrase without a word: {text!r}")
        if words not in self._known:
            self._known[words] = value
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))
                lengths.sort(reverse=True)
        return self._known[words]

    def entries(self) -> list[tuple[str, ...]]:
        """The words of every phrase."""
        return list(self._known)

    def get(self, words: Iterable[str]) -> V | None:
        """The value of a phrase given by its words, or None."""
        return self._known.get(tuple(words))

    def find(self, words: Sequence[str], taken: Sequence[bool] | None = None) -> list[PhraseMatch[V]]:
        """The phrases of a sentence from left to right, none overlapping another or a word that is taken.

        Of several phrases that begin at a word the longest counts.
        """
        found: list[PhraseMatch[V]] = []
        known, lengths, end = self._known, self._lengths, 0
        for at, word in enumerate(words):
            if at < end or word not in lengths:
                continue
            for length in lengths[word]:
                key = tuple(words[at : at + length])
                if len(key) == length and key in known and not (taken and any(taken[at : at + length])):
                    end = at + length
                    found.append(PhraseMatch(at, end, known[key]))
                    break
        return found
