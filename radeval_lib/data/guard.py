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

:data:`BLIND_SPOTS` lists what the guard cannot find.
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
from radeval_lib.data.leak_sequences import Hashes, get_kinds, hash_text, is_in, merge, split_words
from radeval_lib.data.manifests import find, list_restricted, load_manifest, names
from radeval_lib.data.readers import load
from radeval_lib.data.restricted import Text, reveal
from radeval_lib.errors import list_names
from radeval_lib.paths import PAPERS

# Depth, in path parts, of the folders of a job or result, which are removed as a whole.
_FOLDER_DEPTHS = {"jobs": 4, "results": 3}
# Folders of a rendered book with the theme's files and with fonts for formulas.
_THEME_FOLDERS = {"_static", "mathjax"}
_IOB_TAG = re.compile(r"O|[BIESLU]-\S+")
_MIN_REPEATED = 20  # letters; a shorter text may occur in a longer one by chance

# What may get past the guard; the book and every release report list it.
BLIND_SPOTS = (
    "words in pixels; pictures other than SVG are therefore refused, and so is every file that is neither "
    "text nor an archive (gzip, zip or tar)",
    "encoded text: encrypted, compressed or percent-encoded within another file, with accents, spaces or "
    "invisible characters within its words, or with letters of other scripts; text that continues from one "
    "file or name to the next",
    "Sphinx's records, checkpoints and caches, and the weights and vocabularies of models",
    "paraphrases; word pieces, except those that tokenizers mark with ##, @@, ▁ or Ġ",
    "phrases of three words; phrases of up to seven words in which every run of four occurs in a third text "
    "of the corpus, a public text, a page's source or a generated report, ends with a word such as *the*, or "
    "has two words of one or two letters; numbers, single letters and these annotation labels do not count "
    f"as words: {', '.join(sorted(leak_sequences.LABELS))}",
    "patient and study numbers of four digits, those of five to seven digits that do not follow the name of "
    "an identifier, and longer ones that are rounded, contain spaces or are directly followed by letters",
    "dates before the year 2100, which anyone may name, and dates in any other form than year, month and day "
    "in digits",
    "notes of MIMIC-III that are not radiology reports: the study does not read them",
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
    in_name : whether the sequences are in the file's name; if so, the name is not shown.
    reason : why the file cannot be read; empty if it can.
    """

    file: str
    corpus: str
    sequences: int
    in_name: bool = False
    reason: str = ""

    def __str__(self) -> str:
        where = "the name of a file or folder" if self.in_name else self.file
        return f"{where} ({self.reason or f'{self.sequences} sequences of {self.corpus}'})"


class _SearchedText(NamedTuple):
    """A file's content, or the name of a file or folder, with the hashed sequences in all its readings."""

    path: Path
    is_name: bool
    sequences: Hashes


def find_sequences(texts: Iterable[Text], file_sequences: Hashes) -> Hashes:
    """Return the sequences of a corpus's ``texts`` that are in ``file_sequences`` and rare enough.

    A sequence is rare if at most two texts of the corpus contain it; texts with the same words count once.
    Sequences of eight words, and numbers, are returned even if they are frequent. ``file_sequences`` and
    the result are sorted.
    """
    text_ids: dict[int, set[int]] = defaultdict(set)  # by sequence, up to the first that makes it frequent
    for text in map(reveal, texts):
        text_id, sequences = hash(tuple(split_words(text))), leak_sequences.hash_corpus_text(text)
        for sequence in sequences[is_in(sequences, file_sequences)].tolist():
            if len(text_ids[sequence]) <= leak_sequences.MAX_TEXTS:
                text_ids[sequence].add(text_id)
    hashes = np.array(sorted(text_ids), np.uint64)
    rare = np.array([len(text_ids[item]) <= leak_sequences.MAX_TEXTS for item in hashes.tolist()], bool)
    also_frequent = (leak_sequences.LEAK_RUN, leak_sequences.NUMBER, leak_sequences.NAMED_NUMBER)
    return hashes[rare | np.isin(get_kinds(hashes), also_frequent)]


def scan(
    folder: Path,
    corpora: Mapping[str, Iterable[Text]],
    public: Iterable[str] = (),
    trusted: Collection[str] = (),
    own_texts: Iterable[str] = (),
) -> list[Leak]:
    """Return the files below ``folder`` that contain a sequence of a restricted corpus or cannot be searched.

    Parameters
    ----------
    corpora : a mapping from each restricted data set to its texts, which are read twice.
    public : texts whose sequences are never a leak.
    trusted : SHA-256 of each file that came with the project or a package and is not searched.
    own_texts : the study's own texts (sources of pages, generated reports). Their phrases, and their numbers
        of five to seven digits that follow the name of an identifier, are not leaks.

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
            remedy = "Replace the files, or remove them from the data root."
            raise DataError("the files have no words that the guard could search for", name, remedy)
        vocabulary |= corpus_words
    searched, refused = _read_build(folder, frozenset(vocabulary), trusted)
    file_sequences = merge(item.sequences for item in searched)
    public_sequences = merge(hash_text(text, vocabulary) for text in public)
    file_sequences = file_sequences[~is_in(file_sequences, public_sequences)]
    by_corpus = {name: find_sequences(texts, file_sequences) for name, texts in corpora.items()}
    own_phrases = _find_own_phrases(merge(by_corpus.values()), own_texts)
    leaks = []
    for name, sequences in by_corpus.items():
        leaked_sequences = sequences[~is_in(sequences, own_phrases)]
        for item in searched:
            if count := int(is_in(leaked_sequences, item.sequences).sum()):
                leaks.append(Leak(item.path.as_posix(), name, count, item.is_name))
    return leaks + refused


def _read_build(
    folder: Path, vocabulary: Collection[str], trusted: Collection[str]
) -> tuple[list[_SearchedText], list[Leak]]:
    """Return (searched, refused) for all files and names below ``folder``.

    ``searched`` has the hashed sequences of each, ``refused`` the files that cannot be searched. Files with a
    SHA-256 in ``trusted`` are skipped.
    """
    searched, refused = [], []
    by_digest: dict[str, tuple[Hashes, str]] = {}  # A build contains most pages more than once.
    for path in sorted(path.relative_to(folder) for path in folder.rglob("*")):
        readings, _ = leak_readings.read_text(" ".join((*path.parts, path.stem)))
        sequences = merge(hash_text(text, vocabulary) for text in readings)
        searched.append(_SearchedText(path, True, sequences))
        if not (folder / path).is_file() or leak_readings.UNREAD.search(path.as_posix()):
            continue
        if (digest := checksums.of_file(folder / path)) in trusted:
            continue
        if digest not in by_digest:
            readings, reason = leak_readings.read_file((folder / path).read_bytes(), path.as_posix())
            by_digest[digest] = merge(hash_text(text, vocabulary) for text in readings), reason
        sequences, reason = by_digest[digest]
        searched.append(_SearchedText(path, False, sequences))
        if reason and not _THEME_FOLDERS & {*path.parts}:
            refused.append(Leak(path.as_posix(), "", 0, reason=reason))
    return searched, refused


def _find_own_phrases(hits: Hashes, own_texts: Iterable[str]) -> Hashes:
    """Return the phrases and named numbers among ``hits`` that the study's ``own_texts`` contain.

    Longer sequences are not returned, because a whole sentence of a corpus is a leak in these texts, too.
    The texts, many of which are generated, are read only until all phrases are found.
    """
    phrases = missing = hits[np.isin(get_kinds(hits), (leak_sequences.PHRASE, leak_sequences.NAMED_NUMBER))]
    texts = iter(own_texts)
    while len(missing) and (text := next(texts, None)) is not None:
        contained = merge([leak_sequences.hash_phrases_and_ids(leak_readings.unescape(text).lower())])
        missing = missing[~is_in(missing, contained)]
    return phrases[~is_in(phrases, missing)]


def remove_leaks(folder: Path, leaks: Sequence[Leak]) -> None:
    """Remove files with leaks from a build, and raise a LeakError that names them if there are any.

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
            for parent in path.relative_to(folder).parents[:-1]:
                (folder / parent).rmdir()
    hidden_names = {leak.file for leak in leaks if leak.in_name}  # Such a name may itself be restricted text.
    messages = dict.fromkeys(str(leak) for leak in leaks if leak.in_name or leak.file not in hidden_names)
    fault = "restricted text in" if any(leak.corpus for leak in leaks) else "cannot search"
    removed = "These files and the rendered book were removed from the build; source files were kept."
    if remaining := sum(map(os.path.lexists, to_remove)):
        removed = f"{remaining} files or folders could NOT be removed, so delete the build folder."
    raise LeakError(
        f"{fault} {list_names(messages, 900, 150)}",
        remedy=f"{removed} Show numbers instead of text, draw figures as SVG, and repeat the build.",
    )


@dataclass(frozen=True)
class RestrictedTexts:
    """The texts and identifiers in the files of a restricted data set; each iteration reads the files.

    ``name`` is the name of the set, ``root`` the data root. The set's loader is not used, because it may skip
    texts, such as reports that lack a section.
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
                # Each of GREEN's pairs repeats a published layout, which is no leak.
                has_layout = self.name == green_training.NAME
                yield from green_analysis.split_at_layout(text) if has_layout else [text]


def list_restricted_texts(root: Path) -> dict[str, RestrictedTexts]:
    """Return the texts of each data set in a data root that may not be redistributed, keyed by name."""
    return {name: RestrictedTexts(name, root) for name in list_restricted(root)}


def read_public_texts(root: Path | None) -> Iterator[str]:
    """Yield texts that are never a leak: those that papers print, and those of unrestricted data sets.

    The data sets are those in ``root``; fields that are lists of words or findings are skipped.
    """
    for path in sorted(PAPERS.rglob("*.csv")):
        yield path.read_text(encoding="utf-8")
    for path in sorted(PAPERS.rglob("*.yml")):
        content = own_yaml.read(path)
        del content["exhibits"]  # written by this study, not printed in the paper
        yield yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=math.inf)
    for name in names() if root else ():
        if root and not load_manifest(name).restricted:
            for record in load(name, root):
                yield from (value for value in vars(record).values() if isinstance(value, str))


def read_data_texts(path: Path, identifiers: Sequence[str] = ()) -> Iterator[str]:
    """Yield the texts in a data file: cells of a table, strings in JSON or JSON lines, or other files' lines.

    Values in the columns or under the keys in ``identifiers`` are also yielded as ``id <value>``. Of
    MIMIC-III's notes, only radiology reports are yielded, because the study reads no others.

    Raises
    ------
    FormatError
        If the file cannot be read.
    """
    if path.suffix in (".csv", ".tsv", ".gz"):
        for row in reading.read_csv(path, (), delimiter="\t" if path.suffix == ".tsv" else ","):
            if row.get("CATEGORY", "Radiology") == "Radiology":
                # A text that another cell of the row contains would be counted twice, and seem less rare.
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

    A list of words is yielded as one text. Lists of IOB tags are skipped, because every model trained on
    them contains the labels.
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
