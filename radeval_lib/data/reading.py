"""Strict reading of tables and JSON: every error names the file, the row and the column.

No error repeats what a file holds, because it may be text that must not be passed on, wherever it stands: a
report may be in the header, in a key or in the column of a number. :func:`kind_of` says what a wrong value is
without showing it.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from radeval_lib.data.errors import FormatError
from radeval_lib.errors import listed

T = TypeVar("T")

# Clinical notes are single CSV fields that may pass the 128 KiB that the csv module allows by default.
csv.field_size_limit(2**27)

CUT_SHORT = "Is the file cut short?"
SAVE_AS_UTF8 = "Save the file as UTF-8."


class Entry(dict[str, Any]):
    """A row of a table, or an object of a JSON file, that knows where it stands.

    ``at`` is its number from 1, or in JSON lines its line.
    """

    def __init__(self, content: Any, where: str, at: int = 0) -> None:
        if not isinstance(content, dict):
            raise FormatError(f"must be an object, not {type(content).__name__}", where)
        super().__init__(content)
        self.where, self.at = where, at

    def take(self, key: str, kind: type[T]) -> T:
        """Return the value of ``key``, which must be there and of type ``kind``."""
        if key not in self:
            raise FormatError(f"missing key {key!r}; {len(self)} others are there", self.where)
        value = self[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise FormatError(f"{key} must be {kind.__name__}, not {type(value).__name__}", self.where)
        return value

    def inner(self, key: str) -> Entry:
        """Return the object under ``key``."""
        return Entry(self.take(key, dict), self.where)

    def text(self, key: str) -> str:
        """Return the text under ``key`` without the blanks around it."""
        return self.take(key, str).strip()

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the value of ``key``, which must be a list of strings."""
        values = self.take(key, list)
        if not all(isinstance(value, str) for value in values):
            raise FormatError(f"{key} must hold text only", self.where)
        return tuple(values)

    def number(self, key: str, **limits: float) -> float:
        """Return the text under ``key`` as a number, see :func:`number`."""
        return number(self[key], key, self.where, **limits)

    def whole(self, key: str, **limits: int) -> int:
        """Return the text under ``key`` as a whole number, see :func:`whole`."""
        return whole(self[key], key, self.where, **limits)

    def one_of(self, key: str, allowed: Sequence[str], name: str = "Known") -> str:
        """Return the text under ``key``, which must be one of those allowed."""
        value = self.take(key, str)
        if value not in allowed:
            raise FormatError(f"unknown {key}", self.where, f"{name}: {', '.join(allowed)}.")
        return value


def read_text(path: Path) -> str:
    """Return the whole file as UTF-8 text (a leading byte-order mark is dropped)."""
    if not path.is_file():
        raise FormatError("file does not exist", path.name)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(
            "not UTF-8 text", f"{path.name}, line {line_of_bad_byte(path)}", SAVE_AS_UTF8
        ) from None
    if not text.strip():
        raise FormatError("file is empty", path.name, "Fetch it again: it may have been cut short.")
    return text


def read_csv(
    path: Path, columns: Sequence[str], *, partial: bool = False, delimiter: str = ","
) -> Iterator[Entry]:
    """Yield rows of a CSV file with a header, placed by the line on which they begin; memory stays constant.

    In a file of tab-separated values a quotation mark is a character like others. Of a ``partial`` file the
    last row is left out where it is incomplete. Columns that are not asked for may share a name: the second
    is ``name.1``, as pandas has it.
    """
    rows = _cells(path, partial, delimiter)
    header = next(rows, (1, []))[1]
    if not header:
        raise FormatError("file is empty", path.name, "Fetch it again: it may have been cut short.")
    if missing := [name for name in columns if name not in header]:
        raise FormatError(
            f"missing column {missing[0]!r}; the first line has {len(header)} cells",
            f"{path.name}, line 1",
            f"The first line must name the columns, which are {listed(columns)}.",
        )
    if doubled := [name for name in columns if header.count(name) > 1]:
        raise FormatError(f"column {doubled[0]!r} stands twice in the header", f"{path.name}, line 1")
    header = _distinct(header)
    following, at = next(rows, None), 0
    while following is not None:
        (line, cells), following, at = following, next(rows, None), at + 1
        if partial and following is None and (len(cells) != len(header) or not _ends_with_newline(path)):
            return
        where = f"{path.name}, line {line}"
        if len(cells) != len(header):
            raise FormatError(f"{len(cells)} cells instead of {len(header)}", where, CUT_SHORT)
        yield Entry(dict(zip(header, cells, strict=True)), where, at)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names, with ``.1``, ``.2`` and so on behind those that stood there before."""
    found: dict[str, None] = {}
    for name in names:
        forms = chain([name], (f"{name}.{number}" for number in count(1)))
        found[next(form for form in forms if form not in found)] = None
    return list(found)


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(-1, 2)
        return stream.read(1) in b"\r\n"


def _cells(path: Path, partial: bool, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of each row that is not blank; what the reader cannot read becomes a
    FormatError."""
    if not path.is_file():
        raise FormatError("file does not exist", path.name)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(
            stream,
            strict=True,
            delimiter=delimiter,
            quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL,
        )
        while True:
            begin = reader.line_num + 1
            where = f"{path.name}, line {begin}"
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if partial and "unexpected end of data" in str(error):
                    yield begin, []  # the row that was cut off
                    return
                raise FormatError(f"not a CSV row ({error})", where, CUT_SHORT) from None
            except UnicodeDecodeError:
                # The decoder works in blocks, so the line is only where reading stopped.
                line = line_of_bad_byte(path) or begin
                raise FormatError("not UTF-8 text", f"{path.name}, line {line}", SAVE_AS_UTF8) from None
            except (EOFError, OSError, zlib.error) as error:
                raise FormatError(f"not readable ({error})", where, CUT_SHORT) from None
            if cells:
                yield begin, cells


def line_of_bad_byte(path: Path) -> int:
    """Return the line from 1 that holds the first byte which is not UTF-8; 0 where all are."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


def read_json(path: Path, kind: type[T]) -> T:
    """Return the content of a JSON file, which must be of type ``kind`` (list or dict)."""
    return decode_json(read_text(path), kind, path.name, line=0)


def decode_json(text: str, kind: type[T], where: str, *, line: int) -> T:
    """Return ``text`` as JSON of type ``kind``; ``line`` is its line in the file, 0 where it is the whole
    file."""
    place = f"{where}, line {line}" if line else where
    try:
        content = json.loads(text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        at = f"{where}, line {line or error.lineno}, column {error.colno}"
        raise FormatError(f"not JSON ({error.msg})", at, CUT_SHORT) from None
    except _DuplicateKeyError:
        raise FormatError("a key stands twice in one object", place) from None
    except RecursionError:
        raise FormatError("not JSON that can be read: nested too deep", place) from None
    except ValueError:  # a number of thousands of digits
        raise FormatError("a number is too long", place) from None
    if not isinstance(content, kind):
        raise FormatError(f"must be a JSON {kind.__name__}, not {type(content).__name__}", place)
    if "\\ud" in text.lower():
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            half = "holds half of a surrogate pair, which is not a character"
            raise FormatError(half, place, SAVE_AS_UTF8) from None
    return content


class _DuplicateKeyError(ValueError):
    pass


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise _DuplicateKeyError
    return content


def read_objects(path: Path) -> Iterator[Entry]:
    """Yield objects of a JSON list, placed by their number from 1, or of JSON lines, by their line."""
    text = read_text(path)
    items: Iterable[tuple[int, Any]]
    if text.lstrip().startswith("["):
        items = enumerate(decode_json(text, list, path.name, line=0), start=1)
    else:
        lines = enumerate(text.split("\n"), start=1)
        items = ((n, decode_json(row, dict, path.name, line=n)) for n, row in lines if row.strip())
    for at, item in items:
        yield Entry(item, f"{path.name}, record {at}", at)


def kind_of(value: object) -> str:
    """Return a description of a wrong value for a message, which does not show it unless it is a number of a
    few digits."""
    if isinstance(value, str):
        if re.fullmatch(r"[-+]?\d{1,4}(\.\d{1,4})?", value):
            return value
        return f"a text of {len(value):,} characters" if value else "an empty text"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return kind_of(str(value)) if len(str(value)) < 10 else "a long number"
    return "nothing" if value is None else f"a {type(value).__name__}"


def number(text: str, name: str, where: str, *, low: float = -math.inf, high: float = math.inf) -> float:
    """Return ``text`` as a finite number of [low, high], in the digits 0 to 9 with nothing between them."""
    try:
        if "_" in text or not text.isascii():  # float reads 1_000, and digits of other scripts
            raise ValueError
        value = float(text)
    except ValueError:
        raise FormatError(f"{name} must be a number, not {kind_of(text)}", where) from None
    if not (math.isfinite(value) and low <= value <= high):
        raise FormatError(f"{name} must lie from {low:g} to {high:g}, not {kind_of(text)}", where)
    return value


def whole(text: str, name: str, where: str, *, low: int = 0, high: int | None = None) -> int:
    """Return ``text`` as a whole number of [low, high]; ``2.0`` is 2, for tables that passed through
    floats."""
    value = number(text, name, where, low=low, high=math.inf if high is None else high)
    if abs(value) >= 2**53:
        raise FormatError(f"{name} has too many digits to be exact", where)
    if value != int(value):
        raise FormatError(f"{name} must be a whole number, not {kind_of(text)}", where)
    return int(value)


def records(
    entries: Iterable[Entry],
    parse: Callable[[Entry], Iterable[T]],
    key: Callable[[T], Any] = attrgetter("id"),
    name: str = "id",
) -> list[T]:
    """Return the records that ``parse`` makes of each entry; no two may share ``key``, which is called
    ``name``.

    What a record's own check refuses becomes a :class:`FormatError` at the entry's place.
    """
    seen: dict[Any, str] = {}
    result = []
    for entry in entries:
        try:
            made = list(parse(entry))
        except ValueError as error:
            raise FormatError(str(error), entry.where) from None
        for record in made:
            value = key(record)
            if value in seen:
                raise FormatError(f"the same {name} already stands at {seen[value]}", entry.where)
            seen[value] = entry.where
            result.append(record)
    return result


def make(kind: Callable[..., T], where: str, **values: Any) -> T:
    """Return ``kind(**values)``; what the record's own check refuses becomes a :class:`FormatError` at
    ``where``."""
    try:
        return kind(**values)
    except ValueError as error:
        raise FormatError(str(error), where) from None
