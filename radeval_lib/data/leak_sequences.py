"""The sequences by which the guard knows a text: of words, of letters, phrases, and what names a patient.

Words are compared without case, accents, punctuation, numbers and the labels of annotations, and of a file
only the words that the corpus knows, so that what interrupts a text does not hide it. Sequences of letters
alone are compared too, so that it does not matter where words begin. All are hashed: sets of hashes are
sorted arrays.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from radeval_lib.categories import RATE_TYPES
from radeval_lib.data.leak_decoders import folded
from radeval_lib.data.radgraph import ENTITY_LABELS

WORDS = 8  # a sequence of so many words is a hit,
RARE_WORDS = 7  # one of so many where at most RARE texts of the corpus hold it,
RARE = 2
FEWEST_WORDS = 5  # and so is a whole text of so many that is as rare; shorter ones anyone may write
LETTERS = 64  # as rare a sequence of so many letters is a hit too,
PHRASE = -4  # so are so many adjoining words as rare, unless the study itself or a public text says them,
NUMBERS = 0  # a number that the corpus names, or an identifier of letters and digits,
NAMED = 1  # and a shorter number behind the name of an identifier
_LENGTHS = range(FEWEST_WORDS, WORDS + 1)
# Kinds of sequences: by how many words, or one of those above, which are no such lengths.
KINDS = (PHRASE, NUMBERS, NAMED, *_LENGTHS, LETTERS)
_WORD = re.compile(r"[a-z]{2,}")  # of lower-case text: "an", not "a" or "t1"
# What phrases are made of: words and numbers; and signs that end a sentence or a clause, which none spans.
_PART = re.compile(r"[a-z]+|[0-9]+|[.:;?!](?=\s|$)")
_FEWEST_NAMES = 3  # words of a phrase that have three letters and more
# Where tables and cells join texts, a phrase seems to end with the first word of the next, such as these.
FUNCTION_WORDS = frozenset(
    re.findall(
        "[a-z]+", "a an and or no the with of is are was were there in to for at by on as be this that it"
    )
)
# Standing alone, but for a word before it (s50414267) and .0 behind it: no decimals, no part of a hash.
_NUMBER = re.compile(r"([0-9]{8,14})(?:\.0+)?(?![0-9a-z]|\.[0-9])")
# What may stand before such a number: a blank, a sign, or one word ("patient10000032"), not "0." or "3f".
_BEFORE = re.compile(r"(?:^|[^0-9a-z.]|[a-z]\.)[a-z]{0,10}$")
# With commas, as a table shows it: 10,000,032.
_GROUPED = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3}){2,4}(?:\.0+)?(?![0-9a-z]|[.,][0-9])")
_POWERED = re.compile(r"(?<![0-9a-z.])[1-9]\.[0-9]{4,13}e\+?[01][0-9](?![0-9])")  # 1.0000032e+07
_DIGIT = re.compile("[0-9]")
# A patient with a study, as MIMIC-CXR names files: p10000032_s50414267.
_PATIENT_STUDY = re.compile(r"(?<![0-9a-z])p([0-9]{8})[-_]?s([0-9]{8})(?![0-9a-z])")
_PICTURE = re.compile(r"(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{8}){4}(?![0-9a-z])")  # dicom_id of MIMIC-CXR
# Days of the years to which de-identification moves them: 2131-5-2; 5/2/2131 or 2/5/2131; May 2, 2131, or
# "May 2 10:15:00 2131"; and 2nd of May 2131.
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR, _MONTH = "(2[1-9][0-9]{2})(?![0-9])", f"({'|'.join(_MONTHS)})[a-z]*"
_DAY = re.compile(rf"{_YEAR}[-/._]([0-9]{{1,2}})[-/._]([0-9]{{1,2}})(?![0-9])")
_DAY_LAST = re.compile(rf"(?<![0-9])([0-9]{{1,2}})[-/.]([0-9]{{1,2}})[-/.]{_YEAR}")
_MONTH_DAY = re.compile(
    rf"{_MONTH}[ .-]{{,2}}([0-9]{{1,2}})(?:st|nd|rd|th)?[ ,-]{{1,2}}(?:[0-9:]{{5,8}} )?{_YEAR}"
)
_DAY_MONTH = re.compile(
    rf"(?<![0-9])([0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)?[ .-]{{1,2}}{_MONTH}[ ,.-]{{1,2}}{_YEAR}"
)
# An accession number, such as CR19-0045123 or A1234567.
_CODE = re.compile(r"(?<![a-z0-9])[a-z]{1,4}[-_]?[0-9][0-9-]{3,14}[0-9](?![a-z0-9]|\.[0-9])")
# Shorter numbers behind the name of an identifier: "subject_id: 12345, 12346", "MRN 1234567".
_NAMED = re.compile(
    r"(?<![a-z])(?:subject|patient|study|hadm|stay|row|accession|mrn|id)"
    r"[ _-]?(?:ids?|no|number)?[^a-z0-9]{1,4}"
    r"((?:[0-9]{5,7}(?:\.0+(?![0-9]))?(?:[^a-z0-9.]+|\.?$))+)"
)
LABELS = frozenset(_WORD.findall(" ".join((*RATE_TYPES, *ENTITY_LABELS)).lower()))
_NO_LETTERS = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz"))
# The base of the rolling hashes, odd so that no power of it is 0; another in each process.
_BASE = random.SystemRandom().getrandbits(64) | 1
_POWER = {length: np.uint64(pow(_BASE, length, 1 << 64)) for length in (1, 2, 4, 8, 16, 32)}
_PIECE = 1 << 20  # letters that are hashed at once
_SAMPLED = np.uint64(62)  # bits: of the sequences of letters a fourth, the same ones everywhere

Hashes = NDArray[np.uint64]
Sequences = dict[int, Hashes]  # sequences by kind: how many words, LETTERS or NUMBERS

_NONE = np.empty(0, np.uint64)


def words(text: str) -> list[str]:
    """Return words of two letters or more in lower case, without numbers and the labels of annotations."""
    if _PICTURE.fullmatch(text):  # its letters are not words
        return []
    return [word for word in _WORD.findall(plain_lower(text)) if word not in LABELS]


def plain_lower(text: str) -> str:
    """Return ``text`` in lower case without accents and signs that do not show."""
    return folded(text).lower()


def _phrases(plain: str) -> Hashes:
    """Return a hash of each :data:`PHRASE` that names something, of words and numbers that adjoin in a
    sentence."""
    parts = _PART.findall(plain)
    if len(parts) < -PHRASE:
        return _NONE
    names = np.array([len(part) > 2 and part.isalpha() for part in parts], int)
    names -= len(parts) * np.array([not part.isalnum() for part in parts])  # where a sentence ends
    ends = np.array([part not in FUNCTION_WORDS for part in parts])[-PHRASE - 1 :]
    kept = np.convolve(names, np.ones(-PHRASE, int), "valid") >= _FEWEST_NAMES
    return _sequences(_hashes(parts), -PHRASE)[kept & ends]


def _known_words(plain: str, known: frozenset[str]) -> Hashes:
    return _hashes([word for word in _WORD.findall(plain) if word in known])


def _numbers(plain: str) -> Hashes:
    """Return numbers of eight digits and more, days as such, and identifiers of letters and digits."""
    days = [(year, month, day) for year, month, day in _DAY.findall(plain)]
    for first, second, year in _DAY_LAST.findall(plain):  # either may be the month
        days += [(year, first, second), (year, second, first)]
    days += [(year, _MONTHS.index(month) + 1, day) for month, day, year in _MONTH_DAY.findall(plain)]
    days += [(year, _MONTHS.index(month) + 1, day) for day, month, year in _DAY_MONTH.findall(plain)]
    numbers = [
        found[1]
        for found in _NUMBER.finditer(plain)
        if _BEFORE.search(plain[max(0, found.start() - 12) : found.start()])
    ]
    numbers += [number.split(".")[0].replace(",", "") for number in _GROUPED.findall(plain)]
    numbers += [f"{float(number):.0f}" for number in _POWERED.findall(plain)]
    numbers += [number for both in _PATIENT_STUDY.findall(plain) for number in both]
    numbers += [number.lstrip("0") for number in numbers]
    codes = (re.sub("[-_]", "", code) for code in _CODE.findall(plain))
    return _hashes(
        [
            *(number for number in numbers if len(number) > 7),  # fewer digits may stand for anything
            *codes,
            *_PICTURE.findall(plain),
            *(f"{year}{int(month):02}{int(day):02}" for year, month, day in days),
        ]
    )


def _named(plain: str) -> Hashes:
    """Return numbers of five to seven digits behind the name of an identifier, with nothing but others
    between."""
    return _hashes([number for run in _NAMED.findall(plain) for number in re.findall("[0-9]{5,7}", run)])


def _hashes(found: list[str]) -> Hashes:
    # Python's hash of text is salted again in each process; 64 bits make a chance hit negligible.
    return np.array([hash(word) & 0xFFFF_FFFF_FFFF_FFFF for word in found], np.uint64)


def _sequences(hashes: Hashes, length: int) -> Hashes:
    """Return a hash of every sequence of ``length`` words, in order; shape (words - length + 1,)."""
    if len(hashes) < length:
        return _NONE
    count = len(hashes) - length + 1
    result = np.zeros(count, np.uint64)
    for start in range(length):
        result = result * _POWER[1] + hashes[start : start + count]
    return result


def _letters(plain: str) -> Hashes:
    """Return a hash of every sequence of LETTERS letters, of which a sample is kept."""
    letters = plain.encode("ascii", "ignore").translate(None, _NO_LETTERS)
    kept = []
    for start in range(0, len(letters) - LETTERS + 1, _PIECE):
        piece = np.frombuffer(letters[start : start + _PIECE + LETTERS - 1], np.uint8).astype(np.uint64)
        for length, power in _POWER.items():  # sequences of 2, 4, ... letters
            piece = piece[:-length] * power + piece[length:]
        kept.append(piece[piece >> _SAMPLED == 0])
    return np.concatenate([_NONE, *kept])


def phrases_and_identifiers(plain: str) -> Sequences:
    """Return phrases and identifiers, which few characters give away."""
    if not _DIGIT.search(plain):
        return {PHRASE: _phrases(plain), NUMBERS: _NONE, NAMED: _NONE}
    return {PHRASE: _phrases(plain), NUMBERS: _numbers(plain), NAMED: _named(plain)}


def _of_words(hashes: Hashes) -> Sequences:
    return {length: _sequences(hashes, length) for length in _LENGTHS}


def of_text(text: str, known: frozenset[str]) -> Sequences:
    """Return the sequences of a file's or a public text, of its words by those that are ``known``."""
    plain = plain_lower(text)
    found = _of_words(_known_words(plain, known))
    return {**found, LETTERS: _letters(plain), **phrases_and_identifiers(plain)}


def of_corpus(text: str, found: list[str]) -> Sequences:
    """Return the sequences by which a corpus text of these words is known; a short text by all of it."""
    plain = plain_lower(text)
    sequences = {LETTERS: _letters(plain), **phrases_and_identifiers(plain)}
    hashes = _hashes(found)
    if len(found) >= RARE_WORDS:
        sequences[RARE_WORDS] = _sequences(hashes, RARE_WORDS)
    if len(found) >= WORDS:
        sequences[WORDS] = _sequences(hashes, WORDS)
    elif FEWEST_WORDS <= len(found) < RARE_WORDS:
        sequences[len(found)] = _sequences(hashes, len(found))
    return sequences


def distinct(some: Iterable[Hashes]) -> Hashes:
    """Return the hashes that are in any of ``some``, sorted; several times faster than ``numpy.unique``."""
    every = np.sort(np.concatenate([_NONE, *some]))
    return every[np.append(every[1:] != every[:-1], True)] if len(every) else every


def within(values: Hashes, among: Hashes) -> NDArray[np.bool_]:
    """Return which ``values`` are in the sorted array ``among``."""
    if not len(among):
        return np.zeros(len(values), bool)
    return among[np.minimum(np.searchsorted(among, values), len(among) - 1)] == values
