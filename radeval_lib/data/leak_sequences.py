"""Hash the sequences by which the guard recognises a text: runs of words, phrases and identifiers.

Words are compared without case, punctuation, numbers and the labels of annotations. In a file, only words
that occur in a corpus count, so that other words inserted between them do not hide a text. Each sequence is
hashed to 64 bits; a set of sequences is a sorted array of hashes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from radeval_lib.categories import RATE_TYPES
from radeval_lib.data.radgraph import ENTITY_LABELS

# The kind of a sequence is its number of words, or one of these three. No sequence of a public text is a hit.
PHRASE = 1  # four adjacent words; a hit if they are rare and in no text of the study
NUMBER = 2  # a long number, a date, or an identifier of letters and digits; a hit even if it is frequent
NAMED_NUMBER = 3  # a shorter number after the name of an identifier; a hit if it is in no text of the study
MIN_WORDS = 5  # A whole text is a hit if it is rare and has at least this many words.
RARE_RUN = 7  # A sequence of this many words is a hit if it is rare.
LEAK_RUN = 8  # A sequence of this many words is a hit even if it is frequent.
MAX_TEXTS = 2  # A sequence is rare if at most this many texts of the corpus contain it.
_KIND_BITS = np.uint64(15)  # the bits of a hash that encode its kind
_WORD = re.compile(r"[a-z]{2,}")  # of lower-case text: "an", not "a" or "t1"
# Parts of phrases: words and numbers; and marks that end a sentence or clause, which no phrase crosses.
_PART = re.compile(r"[a-z]+|[0-9]+|[.:;?!](?=\s|$)")
_MIN_LONG_WORDS = 3  # A phrase has at least this many words of three or more letters.
# A phrase may not end with these words: where a table joins texts, they often begin the next text.
_FUNCTION = "a an and or no the with of is are was were there in to for at by on as be this that it"
FUNCTION_WORDS = frozenset(re.findall("[a-z]+", _FUNCTION))
# A number of 8 to 14 digits, not part of a decimal or hash; a word may precede it (s50414267), .0 may follow.
_NUMBER = re.compile(r"([0-9]{8,14})(?:\.0+)?(?![0-9a-z]|\.[0-9])")
# Text that may precede such a number: a blank, punctuation or one word ("patient10000032"), not "0." or "3f".
_BEFORE_NUMBER = re.compile(r"(?:^|[^0-9a-z.]|[a-z]\.)[a-z]{0,10}$")
# Such a number with commas, as a table shows it: 10,000,032.
_GROUPED_NUMBER = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3}){2,4}(?:\.0+)?(?![0-9a-z]|[.,][0-9])")
_DIGIT = re.compile("[0-9]")
# A patient and a study in a MIMIC-CXR file name: p10000032_s50414267.
_PATIENT_STUDY = re.compile(r"(?<![0-9a-z])p([0-9]{8})[-_]?s([0-9]{8})(?![0-9a-z])")
_IMAGE_ID = re.compile(r"(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{8}){4}(?![0-9a-z])")  # dicom_id of MIMIC-CXR
# A date in the years to which de-identification shifts dates: 2131-5-2.
_DATE = re.compile(r"(2[1-9][0-9]{2})[-/._]([0-9]{1,2})[-/._]([0-9]{1,2})(?![0-9])")
# An accession number, such as CR19-0045123 or A1234567.
_CODE = re.compile(r"(?<![a-z0-9])[a-z]{1,4}[-_]?[0-9][0-9-]{3,14}[0-9](?![a-z0-9]|\.[0-9])")
# Shorter numbers after the name of an identifier: "subject_id: 12345, 12346", "MRN 1234567".
_ID_NUMBERS = re.compile(
    r"(?<![a-z])(?:subject|patient|study|hadm|stay|row|accession|mrn|id)"
    r"[ _-]?(?:ids?|no|number)?[^a-z0-9]{1,4}"
    r"((?:[0-9]{5,7}(?:\.0+(?![0-9]))?(?:[^a-z0-9.]+|\.?$))+)"
)
LABELS = frozenset(_WORD.findall(" ".join((*RATE_TYPES, *ENTITY_LABELS)).lower()))
# The base of the hashes of sequences: odd, so that no power of it is 0, and random in each process.
_BASE = np.uint64(random.SystemRandom().getrandbits(64) | 1)

Hashes = NDArray[np.uint64]
_NO_HASHES = np.empty(0, np.uint64)


def _set_kind(hashes: Hashes, kind: int) -> Hashes:
    """Return hashes with ``kind`` (1 to 15) in the lowest four bits, so that one array can hold all kinds."""
    return (hashes & ~_KIND_BITS) | np.uint64(kind)


def get_kinds(hashes: Hashes) -> NDArray[np.uint64]:
    """Return the kind of each hashed sequence, as an array of the same shape.

    The kind is :data:`PHRASE`, :data:`NUMBER` or :data:`NAMED_NUMBER`; for a sequence of words, it is the
    number of words (5 to 8).
    """
    return hashes & _KIND_BITS


def split_words(text: str) -> list[str]:
    """Return the words of two or more letters in ``text``, in lower case and in order.

    Numbers and the labels of annotations (:data:`LABELS`) are left out.
    """
    if _IMAGE_ID.fullmatch(text):  # The letters in it are not words.
        return []
    return [word for word in _WORD.findall(text.lower()) if word not in LABELS]


def _hash_phrases(text: str) -> Hashes:
    """Return a hash of every four adjacent words or numbers within a sentence of a lower-case text.

    Three of the four must be words of three or more letters, and the last must not be a function word.
    """
    parts = _PART.findall(text)
    if len(parts) < 4:
        return _NO_HASHES
    long_words = np.array([len(part) > 2 and part.isalpha() for part in parts], int)
    # A mark that ends a sentence lowers the sum so far that no phrase with it has enough long words.
    long_words -= len(parts) * np.array([not part.isalnum() for part in parts])
    has_content_end = np.array([part not in FUNCTION_WORDS for part in parts])[3:]
    has_enough = np.convolve(long_words, np.ones(4, int), "valid") >= _MIN_LONG_WORDS
    return _hash_runs(_hash_strings(parts), 4)[has_enough & has_content_end]


def _hash_numbers(text: str) -> Hashes:
    """Return the hashes of the long numbers, dates and identifiers in a lower-case text.

    Numbers have 8 to 14 digits; a date is hashed as the number YYYYMMDD.
    """
    numbers = [
        match[1]
        for match in _NUMBER.finditer(text)
        if _BEFORE_NUMBER.search(text[max(0, match.start() - 12) : match.start()])
    ]
    numbers += [number.split(".")[0].replace(",", "") for number in _GROUPED_NUMBER.findall(text)]
    numbers += [number for pair in _PATIENT_STUDY.findall(text) for number in pair]
    return _hash_strings(
        [
            *(number for number in numbers if len(number) > 7),  # Shorter numbers are ambiguous.
            *(re.sub("[-_]", "", code) for code in _CODE.findall(text)),
            *_IMAGE_ID.findall(text),
            *(f"{year}{int(month):02}{int(day):02}" for year, month, day in _DATE.findall(text)),
        ]
    )


def _hash_strings(texts: list[str]) -> Hashes:
    """Return a 64-bit hash of each text; hashes differ between processes, because Python salts them."""
    # With 64 bits, a chance hit is negligible.
    return np.array([hash(text) & 0xFFFF_FFFF_FFFF_FFFF for text in texts], np.uint64)


def _hash_runs(hashes: Hashes, length: int) -> Hashes:
    """Return one hash for each run of ``length`` successive words, in order.

    ``hashes`` has one hash per word. The result has shape (len(hashes) - length + 1,), or (0,) if there are
    fewer than ``length`` words.
    """
    if len(hashes) < length:
        return _NO_HASHES
    count = len(hashes) - length + 1
    sequences = np.zeros(count, np.uint64)
    for start in range(length):
        sequences = sequences * _BASE + hashes[start : start + count]
    return sequences


def hash_phrases_and_ids(text: str) -> Hashes:
    """Return the hashes of the phrases, numbers and identifiers in a lower-case text."""
    sequences = [_set_kind(_hash_phrases(text), PHRASE)]
    if _DIGIT.search(text):
        ids = [number for run in _ID_NUMBERS.findall(text) for number in re.findall("[0-9]{5,7}", run)]
        sequences += [_set_kind(_hash_numbers(text), NUMBER), _set_kind(_hash_strings(ids), NAMED_NUMBER)]
    return np.concatenate(sequences)


def hash_text(text: str, vocabulary: Collection[str]) -> Hashes:
    """Return the hashes of all sequences in a text that is searched or that is public.

    The sequences are those of 5 to 8 words, counting only words in ``vocabulary``; the phrases; and the
    numbers and identifiers. The hashes are not sorted, and may repeat.
    """
    hashes = _hash_strings([word for word in _WORD.findall(text.lower()) if word in vocabulary])
    return _hash_sequences(text.lower(), hashes, range(MIN_WORDS, LEAK_RUN + 1))


def hash_corpus_text(text: str) -> Hashes:
    """Return the hashes by which a text of a corpus is recognised.

    The hashes are of sequences of 7 and 8 words, phrases and identifiers. A text of 5 or 6 words is also
    recognised by all of its words; a shorter text has no sequence of words.
    """
    hashes = _hash_strings(split_words(text))
    lengths = {min(len(hashes), RARE_RUN), LEAK_RUN} - set(range(MIN_WORDS))
    return _hash_sequences(text.lower(), hashes, lengths)


def _hash_sequences(text: str, hashes: Hashes, lengths: Iterable[int]) -> Hashes:
    """Return hashes of a lower-case text's phrases and identifiers, and of word sequences of ``lengths``.

    ``hashes`` has one hash per word.
    """
    by_length = (_set_kind(_hash_runs(hashes, length), length) for length in lengths)
    return np.concatenate([*by_length, hash_phrases_and_ids(text)])


def merge(arrays: Iterable[Hashes]) -> Hashes:
    """Return the distinct hashes of all arrays, sorted; several times faster than ``numpy.unique``."""
    hashes = np.sort(np.concatenate([_NO_HASHES, *arrays]))
    return hashes[np.append(hashes[1:] != hashes[:-1], True)] if len(hashes) else hashes


def is_in(values: Hashes, sorted_hashes: Hashes) -> NDArray[np.bool_]:
    """Return whether each of ``values`` is in the sorted array ``sorted_hashes``; shape (len(values),)."""
    if not len(sorted_hashes):
        return np.zeros(len(values), bool)
    return sorted_hashes[np.minimum(np.searchsorted(sorted_hashes, values), len(sorted_hashes) - 1)] == values
