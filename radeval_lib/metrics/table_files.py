"""Files of pairs, CSV, TSV, JSON lines or Parquet (:mod:`radeval_lib.metrics.parquet_files`): whether they
can be scored, their rows, and rows with more columns."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from radeval_lib.data.errors import FormatError
from radeval_lib.data.reading import SAVE_AS_UTF8, decode_json, line_of_bad_byte
from radeval_lib.errors import listed, plain
from radeval_lib.metrics import parquet_files
from radeval_lib.metrics.base import MetricError

REFERENCE, CANDIDATE, GROUP = "reference", "candidate", "group"
CASES = ("case", "patient")
"""Columns that say which rows are of one case; the first that is there counts."""
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_FORMATS = (*_DELIMITERS, ".jsonl", ".parquet")
_ZIP = b"PK\x03\x04"  # how a workbook of Excel begins
_MOST_CHARACTERS = 1 << 30  # of a cell; the csv module's own limit is 131,072, less than some reports have
Row = dict[str, Any]


@dataclass
class FileContent:
    """What a file holds: columns, with the types of their values, and those of them that hold candidates."""

    columns: dict[str, set[type]] = field(default_factory=dict)
    candidates: tuple[str, ...] = ()
    rows: int = 0


def score_column(metric: str, candidate: str) -> str:
    """The column of a metric's scores of a column of candidates."""
    return metric + candidate.removeprefix(CANDIDATE)


def system_of(candidate: str) -> str:
    """The system whose candidates a column holds; empty for the column ``candidate``."""
    return candidate.removeprefix(CANDIDATE).removeprefix(":")


def candidates_of(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that hold texts to score; where there are none, ``candidate``, which is then reported
    missing."""
    return tuple(filter(_holds_candidates, columns)) or (CANDIDATE,)


def _holds_candidates(column: str) -> bool:
    return column == CANDIDATE or column.startswith(f"{CANDIDATE}:")


def outputs_beside(source: Path, target: Path, explained: bool, report: Path | None) -> list[Path]:
    """The files that are written beside an output.

    A MetricError unless there is an input and all of them can be written.
    """
    _check_source(source)
    _check_file(target)
    _check_format(target)
    endings = ["about.json", *(["explained.jsonl"] if explained else [])]
    outputs = [target, *(target.with_name(f"{target.name}.{ending}") for ending in endings)]
    for path in (*outputs, *([] if report is None else [report])):
        check_target(path, [source])
    if report is not None and report.resolve() in [path.resolve() for path in outputs]:
        raise MetricError("report and output are one file", report.name, "Give another name to the report.")
    return outputs[1:]


def check_target(target: Path, sources: Iterable[Path]) -> None:
    """A MetricError unless a file can be written there that is none of those read."""
    _check_file(target)
    if not target.parent.is_dir():
        raise MetricError(f"no folder {target.parent.name!r} to write to", target.name)
    if any(target.exists() and source.exists() and target.samefile(source) for source in sources):
        raise MetricError("input and output are one file", target.name, "Give another name to the output.")


def _check_source(path: Path) -> None:
    _check_file(path)
    _check_format(path)
    version(path)


def _check_format(path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        what = f"unknown format {path.suffix!r}" if suffix else "the name has no known ending"
        raise MetricError(what, path.name, f"Use a name that ends in {', '.join(_FORMATS)}.")
    if suffix == ".parquet":
        parquet_files.check_installed()


def _check_file(path: Path) -> None:
    """A MetricError unless it is a file or nothing yet; what the system makes up as it is read can be read
    but once."""
    if path.is_dir():
        raise MetricError("this is a folder", path.name, "Give the name of a file, or move it away.")
    made_up = os.path.realpath(path).startswith(("/proc/", "/sys/"))
    if str(path) == "-" or made_up or (path.exists() and not path.is_file()):
        remedy = "Give a file on a disk; what comes from a pipe, save to one first."
        raise MetricError("not a regular file", path.name, remedy)


def version(path: Path) -> tuple[int, ...]:
    """Differs when the file was changed or another put in its place; a MetricError where there is none."""
    try:
        state = path.stat()
    except FileNotFoundError:
        raise MetricError("no such file", path.name) from None
    return state.st_ino, state.st_size, state.st_mtime_ns


def survey(
    source: Path, metrics: list[str], check_row: Callable[[Row, str], object] | None = None
) -> FileContent:
    """What a file holds, all of it checked.

    Parameters
    ----------
    source : a CSV, TSV, JSON lines or Parquet file.
    metrics : the names of metrics whose scores will stand beside its columns.
    check_row : called with each row and its place, for messages; may raise.

    Raises
    ------
    MetricError
        Where there is no file or it is not of its format; where a row lacks the reference or a column of
        candidates that another row has, or holds no text there; where a column stands in the place of a
        metric's scores. It names the row.
    """
    _check_source(source)
    columns = _header(source)
    content = FileContent({name: set() for name in columns})
    if columns:
        content.candidates = candidates_of(columns)
        _check_columns(columns, content.candidates, metrics, source.name)
    for where, row in _rows(source):
        content.rows += 1
        content.candidates = content.candidates or candidates_of(row)
        _check_row(row, content.candidates, metrics, where)
        for name, value in row.items():
            content.columns.setdefault(name, set()).add(_type(value))
        if check_row is not None:
            check_row(row, where)
    if not content.columns:
        content.columns, content.candidates = {REFERENCE: set(), CANDIDATE: set()}, (CANDIDATE,)
    return content


def _type(value: object) -> type:
    """A value's type, text for an integer that no type of Parquet holds."""
    return str if type(value) is int and not -(1 << 63) <= value < 1 << 63 else type(value)


def _check_row(row: Row, candidates: tuple[str, ...], metrics: Iterable[str], where: str) -> None:
    _check_columns(row, candidates, metrics, where)
    _check_texts(row, (REFERENCE, *candidates), where)


def _check_columns(
    columns: Collection[str], candidates: tuple[str, ...], metrics: Iterable[str], where: str
) -> None:
    for name in (REFERENCE, *candidates):
        if name not in columns:
            raise MetricError(f"no column {plain(name, 30)!r}", where, _columns_found(columns))
    for name in columns:
        if _holds_candidates(name) and name not in candidates:
            remedy = "Give each row the same columns of candidates."
            raise MetricError(f"a column {plain(name, 30)!r}, which rows before it lack", where, remedy)
    for name in (score_column(metric, candidate) for metric in metrics for candidate in candidates):
        if name in columns:
            raise MetricError(f"there is already a column {plain(name, 30)!r}", where, "Rename it.")


def _check_texts(row: Row, names: Iterable[str], where: str) -> None:
    for name in names:
        if not isinstance(row[name], str):
            raise MetricError(f"{plain(name, 30)!r} is not a text", where, _columns_found(row))


def _columns_found(columns: Collection[str]) -> str:
    """The columns for a message; what is not one word may be a report, in a file without a header."""
    names = (
        name if re.fullmatch(r"[\w.:-]{1,30}", name) else f"a text of {len(name):,} characters"
        for name in columns
    )
    remedy = ""
    if close := next((name for name in columns if name.lower() in {REFERENCE, CANDIDATE} - {name}), None):
        remedy = f" Rename {close!r} to {close.lower()!r}."
    elif len(columns) == 1 and any(sign in name for name in columns for sign in ";\t"):
        remedy = " Put commas between columns."
    return f"Columns found: {listed(names)}.{remedy}"


def table(path: Path) -> list[Row]:
    """The rows of a file; of its columns, those that are named for texts hold texts.

    A MetricError where there is no file, it is not of its format or such a column holds something else.
    """
    _check_source(path)
    _header(path)
    checked = []
    for where, row in _rows(path):
        _check_texts(row, (name for name in (REFERENCE, *candidates_of(row)) if name in row), where)
        checked.append(row)
    return checked


def rows(path: Path, content: FileContent, metrics: list[str]) -> Iterator[Row]:
    """Each row, checked again: a file that changed since it was surveyed is refused here, before a column is
    missed, or by its :func:`version` at the end."""
    _check_source(path)
    for where, row in _rows(path):
        _check_row(row, content.candidates, metrics, where)
        yield row


def _rows(path: Path) -> Iterator[tuple[str, Row]]:
    suffix = path.suffix.lower()
    if suffix in _DELIMITERS:
        return _csv_rows(path)
    return _json_rows(path) if suffix == ".jsonl" else parquet_files.rows(path)


@contextmanager
def _opened(path: Path, newline: str | None = None) -> Iterator[io.TextIOBase]:
    try:
        with path.open(newline=newline, encoding="utf-8-sig") as stream:
            yield stream
    except UnicodeDecodeError:
        with path.open("rb") as stream:
            if stream.read(len(_ZIP)) == _ZIP:
                what = "a workbook or an archive, not a text"
                raise MetricError(what, path.name, "Save it as CSV.") from None
        # The stream decodes in blocks, so its own place is not that in the file.
        where = f"{path.name}, line {line_of_bad_byte(path)}"
        raise MetricError("not UTF-8 text", where, SAVE_AS_UTF8) from None


def _header(path: Path) -> list[str]:
    """The columns that a table names; JSON lines name none."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return []
    if suffix == ".parquet":
        columns = parquet_files.columns(path)
    else:
        columns = next(_csv_cells(path), ("", []))[1]
        if not columns:
            raise MetricError(f"no column {REFERENCE!r}", path.name, _columns_found([]))
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise MetricError(f"two columns are called {plain(twice, 30)!r}", path.name, _columns_found(columns))
    return columns


def _csv_cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    csv.field_size_limit(_MOST_CHARACTERS)
    with _opened(path, newline="") as stream:
        reader = csv.reader(stream, strict=True, delimiter=_DELIMITERS[path.suffix.lower()])
        try:
            for number, row in enumerate(row for row in reader if row):  # blank lines are no rows
                yield f"{path.name}, row {number}", row
        except csv.Error as error:
            raise MetricError(f"not a CSV file: {error}", f"{path.name}, line {reader.line_num}") from None


def _csv_rows(path: Path) -> Iterator[tuple[str, Row]]:
    cells = _csv_cells(path)
    columns = next(cells, ("", []))[1]
    for where, row in cells:
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


@contextmanager
def writing(path: Path, content: FileContent, added: list[str]) -> Iterator[Callable[[Row], object]]:
    """What writes a row with a file's columns and those added, which hold numbers.

    JSON has no NaN and no infinite numbers: null stands for them.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        with parquet_files.writing(path, {**content.columns, **{name: {float} for name in added}}) as write:
            yield write
        return
    with path.open("w", newline="", encoding="utf-8") as stream:
        if suffix == ".jsonl":
            yield lambda row: stream.write(f"{parquet_files.as_json(row)}\n")
            return
        settings: dict[str, Any] = {"lineterminator": "\n", "delimiter": _DELIMITERS[suffix]}
        usual = csv.writer(stream, **settings)
        # The csv module quotes a carriage return only where it ends lines.
        quoting = csv.writer(stream, quoting=csv.QUOTE_ALL, **settings)

        def write_cells(cells: list[Any]) -> None:
            returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
            (quoting if returns else usual).writerow(cells)

        columns = [*content.columns, *added]
        write_cells(columns)
        yield lambda row: write_cells([_cell(row.get(name)) for name in columns])


def _cell(value: Any) -> Any:
    return parquet_files.text(value) if isinstance(value, dict | list | bool) else value
