"""The texts of data sets for the guard: those that it watches, and those that are public."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from radeval_lib import green_analysis, own_yaml
from radeval_lib.data import green_training, reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.manifests import find, load_manifest, names, restricted_in
from radeval_lib.data.readers import load
from radeval_lib.paths import PAPERS

_TAG = re.compile(r"O|[BIESLU]-\S+")  # of the IOB schemes
_REPEATED = 20  # letters; a shorter text that a longer one holds may be there by chance


@dataclass(frozen=True)
class RestrictedTexts:
    """The texts and identifiers of a restricted data set, as its files have them, streamed each time that one
    goes through them: a loader keeps less, such as only the reports that have both sections."""

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
    """Yield texts that are never a leak: what papers print, and texts of a data root's open sets that have
    their own field. Lists of words or findings are skipped."""
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
                yield from _parts(row.values())
                yield from (f"id {row[name]}" for name in identifiers if row.get(name))
    elif path.suffix == ".json":
        try:
            content = reading.decode_json(reading.read_text(path), object, path.name)
        except FormatError:
            content = [dict(item) for item in reading.read_objects(path)]
        yield from _strings(content, identifiers)
    else:
        yield from filter(None, reading.read_text(path).split("\n"))


def _parts(cells: Iterable[str]) -> Iterator[str]:
    """Yield the cells of a row; of one that holds another only the rest, because a text that a row repeats
    would not seem rare."""
    before: list[str] = []
    for cell in sorted(filter(None, map(str.strip, cells)), key=len):
        rest = cell
        for part in before:
            rest = rest.replace(part, " . ")
        if len(cell) >= _REPEATED:
            before.append(cell)
        if rest.strip(" ."):
            yield rest


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
