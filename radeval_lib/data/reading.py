"""Read tables and JSON strictly: every error names the file, the row and the column.

Before a loader reads a file, :func:`radeval_lib.data.manifests.find` has compared it with its manifest. No
error repeats a file's content, which may be restricted text wherever it occurs: a report may be in the
header, in a key or in a column of numbers.
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
from radeval_lib.errors import describe, list_names
from radeval_lib.text_format import joined

T = TypeVar("T")
Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Filled = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Flag = Literal["0", "1"]  # no, yes

# Clinical notes are single CSV fields that may pass the 128 KiB that the csv module allows by default.
csv.field_size_limit(2**27)

REPLACE_FILE = "Replace the file by a new copy: it may be damaged or cut short."
CORRECT_FILE = "Correct it, or replace the file by the one that the manifest describes."
SAVE_AS_UTF8 = "Save the file as UTF-8."
_adapter = lru_cache(TypeAdapter)


def convert_value(raw: Any, kind: Any, name: str, where: str) -> Any:
    """Return the value ``raw``, converted by pydantic to the type ``kind``.

    Raises
    ------
    FormatError
        If it does not fit the type. The error has ``name`` and ``where``, never the value.
    """
    try:
        return _adapter(kind).validate_python(raw)
    except ValidationError as error:
        raise FormatError(f"{name}: {describe(error)}", where, CORRECT_FILE) from None


class Entry(dict[str, Any]):
    """A row of a table or an object of a JSON file: a dictionary that knows its position.

    Attributes
    ----------
    where : the file and the row or object, for errors.
    at : number of the row or object, from 1; in JSON lines, the number of the line; 0 if it is not known.
    """

    def __init__(self, content: Any, where: str, at: int = 0) -> None:
        if not isinstance(content, dict):
            problem = f"must be an object (key and value), not {type(content).__name__}"
            raise FormatError(problem, where, CORRECT_FILE)
        super().__init__(content)
        self.where, self.at = where, at

    def take(self, key: str, kind: Any) -> Any:
        """Return the value under ``key``, converted to the type ``kind``; FormatError if it does not fit."""
        if key not in self:
            raise FormatError(f"missing key {key!r} among {len(self)} keys", self.where, CORRECT_FILE)
        return convert_value(self[key], kind, key, self.where)

    def inner(self, key: str) -> Entry:
        """Return the object under ``key``, as an Entry with the same position."""
        return Entry(self.take(key, dict), self.where)

    def text(self, key: str) -> str:
        """Return the text under ``key`` without surrounding white space; it may be empty."""
        text: str = self.take(key, str).strip()
        return text


def read_text(path: Path) -> str:
    """Return the content of a UTF-8 file without its byte-order mark.

    Raises
    ------
    FormatError
        If it is not UTF-8, or has nothing but white space.
    """
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError("not UTF-8 text", f"{path.name}, line {line}", SAVE_AS_UTF8) from None
    if not text.strip():
        raise FormatError("file is empty", path.name, REPLACE_FILE)
    return text


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file, each without surrounding white space; empty lines are kept."""
    return [line.strip() for line in read_text(path).removesuffix("\n").split("\n")]


def read_csv(path: Path, columns: Sequence[str], *, delimiter: str = ",") -> Iterator[Entry]:
    """Yield the rows of a CSV file, plain or gzipped, by the column names in its first line.

    The file is read row by row, so memory does not grow with it. Each of ``columns`` must occur once. If
    other columns share a name, all but the first get a dot and the column's number, from 0, after it. If
    ``delimiter`` is a tab, quotation marks have no special meaning.

    Raises
    ------
    FormatError
        If the file is empty, not UTF-8 or not CSV, a column is missing or repeated, or a row has another
        number of cells than the header.
    """
    rows = _numbered_rows(path, delimiter)
    line, header = next(rows, (1, []))
    if not header:
        raise FormatError("file is empty", path.name, REPLACE_FILE)
    if missing := [name for name in columns if name not in header]:
        raise FormatError(
            f"missing column {missing[0]!r}; the first line has {len(header)} cells",
            f"{path.name}, line {line}",
            f"Name the columns in the first line: {list_names(columns)}.",
        )
    if repeated := [name for name in columns if header.count(name) > 1]:
        where = f"{path.name}, line {line}"
        raise FormatError(f"column {repeated[0]!r} is repeated in the header", where, "Rename one of them.")
    names = [name if header.index(name) == at else f"{name}.{at}" for at, name in enumerate(header)]
    for at, (line, cells) in enumerate(rows, start=1):
        where = f"{path.name}, line {line}"
        if len(cells) != len(names):
            problem = f"{len(cells)} cells, but the header has {len(names)}"
            raise FormatError(problem, where, REPLACE_FILE)
        yield Entry(dict(zip(names, cells, strict=True)), where, at)


def _numbered_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of its first line, cells) for each row that is not blank.

    Raises
    ------
    FormatError
        If the file cannot be decompressed, decoded or split into cells.
    """
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as stream:
        lines = (line.decode("utf-8" if number else "utf-8-sig") for number, line in enumerate(stream))
        rows = csv.reader(lines, strict=True, delimiter=delimiter, quoting=quoting)
        first_line = 1
        try:
            for cells in rows:
                if cells:
                    yield first_line, cells
                first_line = rows.line_num + 1
        except csv.Error as error:
            where = f"{path.name}, line {first_line}"
            raise FormatError(f"not a CSV row ({error})", where, REPLACE_FILE) from None
        except UnicodeDecodeError:
            where = f"{path.name}, line {rows.line_num + 1}"
            raise FormatError("not UTF-8 text", where, SAVE_AS_UTF8) from None
        except (EOFError, OSError, zlib.error) as error:
            where = f"{path.name}, line {first_line}"
            raise FormatError(f"not readable ({error})", where, REPLACE_FILE) from None


def decode_json(text: str, kind: type[T], where: str) -> T:
    """Return the JSON content of ``text``.

    Raises
    ------
    FormatError
        If it is not JSON, or not of the type ``kind``; ``where`` names the file in the error.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON ({error})", where, REPLACE_FILE) from None
    if not isinstance(content, kind):
        problem = f"must be a JSON {kind.__name__}, not {type(content).__name__}"
        raise FormatError(problem, where, CORRECT_FILE)
    return content


def read_json(path: Path, kind: type[T]) -> T:
    """Return the JSON content of a UTF-8 file; a FormatError if it is not of the type ``kind``."""
    return decode_json(read_text(path), kind, path.name)


def read_objects(path: Path) -> Iterator[Entry]:
    """Yield the objects of a JSON list, numbered from 1, or of JSON lines, with the numbers of their lines.

    Raises
    ------
    FormatError
        If the file is not UTF-8 or not JSON, or an item is not an object.
    """
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


def require_distinct(entries: Iterable[Entry], *keys: str) -> Iterator[Entry]:
    """Yield the entries, and raise a FormatError if two of them have the same values under all ``keys``."""
    earlier = set()
    for entry in entries:
        values = tuple(str(entry.get(key)) for key in keys)
        if values in earlier:
            problem = f"an earlier row has the same {joined(keys)}"
            raise FormatError(problem, entry.where, "Remove one of the two.")
        earlier.add(values)
        yield entry


def parse_records(
    entries: Iterable[Entry],
    parse: Callable[[Entry], T | list[T]],
    key: Callable[[T], Any] = attrgetter("id"),
    name: str = "id",
) -> list[T]:
    """Return the records that ``parse`` makes from the entries, in order.

    ``parse`` returns one record or a list of records per entry. ``key`` returns the part of a record that no
    other may share; errors call it ``name``.

    Raises
    ------
    FormatError
        If ``parse`` raises a ValueError or two records have the same key; the error names the entry.
    """
    by_key: dict[Any, tuple[T, str]] = {}
    for entry in entries:
        try:
            parsed = parse(entry)
        except ValueError as error:
            problem = describe(error) if isinstance(error, ValidationError) else str(error)
            raise FormatError(problem, entry.where, CORRECT_FILE) from None
        for record in parsed if isinstance(parsed, list) else [parsed]:
            first, earlier = by_key.setdefault(key(record), (record, entry.where))
            if first is not record:
                raise FormatError(f"the same {name} as in {earlier}", entry.where, "Remove one of the two.")
    return [record for record, _ in by_key.values()]
