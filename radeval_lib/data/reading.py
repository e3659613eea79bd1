"""Read tables and JSON strictly: every error names the file and, if known, the row and the column or key.

Before a loader reads a file, :func:`radeval_lib.data.manifests.find` has compared it with its manifest. No
error repeats a file's content, because any part of it may be restricted text: even a header, a key or a
column of numbers may contain a report.
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

# A clinical note is one CSV field, which may exceed the csv module's default limit of 128 KiB.
csv.field_size_limit(2**27)

REPLACE_FILE = "Correct the file, which may be damaged or truncated, or replace it with a new copy."
CORRECT_FILE = "Correct the file, or replace it with the one that the manifest describes."
SAVE_AS_UTF8 = "Save the file as UTF-8."
_adapter = lru_cache(TypeAdapter)


def convert_value(value: Any, kind: Any, name: str, where: str) -> Any:
    """Return ``value``, converted by pydantic to the type ``kind``.

    Raises
    ------
    FormatError
        If the value does not fit the type. The error shows ``name`` and ``where``, never the value.
    """
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        raise FormatError(f"{name}: {describe(error)}", where, CORRECT_FILE) from None


class Entry(dict[str, Any]):
    """A row of a table or an object of a JSON file, with its position.

    Attributes
    ----------
    where : name of the file and number of the row or object, for error messages.
    number : number of the row or object, from 1; in JSON lines, the number of the line; 0 if unknown.

    Raises
    ------
    FormatError
        If the content is not a dictionary.
    """

    def __init__(self, content: Any, where: str, number: int = 0) -> None:
        if not isinstance(content, dict):
            problem = f"must be a JSON object, not {type(content).__name__}"
            raise FormatError(problem, where, CORRECT_FILE)
        super().__init__(content)
        self.where, self.number = where, number

    def take(self, key: str, kind: Any) -> Any:
        """Return the value under ``key``, converted to the type ``kind``.

        Raises
        ------
        FormatError
            If the key is missing, or the value does not fit the type.
        """
        if key not in self:
            raise FormatError(f"no key {key!r} among the {len(self)} keys", self.where, CORRECT_FILE)
        return convert_value(self[key], kind, key, self.where)

    def take_entry(self, key: str) -> Entry:
        """Return the object under ``key``, as an Entry with the same position.

        Raises
        ------
        FormatError
            If the key is missing, or the value is not an object.
        """
        return Entry(self.take(key, dict), self.where)

    def text(self, key: str) -> str:
        """Return the text under ``key`` without surrounding white space; it may be empty.

        Raises
        ------
        FormatError
            If the key is missing, or the value is not a string.
        """
        text: str = self.take(key, str).strip()
        return text


def read_text(path: Path) -> str:
    """Return the content of a UTF-8 file without its byte-order mark.

    Raises
    ------
    FormatError
        If the file is not UTF-8, or is empty or blank.
    """
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FormatError("not UTF-8 text", f"{path.name}, line {line}", SAVE_AS_UTF8) from None
    if not text.strip():
        raise FormatError("the file is empty or blank", path.name, REPLACE_FILE)
    return text


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file, each without surrounding white space; empty lines are kept.

    Raises the errors of :func:`read_text`.
    """
    return [line.strip() for line in read_text(path).removesuffix("\n").split("\n")]


def read_csv(path: Path, columns: Sequence[str], *, delimiter: str = ",") -> Iterator[Entry]:
    """Yield each row of a CSV file that is not blank, as a mapping from column name to cell.

    The first line names the columns; each of ``columns`` must occur once. If other columns share a name, a
    dot and the column's number, from 0, are appended to all but the first. If ``delimiter`` is a tab,
    quotation marks have no special meaning. The file may be gzipped. It is read row by row, so memory does
    not grow with its size.

    Raises
    ------
    FormatError
        If the file is empty or blank, not UTF-8, not CSV or cannot be decompressed, one of ``columns`` is
        missing or repeated, or the number of cells in a row differs from the header.
    """
    rows = _number_rows(path, delimiter)
    line, header = next(rows, (1, []))
    if not header:
        raise FormatError("the file is empty or blank", path.name, REPLACE_FILE)
    if missing := [name for name in columns if name not in header]:
        raise FormatError(
            f"missing column {missing[0]!r}; the first line has {len(header)} cells",
            f"{path.name}, line {line}",
            f"Name the columns in the first line: {list_names(columns)}.",
        )
    if repeated := [name for name in columns if header.count(name) > 1]:
        where = f"{path.name}, line {line}"
        raise FormatError(f"column {repeated[0]!r} is repeated in the header", where, "Rename a column.")
    names = [name if header.index(name) == i else f"{name}.{i}" for i, name in enumerate(header)]
    for number, (line, cells) in enumerate(rows, start=1):
        where = f"{path.name}, line {line}"
        if len(cells) != len(names):
            problem = f"{len(cells)} cells, but the header has {len(names)}"
            raise FormatError(problem, where, REPLACE_FILE)
        yield Entry(dict(zip(names, cells, strict=True)), where, number)


def _number_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) for each row that is not blank; ``line``, from 1, is where the row begins.

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
        If ``text`` is not JSON, or its content is not of the type ``kind``. The error shows ``where``.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON ({error})", where, REPLACE_FILE) from None
    if not isinstance(content, kind):
        problem = f"must be a JSON {'object' if kind is dict else 'list'}, not {type(content).__name__}"
        raise FormatError(problem, where, CORRECT_FILE)
    return content


def read_json(path: Path, kind: type[T]) -> T:
    """Return the JSON content of a UTF-8 file.

    Raises
    ------
    FormatError
        If the file is blank, not UTF-8 or not JSON, or its content is not of the type ``kind``.
    """
    return decode_json(read_text(path), kind, path.name)


def read_objects(path: Path) -> Iterator[Entry]:
    """Yield the objects of a JSON list, numbered from 1, or of JSON lines, numbered by line.

    Raises
    ------
    FormatError
        If the file is blank, not UTF-8 or not JSON, or an item is not an object.
    """
    text = read_text(path)
    items: Iterable[tuple[int, Any]]
    if text.lstrip().startswith("["):
        items = enumerate(decode_json(text, list, path.name), start=1)
    else:
        lines = enumerate(text.split("\n"), start=1)
        items = ((i, decode_json(line, dict, f"{path.name}, line {i}")) for i, line in lines if line.strip())
    for number, item in items:
        yield Entry(item, f"{path.name}, record {number}", number)


def require_distinct(entries: Iterable[Entry], *keys: str) -> Iterator[Entry]:
    """Yield the entries, and raise a FormatError if two of them have the same values under all ``keys``."""
    seen_values = set()
    for entry in entries:
        values = tuple(str(entry.get(key)) for key in keys)
        if values in seen_values:
            problem = f"an earlier row has the same {joined(keys)}"
            raise FormatError(problem, entry.where, "Remove one of the two rows.")
        seen_values.add(values)
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
            first_record, place = by_key.setdefault(key(record), (record, entry.where))
            if first_record is not record:
                raise FormatError(f"the same {name} as in {place}", entry.where, "Remove one of the rows.")
    return [record for record, _ in by_key.values()]
