"""Files of pairs, CSV or JSON lines: whether they can be scored, their rows, and rows with more columns."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from radeval_lib.data.errors import FormatError
from radeval_lib.data.reading import decode_json
from radeval_lib.errors import listed, plain
from radeval_lib.metrics.base import MetricError

COLUMNS = ("reference", "candidate")
Row = dict[str, Any]


def check(source: Path, target: Path) -> None:
    """Whether there is an input, and an output and what is said beside it can be written."""
    _check_file(source)
    _check_file(target)
    _check_file(about_path(target))
    try:
        source.stat()
    except FileNotFoundError:
        raise MetricError("no such file", source.name) from None
    for path in (source, target):
        if path.suffix.lower() not in (".csv", ".jsonl"):
            ending = f"unknown format {path.suffix!r}" if path.suffix else "the name tells no format"
            raise MetricError(ending, path.name, "Use a name that ends in .csv or .jsonl.")
    if not target.parent.is_dir():
        raise MetricError(f"no folder {target.parent.name!r} to write to", target.name)
    if target.exists() and os.path.samefile(source, target):
        raise MetricError("input and output are one file", target.name, "Give another name to the output.")


def _check_file(path: Path) -> None:
    """Whether it is a file or nothing yet; what the system makes up as it is read can be read but once."""
    if path.is_dir():
        raise MetricError("this is a folder", path.name, "Give the name of a file, or move it away.")
    made_up = os.path.realpath(path).startswith(("/proc/", "/sys/"))
    if str(path) == "-" or made_up or (path.exists() and not path.is_file()):
        remedy = "Give a file on a disk; what comes from a pipe, save to one first."
        raise MetricError("not a regular file", path.name, remedy)


def about_path(target: Path) -> Path:
    """Where it stands how an output was made."""
    return target.with_name(f"{target.name}.about.json")


def version(path: Path) -> tuple[int, ...]:
    """Differs when the file was changed or another put in its place."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _check_row(row: Row, added: Iterable[str], where: str) -> None:
    for name in COLUMNS:
        if not isinstance(row.get(name), str):
            what = f"{name!r} is not a text" if name in row else f"no column {name!r}"
            raise MetricError(what, where, _found(row))
    if doubled := [name for name in added if name in row]:
        raise MetricError(f"there is already a column {doubled[0]!r}", where, "Rename it.")


def _found(columns: Iterable[str]) -> str:
    """The columns for a message; what is not one word may be a report, in a file without a header."""
    names = (
        name if re.fullmatch(r"[\w.-]{1,30}", name) else f"a text of {len(name):,} characters"
        for name in columns
    )
    return f"Columns found: {listed(names)}."


def rows(path: Path, added: list[str]) -> Iterator[Row]:
    """Each row, checked; the columns ``added`` must not be there yet."""
    for where, row in _csv_rows(path) if path.suffix.lower() == ".csv" else _json_rows(path):
        _check_row(row, added, where)
        yield row


@contextmanager
def _opened(path: Path, newline: str | None = None) -> Iterator[io.TextIOBase]:
    try:
        with path.open(newline=newline, encoding="utf-8-sig") as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise MetricError(f"not UTF-8 at byte {error.start}", path.name, "Save the file as UTF-8.") from None


def header(path: Path, added: list[str]) -> list[str]:
    """The columns that a CSV file names, checked; JSON lines name none."""
    if path.suffix.lower() == ".jsonl":
        return []
    columns = next(_csv_cells(path), ("", []))[1]
    _check_row(dict.fromkeys(columns, ""), added, path.name)
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise MetricError(f"two columns are called {plain(twice, 30)!r}", path.name, _found(columns))
    return columns


def _csv_cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    csv.field_size_limit(1 << 30)
    with _opened(path, newline="") as stream:
        reader = csv.reader(stream, strict=True)
        try:
            for number, row in enumerate(reader):
                yield f"{path.name}, row {number}", row
        except csv.Error as error:
            raise MetricError(f"not a CSV file: {error}", f"{path.name}, line {reader.line_num}") from None


def _csv_rows(path: Path) -> Iterator[tuple[str, Row]]:
    cells = _csv_cells(path)
    columns = next(cells, ("", []))[1]
    for where, row in cells:
        if not row:
            continue
        if len(row) != len(columns):
            raise MetricError(f"{len(row)} values for {len(columns)} columns", where)
        yield where, dict(zip(columns, row, strict=True))


def _json_rows(path: Path) -> Iterator[tuple[str, Row]]:
    with _opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = decode_json(line, dict, path.name, line=number)
            except FormatError as error:
                raise MetricError(error.what, error.where, error.remedy) from None
            yield f"{path.name}, line {number}", row


def writer(stream: io.TextIOBase | Any, suffix: str, columns: list[str]) -> Callable[[Row], object]:
    """What writes a row; the columns of a CSV file are written at once."""
    if suffix == ".jsonl":
        return lambda row: stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    plain = csv.writer(stream, lineterminator="\n")
    # The csv module quotes a carriage return only where it ends lines.
    quoting = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)

    def write(cells: list[Any]) -> None:
        held = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoting if held else plain).writerow(cells)

    write(columns)
    return lambda row: write([_cell(row.get(name)) for name in columns])


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | bool) else value
