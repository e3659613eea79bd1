"""The guard on restricted text: find text of restricted corpora in the files that a build wrote.

Records hold :class:`~radeval_lib.data.restricted.RestrictedText`, which refuses to be shown. The guard is a
second protection: it searches all files of a build, and their names, for sequences of each restricted corpus.
It guards against accidents, not against intent: whoever can build has the data already. So it reads the kinds
of files that a notebook, a library or the book writes (:mod:`radeval_lib.data.leak_readings`), and refuses
every other kind.

It compares (:mod:`radeval_lib.data.leak_sequences`) sequences of words; phrases of four adjacent words that
are rare in the corpus and occur neither in a public text nor in one of the study's own texts; and identifiers
of patients and studies, and dates. It hashes the sequences of the files first and then reads the corpora text
by text, so that memory does not grow with a corpus.

:data:`UNSEEN` lists what the guard cannot find.
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
from radeval_lib.data.leak_sequences import Hashes, hash_text, is_in, kinds_of, merge, split_words
from radeval_lib.data.manifests import find, list_restricted, load_manifest, names
from radeval_lib.data.readers import load
from radeval_lib.data.restricted import Text, reveal
from radeval_lib.errors import list_names
from radeval_lib.paths import PAPERS

# Depth, in path parts, of the folders of a job or result, which are removed as a whole.
_FOLDER_DEPTHS = {"cells": 4, "results": 3}
# Folders of a rendered book that hold the theme's own files, and fonts of formulas.
_THEME = {"_static", "mathjax"}
_IOB_TAG = re.compile(r"O|[BIESLU]-\S+")
_MIN_REPEATED = 20  # letters; a shorter text may occur in a longer one by chance

# What may get past the guard; the book and every release report list it.
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


class LeakError(DataError):
    """A build with a file that contains text of a restricted corpus, or that the guard cannot read."""

    longest = (1000, 80, 300)


@dataclass(frozen=True)
class Leak:
    """A file of a build that contains text of a restricted corpus, or that the guard cannot read.

    Attributes
    ----------
    file : path below the build's folder.
    corpus : name of the data set; empty for a file that cannot be read.
    sequences : number of the corpus's sequences in the file; their text is never kept.
    named : whether the sequences are in the file's name, which is then not shown.
    why : for a file that cannot be read, the reason; else empty.
    """

    file: str
    corpus: str
    sequences: int
    named: bool = False
    why: str = ""

    def __str__(self) -> str:
        where = "the name of a file or folder" if self.named else self.file
        return f"{where} ({self.why or f'{self.sequences} sequences of {self.corpus}'})"


class _SearchedText(NamedTuple):
    """A file's content, or the name of a file or folder, with the hashed sequences in all its readings."""

    path: Path
    is_name: bool
    sequences: Hashes


def find_sequences(texts: Iterable[Text], watched: Hashes) -> Hashes:
    """Return the sequences of a corpus's ``texts`` that are in ``watched`` and rare enough for their kind.

    A sequence is rare if at most two texts of the corpus contain it; texts with the same words count once.
    Sequences of eight words, and numbers, are returned even if they are frequent. ``watched`` and the result
    are sorted.
    """
    texts_with: dict[int, set[int]] = defaultdict(set)  # by sequence; at most one more than a rare one has
    for text in map(reveal, texts):
        text_id, sequences = hash(tuple(split_words(text))), leak_sequences.hash_corpus_text(text)
        for sequence in sequences[is_in(sequences, watched)].tolist():
            if len(texts_with[sequence]) <= leak_sequences.MAX_TEXTS:
                texts_with[sequence].add(text_id)
    hashes = np.array(sorted(texts_with), np.uint64)
    rare = np.array([len(texts_with[each]) <= leak_sequences.MAX_TEXTS for each in hashes.tolist()], bool)
    also_frequent = (leak_sequences.LEAK_RUN, leak_sequences.NUMBER, leak_sequences.NAMED_NUMBER)
    return hashes[rare | np.isin(kinds_of(hashes), also_frequent)]


def scan(
    folder: Path,
    corpora: Mapping[str, Iterable[Text]],
    public: Iterable[str] = (),
    trusted: Collection[str] = (),
    own: Iterable[str] = (),
) -> list[Leak]:
    """Return the files below ``folder`` that contain a sequence of a restricted corpus or cannot be searched.

    Parameters
    ----------
    corpora : the texts of each restricted data set, by name; they are read twice.
    public : texts whose sequences are never a leak.
    trusted : SHA-256 of files that came with the project or a package, and are not searched.
    own : the study's own texts (sources of pages, generated reports), whose phrases and identifiers are no
        leak.

    Raises
    ------
    DataError
        If a corpus has no words to search for.
    """
    if not corpora:
        return []
    vocabulary = set[str]()
    for name, texts in corpora.items():
        if not (corpus_words := {word for text in texts for word in split_words(reveal(text))}):
            remedy = "Replace its files, or remove them from the data root."
            raise DataError("its files have no words that the guard could search for", name, remedy)
        vocabulary |= corpus_words
    searched, refused = _read_all(folder, frozenset(vocabulary), trusted)
    watched = merge(each.sequences for each in searched)
    watched = watched[~is_in(watched, merge(hash_text(text, vocabulary) for text in public))]
    by_corpus = {name: find_sequences(texts, watched) for name, texts in corpora.items()}
    allowed = _find_own_phrases(merge(by_corpus.values()), own)
    leaks = []
    for name, sequences in by_corpus.items():
        leaked = sequences[~is_in(sequences, allowed)]
        for each in searched:
            if count := int(is_in(leaked, each.sequences).sum()):
                leaks.append(Leak(each.path.as_posix(), name, count, each.is_name))
    return leaks + refused


def _read_all(
    folder: Path, vocabulary: Collection[str], trusted: Collection[str]
) -> tuple[list[_SearchedText], list[Leak]]:
    """Return (searched, refused): all files and names below ``folder`` with their hashed sequences, and the
    files that cannot be searched, each with the reason.

    ``trusted`` has the SHA-256 of files that are not searched.
    """
    searched, refused = [], []
    by_digest: dict[str, tuple[Hashes, str]] = {}  # A build has most pages several times.
    for path in sorted(path.relative_to(folder) for path in folder.rglob("*")):
        readings, _ = leak_readings.read_text(" ".join((*path.parts, path.stem)))
        sequences = merge(hash_text(text, vocabulary) for text in readings)
        searched.append(_SearchedText(path, True, sequences))
        if not (folder / path).is_file() or leak_readings.UNREAD.search(path.as_posix()):
            continue
        if (digest := checksums.of_file(folder / path)) in trusted:
            continue
        if digest not in by_digest:
            readings, why = leak_readings.read_file((folder / path).read_bytes(), path.as_posix())
            by_digest[digest] = merge(hash_text(text, vocabulary) for text in readings), why
        sequences, why = by_digest[digest]
        searched.append(_SearchedText(path, False, sequences))
        if why and not _THEME & {*path.parts}:
            refused.append(Leak(path.as_posix(), "", 0, why=why))
    return searched, refused


def _find_own_phrases(found: Hashes, own: Iterable[str]) -> Hashes:
    """Return the phrases and named numbers among ``found`` that the study's ``own`` texts contain.

    Longer sequences are not returned, for a whole sentence of a corpus is a leak in these texts too. The
    texts, many of which are generated, are read only until all phrases are found.
    """
    phrases = missing = found[np.isin(kinds_of(found), (leak_sequences.PHRASE, leak_sequences.NAMED_NUMBER))]
    texts = iter(own)
    while len(missing) and (text := next(texts, None)) is not None:
        contained = merge([leak_sequences.hash_phrases_and_ids(leak_readings.unescape(text).lower())])
        missing = missing[~is_in(missing, contained)]
    return phrases[~is_in(phrases, missing)]


def remove_leaks(folder: Path, leaks: Sequence[Leak]) -> None:
    """Remove files with leaks from a build and raise a LeakError that names them; without leaks, do nothing.

    A rendered book is removed as a whole, because its pages, search index and Sphinx's records repeat one
    another's text. So is the folder of a result or job, which must be complete or absent.
    """
    if not leaks:
        return
    to_remove = [folder / leak.file for leak in leaks] + list(folder.rglob("_build"))
    for parts in (Path(leak.file).parts for leak in leaks):
        if len(parts) > (depth := _FOLDER_DEPTHS.get(parts[0], len(parts))):
            to_remove.append(folder.joinpath(*parts[:depth]))
    for path in to_remove:
        with suppress(OSError):  # The message counts the paths that remain.
            atomic.discard(path)
        with suppress(OSError):  # raised by the first folder that is not empty
            for above in path.relative_to(folder).parents[:-1]:
                (folder / above).rmdir()
    hidden = {leak.file for leak in leaks if leak.named}  # Such a name may itself be restricted text.
    messages = dict.fromkeys(str(leak) for leak in leaks if leak.named or leak.file not in hidden)
    subject = "restricted text in" if any(leak.corpus for leak in leaks) else "cannot search"
    removed = "These files and the rendered book were removed from the build, but no sources."
    if remaining := sum(map(os.path.lexists, to_remove)):
        removed = f"{remaining} of these could NOT be removed, so delete the build's folder yourself."
    raise LeakError(
        f"{subject} {list_names(messages, 900, 150)}",
        remedy=f"{removed} Show numbers instead of text, draw figures as SVG, and repeat the build.",
    )


@dataclass(frozen=True)
class RestrictedTexts:
    """The texts and identifiers in the files of a restricted data set; each iteration reads the files.

    The set's loader is not used, because it may skip texts, such as reports without both sections.
    """

    name: str
    root: Path

    def __iter__(self) -> Iterator[str]:
        manifest = load_manifest(self.name)
        for file in manifest.files:
            path = find(self.name, self.root, file.path)
            if path is None or not file.holds_reports:
                continue
            for text in read_data_texts(path, manifest.identifiers):
                # Each of GREEN's training pairs repeats a layout that its authors published: no leak.
                has_layout = self.name == green_training.NAME
                yield from green_analysis.split_at_layout(text) if has_layout else [text]


def list_restricted_texts(root: Path) -> dict[str, RestrictedTexts]:
    """Return the texts of each data set in a data root that may not be redistributed, by name."""
    return {name: RestrictedTexts(name, root) for name in list_restricted(root)}


def read_public_texts(root: Path | None) -> Iterator[str]:
    """Yield texts that are never a leak: those that papers print, and text fields of a data root's open sets.

    Fields that are lists of words or findings are skipped.
    """
    for path in sorted(PAPERS.rglob("*.csv")):
        yield path.read_text(encoding="utf-8")
    for path in sorted(PAPERS.rglob("*.yml")):
        content = own_yaml.read(path)
        del content["exhibits"]  # this study's text on the paper, not the paper's own
        yield yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=math.inf)
    for name in names() if root else ():
        if root and not load_manifest(name).restricted:
            for record in load(name, root):
                yield from (value for value in vars(record).values() if isinstance(value, str))


def read_data_texts(path: Path, identifiers: Sequence[str] = ()) -> Iterator[str]:
    """Yield the texts in a data file: cells of a table, strings in JSON (lines), or lines of other files.

    Values in the columns or under the keys in ``identifiers`` are also yielded as ``id <value>``. Of
    MIMIC-III's notes, only those of radiology are yielded, because the study reads no others.

    Raises
    ------
    FormatError
        If the file cannot be read.
    """
    if path.suffix in (".csv", ".tsv", ".gz"):
        for row in reading.read_csv(path, (), delimiter="\t" if path.suffix == ".tsv" else ","):
            if row.get("CATEGORY", "Radiology") == "Radiology":
                # A text that another cell of its row contains would be counted twice, and seem less rare.
                cells = list(dict.fromkeys(filter(None, map(str.strip, row.values()))))
                for cell in cells:
                    if len(cell) < _MIN_REPEATED or not any(cell in other != cell for other in cells):
                        yield cell
                yield from (f"id {row[name]}" for name in identifiers if row.get(name))
    elif path.suffix == ".json":
        try:
            content = reading.decode_json(reading.read_text(path), object, path.name)
        except FormatError:
            content = [dict(item) for item in reading.read_objects(path)]
        yield from _walk_json(content, identifiers)
    else:
        yield from filter(None, reading.read_text(path).split("\n"))


def _walk_json(value: Any, identifiers: Sequence[str]) -> Iterator[str]:
    """Yield the strings in a JSON value, and its keys that are not plain names.

    A list of words is yielded as one text. Lists of IOB tags are skipped: the labels are in every model that
    was trained on them.
    """
    if isinstance(value, str):
        yield from filter(None, [value])
    elif isinstance(value, list):
        if value and all(isinstance(word, str) and not word.strip().count(" ") for word in value):
            if not all(map(_IOB_TAG.fullmatch, value)):
                yield " ".join(value)
        else:
            for entry in value:
                yield from _walk_json(entry, identifiers)
    elif isinstance(value, dict):
        for key, entry in value.items():
            if not key.replace("_", "").isalpha():
                yield key
            if key in identifiers and isinstance(entry, str | int):
                yield f"id {entry}"
            yield from _walk_json(entry, identifiers)
