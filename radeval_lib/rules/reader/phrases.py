"""Finds phrases, measurements and grades in the words of a statement, and corrects misspelt words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

from radeval_lib.rules.report_text import Token, tokenize

#: (category of the error if the quality is wrong, kind, quality): ("d", "age", "acute").
Quality = tuple[str, str, str]

V = TypeVar("V")


def word_set(text: str) -> frozenset[str]:
    """Return the set of the words in a text, which are separated by white space."""
    return frozenset(text.split())


class PhraseMatch(NamedTuple, Generic[V]):
    """A phrase found in a statement.

    Attributes
    ----------
    first, end : the indices of the phrase's first word and of the word after its last word.
    value : the value of the phrase, such as its kind or its possible meanings.
    """

    first: int
    end: int
    value: V


class Phrases(Generic[V]):
    """A mapping from phrases to values that finds phrases in sentences; a phrase added twice keeps its
    first value."""

    def __init__(self, entries: Iterable[tuple[str, V]] = ()) -> None:
        """Add each (phrase, value) entry; raise the errors of :meth:`add`."""
        self._values: dict[tuple[str, ...], V] = {}
        self._lengths: dict[str, list[int]] = {}
        for text, value in entries:
            self.add(text, value)

    def add(self, text: str, value: V) -> V:
        """Add a phrase unless it was added before, and return the stored value.

        Raises
        ------
        ValueError
            If the text has no word.
        """
        words = tuple(token.word for token in tokenize(text))
        if not words:
            raise ValueError(f"phrase {text!r} has no word; write at least one letter or digit")
        if words not in self._values:
            self._values[words] = value
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))
                lengths.sort(reverse=True)
        return self._values[words]

    def list_phrases(self) -> list[tuple[str, ...]]:
        """Return the words of each phrase, in the order in which the phrases were added."""
        return list(self._values)

    def get(self, words: Iterable[str]) -> V | None:
        """Return the value of the phrase that consists of ``words``; None if it was not added."""
        return self._values.get(tuple(words))

    def find(self, words: Sequence[str], taken: Sequence[bool] | None = None) -> list[PhraseMatch[V]]:
        """Return the phrases in a sentence from left to right, without overlaps; of phrases that begin at the
        same word, the longest.

        ``taken`` flags words that must not be part of a phrase; by default, no word is taken.
        """
        matches: list[PhraseMatch[V]] = []
        values, lengths, end = self._values, self._lengths, 0
        if lengths.keys().isdisjoint(words):
            return matches
        for i, word in enumerate(words):
            if i < end or word not in lengths:
                continue
            for length in lengths[word]:
                key = tuple(words[i : i + length])
                if len(key) == length and key in values and not (taken and any(taken[i : i + length])):
                    end = i + length
                    matches.append(PhraseMatch(i, end, values[key]))
                    break
        return matches


# Measurements in a statement: "8 mm", "2.3 x 1.8 cm".


_NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: A mapping from units of length to their size in millimetres.
_UNITS = {
    "mm": 1.0, "millimeter": 1.0, "millimetre": 1.0, "cm": 10.0, "centimeter": 10.0, "centimetre": 10.0
}  # fmt: skip
#: A mapping from units of volume to their size in millilitres.
VOLUMES = {
    "ml": 1.0, "cc": 1.0, "milliliter": 1.0, "millilitre": 1.0, "l": 1000.0, "liter": 1000.0, "litre": 1000.0
}  # fmt: skip
_LINKS = frozenset(["x", "by", *_UNITS, *VOLUMES])  # between the numbers of a measurement
_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
NUMERALS = {word: number for number, word in enumerate(_NUMBER_WORDS.split(), 1)}


def find_sizes(
    words: Sequence[Token], units: Mapping[str, float] = _UNITS
) -> list[PhraseMatch[tuple[float, ...]]]:
    """Return the measurements in a statement, in order, each with its numbers in millimetres: "8 mm", "2.3 x
    1.8 cm", "8 mm by 1.2 cm", "two centimeters".

    A number without a unit has the unit of the next number; each number of a list ("4 and 6 mm") is a
    separate measurement. With :data:`VOLUMES` as ``units``, the measurements are volumes in millilitres.
    """
    matches: list[PhraseMatch[tuple[float, ...]]] = []
    for i, token in enumerate(words):
        if token.word not in units:
            continue
        numbers, unit, position = [], units[token.word], i - 1
        while position >= 0:  # Go back from the unit to the first number.
            word = words[position].word
            if word in _LINKS:
                unit = units.get(word, unit)
            elif _NUMBER.fullmatch(word):
                numbers.append(float(word) * unit)
            elif word == "sub" and not numbers:
                numbers.append(unit)
            elif word == "to" and position and _NUMBER.fullmatch(words[position - 1].word) and numbers:
                if words[position - 2].word == "from":
                    break  # "From 5 to 7 mm" states two sizes, "5 to 7 mm" one.
            elif (word in NUMERALS or word == "half") and words[position + 1].word in _LINKS and not numbers:
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
            matches.append(PhraseMatch(position + 1, i + 1, tuple(reversed(numbers))))
    return matches


def _find_sizes_sharing_unit(
    words: Sequence[Token], first: int, unit: float
) -> list[PhraseMatch[tuple[float, ...]]]:
    """Return the measurements before the one at index ``first`` that share its unit, such as "3" and "5" in
    "3, 5 and 7 mm".

    ``unit`` is the unit's size in millimetres or millilitres.
    """
    shared: list[PhraseMatch[tuple[float, ...]]] = []
    joints = ["and", "or", "to"]
    while first > 1 and words[first - 1].word in joints:
        joints.append(",")  # A comma joins only further numbers of a list.
        i = first - 3 if words[first - 2].word == "," else first - 2
        number = words[i].word if i >= 0 else ""
        if not _NUMBER.fullmatch(number) or float(number) >= 1000:
            break
        shared.insert(0, PhraseMatch(i, i + 1, (float(number) * unit,)))
        first = i
    return shared


# Grades, stages and categories: "grade II", "category 4B", "T2aN1M0".


_GRADE_NOUNS = frozenset(["grade", "stage", "category", "class", "type", "score", "rad", "bosniak"])
_GRADE_NUMBER = re.compile(r"(?:(\d{1,2})|(iv|i{1,3}|vi{0,3}))([a-fx]?)")
_ROMAN = {
    numeral: str(number) for number, numeral in enumerate(["i", "ii", "iii", "iv", "v", "vi", "vii"], 1)
}
_TNM = re.compile(r"[cpyr]{0,2}(t[0-4xi][a-d]?)(n[0-3x][a-c]?)?(m[01x][a-c]?)?")
_NODES = re.compile(r"(n[0-3x][a-c]?)(m[01x][a-c]?)?")
_METASTASES = re.compile(r"m[01x][a-c]?")


def find_grades(words: Sequence[Token]) -> Iterator[PhraseMatch[str]]:
    """Yield the grades, stages and categories in a statement, with Roman numerals as digits; a tumor's TNM
    stage ("T2a N1 M0") is one grade."""
    for i, token in enumerate(words):
        if token.word.isalpha() and token.word not in _GRADE_NOUNS:
            continue
        next_word = words[i + 1].word if i + 1 < len(words) else ""
        if token.word in _GRADE_NOUNS and (match := _GRADE_NUMBER.fullmatch(next_word)):
            first = i if token.word not in ("rad", "bosniak") else i + 1
            yield PhraseMatch(first, i + 2, (match[1] or _ROMAN.get(match[2], match[2])) + match[3])
        elif (match := _TNM.fullmatch(token.word)) and (match[2] or _NODES.fullmatch(next_word)):
            end = i + 1 + (not match[2])
            if end < len(words) and not match[3] and _METASTASES.fullmatch(words[end].word):
                end += 1
            yield PhraseMatch(i, end, "".join(part.word for part in words[i:end]).lstrip("cpyr"))


SEGMENT_NOUNS = frozenset(["segment", "level"])


def find_segments(words: Sequence[Token]) -> Iterator[PhraseMatch[Quality | None]]:
    """Yield the numbered segments and levels in a statement as qualities of location, with Roman numerals as
    digits: "segment 7", "level IV"."""
    for i, (noun, number) in enumerate(pairwise(words)):
        if noun.word in SEGMENT_NOUNS and (match := _GRADE_NUMBER.fullmatch(number.word)):
            label = (match[1] or _ROMAN.get(match[2], match[2])) + match[3]
            yield PhraseMatch(i, i + 2, ("c", noun.word, label))


# Correction of long misspelt words that differ by one letter from a word of the vocabulary.


#: The least number of letters in a word that is corrected; a shorter word may be a different word.
MIN_LENGTH = 8


class Spelling:
    """A corrector of misspelt words with at least :data:`MIN_LENGTH` letters.

    Parameters
    ----------
    targets : the words to which misspelt words are corrected.
    other_words : further words that are spelt correctly.
    """

    def __init__(self, targets: Iterable[str], other_words: Iterable[str]) -> None:
        """Index the targets by their forms without one letter."""
        self._targets = {word for word in targets if word.isalpha() and len(word) >= MIN_LENGTH - 1}
        self._correct_words = frozenset(other_words) | self._targets
        self._shortened: dict[str, list[str]] = {}
        for word in sorted(self._targets):
            for short in _drop_each_letter(word):
                self._shortened.setdefault(short, []).append(word)
        self._corrections: dict[str, str | None] = {}

    def correct(self, word: str) -> str | None:
        """Return the correction of a word: the only target that differs from it by one letter, which is
        added, missing, changed or swapped with the next letter.

        None if ``word`` is spelt correctly or too short, or if there is no such target or more than one.
        """
        if len(word) < MIN_LENGTH or word in self._correct_words or not word.isalpha():
            return None
        if word not in self._corrections:
            candidates = set(self._shortened.get(word, ()))
            for short in _drop_each_letter(word):
                candidates |= {short} & self._targets
                candidates |= {
                    other for other in self._shortened.get(short, ()) if _differ_by_one_letter(other, word)
                }
            self._corrections[word] = candidates.pop() if len(candidates) == 1 else None
        return self._corrections[word]


def _drop_each_letter(word: str) -> Iterator[str]:
    """Yield a word without its first letter, then without its second letter, and so on."""
    for i in range(len(word)):
        yield word[:i] + word[i + 1 :]


def _differ_by_one_letter(word: str, other: str) -> bool:
    """Return whether two words of equal length differ in one letter or in two swapped neighbours."""
    differing = [i for i, letter in enumerate(word) if letter != other[i]]
    if len(differing) == 2 and differing[1] == differing[0] + 1:
        return word[differing[0]] == other[differing[1]] and word[differing[1]] == other[differing[0]]
    return len(differing) == 1
