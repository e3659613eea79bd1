"""The guard on restricted text: after a build, nothing of it may be in a file that the build left.

Records carry the mark of :class:`~radeval_lib.data.restricted.RestrictedText`, which refuses to be shown.
This module is the second line: it looks for sequences of every restricted corpus in all readings
(:mod:`radeval_lib.data.leak_readings`) of all files and of their names. It is there for accidents: whoever
means harm has the data already. So it reads what a notebook, a library or the book writes, and refuses every
other kind of file.

What is compared (:mod:`radeval_lib.data.leak_sequences`) are sequences of words and of letters; phrases of
four adjoining words, if they are rare in the corpus and are neither in a public text nor in what the
study wrote itself; and what names a patient, a study or a day. The files are indexed by hashes of their
sequences and the corpora stream past them, so that no corpus is stored and its size does not matter.

What it cannot see is listed in :data:`UNSEEN`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from radeval_lib import atomic, checksums
from radeval_lib.data import leak_readings
from radeval_lib.data.errors import DataError
from radeval_lib.data.leak_sequences import (
    LABELS,
    NAMED,
    NUMBERS,
    PHRASE,
    RARE,
    WORDS,
    Hashes,
    distinct,
    kinds,
    of_corpus,
    of_text,
    phrases_and_identifiers,
    within,
    words,
)
from radeval_lib.data.restricted import Text, reveal
from radeval_lib.errors import listed

_UNITS = {"cells": 4, "results": 3}  # depth of a build's folders that are whole or nothing
# Folders of a rendered book that hold the theme's own files, and fonts of formulas.
_THEME = {"_static", "mathjax"}

UNSEEN = (
    "words in pixels; pictures other than SVG are therefore refused, and so is every file that is neither "
    "text nor an archive (gzip, zip or tar)",
    "text in a code, such as encrypted, compressed or percent-encoded within another file, with accents, "
    "blanks or signs that do not show within its words, or with letters of other scripts; text that goes on "
    "from one file or name to the next",
    "the records of Sphinx, checkpoints and caches, and the weights and vocabularies of models",
    "paraphrases",
    "phrases of three words; and longer ones, up to seven words, of which a third text of the corpus, a "
    "public text, a source of a page or a generated report holds each part of four, or whose parts of four "
    "end with a word such as *the*, or have two words of one or two letters; numbers, single letters and "
    f"these labels of annotations do not count as words: {', '.join(sorted(LABELS))}",
    "numbers of patients and studies of four digits, and those of five to seven that do not stand behind the "
    "name of an identifier; longer ones with letters directly behind them, with spaces within or rounded",
    "days before the year 2100, which anyone may name, and days in any other form than year, month and day "
    "in figures",
    "of the notes of MIMIC-III, those that are not of radiology: the study does not read them",
)
"""What may get past the guard; the book and every release report list it."""


class LeakError(DataError):
    """A build's output contains text of a restricted corpus."""

    longest = (1000, 80, 300)


@dataclass(frozen=True)
class Leak:
    """A file that contains text of a restricted corpus: how many of its sequences, never the text.

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


def _hashes(texts: Iterable[str], vocabulary: frozenset[str]) -> tuple[Hashes, str]:
    """Return the sequences in the readings of a file, and why it must be refused, if it must."""
    each: dict[str, Hashes] = {}
    why = ""
    try:
        for text in texts:
            if text not in each:
                each[text] = of_text(text, vocabulary)
    except leak_readings.RefusedError as error:
        why = str(error)
    return distinct(each.values()), why


def hits(texts: Iterable[Text], watched: Hashes) -> Hashes:
    """Return the sequences of a corpus that are in ``watched`` and as rare as their kind requires. Both are
    sorted."""
    holders: dict[int, set[int]] = defaultdict(set)
    for text in map(reveal, texts):
        key, sequences = hash(tuple(words(text))), of_corpus(text)
        for hit in sequences[within(sequences, watched)].tolist():
            if len(holders[hit]) <= RARE:
                holders[hit].add(key)
    every = np.array(sorted(holders), np.uint64)
    rare = np.array([len(holders[hit]) <= RARE for hit in every.tolist()], bool)
    return every[rare | np.isin(kinds(every), (WORDS, NUMBERS, NAMED))]


def scan(
    folder: Path,
    corpora: Mapping[str, Iterable[Text]],
    public: Iterable[str] = (),
    trusted: Collection[str] = (),
    own: Iterable[str] = (),
) -> list[Leak]:
    """Return files below ``folder`` that contain a sequence of a corpus, or that cannot be read and may
    contain one.

    A file whose SHA-256 is ``trusted`` is not searched: it came with the project or a package. Phrases of
    ``public`` texts are no leak, nor are short ones of the study's ``own``: sources of its pages, and reports
    that it generates.
    """
    if not corpora:
        return []
    vocabulary = frozenset[str]().union(*(_vocabulary(name, texts) for name, texts in corpora.items()))
    every: list[tuple[Path, bool, Hashes]] = []  # each file or folder, whether it is its name, sequences
    refused = []
    by_digest: dict[str, tuple[Hashes, str]] = {}  # a build holds most pages several times
    paths = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    for path in paths:
        if not (folder / path).is_file() or (digest := checksums.of_file(folder / path)) in trusted:
            continue
        if digest not in by_digest:
            texts = leak_readings.of_file((folder / path).read_bytes(), path.as_posix())
            by_digest[digest] = _hashes(texts, vocabulary)
        sequences, why = by_digest[digest]
        every.append((path, False, sequences))
        if why and not _THEME & {*path.parts}:
            refused.append(Leak(path.as_posix(), "", 0, why=why))
    for path in paths:
        texts = leak_readings.of_text(" ".join((*path.parts, path.stem)))
        every.append((path, True, _hashes(texts, vocabulary)[0]))
    watched = distinct(sequences for *_, sequences in every)
    watched = watched[~within(watched, distinct(of_text(text, vocabulary) for text in public))]
    by_corpus = {name: hits(texts, watched) for name, texts in corpora.items()}
    allowed = _said(distinct(by_corpus.values()), own)
    leaks = []
    for name, sequences in by_corpus.items():
        wanted = sequences[~within(sequences, allowed)]
        for path, named, of_file in every:
            if count := int(within(wanted, of_file).sum()):
                leaks.append(Leak(path.as_posix(), name, count, named))
    return leaks + refused


def _said(hits: Hashes, own: Iterable[str]) -> Hashes:
    """Return the phrases and the named numbers among the hits that the study's own texts say; a whole
    sentence is a leak there too. The texts, of which many are generated, are read until all are found."""
    left = wanted = hits[np.isin(kinds(hits), (PHRASE, NAMED))]
    texts = iter(own)
    while len(left) and (text := next(texts, None)) is not None:
        left = left[~within(left, distinct([phrases_and_identifiers(leak_readings.unescaped(text).lower())]))]
    return wanted[~within(wanted, left)]


def _vocabulary(corpus: str, texts: Iterable[Text]) -> set[str]:
    """Return the words of a corpus, which must hold something to search for."""
    if not any(True for _ in texts):
        raise DataError(
            "its files are empty, so there is no text to search for",
            corpus,
            "Fetch them again, or remove them from the data root.",
        )
    return {word for text in texts for word in words(reveal(text))}


def scan_build(
    folder: Path,
    corpora: Mapping[str, Iterable[Text]],
    public: Iterable[str] = (),
    trusted: Collection[str] = (),
    own: Iterable[str] = (),
) -> None:
    """Raise an error if a file of a build contains text of a restricted corpus, and remove it.

    Of a rendered book nothing stays, because pages, search index and Sphinx's own records repeat one another;
    nor does anything of a folder of results or of a job, which are whole or absent.
    """
    leaks = scan(folder, corpora, public, trusted, own)
    if not leaks:
        return
    doomed = [folder / leak.file for leak in leaks] + list(folder.rglob("_build"))
    for parts in (Path(leak.file).parts for leak in leaks):
        if len(parts) > (depth := _UNITS.get(parts[0], len(parts))):
            doomed.append(folder.joinpath(*parts[:depth]))
    for path in doomed:
        _remove(path, folder)
    hidden = {leak.file for leak in leaks if leak.named}  # a name may reveal something, too
    messages = dict.fromkeys(str(leak) for leak in leaks if leak.named or leak.file not in hidden)
    subject = "restricted text in" if any(leak.corpus for leak in leaks) else "what cannot be searched:"
    removed = "These files of the build and the rendered book are removed, and no source."
    if stay := sum(map(os.path.lexists, doomed)):
        removed = f"{stay} of these could NOT be removed, so delete the build's folder yourself."
    raise LeakError(
        f"{subject} {listed(messages, 900, 150)}",
        remedy=f"{removed} Show numbers computed from the text, draw figures as SVG, and build again.",
    )


def _remove(path: Path, folder: Path) -> None:
    """Remove a file or folder below ``folder`` as far as the system lets us, with the folders that it leaves
    empty."""
    with suppress(OSError):  # what stays is named
        atomic.discard(path)
    with suppress(OSError):  # until one is not empty
        for above in path.relative_to(folder).parents[:-1]:
            (folder / above).rmdir()
