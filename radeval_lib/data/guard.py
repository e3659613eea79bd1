"""The guard on restricted text: after a build, nothing of it may stand in a file that the build left.

Records carry the mark of :class:`~radeval_lib.data.restricted.RestrictedText`, which refuses to be shown.
This module is the second line: it looks for word sequences of every restricted corpus in all readings of all
files (:mod:`radeval_lib.data.leak_decoders`). Words are compared without case, punctuation, numbers and the
labels of annotations, and of a file only the words that the corpus knows, so that what interrupts a text does
not hide it. The files are indexed by hashes of their word sequences and the corpora stream past them, so that
no corpus is stored and its size does not matter.

What it cannot see: words in pixels (pictures are therefore refused), texts under encryption or of fewer than
``FEWEST_WORDS`` words, and paraphrases.
"""

from __future__ import annotations

import random
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radeval_lib import checksums
from radeval_lib.data import leak_decoders
from radeval_lib.data.entity_types import RATE_TYPES
from radeval_lib.data.errors import DataError
from radeval_lib.data.radgraph import ENTITY_LABELS
from radeval_lib.data.restricted import Text, reveal
from radeval_lib.errors import listed

WORDS = 8  # a sequence of so many words is a hit,
RARE_WORDS = 7  # one of so many where at most RARE texts of the corpus hold it,
RARE = 2
FEWEST_WORDS = 5  # and so is a whole text of so many that is as rare; shorter ones anyone may write
_LENGTHS = range(FEWEST_WORDS, WORDS + 1)
_UNITS = {"cells": 4, "results": 3}  # depth of a build's folders that are whole or nothing
_THEME = ("_static", "_sphinx_design_static")  # folders of a rendered book that hold the theme's own files
_WORD = re.compile(r"[^\W\d_]{2,}")
_LABELS = frozenset(_WORD.findall(" ".join((*RATE_TYPES, *ENTITY_LABELS)).lower()))
_FACTOR = np.uint64(random.SystemRandom().getrandbits(64) | 1)

Hashes = NDArray[np.uint64]


class LeakError(DataError):
    """Text of a restricted corpus stands in what a build made."""

    longest = (1000, 80, 300)


def words(text: str) -> list[str]:
    """Words of two letters or more in lower case, without numbers and the labels of annotations."""
    return [word for word in _WORD.findall(text.lower()) if word not in _LABELS]


def _hashes(found: list[str]) -> Hashes:
    # Python's hash of text is salted anew in each process; 64 bits make a chance hit negligible.
    return np.fromiter((hash(word) & 0xFFFF_FFFF_FFFF_FFFF for word in found), np.uint64, len(found))


def _sequences(hashes: Hashes, length: int) -> Hashes:
    """A hash of every sequence of so many words, in order; shape (words - length + 1,)."""
    if len(hashes) < length:
        return np.empty(0, np.uint64)
    count = len(hashes) - length + 1
    result = np.zeros(count, np.uint64)
    for start in range(length):
        result = result * _FACTOR + hashes[start : start + count]
    return result


def _sequences_of_text(found: list[str]) -> Iterator[tuple[int, Hashes]]:
    """The sequences by which a corpus text is known, by length; a short text by all of it."""
    hashes = _hashes(found)
    if len(found) >= RARE_WORDS:
        yield RARE_WORDS, _sequences(hashes, RARE_WORDS)
    if len(found) >= WORDS:
        yield WORDS, _sequences(hashes, WORDS)
    elif FEWEST_WORDS <= len(found) < RARE_WORDS:
        yield len(found), _sequences(hashes, len(found))


@dataclass(frozen=True)
class Leak:
    """A file that holds text of a restricted corpus: how many of its word sequences, never the text.

    ``corpus`` is empty for a picture, whose words cannot be read.
    """

    file: str
    corpus: str
    sequences: int

    def __str__(self) -> str:
        if not self.corpus:
            return f"{self.file} (a picture, whose words cannot be read)"
        return f"{self.file} ({self.sequences} word sequences of {self.corpus})"


@dataclass
class Index:
    """Hashed word sequences of files, by length: those of each file, and all of them, sorted."""

    files: list[str] = field(default_factory=list)
    of_file: dict[int, list[Hashes]] = field(default_factory=lambda: {length: [] for length in _LENGTHS})
    public: dict[int, list[Hashes]] = field(default_factory=lambda: {length: [] for length in _LENGTHS})

    def add(self, file: str, texts: Iterable[str], known: frozenset[str]) -> None:
        """Index a file by those of its words that are ``known``."""
        found: dict[int, list[Hashes]] = {length: [] for length in _LENGTHS}
        seen: set[int] = set()
        for text in texts:
            hashes = _hashes([word for word in words(text) if word in known])
            key = hash(hashes.tobytes())
            if key in seen:  # another reading gave the same words
                continue
            seen.add(key)
            for length in _LENGTHS:
                found[length].append(_sequences(hashes, length))
        self.files.append(file)
        for length in _LENGTHS:
            self.of_file[length].append(np.unique(np.concatenate([*found[length], _sequences(_NONE, 1)])))

    def allow(self, text: str, known: frozenset[str]) -> None:
        """Forget the sequences of a public text: phrases that it shares with restricted ones are no leak."""
        hashes = _hashes([word for word in words(text) if word in known])
        for length in _LENGTHS:
            self.public[length].append(_sequences(hashes, length))

    def leaks(self, corpus: str, texts: Iterable[Text]) -> list[Leak]:
        """Files that hold a sequence of the corpus, in the order in which they were added."""
        every = {length: self._watched(length) for length in _LENGTHS}
        holders: dict[int, dict[int, set[int]]] = {length: defaultdict(set) for length in _LENGTHS}
        for text in texts:
            found = words(reveal(text))
            for length, sequences in _sequences_of_text(found):
                for hit in sequences[_within(sequences, every[length])].tolist():
                    if len(holders[length][hit]) <= RARE:
                        holders[length][hit].add(hash(tuple(found)))
        counts = np.zeros(len(self.files), np.int64)
        for length, hits in holders.items():
            told = [hit for hit, held in hits.items() if length == WORDS or len(held) <= RARE]
            wanted = np.array(sorted(told), np.uint64)
            counts += [int(_within(wanted, own).sum()) for own in self.of_file[length]]
        return [
            Leak(file, corpus, int(count)) for file, count in zip(self.files, counts, strict=True) if count
        ]

    def _watched(self, length: int) -> Hashes:
        every = np.unique(np.concatenate([_NONE, *self.of_file[length]]))
        public = np.unique(np.concatenate([_NONE, *self.public[length]]))
        return every[~_within(every, public)]


_NONE = np.empty(0, np.uint64)


def _within(values: Hashes, among: Hashes) -> NDArray[np.bool_]:
    """Which ``values`` are in the sorted array ``among``."""
    if not len(among):
        return np.zeros(len(values), bool)
    return among[np.minimum(np.searchsorted(among, values), len(among) - 1)] == values


def scan(
    folder: Path,
    corpora: Mapping[str, Iterable[Text]],
    public: Iterable[str] = (),
    pictures: Iterable[Path] = (),
    spare: Path | None = None,
) -> list[Leak]:
    """Files below ``folder`` that hold a word sequence of a corpus, or a picture that may show one.

    Parameters
    ----------
    folder : of a build; every file below it is read, whatever its name.
    corpora : texts of each restricted data set by name; each is gone through twice and may be streamed
        (:func:`radeval_lib.data.catalog.restricted_texts`).
    public : texts whose word sequences are no leak wherever else they stand
        (:func:`radeval_lib.data.catalog.public_texts`).
    pictures : files that were there before the build, such as those of the book's sources; copies of them
        are let through.
    spare : a folder below ``folder`` that is left out: the data themselves.
    """
    known = frozenset(word for texts in corpora.values() for text in texts for word in words(reveal(text)))
    if not known:
        return []
    index, refused = Index(), []
    ours = {checksums.of_file(path) for path in pictures if path.is_file()}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or (spare is not None and path.is_relative_to(spare)):
            continue
        name = path.relative_to(folder).as_posix()
        content = path.read_bytes()
        theme = bool(set(_THEME) & set(path.relative_to(folder).parts))
        if leak_decoders.is_picture(content):
            if not theme and checksums.of_file(path) not in ours:
                refused.append(Leak(name, "", 0))
            continue
        if not theme and leak_decoders.has_picture(content):
            refused.append(Leak(name, "", 0))
        index.add(name, leak_decoders.of_file(content), known)
    for text in public:
        index.allow(text, known)
    return [*(leak for name, texts in corpora.items() for leak in index.leaks(name, texts)), *refused]


def scan_build(
    folder: Path,
    corpora: Mapping[str, Iterable[Text]],
    public: Iterable[str] = (),
    pictures: Iterable[Path] = (),
    spare: Path | None = None,
) -> None:
    """Fail where a file of a build holds text of a restricted corpus, and remove it (see :func:`scan`).

    Of a rendered book nothing stays, because pages, search index and Sphinx's own records repeat one another;
    of a folder of results or of a cell, which are whole or nothing, neither.

    Raises
    ------
    LeakError
        Naming every file and corpus; the text itself is not shown.
    """
    if leaks := scan(folder, corpora, public, pictures, spare):
        for leak in leaks:
            _remove(folder, Path(leak.file))
        for rendered in folder.rglob("_build"):
            shutil.rmtree(rendered, ignore_errors=True)
        raise LeakError(
            f"restricted text in {listed(map(str, leaks), 900, 150)}",
            remedy="These files and the rendered book are removed. Show numbers computed from the text, draw "
            "figures as SVG, and build again.",
        )


def _remove(folder: Path, file: Path) -> None:
    """Remove a file, with the folder of results or of the cell that it belongs to."""
    (folder / file).unlink(missing_ok=True)
    depth = _UNITS.get(file.parts[0])
    if depth is not None and len(file.parts) > depth:
        shutil.rmtree(folder.joinpath(*file.parts[:depth]), ignore_errors=True)
