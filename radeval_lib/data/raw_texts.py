"""Every text of a data file as it stands there, whatever a loader keeps of it: the guard searches for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError

_TAG = re.compile(r"O|[BIESLU]-\S+")  # of the IOB schemes
_REPEATED = 20  # letters; a shorter text that a longer one holds may be there by chance


def of_file(path: Path, identifiers: Sequence[str] = ()) -> Iterator[str]:
    """Yield the cells of a table, the strings of JSON or JSON lines, or the lines of any other file.

    What stands in a column or under a key of ``identifiers`` comes as ``id`` and its value too. Of the notes
    of MIMIC-III only those of radiology come, which are all that the study reads.

    Raises
    ------
    FormatError
        Where the file cannot be read, so that nothing could be searched for.
    """
    if path.suffix in (".csv", ".tsv", ".gz"):
        for row in reading.read_csv(path, (), delimiter="\t" if path.suffix == ".tsv" else ","):
            if row.get("CATEGORY", "Radiology") == "Radiology":
                yield from _parts(row.values())
                yield from (f"id {row[name]}" for name in identifiers if row.get(name))
    elif path.suffix == ".json":
        yield from _strings(_json(path), identifiers)
    else:
        yield from filter(None, reading.read_text(path).split("\n"))


def _json(path: Path) -> object:
    """Return the content of a JSON file, or a list of that of its lines."""
    try:
        return reading.decode_json(reading.read_text(path), object, path.name, line=0)
    except FormatError:
        return [dict(item) for item in reading.read_objects(path)]


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
        if value:
            yield value
    elif isinstance(value, list):
        if value and all(isinstance(one, str) and not one.strip().count(" ") for one in value):
            if not all(map(_TAG.fullmatch, value)):
                yield " ".join(value)
        else:
            for one in value:
                yield from _strings(one, identifiers)
    elif isinstance(value, dict):
        for key, one in value.items():
            if not key.replace("_", "").isalpha():
                yield key
            if key in identifiers and isinstance(one, str | int):
                yield f"id {one}"
            yield from _strings(one, identifiers)
