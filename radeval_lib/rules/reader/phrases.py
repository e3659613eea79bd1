"""Finds phrases, measurements and grades in the words of a statement, and corrects misspelt words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

from radeval_lib.rules.report_text import Token, tokens

#: Category of an error, kind, quality: ("d", "age", "acute"), ("c", "depth", "anterior").
Quality = tuple[str, str, str]

V = TypeVar("V")


def word_set(text: str) -> frozenset[str]:
    """Return the set of words in a text that separates them by white space."""
    return frozenset(text.split())


class PhraseMatch(NamedTuple, Generic[V]):
    """A phrase found in a statement: the indices of its first word and of the word after its last one,
    and its value."""

    first: int
    end: int
    value: V


class Phrases(Generic[V]):
    """A mapping from phrases to values, for search in sentences; a phrase that is added twice keeps its first
    value."""

    def __init__(self, entries: Iterable[tuple[str, V]] = ()) -> None:
        """Add the entries, which are (phrase, value)."""
        self._values: dict[tuple[str, ...], V] = {}
        self._lengths: dict[str, list[int]] = {}
        for text, value in entries:
            self.add(text, value)

    def add(self, text: str, value: V) -> V:
        """Add a phrase, and return its value, which is the earlier one if the phrase was added before.

        Raises
        ------
        ValueError
            If the text has no word.
        """
        words = tuple(token.word for token in tokens(text))
        if not words:
            raise ValueError(f"phrase {text!r} has no word")
        if words not in self._values:
            self._values[words] = value
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))
                lengths.sort(reverse=True)
        return self._values[words]

    def list_phrases(self) -> list[tuple[str, ...]]:
        """Return the words of every phrase."""
        return list(self._values)

    def get(self, words: Iterable[str]) -> V | None:
        """Return the value of a phrase that is given as words; None if it was not added."""
        return self._values.get(tuple(words))

    def find(self, words: Sequence[str], taken: Sequence[bool] | None = None) -> list[PhraseMatch[V]]:
        """Return the phrases in a sentence from left to right, without overlaps and without words that
        ``taken`` marks; of several phrases that begin at a word, the longest."""
        matches: list[PhraseMatch[V]] = []
        values, lengths, end = self._values, self._lengths, 0
        if lengths.keys().isdisjoint(words):
            return matches
        for at, word in enumerate(words):
            if at < end or word not in lengths:
                continue
            for length in lengths[word]:
                key = tuple(words[at : at + length])
                if len(key) == length and key in values and not (taken and any(taken[at : at + length])):
                    end = at + length
                    matches.append(PhraseMatch(at, end, values[key]))
                    break
        return matches


# Measurements in a sentence: "8 mm", "2.3 x 1.8 cm".


_SIZE = re.compile(r"\d+(?:\.\d+)?")
_UNITS = {
    "mm": 1.0, "millimeter": 1.0, "millimetre": 1.0, "cm": 10.0, "centimeter": 10.0, "centimetre": 10.0
}  # fmt: skip
#: Units of volume, in millilitres.
VOLUMES = {
    "ml": 1.0, "cc": 1.0, "milliliter": 1.0, "millilitre": 1.0, "l": 1000.0, "liter": 1000.0, "litre": 1000.0
}  # fmt: skip
_INSIDE = frozenset(["x", "by", *_UNITS, *VOLUMES])  # words between the numbers of a measurement
_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
NUMERALS = {word: number for number, word in enumerate(_NUMBER_WORDS.split(), 1)}


def find_sizes(
    words: Sequence[Token], units: Mapping[str, float] = _UNITS
) -> list[PhraseMatch[tuple[float, ...]]]:
    """Return the measurements in a statement, in order, with their numbers in millimetres: "8 mm", "2.3 x 1.8
    cm", "8 mm by 1.2 cm", "two centimeters".

    A number without a unit has that of the next number; each number of a list ("4 and 6 mm") is a
    measurement. With :data:`VOLUMES` as ``units``, measurements are volumes in millilitres.
    """
    matches: list[PhraseMatch[tuple[float, ...]]] = []
    for at, token in enumerate(words):
        if token.word not in units:
            continue
        numbers, unit, position = [], units[token.word], at - 1
        while position >= 0:  # Go back from the unit to the first number.
            word = words[position].word
            if word in _INSIDE:
                unit = units.get(word, unit)
            elif _SIZE.fullmatch(word):
                numbers.append(float(word) * unit)
            elif word == "sub" and not numbers:
                numbers.append(unit)
            elif word == "to" and position and _SIZE.fullmatch(words[position - 1].word) and numbers:
                if words[position - 2].word == "from":
                    break  # "from 5 to 7 mm" are two sizes, "5 to 7 mm" is one
            elif (word in NUMERALS or word == "half") and words[position + 1].word in _INSIDE and not numbers:
                if word == "half" and position and words[position - 1].word == "a":
                    break  # "one and a half"
                numbers.append(NUMERALS.get(word, 0.5) * unit)
            else:
                break
            position -= 1
        if numbers:
            while matches and matches[-1].first > position:  # "8 mm" within "8 mm by 1.2 cm"
                matches.pop()
            matches += _find_sizes_sharing_unit(words, position + 1, units[token.word])
            matches.append(PhraseMatch(position + 1, at + 1, tuple(reversed(numbers))))
    return matches


def _find_sizes_sharing_unit(
    words: Sequence[Token], first: int, unit: float
) -> list[PhraseMatch[tuple[float, ...]]]:
    """Return the measurements before index ``first`` that share the unit of the measurement there: "3, 5 and
    7 mm"."""
    shared: list[PhraseMatch[tuple[float, ...]]] = []
    joints = ["and", "or", "to"]
    while first > 1 and words[first - 1].word in joints:
        joints.append(",")  # A comma joins only further numbers of a list.
        at = first - 3 if words[first - 2].word == "," else first - 2
        number = words[at].word if at >= 0 else ""
        if not _SIZE.fullmatch(number) or float(number) >= 1000:
            break
        shared.insert(0, PhraseMatch(at, at + 1, (float(number) * unit,)))
        first = at
    return shared


# Grades, stages and categories: "grade II", "category 4B", "T2aN1M0".


_GRADED = frozenset(["grade", "stage", "category", "class", "type", "score", "rad", "bosniak"])
_GRADE = re.compile(r"(?:(\d{1,2})|(iv|i{1,3}|vi{0,3}))([a-fx]?)")
_ROMAN = {
    numeral: str(number) for number, numeral in enumerate(["i", "ii", "iii", "iv", "v", "vi", "vii"], 1)
}
_TNM = re.compile(r"[cpyr]{0,2}(t[0-4xi][a-d]?)(n[0-3x][a-c]?)?(m[01x][a-c]?)?")
_NODES = re.compile(r"(n[0-3x][a-c]?)(m[01x][a-c]?)?")
_METASTASES = re.compile(r"m[01x][a-c]?")


def find_grades(words: Sequence[Token]) -> Iterator[PhraseMatch[str]]:
    """Yield the grades, stages and categories in a statement, with Roman numerals as digits; the parts of
    a tumor's TNM stage are one grade."""
    for at, token in enumerate(words):
        if token.word.isalpha() and token.word not in _GRADED:
            continue
        after = words[at + 1].word if at + 1 < len(words) else ""
        if token.word in _GRADED and (match := _GRADE.fullmatch(after)):
            first = at if token.word not in ("rad", "bosniak") else at + 1
            yield PhraseMatch(first, at + 2, (match[1] or _ROMAN.get(match[2], match[2])) + match[3])
        elif (match := _TNM.fullmatch(token.word)) and (match[2] or _NODES.fullmatch(after)):
            end = at + 1 + (not match[2])
            if end < len(words) and not match[3] and _METASTASES.fullmatch(words[end].word):
                end += 1
            yield PhraseMatch(at, end, "".join(word.word for word in words[at:end]).lstrip("cpyr"))


SEGMENTS = frozenset(["segment", "level"])


def find_segments(words: Sequence[Token]) -> Iterator[PhraseMatch[Quality | None]]:
    """Yield the numbered segments and levels in a statement as qualities of location, with Roman numerals as
    digits: "segment 7", "level IV"."""
    for at, (noun, number) in enumerate(pairwise(words)):
        if noun.word in SEGMENTS and (match := _GRADE.fullmatch(number.word)):
            which = (match[1] or _ROMAN.get(match[2], match[2])) + match[3]
            yield PhraseMatch(at, at + 2, ("c", noun.word, which))


# Correction of long words that differ by one letter from a word of the vocabulary.


#: The length of the shortest word that is corrected; a shorter one may be another word.
SHORTEST = 8


class Spelling:
    """Corrects misspelt words of at least :data:`SHORTEST` letters.

    Parameters
    ----------
    wanted : the words to which misspelt words are corrected.
    words : further words that are spelt correctly.
    """

    def __init__(self, wanted: Iterable[str], words: Iterable[str]) -> None:
        """Index the wanted words by their forms without one letter."""
        self._wanted = {word for word in wanted if word.isalpha() and len(word) >= SHORTEST - 1}
        self._words = frozenset(words) | self._wanted
        self._shortened: dict[str, list[str]] = {}
        for word in sorted(self._wanted):
            for short in _drop_each_letter(word):
                self._shortened.setdefault(short, []).append(word)
        self._corrections: dict[str, str | None] = {}

    def correct(self, word: str) -> str | None:
        """Return the word to which a word is corrected: the only wanted word from which it differs by one
        letter added, left out, changed or swapped with the next.

        None if ``word`` is spelt correctly or too short, or if no wanted word, or more than one, differs so.
        """
        if len(word) < SHORTEST or word in self._words or not word.isalpha():
            return None
        if word not in self._corrections:
            candidates = set(self._shortened.get(word, ()))
            for short in _drop_each_letter(word):
                candidates |= {short} & self._wanted
                candidates |= {
                    other for other in self._shortened.get(short, ()) if _differ_by_one_letter(other, word)
                }
            self._corrections[word] = candidates.pop() if len(candidates) == 1 else None
        return self._corrections[word]


def _drop_each_letter(word: str) -> Iterator[str]:
    """Yield a word without its first letter, without its second, and so on."""
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def _differ_by_one_letter(word: str, other: str) -> bool:
    """Return whether two words of equal length differ in one letter, or in two swapped neighbours."""
    differing = [at for at, letter in enumerate(word) if letter != other[at]]
    if len(differing) == 2 and differing[1] == differing[0] + 1:
        return word[differing[0]] == other[differing[1]] and word[differing[1]] == other[differing[0]]
    return len(differing) == 1
