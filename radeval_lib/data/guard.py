"""The guard on restricted text: after a build, nothing of it may stand in a file that the build left.

Records carry the mark of :class:`~radeval_lib.data.restricted.RestrictedText`, which refuses to be shown.
This module is the second line: it looks for sequences of every restricted corpus in all readings
(:mod:`radeval_lib.data.leak_decoders`) of all files and of their names. It is there for accidents: whoever
means harm has the data already. So it reads what a notebook, a library or the book writes, and refuses every
other kind of file instead of decoding it.

What is compared (:mod:`radeval_lib.data.leak_sequences`) are sequences of words and of letters; phrases of
four adjoining words, where they are rare in the corpus and stand neither in a public text nor in what the
study wrote itself; and what names a patient, a study or a day. The files are indexed by hashes of their
sequences and the corpora stream past them, so that no corpus is stored and its size does not matter.

What it cannot see is listed in :data:`UNSEEN`.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from radeval_lib import checksums
from radeval_lib.data import leak_decoders
from radeval_lib.data.errors import DataError
from radeval_lib.data.leak_sequences import (
    KINDS,
    LABELS,
    NAMED,
    NUMBERS,
    PHRASE,
    RARE,
    WORDS,
    Hashes,
    Sequences,
    distinct,
    of_corpus,
    of_text,
    phrases_and_identifiers,
    plain_lower,
    within,
    words,
)
from radeval_lib.data.leak_streams import Unreadable
from radeval_lib.data.restricted import Text, reveal
from radeval_lib.errors import listed

_UNITS = {"cells": 4, "results": 3}  # depth of a build's folders that are whole or nothing
# Folders of a rendered book that hold the theme's own files, and fonts of formulas.
_THEME = ("_static", "mathjax")

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
    f"these labels of annotations do not count as words: {', '.join(sorted(LABELS))}",
    "numbers of patients and studies of four digits, and those of five to seven that do not stand behind the "
    "name of an identifier; longer ones with letters directly behind them or with spaces within",
    "days before the year 2100, which anyone may name, and days with two digits for the year, with spaces "
    "between three numbers, or without their day of the month",
    "of the notes of MIMIC-III, those that are not of radiology: the study does not read them",
)
"""What may get past the guard; the book and every release report list it."""


class LeakError(DataError):
    """Text of a restricted corpus stands in what a build made."""

    longest = (1000, 80, 300)


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
    of_place: dict[int, list[Hashes]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    public: dict[int, list[Hashes]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def add(self, file: str, texts: Iterable[str], known: frozenset[str], named: bool = False) -> None:
        """Index a file, or its name, by those of its words that are ``known``."""
        found: dict[int, list[Hashes]] = {kind: [] for kind in KINDS}
        seen: set[int] = set()
        for text in texts:
            if hash(text) in seen:  # another reading gave the same
                continue
            seen.add(hash(text))
            for kind, hashes in of_text(text, known).items():
                found[kind].append(hashes)
        self.places.append((file, named))
        for kind, each in found.items():
            self.of_place[kind].append(distinct(each))

    def add_same(self, file: str, place: int) -> None:
        """Index a file with the bytes of the one at ``place``."""
        self.places.append((file, False))
        for each in self.of_place.values():
            each.append(each[place])

    def allow(self, text: str, known: frozenset[str]) -> None:
        """Forget the sequences of a public text: phrases that it shares with restricted ones are no leak."""
        for kind, hashes in of_text(text, known).items():
            self.public[kind].append(hashes)

    def hits(self, texts: Iterable[Text]) -> Sequences:
        """Return the sequences of a corpus that are in a file, in no public text, and as rare as their kind
        must be; sorted."""
        every = {kind: self._watched(kind) for kind in KINDS}
        holders: dict[int, dict[int, set[int]]] = {kind: defaultdict(set) for kind in KINDS}
        for text in texts:
            found = words(reveal(text))
            for kind, sequences in of_corpus(reveal(text), found).items():
                for hit in sequences[within(sequences, every[kind])].tolist():
                    if len(holders[kind][hit]) <= RARE:
                        holders[kind][hit].add(hash(tuple(found)))
        hits = {}
        for kind, each in holders.items():
            often = kind in (WORDS, NUMBERS, NAMED)
            rare = [hit for hit, held in each.items() if often or len(held) <= RARE]
            hits[kind] = np.array(sorted(rare), np.uint64)
        return hits

    def leaks(self, corpus: str, hits: Sequences) -> list[Leak]:
        """Return files that hold one of the hits of a corpus, in the order in which they were added."""
        counts = [0] * len(self.places)
        for kind, wanted in hits.items():
            for place, own in enumerate(self.of_place[kind]):
                counts[place] += int(within(wanted, own).sum())
        return [
            Leak(file, corpus, count, named)
            for (file, named), count in zip(self.places, counts, strict=True)
            if count
        ]

    def _watched(self, kind: int) -> Hashes:
        every = distinct(self.of_place[kind])
        public = distinct(self.public[kind])
        return every[~within(every, public)]


def scan(
    folder: Path,
    corpora: Mapping[str, Iterable[Text]],
    public: Iterable[str] = (),
    trusted: Collection[str] = (),
    own: Iterable[str] = (),
) -> list[Leak]:
    """Return files below ``folder`` that hold a sequence of a corpus, or that cannot be read and may show
    one.

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
            found[kind] = found[kind][within(found[kind], left)]
    return [*(leak for name, found in hits.items() for leak in index.leaks(name, found)), *refused]


def _not_said(hits: Iterable[Sequences], own: Iterable[str]) -> Sequences:
    """Return the phrases and the named numbers among the hits that the study's own texts do not say; a whole
    sentence is a leak there too. The texts, of which many are generated, are read until all are found."""
    every = list(hits)
    left = {kind: distinct(found[kind] for found in every) for kind in (PHRASE, NAMED)}
    texts = iter(own)
    while any(map(len, left.values())) and (text := next(texts, None)) is not None:
        said = phrases_and_identifiers(plain_lower(leak_decoders.decoded(text)))
        left = {kind: wanted[~within(wanted, np.sort(said[kind]))] for kind, wanted in left.items()}
    return left


def _vocabulary(corpus: str, texts: Iterable[Text]) -> set[str]:
    """Return the words of a corpus, which must hold something to search for."""
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
    """Yield the readings of a file that are texts; why it must be refused is added to ``unreadable``."""
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
    """Yield a file or folder, and the folder of results or of the cell that it belongs to."""
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
