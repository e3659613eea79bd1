"""Strict reading of tables and JSON: every error names the file, the row and the column.

:func:`radeval_lib.data.manifests.find` has compared a file with the size and SHA-256 of its manifest before a
loader reads it. No error repeats what a file holds, because it may be text that must not be passed on,
wherever it occurs: a report may be in the header, in a key or in the column of a number.
"""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from radeval_lib.data.errors import FormatError
from radeval_lib.errors import complaint, listed
from radeval_lib.text_format import joined

T = TypeVar("T")
Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

# Clinical notes are single CSV fields that may pass the 128 KiB that the csv module allows by default.
csv.field_size_limit(2**27)

CUT_SHORT = "Get the file again: it may be cut short."
RIGHT_FILE = "Correct it, or check that the file is the one that the manifest describes."
SAVE_AS_UTF8 = "Save the file as UTF-8."
_adapter = lru_cache(TypeAdapter)


def value(given: Any, kind: Any, name: str, where: str) -> Any:
    """Return ``given`` validated as ``kind``. An error shows ``name``, never the value."""
    try:
        return _adapter(kind).validate_python(given)
    except ValidationError as error:
        raise FormatError(f"{name}: {complaint(error)}", where, RIGHT_FILE) from None


class Entry(dict[str, Any]):
    """A row of a table, or an object of a JSON file, with its position.

    ``where`` names the file and the row or object in errors; ``at`` is the number of the row or object, from
    1, or in JSON lines the number of the line.
    """

    def __init__(self, content: Any, where: str, at: int = 0) -> None:
        if not isinstance(content, dict):
            raise FormatError(f"must be an object, not {type(content).__name__}", where, RIGHT_FILE)
        super().__init__(content)
        self.where, self.at = where, at

    def take(self, key: str, kind: Any) -> Any:
        """Return the value of the required ``key``, validated as ``kind`` by pydantic."""
        if key not in self:
            raise FormatError(f"missing key {key!r}; {len(self)} others are there", self.where, RIGHT_FILE)
        return value(self[key], kind, key, self.where)

    def inner(self, key: str) -> Entry:
        """Return the object under ``key``."""
        return Entry(self.take(key, dict), self.where)

    def text(self, key: str) -> str:
        """Return the text under ``key`` without surrounding blanks."""
        text: str = self.take(key, str).strip()
        return text


def read_text(path: Path) -> str:
    """Return the whole file as UTF-8 text (a leading byte-order mark is dropped)."""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError("not UTF-8 text", f"{path.name}, line {line}", SAVE_AS_UTF8) from None
    if not text.strip():
        raise FormatError("file is empty", path.name, CUT_SHORT)
    return text


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file, each without surrounding blanks."""
    return [line.strip() for line in read_text(path).removesuffix("\n").split("\n")]


def read_csv(path: Path, columns: Sequence[str], *, delimiter: str = ",") -> Iterator[Entry]:
    """Yield the rows of a CSV file with a header. Memory use does not grow with the file.

    ``columns`` must each occur once. If others share a name, a dot and the column's number, from 0, are
    appended to all but the first. In tab-separated values, a quotation mark is a character like others.
    """
    rows = _rows(path, delimiter)
    line, header = next(rows, (1, []))
    if not header:
        raise FormatError("file is empty", path.name, CUT_SHORT)
    if missing := [name for name in columns if name not in header]:
        raise FormatError(
            f"missing column {missing[0]!r}; the first line has {len(header)} cells",
            f"{path.name}, line {line}",
            f"The first line must name the columns, which are {listed(columns)}.",
        )
    if doubled := [name for name in columns if header.count(name) > 1]:
        where = f"{path.name}, line {line}"
        raise FormatError(f"column {doubled[0]!r} occurs twice in the header", where, "Rename one of them.")
    names = [name if header.index(name) == at else f"{name}.{at}" for at, name in enumerate(header)]
    for at, (line, cells) in enumerate(rows, start=1):
        where = f"{path.name}, line {line}"
        if len(cells) != len(names):
            raise FormatError(f"{len(cells)} cells instead of {len(names)}", where, CUT_SHORT)
        yield Entry(dict(zip(names, cells, strict=True)), where, at)


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of each row that is not blank; unreadable content becomes a FormatError."""
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as stream:
        lines = (line.decode("utf-8" if number else "utf-8-sig") for number, line in enumerate(stream))
        rows = csv.reader(lines, strict=True, delimiter=delimiter, quoting=quoting)
        begin = 1
        try:
            for cells in rows:
                if cells:
                    yield begin, cells
                begin = rows.line_num + 1
        except csv.Error as error:
            raise FormatError(f"not a CSV row ({error})", f"{path.name}, line {begin}", CUT_SHORT) from None
        except UnicodeDecodeError:
            where = f"{path.name}, line {rows.line_num + 1}"
            raise FormatError("not UTF-8 text", where, SAVE_AS_UTF8) from None
        except (EOFError, OSError, zlib.error) as error:
            raise FormatError(f"not readable ({error})", f"{path.name}, line {begin}", CUT_SHORT) from None


def decode_json(text: str, kind: type[T], where: str) -> T:
    """Return the JSON content of ``text``, which must be of type ``kind``; ``where`` names it in errors."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON ({error})", where, CUT_SHORT) from None
    if not isinstance(content, kind):
        problem = f"must be a JSON {kind.__name__}, not {type(content).__name__}"
        raise FormatError(problem, where, RIGHT_FILE)
    return content


def read_json(path: Path, kind: type[T]) -> T:
    """Return the JSON content of a file, which must be of type ``kind`` (list or dict)."""
    return decode_json(read_text(path), kind, path.name)


def read_objects(path: Path) -> Iterator[Entry]:
    """Yield the objects of a JSON list, with their number from 1, or of JSON lines, with their line."""
    text = read_text(path)
    items: Iterable[tuple[int, Any]]
    if text.lstrip().startswith("["):
        items = enumerate(decode_json(text, list, path.name), start=1)
    else:
        lines = enumerate(text.split("\n"), start=1)
        items = (
            (at, decode_json(line, dict, f"{path.name}, line {at}")) for at, line in lines if line.strip()
        )
    for at, item in items:
        yield Entry(item, f"{path.name}, record {at}", at)


def distinct(entries: Iterable[Entry], *keys: str) -> Iterator[Entry]:
    """Yield the entries; raise a FormatError for one that has the values of an earlier one under all
    ``keys``."""
    earlier = set()
    for entry in entries:
        values = tuple(str(entry.get(key)) for key in keys)
        if values in earlier:
            problem = f"an earlier row has the same {joined(keys)}"
            raise FormatError(problem, entry.where, "Remove one of the two.")
        earlier.add(values)
        yield entry


def records(
    entries: Iterable[Entry],
    parse: Callable[[Entry], T | list[T]],
    key: Callable[[T], Any] = attrgetter("id"),
    name: str = "id",
) -> list[T]:
    """Return the records that ``parse`` makes of the entries: one, or a list, of each.

    No two records may share ``key``, which errors call ``name``. A ValueError of ``parse`` becomes a
    :class:`FormatError` that names the entry.
    """
    by_key: dict[Any, tuple[T, str]] = {}
    for entry in entries:
        try:
            made = parse(entry)
        except ValueError as error:
            problem = complaint(error) if isinstance(error, ValidationError) else str(error)
            raise FormatError(problem, entry.where, RIGHT_FILE) from None
        for record in made if isinstance(made, list) else [made]:
            first, earlier = by_key.setdefault(key(record), (record, entry.where))
            if first is not record:
                raise FormatError(f"the {name} repeats that of {earlier}", entry.where, "Remove one of them.")
    return [record for record, _ in by_key.values()]
