"""The guard on restricted text: after a build, nothing of it may stand in a file that the build left.

Records carry the mark of :class:`~radeval_lib.data.restricted.RestrictedText`, which refuses to be shown.
This module is the second line: it looks for sequences of every restricted corpus in all readings
(:mod:`radeval_lib.data.leak_decoders`) of all files and of their names. It is there for accidents: whoever
means harm has the data already. So it reads what a notebook, a library or the book writes, and refuses every
other kind of file instead of decoding it.

Words are compared without case, accents, punctuation, numbers and the labels of annotations, and of a file
only the words that the corpus knows, so that what interrupts a text does not hide it. Sequences of letters
alone are compared too, so that it does not matter where words begin; phrases of four adjoining words, where
they are rare in the corpus and stand neither in a public text nor in what the study wrote itself; and
what names a patient, a study or a day. The files are indexed by hashes of their sequences and the corpora
stream past them, so that no corpus is stored and its size does not matter.

What it cannot see is listed in :data:`UNSEEN`.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radeval_lib import checksums
from radeval_lib.data import leak_decoders
from radeval_lib.data.categories import RATE_TYPES
from radeval_lib.data.errors import DataError
from radeval_lib.data.leak_streams import Unreadable
from radeval_lib.data.radgraph import ENTITY_LABELS
from radeval_lib.data.restricted import Text, reveal
from radeval_lib.errors import listed

WORDS = 8  # a sequence of so many words is a hit,
RARE_WORDS = 7  # one of so many where at most RARE texts of the corpus hold it,
RARE = 2
FEWEST_WORDS = 5  # and so is a whole text of so many that is as rare; shorter ones anyone may write
LETTERS = 64  # as rare a sequence of so many letters is a hit too,
PHRASE = -4  # so are so many adjoining words as rare, unless the study itself or a public text says them,
NUMBERS = 0  # a number that the corpus names, or an identifier of letters and digits,
NAMED = 1  # and a shorter number behind the name of an identifier
_LENGTHS = range(FEWEST_WORDS, WORDS + 1)
_KINDS = (PHRASE, NUMBERS, NAMED, *_LENGTHS, LETTERS)
_UNITS = {"cells": 4, "results": 3}  # depth of a build's folders that are whole or nothing
# Folders of a rendered book that hold the theme's own files, and fonts of formulas.
_THEME = ("_static", "_sphinx_design_static", "mathjax")
_WORD = re.compile(r"[a-z]{2,}")
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
_BEFORE = re.compile(r"(?:^|[^0-9a-z.]|[a-z]\.)[a-z]{0,10}$")
_GROUPED = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3}){2,4}(?:\.0+)?(?![0-9a-z]|[.,][0-9])")
_POWERED = re.compile(r"(?<![0-9a-z.])[1-9]\.[0-9]{4,13}e\+?[01][0-9](?![0-9])")  # 1.0000032e+07
_DIGIT = re.compile("[0-9]")
_PATIENT_STUDY = re.compile(r"(?<![0-9a-z])p([0-9]{8})[-_]?s([0-9]{8})(?![0-9a-z])")
_PICTURE = re.compile(r"(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{8}){4}(?![0-9a-z])")  # dicom_id of MIMIC-CXR
# Days of the years to which de-identification moves them, in three orders: 2131-5-2, 5/2/2131, May 2, 2131.
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
_NAMED = re.compile(
    r"(?<![a-z])(?:subject|patient|study|hadm|stay|row|accession|mrn|id)"
    r"[ _-]?(?:ids?|no|number)?[^a-z0-9]{1,4}"
    r"((?:[0-9]{5,7}(?:\.0+(?![0-9]))?(?:[^a-z0-9.]+|\.?$))+)"
)
_LABELS = frozenset(_WORD.findall(" ".join((*RATE_TYPES, *ENTITY_LABELS)).lower()))
_NO_LETTERS = bytes(set(range(256)) - set(b"abcdefghijklmnopqrstuvwxyz"))
_BASE = random.SystemRandom().getrandbits(64) | 1
_POWER = {length: np.uint64(pow(_BASE, length, 1 << 64)) for length in (1, 2, 4, 8, 16, 32)}
_PIECE = 1 << 20  # letters that are hashed at once
_SAMPLED = np.uint64(62)  # bits: of the sequences of letters a fourth, the same ones everywhere

UNSEEN = (
    "words in pixels; pictures other than SVG are therefore refused, and so is every file that is neither "
    "text nor an archive of at most 256 MiB",
    "text in a code, such as encrypted, compressed within another file, or with letters of other scripts; "
    "text that goes on from one file or name to the next",
    "what does not stand as plain text in the records of Sphinx, in checkpoints and caches, and in the "
    "weights and vocabularies of models",
    "paraphrases",
    "phrases of three words; and longer ones, up to seven words, of which a third text of the corpus, a "
    "public text, a source of a page or a generated report holds each part of four, or whose parts of four "
    "end with a word such as *the*, or have two words of one or two letters; numbers, single letters and "
    f"these labels of annotations do not count as words: {', '.join(sorted(_LABELS))}",
    "numbers of patients and studies of four digits, and those of five to seven that do not stand behind the "
    "name of an identifier; longer ones with letters directly behind them or with spaces within",
    "days before the year 2100, which anyone may name, and days with two digits for the year, with spaces "
    "between three numbers, or without their day of the month",
    "of the notes of MIMIC-III, those that are not of radiology: the study does not read them",
)
"""What may get past the guard; the book and every release report list it."""

Hashes = NDArray[np.uint64]
Found = dict[int, Hashes]  # sequences by kind: how many words, LETTERS or NUMBERS


class LeakError(DataError):
    """Text of a restricted corpus stands in what a build made."""

    longest = (1000, 80, 300)


def words(text: str) -> list[str]:
    """Words of two letters or more in lower case, without numbers and the labels of annotations."""
    if _PICTURE.fullmatch(text):  # its letters are not words
        return []
    return [word for word in _WORD.findall(_plain(text)) if word not in _LABELS]


def _plain(text: str) -> str:
    return leak_decoders.folded(text).lower()


def _phrases(plain: str) -> Hashes:
    """A hash of each :data:`PHRASE` that names something, of words and numbers that adjoin in a sentence."""
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
    """Numbers of eight digits and more, days as such, and identifiers of letters and digits."""
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
    """Numbers of five to seven digits behind the name of an identifier, with nothing but others between."""
    return _hashes([number for run in _NAMED.findall(plain) for number in re.findall("[0-9]{5,7}", run)])


def _hashes(found: list[str]) -> Hashes:
    # Python's hash of text is salted again in each process; 64 bits make a chance hit negligible.
    return np.array([hash(word) & 0xFFFF_FFFF_FFFF_FFFF for word in found], np.uint64)


def _sequences(hashes: Hashes, length: int) -> Hashes:
    """A hash of every sequence of ``length`` words, in order; shape (words - length + 1,)."""
    if len(hashes) < length:
        return _NONE
    count = len(hashes) - length + 1
    result = np.zeros(count, np.uint64)
    for start in range(length):
        result = result * _POWER[1] + hashes[start : start + count]
    return result


def _letters(plain: str) -> Hashes:
    """A hash of every sequence of LETTERS letters, of which a sample is kept."""
    letters = plain.encode("ascii", "ignore").translate(None, _NO_LETTERS)
    kept = []
    for start in range(0, len(letters) - LETTERS + 1, _PIECE):
        piece = np.frombuffer(letters[start : start + _PIECE + LETTERS - 1], np.uint8).astype(np.uint64)
        for length, power in _POWER.items():  # sequences of 2, 4, ... letters
            piece = piece[:-length] * power + piece[length:]
        kept.append(piece[piece >> _SAMPLED == 0])
    return np.concatenate([_NONE, *kept])


def _short(plain: str) -> Found:
    """What is known by few signs: phrases and identifiers."""
    if not _DIGIT.search(plain):
        return {PHRASE: _phrases(plain), NUMBERS: _NONE, NAMED: _NONE}
    return {PHRASE: _phrases(plain), NUMBERS: _numbers(plain), NAMED: _named(plain)}


def _of_words(hashes: Hashes) -> Found:
    return {length: _sequences(hashes, length) for length in _LENGTHS}


def _of_text(text: str, known: frozenset[str]) -> Found:
    """The sequences of a file's or a public text, of its words by those that are ``known``."""
    plain = _plain(text)
    found = _of_words(_known_words(plain, known))
    return {**found, LETTERS: _letters(plain), **_short(plain)}


def _of_corpus(text: str, found: list[str]) -> Found:
    """The sequences by which a corpus text of these words is known; a short text by all of it."""
    plain = _plain(text)
    sequences = {LETTERS: _letters(plain), **_short(plain)}
    hashes = _hashes(found)
    if len(found) >= RARE_WORDS:
        sequences[RARE_WORDS] = _sequences(hashes, RARE_WORDS)
    if len(found) >= WORDS:
        sequences[WORDS] = _sequences(hashes, WORDS)
    elif FEWEST_WORDS <= len(found) < RARE_WORDS:
        sequences[len(found)] = _sequences(hashes, len(found))
    return sequences


@dataclass(frozen=True)
class Leak:
    """A file that holds text of a restricted corpus: how many of its sequences, never the text.

    ``named`` is whether its name holds them, which is then not shown. ``corpus`` is empty for a file that
    must be refused because it cannot be read; ``why`` says what it is.
    """

    file: str
    corpus: str
    sequences: int
    named: bool = False
    why: str = ""

    def __str__(self) -> str:
        where = "the name of a file or folder" if self.named else self.file
        return f"{where} ({self.why or f'{self.sequences} sequences of {self.corpus}'})"


@dataclass
class Index:
    """Hashed sequences of files and of their names, by kind: those of each, and all of them, sorted."""

    places: list[tuple[str, bool]] = field(default_factory=list)  # each file, and whether it is its name
    of_place: dict[int, list[Hashes]] = field(default_factory=lambda: {kind: [] for kind in _KINDS})
    public: dict[int, list[Hashes]] = field(default_factory=lambda: {kind: [] for kind in _KINDS})

    def add(self, file: str, texts: Iterable[str], known: frozenset[str], named: bool = False) -> None:
        """Index a file, or its name, by those of its words that are ``known``."""
        found: dict[int, list[Hashes]] = {kind: [] for kind in _KINDS}
        seen: set[int] = set()
        for text in texts:
            if hash(text) in seen:  # another reading gave the same
                continue
            seen.add(hash(text))
            for kind, hashes in _of_text(text, known).items():
                found[kind].append(hashes)
        self.places.append((file, named))
        for kind, each in found.items():
            self.of_place[kind].append(_distinct(each))

    def add_same(self, file: str, place: int) -> None:
        """Index a file with the bytes of the one at ``place``."""
        self.places.append((file, False))
        for each in self.of_place.values():
            each.append(each[place])

    def allow(self, text: str, known: frozenset[str]) -> None:
        """Forget the sequences of a public text: phrases that it shares with restricted ones are no leak."""
        for kind, hashes in _of_text(text, known).items():
            self.public[kind].append(hashes)

    def hits(self, texts: Iterable[Text]) -> Found:
        """The sequences of a corpus that are in a file, in no public text, and as rare as their kind must be;
        sorted."""
        every = {kind: self._watched(kind) for kind in _KINDS}
        holders: dict[int, dict[int, set[int]]] = {kind: defaultdict(set) for kind in _KINDS}
        for text in texts:
            found = words(reveal(text))
            for kind, sequences in _of_corpus(reveal(text), found).items():
                for hit in sequences[_within(sequences, every[kind])].tolist():
                    if len(holders[kind][hit]) <= RARE:
                        holders[kind][hit].add(hash(tuple(found)))
        hits = {}
        for kind, each in holders.items():
            often = kind in (WORDS, NUMBERS, NAMED)
            rare = [hit for hit, held in each.items() if often or len(held) <= RARE]
            hits[kind] = np.array(sorted(rare), np.uint64)
        return hits

    def leaks(self, corpus: str, hits: Found) -> list[Leak]:
        """Files that hold one of the hits of a corpus, in the order in which they were added."""
        counts = [0] * len(self.places)
        for kind, wanted in hits.items():
            for place, own in enumerate(self.of_place[kind]):
                counts[place] += int(_within(wanted, own).sum())
        return [
            Leak(file, corpus, count, named)
            for (file, named), count in zip(self.places, counts, strict=True)
            if count
        ]

    def _watched(self, kind: int) -> Hashes:
        every = _distinct(self.of_place[kind])
        public = _distinct(self.public[kind])
        return every[~_within(every, public)]


_NONE = np.empty(0, np.uint64)


def _distinct(some: Iterable[Hashes]) -> Hashes:
    """The hashes that are in any of ``some``, sorted; several times faster than ``numpy.unique``."""
    every = np.sort(np.concatenate([_NONE, *some]))
    return every[np.append(every[1:] != every[:-1], True)] if len(every) else every


def _within(values: Hashes, among: Hashes) -> NDArray[np.bool_]:
    """Which ``values`` are in the sorted array ``among``."""
    if not len(among):
        return np.zeros(len(values), bool)
    return among[np.minimum(np.searchsorted(among, values), len(among) - 1)] == values


def scan(
    folder: Path,
    corpora: Mapping[str, Iterable[Text]],
    public: Iterable[str] = (),
    trusted: Collection[str] = (),
    own: Iterable[str] = (),
) -> list[Leak]:
    """Files below ``folder`` that hold a sequence of a corpus, or that cannot be read and may show one.

    A file whose SHA-256 is ``trusted`` is not searched: it came with the project or a package. Phrases of
    ``public`` texts are no leak, nor are short ones of the study's ``own``: sources of its pages, and reports
    that it generates.
    """
    if not corpora:
        return []
    known = frozenset(word for name, texts in corpora.items() for word in _vocabulary(name, texts))
    index, refused = Index(), []
    every = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    unreadable: dict[str, list[Unreadable]] = {}
    first: dict[str, int] = {}  # a build holds most pages several times
    for path in every:
        if not (folder / path).is_file():
            continue
        file, digest = path.as_posix(), checksums.of_file(folder / path)
        if digest in trusted:
            continue
        if digest not in first:
            first[digest] = len(index.places)
            content = (folder / path).read_bytes()
            unreadable[digest] = []
            index.add(file, _texts(content, file, unreadable[digest]), known)
        else:
            index.add_same(file, first[digest])
        if unreadable[digest] and not set(_THEME) & set(path.parts):
            refused.append(Leak(file, "", 0, why=unreadable[digest][0].value))
    _add_names(index, every, known)
    for text in public:
        index.allow(text, known)
    hits = {name: index.hits(texts) for name, texts in corpora.items()}
    for kind, left in _not_said(hits.values(), own).items():
        for found in hits.values():
            found[kind] = found[kind][_within(found[kind], left)]
    return [*(leak for name, found in hits.items() for leak in index.leaks(name, found)), *refused]


def _not_said(hits: Iterable[Found], own: Iterable[str]) -> Found:
    """The phrases and the named numbers among the hits that the study's own texts do not say; a whole
    sentence is a leak there too. The texts, of which many are generated, are read until all are found."""
    every = list(hits)
    left = {kind: _distinct(found[kind] for found in every) for kind in (PHRASE, NAMED)}
    texts = iter(own)
    while any(map(len, left.values())) and (text := next(texts, None)) is not None:
        said = _short(_plain(leak_decoders.decoded(text)))
        left = {kind: wanted[~_within(wanted, np.sort(said[kind]))] for kind, wanted in left.items()}
    return left


def _vocabulary(corpus: str, texts: Iterable[Text]) -> set[str]:
    """The words of a corpus, which must hold something to search for."""
    found: set[str] = set()
    empty = True
    for text in texts:
        empty = False
        found.update(words(reveal(text)))
    if empty:
        raise DataError(
            "its files hold nothing, so that nothing can be searched for",
            corpus,
            "Fetch them again, or remove them from the data root.",
        )
    return found


def _texts(content: bytes, file: str, unreadable: list[Unreadable]) -> Iterator[str]:
    """The readings of a file that are texts; why it must be refused is added to ``unreadable``."""
    for reading in leak_decoders.of_file(content, file):
        if isinstance(reading, str):
            yield reading
        else:
            unreadable.append(reading)


def _add_names(index: Index, every: Sequence[Path], known: frozenset[str]) -> None:
    """Index the path of every file and folder."""
    for path in every:
        texts = leak_decoders.of_text(" ".join((*path.parts, path.stem)))
        index.add(path.as_posix(), (text for text in texts if isinstance(text, str)), known, named=True)


def scan_build(
    folder: Path,
    corpora: Mapping[str, Iterable[Text]],
    public: Iterable[str] = (),
    trusted: Collection[str] = (),
    own: Iterable[str] = (),
) -> None:
    """Fail where a file of a build holds text of a restricted corpus, and remove it (see :func:`scan`).

    Of a rendered book nothing stays, because pages, search index and Sphinx's own records repeat one another;
    of a folder of results or of a cell, which are whole or nothing, neither.
    """
    if leaks := scan(folder, corpora, public, trusted, own):
        hidden = {leak.file for leak in leaks if leak.named}
        places = [place for leak in leaks for place in _holding(folder, Path(leak.file))]
        places += folder.rglob("_build")
        for place in places:
            _remove(place, folder)
        stay = sum(os.path.lexists(place) for place in places)  # counted: a name may reveal something, too
        messages = dict.fromkeys(str(leak) for leak in leaks if leak.named or leak.file not in hidden)
        what = "restricted text in" if any(leak.corpus for leak in leaks) else "what cannot be searched:"
        removed = "These files of the build and the rendered book are removed, and no source."
        if stay:
            removed = f"{stay} of these could NOT be removed, so delete the build's folder yourself."
        raise LeakError(
            f"{what} {listed(messages, 900, 150)}",
            remedy=f"{removed} Show numbers computed from the text, draw figures as SVG, and build again.",
        )


def _holding(folder: Path, file: Path) -> Iterator[Path]:
    """A file or folder, and the folder of results or of the cell that it belongs to."""
    yield folder / file
    depth = _UNITS.get(file.parts[0])
    if depth is not None and len(file.parts) > depth:
        yield folder.joinpath(*file.parts[:depth])


def _remove(place: Path, folder: Path) -> None:
    """Remove a file or folder below ``folder`` as far as the system lets us, with the folders that it leaves
    empty."""
    with suppress(OSError):  # what stays is named
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)
    with suppress(OSError):  # until one is not empty
        for above in place.relative_to(folder).parents[:-1]:
            (folder / above).rmdir()
