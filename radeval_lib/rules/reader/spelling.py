"""Misspelt names: a long word one letter off a word of the vocabulary, and no word itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

SHORTEST = 8
"""Shorter words may be another word."""


class Spelling:
    """Corrects words of :data:`SHORTEST` letters or more.

    Parameters
    ----------
    wanted : the words that a misspelt one may be meant as.
    words : words that are right as they are, beside those.
    """

    def __init__(self, wanted: Iterable[str], words: Iterable[str]) -> None:
        self._wanted = {word for word in wanted if word.isalpha() and len(word) >= SHORTEST - 1}
        self._words = frozenset(words) | self._wanted
        self._shortened: dict[str, list[str]] = {}
        for word in sorted(self._wanted):
            for short in _without_a_letter(word):
                self._shortened.setdefault(short, []).append(word)
        self._known: dict[str, str | None] = {}

    def meant(self, word: str) -> str | None:
        """The word that is meant, one letter added, left out, changed or swapped with the next; None where
        the word is right, too short, or where there is no such word or more than one."""
        if len(word) < SHORTEST or word in self._words or not word.isalpha():
            return None
        if word not in self._known:
            self._known[word] = self._only(word)
        return self._known[word]

    def _only(self, word: str) -> str | None:
        found = set(self._shortened.get(word, ()))
        for short in _without_a_letter(word):
            if short in self._wanted:
                found.add(short)
            found |= {one for one in self._shortened.get(short, ()) if _one_apart(one, word)}
        return found.pop() if len(found) == 1 else None


def _without_a_letter(word: str) -> Iterator[str]:
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _one_apart(one: str, other: str) -> bool:
    """Whether two words of a length differ in one letter, or in two neighbours that are swapped."""
    if len(one) != len(other):
        return False
    apart = [at for at, (mine, its) in enumerate(zip(one, other, strict=True)) if mine != its]
    if len(apart) == 2 and apart[1] == apart[0] + 1:
        return one[apart[0]] == other[apart[1]] and one[apart[1]] == other[apart[0]]
    return len(apart) == 1
