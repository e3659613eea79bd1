"""The guard on restricted text: after a build, nothing of it may be in a file that the build left.

Records hold :class:`~radeval_lib.data.restricted.RestrictedText`, which refuses to be shown. This module is
the second line: it looks for sequences of every restricted corpus in all readings
(:mod:`radeval_lib.data.leak_readings`) of all files and of their names. It guards against accidents: whoever
means harm has the data already. So it reads the files that a notebook, a library or the book writes, and
refuses every other kind.

It compares (:mod:`radeval_lib.data.leak_sequences`) sequences of words; phrases of four adjoining words, if
they are rare in the corpus and are neither in a public text nor in one of the study's own; and the names of
patients, studies and days. It hashes the sequences of the files, and the corpora stream past them, so that no
corpus is stored and its size does not matter.

:data:`UNSEEN` lists what it cannot see.
"""

from __future__ import annotations

import math
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from radeval_lib import atomic, checksums, green_analysis, own_yaml
from radeval_lib.data import green_training, leak_readings, leak_sequences, reading
from radeval_lib.data.errors import DataError, FormatError
from radeval_lib.data.leak_sequences import Hashes, distinct, kinds, of_text, within, words
from radeval_lib.data.manifests import find, load_manifest, names, restricted_in
from radeval_lib.data.readers import load
from radeval_lib.data.restricted import Text, reveal
from radeval_lib.errors import listed
from radeval_lib.paths import PAPERS

_UNITS = {"cells": 4, "results": 3}  # depth of a build's folders that are whole or nothing
# Folders of a rendered book that hold the theme's own files, and fonts of formulas.
_THEME = {"_static", "mathjax"}
_TAG = re.compile(r"O|[BIESLU]-\S+")  # of the IOB schemes
_REPEATED = 20  # letters; a shorter text that a longer one holds may be there by chance

UNSEEN = (
    "words in pixels; pictures other than SVG are therefore refused, and so is every file that is neither "
    "text nor an archive (gzip, zip or tar)",
    "text in a code, such as encrypted, compressed or percent-encoded within another file, with accents, "
    "blanks or signs that do not show within its words, or with letters of other scripts; text that goes on "
    "from one file or name to the next",
    "the records of Sphinx, checkpoints and caches, and the weights and vocabularies of models",
    "paraphrases; pieces of words but for those that tokenizers mark with ##, @@, ▁ or Ġ",
    "phrases of three words; and longer ones, up to seven words, of which a third text of the corpus, a "
    "public text, a source of a page or a generated report holds each part of four, or whose parts of four "
    "end with a word such as *the*, or have two words of one or two letters; numbers, single letters and "
    f"these labels of annotations do not count as words: {', '.join(sorted(leak_sequences.LABELS))}",
    "numbers of patients and studies of four digits, and those of five to seven that do not follow the "
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
    """A file that contains text of a restricted corpus: the number of its sequences, never the text.

    ``named`` is true if its name holds them, which is then not shown. For a file that is refused because it
    cannot be read, ``corpus`` is empty and ``why`` describes it.
    """

    file: str
    corpus: str
    sequences: int
    named: bool = False
    why: str = ""

    def __str__(self) -> str:
        where = "the name of a file or folder" if self.named else self.file
        return f"{where} ({self.why or f'{self.sequences} sequences of {self.corpus}'})"


class _Part(NamedTuple):
    """A file, or the name of a file or folder, with the sequences in all its readings."""

    path: Path
    is_name: bool
    sequences: Hashes


def hits(texts: Iterable[Text], watched: Hashes) -> Hashes:
    """Return the sequences of a corpus that are in ``watched`` and as rare as their kind requires. Both are
    sorted."""
    holders: dict[int, set[int]] = defaultdict(set)  # of each sequence, texts that hold it
    for text in map(reveal, texts):
        key, sequences = hash(tuple(words(text))), leak_sequences.of_corpus(text)
        for hit in sequences[within(sequences, watched)].tolist():
            if len(holders[hit]) <= leak_sequences.RARE:
                holders[hit].add(key)
    every = np.array(sorted(holders), np.uint64)
    rare = np.array([len(holders[hit]) <= leak_sequences.RARE for hit in every.tolist()], bool)
    return every[
        rare | np.isin(kinds(every), (leak_sequences.WORDS, leak_sequences.NUMBERS, leak_sequences.NAMED))
    ]


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

    Raises
    ------
    DataError
        If a corpus has no words to search for.
    """
    if not corpora:
        return []
    vocabulary = set[str]()
    for name, texts in corpora.items():
        if not (known := {word for text in texts for word in words(reveal(text))}):
            remedy = "Fetch its files again, or remove them from the data root."
            raise DataError("its files hold no text to search for", name, remedy)
        vocabulary |= known
    parts, refused = _read_all(folder, frozenset(vocabulary), trusted)
    watched = distinct(part.sequences for part in parts)
    watched = watched[~within(watched, distinct(of_text(text, vocabulary) for text in public))]
    by_corpus = {name: hits(texts, watched) for name, texts in corpora.items()}
    allowed = _own_phrases(distinct(by_corpus.values()), own)
    leaks = []
    for name, sequences in by_corpus.items():
        wanted = sequences[~within(sequences, allowed)]
        for part in parts:
            if count := int(within(wanted, part.sequences).sum()):
                leaks.append(Leak(part.path.as_posix(), name, count, part.is_name))
    return leaks + refused


def _read_all(
    folder: Path, vocabulary: Collection[str], trusted: Collection[str]
) -> tuple[list[_Part], list[Leak]]:
    """Return every file and name below ``folder`` with its sequences, and the files that must be refused."""
    parts, refused = [], []
    by_digest: dict[str, tuple[Hashes, str]] = {}  # a build holds most pages several times
    for path in sorted(path.relative_to(folder) for path in folder.rglob("*")):
        readings, _ = leak_readings.of_text(" ".join((*path.parts, path.stem)))
        parts.append(_Part(path, True, distinct(of_text(text, vocabulary) for text in readings)))
        if not (folder / path).is_file() or leak_readings.UNREAD.search(path.as_posix()):
            continue
        if (digest := checksums.of_file(folder / path)) in trusted:
            continue
        if digest not in by_digest:
            readings, why = leak_readings.of_file((folder / path).read_bytes(), path.as_posix())
            by_digest[digest] = distinct(of_text(text, vocabulary) for text in readings), why
        sequences, why = by_digest[digest]
        parts.append(_Part(path, False, sequences))
        if why and not _THEME & {*path.parts}:
            refused.append(Leak(path.as_posix(), "", 0, why=why))
    return parts, refused


def _own_phrases(hits: Hashes, own: Iterable[str]) -> Hashes:
    """Return the phrases and the named numbers among the hits that the study's own texts contain; a whole
    sentence is a leak there too. The texts, of which many are generated, are read until all are found."""
    wanted = missing = hits[np.isin(kinds(hits), (leak_sequences.PHRASE, leak_sequences.NAMED))]
    texts = iter(own)
    while len(missing) and (text := next(texts, None)) is not None:
        contained = distinct([leak_sequences.phrases_and_identifiers(leak_readings.unescaped(text).lower())])
        missing = missing[~within(missing, contained)]
    return wanted[~within(wanted, missing)]


def refuse(folder: Path, leaks: Sequence[Leak]) -> None:
    """Remove the files with leaks from a build, and raise a LeakError that names them; without leaks, do
    nothing.

    A rendered book is removed as a whole, because its pages, search index and Sphinx's records repeat one
    another; so is the folder of a result or a job, which is whole or absent.
    """
    if not leaks:
        return
    doomed = [folder / leak.file for leak in leaks] + list(folder.rglob("_build"))
    for parts in (Path(leak.file).parts for leak in leaks):
        if len(parts) > (depth := _UNITS.get(parts[0], len(parts))):
            doomed.append(folder.joinpath(*parts[:depth]))
    for path in doomed:
        with suppress(OSError):  # what stays is named
            atomic.discard(path)
        with suppress(OSError):  # until one folder is not empty
            for above in path.relative_to(folder).parents[:-1]:
                (folder / above).rmdir()
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


@dataclass(frozen=True)
class RestrictedTexts:
    """The texts and identifiers in the files of a restricted data set, read again in each iteration.

    A loader keeps less, such as only the reports that have both sections.
    """

    name: str
    root: Path

    def __iter__(self) -> Iterator[str]:
        manifest = load_manifest(self.name)
        for file in manifest.files:
            path = find(self.name, self.root, file.path)
            if path is None or not file.holds_reports:
                continue
            for text in of_file(path, manifest.identifiers):
                # Each of GREEN's training pairs repeats a layout that its authors published.
                bare = self.name == green_training.NAME
                yield from green_analysis.without_layout(text) if bare else [text]


def restricted_texts(root: Path) -> dict[str, RestrictedTexts]:
    """Return the texts of the restricted data sets in a data root, for the guard."""
    return {name: RestrictedTexts(name, root) for name in restricted_in(root)}


def public_texts(root: Path | None) -> Iterator[str]:
    """Yield texts that are never a leak: those that papers print, and the text fields of a data root's open
    sets. Lists of words or findings are skipped."""
    for path in sorted(PAPERS.rglob("*.csv")):
        yield path.read_text(encoding="utf-8")
    for path in sorted(PAPERS.rglob("*.yml")):
        content = own_yaml.read(path)
        del content["exhibits"]  # what we say of the paper
        yield yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=math.inf)
    for name in names() if root else ():
        if root and not load_manifest(name).restricted:
            for record in load(name, root):
                yield from (value for value in vars(record).values() if isinstance(value, str))


def of_file(path: Path, identifiers: Sequence[str] = ()) -> Iterator[str]:
    """Yield the cells of a table, the strings in JSON or JSON lines, or the lines of any other file.

    Values in a column or under a key of ``identifiers`` also come as ``id`` and the value. Of the notes of
    MIMIC-III only those of radiology come, which are all that the study reads.

    Raises
    ------
    FormatError
        If the file cannot be read, so that nothing could be searched for.
    """
    if path.suffix in (".csv", ".tsv", ".gz"):
        for row in reading.read_csv(path, (), delimiter="\t" if path.suffix == ".tsv" else ","):
            if row.get("CATEGORY", "Radiology") == "Radiology":
                # A text that another cell of its row repeats would not seem rare.
                cells = list(dict.fromkeys(filter(None, map(str.strip, row.values()))))
                for cell in cells:
                    if len(cell) < _REPEATED or not any(cell in other != cell for other in cells):
                        yield cell
                yield from (f"id {row[name]}" for name in identifiers if row.get(name))
    elif path.suffix == ".json":
        try:
            content = reading.decode_json(reading.read_text(path), object, path.name)
        except FormatError:
            content = [dict(item) for item in reading.read_objects(path)]
        yield from _strings(content, identifiers)
    else:
        yield from filter(None, reading.read_text(path).split("\n"))


def _strings(value: Any, identifiers: Sequence[str]) -> Iterator[str]:
    """Yield the strings of a JSON value, and its keys but for plain names; a list of words is one text, a
    list of IOB tags none: models that learned from them list the same labels."""
    if isinstance(value, str):
        yield from filter(None, [value])
    elif isinstance(value, list):
        if value and all(isinstance(word, str) and not word.strip().count(" ") for word in value):
            if not all(map(_TAG.fullmatch, value)):
                yield " ".join(value)
        else:
            for entry in value:
                yield from _strings(entry, identifiers)
    elif isinstance(value, dict):
        for key, entry in value.items():
            if not key.replace("_", "").isalpha():
                yield key
            if key in identifiers and isinstance(entry, str | int):
                yield f"id {entry}"
            yield from _strings(entry, identifiers)
