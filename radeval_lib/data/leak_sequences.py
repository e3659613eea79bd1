"""The sequences by which the guard recognises a text: sequences of words, phrases, and names of patients.

Words are compared without case, punctuation, numbers and the labels of annotations. Of a file, only words
that occur in a corpus count, so that other words between them hide nothing. All sequences are hashed; a set
of them is a sorted array.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from radeval_lib.categories import RATE_TYPES
from radeval_lib.data.radgraph import ENTITY_LABELS

# The kind of a sequence is its number of words, or one of these three.
PHRASE = 1  # four adjoining words; a hit if they are rare and in no text of the public or of the study
NUMBERS = 2  # a number in the corpus, or an identifier of letters and digits
NAMED = 3  # a shorter number that follows the name of an identifier
FEWEST_WORDS = 5  # a whole text is a hit if it is rare and has at least so many words
RARE_WORDS = 7  # a sequence of so many words is a hit if it is rare
WORDS = 8  # a sequence of so many words is always a hit
RARE = 2  # a sequence is rare if at most so many texts of the corpus hold it
_KIND = np.uint64(15)  # the bits of a hash that hold its kind
_WORD = re.compile(r"[a-z]{2,}")  # of lower-case text: "an", not "a" or "t1"
# The parts of phrases: words and numbers; and signs that end a sentence or clause, which no phrase spans.
_PART = re.compile(r"[a-z]+|[0-9]+|[.:;?!](?=\s|$)")
_FEWEST_NAMES = 3  # words of a phrase that have three letters and more
# A phrase may not end with these: where tables join texts, they often begin the next one.
_FUNCTION = "a an and or no the with of is are was were there in to for at by on as be this that it"
FUNCTION_WORDS = frozenset(re.findall("[a-z]+", _FUNCTION))
# Standing alone, but for a word before it (s50414267) and .0 behind it: no decimals, no part of a hash.
_NUMBER = re.compile(r"([0-9]{8,14})(?:\.0+)?(?![0-9a-z]|\.[0-9])")
# What may stand before such a number: a blank, a sign, or one word ("patient10000032"), not "0." or "3f".
_BEFORE = re.compile(r"(?:^|[^0-9a-z.]|[a-z]\.)[a-z]{0,10}$")
# With commas, as a table shows it: 10,000,032.
_GROUPED = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3}){2,4}(?:\.0+)?(?![0-9a-z]|[.,][0-9])")
_DIGIT = re.compile("[0-9]")
# A patient with a study, as MIMIC-CXR names files: p10000032_s50414267.
_PATIENT_STUDY = re.compile(r"(?<![0-9a-z])p([0-9]{8})[-_]?s([0-9]{8})(?![0-9a-z])")
_PICTURE = re.compile(r"(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{8}){4}(?![0-9a-z])")  # dicom_id of MIMIC-CXR
# Days of the years to which de-identification moves them: 2131-5-2.
_DAY = re.compile(r"(2[1-9][0-9]{2})[-/._]([0-9]{1,2})[-/._]([0-9]{1,2})(?![0-9])")
# An accession number, such as CR19-0045123 or A1234567.
_CODE = re.compile(r"(?<![a-z0-9])[a-z]{1,4}[-_]?[0-9][0-9-]{3,14}[0-9](?![a-z0-9]|\.[0-9])")
# Shorter numbers behind the name of an identifier: "subject_id: 12345, 12346", "MRN 1234567".
_NAMED = re.compile(
    r"(?<![a-z])(?:subject|patient|study|hadm|stay|row|accession|mrn|id)"
    r"[ _-]?(?:ids?|no|number)?[^a-z0-9]{1,4}"
    r"((?:[0-9]{5,7}(?:\.0+(?![0-9]))?(?:[^a-z0-9.]+|\.?$))+)"
)
LABELS = frozenset(_WORD.findall(" ".join((*RATE_TYPES, *ENTITY_LABELS)).lower()))
# The base of the rolling hashes, odd so that no power of it is 0; another in each process.
_BASE = np.uint64(random.SystemRandom().getrandbits(64) | 1)

Hashes = NDArray[np.uint64]
_NONE = np.empty(0, np.uint64)


def _marked(hashes: Hashes, kind: int) -> Hashes:
    """Return hashes with their kind in the last four bits, so that one array can hold every kind."""
    return (hashes & ~_KIND) | np.uint64(kind)


def kinds(hashes: Hashes) -> NDArray[np.uint64]:
    """Return the kind of each sequence."""
    return hashes & _KIND


def words(text: str) -> list[str]:
    """Return words of two letters or more in lower case, without numbers and the labels of annotations."""
    if _PICTURE.fullmatch(text):  # its letters are not words
        return []
    return [word for word in _WORD.findall(text.lower()) if word not in LABELS]


def _phrases(plain: str) -> Hashes:
    """Return a hash of every four adjoining words and numbers of a sentence of which three can be names."""
    parts = _PART.findall(plain)
    if len(parts) < 4:
        return _NONE
    names = np.array([len(part) > 2 and part.isalpha() for part in parts], int)
    names -= len(parts) * np.array([not part.isalnum() for part in parts])  # where a sentence ends
    ends_well = np.array([part not in FUNCTION_WORDS for part in parts])[3:]
    kept = np.convolve(names, np.ones(4, int), "valid") >= _FEWEST_NAMES
    return _sequences(_hashes(parts), 4)[kept & ends_well]


def _numbers(plain: str) -> Hashes:
    """Return the hashes of numbers of at least eight digits, days as such, and identifiers of letters and
    digits."""
    numbers = [
        match[1]
        for match in _NUMBER.finditer(plain)
        if _BEFORE.search(plain[max(0, match.start() - 12) : match.start()])
    ]
    numbers += [number.split(".")[0].replace(",", "") for number in _GROUPED.findall(plain)]
    numbers += [number for both in _PATIENT_STUDY.findall(plain) for number in both]
    return _hashes(
        [
            *(number for number in numbers if len(number) > 7),  # fewer digits may stand for anything
            *(re.sub("[-_]", "", code) for code in _CODE.findall(plain)),
            *_PICTURE.findall(plain),
            *(f"{year}{int(month):02}{int(day):02}" for year, month, day in _DAY.findall(plain)),
        ]
    )


def _hashes(texts: list[str]) -> Hashes:
    # Python's hash of text is salted again in each process; 64 bits make a chance hit negligible.
    return np.array([hash(word) & 0xFFFF_FFFF_FFFF_FFFF for word in texts], np.uint64)


def _sequences(hashes: Hashes, length: int) -> Hashes:
    """Return a hash of every sequence of ``length`` words, in order; shape (words - length + 1,)."""
    if len(hashes) < length:
        return _NONE
    count = len(hashes) - length + 1
    result = np.zeros(count, np.uint64)
    for start in range(length):
        result = result * _BASE + hashes[start : start + count]
    return result


def phrases_and_identifiers(plain: str) -> Hashes:
    """Return the hashes of a lower-case text's phrases and identifiers."""
    sequences = [_marked(_phrases(plain), PHRASE)]
    if _DIGIT.search(plain):
        named = [number for run in _NAMED.findall(plain) for number in re.findall("[0-9]{5,7}", run)]
        sequences += [_marked(_numbers(plain), NUMBERS), _marked(_hashes(named), NAMED)]
    return np.concatenate(sequences)


def of_text(text: str, vocabulary: Collection[str]) -> Hashes:
    """Return the hashes of a file or public text; word sequences are of the words in ``vocabulary``."""
    hashes = _hashes([word for word in _WORD.findall(text.lower()) if word in vocabulary])
    return _of_words(text.lower(), hashes, range(FEWEST_WORDS, WORDS + 1))


def of_corpus(text: str) -> Hashes:
    """Return the hashes by which a text of a corpus is recognised; a short text, by all of its words."""
    hashes = _hashes(words(text))
    return _of_words(text.lower(), hashes, {min(len(hashes), RARE_WORDS), WORDS} - set(range(FEWEST_WORDS)))


def _of_words(plain: str, hashes: Hashes, lengths: Iterable[int]) -> Hashes:
    by_length = (_marked(_sequences(hashes, length), length) for length in lengths)
    return np.concatenate([*by_length, phrases_and_identifiers(plain)])


def distinct(some: Iterable[Hashes]) -> Hashes:
    """Return the hashes that are in any of ``some``, sorted; several times faster than ``numpy.unique``."""
    every = np.sort(np.concatenate([_NONE, *some]))
    return every[np.append(every[1:] != every[:-1], True)] if len(every) else every


def within(values: Hashes, among: Hashes) -> NDArray[np.bool_]:
    """Return a mask of the ``values`` that are in the sorted array ``among``."""
    if not len(among):
        return np.zeros(len(values), bool)
    return among[np.minimum(np.searchsorted(among, values), len(among) - 1)] == values
