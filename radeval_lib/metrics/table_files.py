"""Files of pairs, CSV, TSV, JSON lines or Parquet: whether they can be scored, their rows, and rows with more
columns."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from radeval_lib.data.errors import FormatError
from radeval_lib.data.reading import decode_json
from radeval_lib.errors import listed, plain
from radeval_lib.metrics.base import MetricError

REFERENCE, CANDIDATE, GROUP = "reference", "candidate", "group"
CASES = ("case", "patient")
"""Columns that say which rows are of one case; the first that is there counts."""
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
FORMATS = (*_DELIMITERS, ".jsonl", ".parquet")
_ZIP = b"PK\x03\x04"  # how a workbook of Excel begins
_BATCH = 500  # rows of a Parquet file that are read at a time
_GROUP_ROWS = 10_000  # rows of a row group that is written; they are in memory together
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


def candidates_of(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that hold texts to score; where there are none, ``candidate``, which is then reported
    missing."""
    found = tuple(name for name in columns if name == CANDIDATE or name.startswith(f"{CANDIDATE}:"))
    return found or (CANDIDATE,)


def check(source: Path, target: Path, explained: bool, report: Path | None) -> list[Path]:
    """What stands beside an output, after checks that there is an input and that all can be written."""
    for path in (source, target):
        _check_file(path)
        _check_format(path)
    _check_source(source)
    endings = ["about.json", *(["explained.jsonl"] if explained else [])]
    written = [target, *(target.with_name(f"{target.name}.{ending}") for ending in endings)]
    for path in (*written, *([] if report is None else [report])):
        check_target(path, [source])
    if report is not None and report.resolve() in [path.resolve() for path in written]:
        raise MetricError("report and output are one file", report.name, "Give another name to the report.")
    return written[1:]


def check_target(target: Path, sources: Iterable[Path]) -> None:
    """Whether a file can be written there that is none of those read."""
    _check_file(target)
    if not target.parent.is_dir():
        raise MetricError(f"no folder {target.parent.name!r} to write to", target.name)
    if any(target.exists() and source.exists() and target.samefile(source) for source in sources):
        raise MetricError("input and output are one file", target.name, "Give another name to the output.")


def _check_source(path: Path) -> None:
    _check_file(path)
    _check_format(path)
    try:
        path.stat()
    except FileNotFoundError:
        raise MetricError("no such file", path.name) from None


def _check_format(path: Path) -> None:
    if path.suffix.lower() not in FORMATS:
        ending = f"unknown format {path.suffix!r}" if path.suffix else "the name has no known ending"
        raise MetricError(ending, path.name, f"Use a name that ends in {', '.join(FORMATS)}.")
    if path.suffix.lower() == ".parquet":
        _parquet()


def _check_file(path: Path) -> None:
    """Whether it is a file or nothing yet; what the system makes up as it is read can be read but once."""
    if path.is_dir():
        raise MetricError("this is a folder", path.name, "Give the name of a file, or move it away.")
    made_up = os.path.realpath(path).startswith(("/proc/", "/sys/"))
    if str(path) == "-" or made_up or (path.exists() and not path.is_file()):
        remedy = "Give a file on a disk; what comes from a pipe, save to one first."
        raise MetricError("not a regular file", path.name, remedy)


def _parquet() -> Any:
    try:
        import pyarrow.parquet as parquet
    except ModuleNotFoundError:
        what = "the package pyarrow is not installed"
        raise MetricError(what, "Parquet", "Run: pip install pyarrow") from None
    return parquet


def version(path: Path) -> tuple[int, ...]:
    """Differs when the file was changed or another put in its place."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def survey(
    source: Path, metrics: list[str], check: Callable[[Row, str], object] | None = None
) -> FileContent:
    """What a file holds, all of it checked, each row by ``check`` too, which is given its place; no column of
    its own may stand where a metric's scores will."""
    found = FileContent()
    _take(found, dict.fromkeys(_header(source), ""), source.name, metrics)
    for types in found.columns.values():
        types.clear()  # a header has none
    for found.rows, (where, row) in enumerate(_rows(source), start=1):
        _take(found, row, where, metrics)
        if check is not None:
            check(row, where)
    if not found.columns:
        found.columns, found.candidates = {REFERENCE: set(), CANDIDATE: set()}, (CANDIDATE,)
    return found


def _take(found: FileContent, row: Row, where: str, metrics: list[str]) -> None:
    if not row:
        return
    if not found.candidates:
        found.candidates = candidates_of(row)
    _check_row(row, found.candidates, metrics, where)
    for name, value in row.items():
        beyond = type(value) is int and not -(1 << 63) <= value < 1 << 63  # no type of Parquet holds it
        found.columns.setdefault(name, set()).add(str if beyond else type(value))


def _check_row(row: Row, candidates: tuple[str, ...], metrics: Iterable[str], where: str) -> None:
    _check_texts(row, (REFERENCE, *candidates), where)
    added = (score_column(metric, candidate) for metric in metrics for candidate in candidates)
    if doubled := next((name for name in added if name in row), ""):
        raise MetricError(f"there is already a column {plain(doubled, 30)!r}", where, "Rename it.")


def _check_texts(row: Row, names: Iterable[str], where: str) -> None:
    for name in names:
        if not isinstance(row.get(name), str):
            what = f"{plain(name, 30)!r} is not a text" if name in row else f"no column {plain(name, 30)!r}"
            raise MetricError(what, where, _columns(row))


def _columns(columns: Iterable[str]) -> str:
    """The columns for a message; what is not one word may be a report, in a file without a header."""
    names = (
        name if re.fullmatch(r"[\w.:-]{1,30}", name) else f"a text of {len(name):,} characters"
        for name in columns
    )
    found, meant = list(columns), ""
    if close := next((name for name in found if name.lower() in {REFERENCE, CANDIDATE} - {name}), None):
        meant = f" Rename {close!r} to {close.lower()!r}."
    elif any(sign in name for name in found for sign in ";\t") and len(found) == 1:
        meant = " Put commas between columns."
    return f"Columns found: {listed(names)}.{meant}"


def table(path: Path) -> list[Row]:
    """The rows of a file; of its columns, those that are named for texts hold texts."""
    _check_source(path)
    _header(path)
    found = []
    for where, row in _rows(path):
        _check_texts(row, (name for name in (REFERENCE, *candidates_of(row)) if name in row), where)
        found.append(row)
    return found


def rows(path: Path, found: FileContent, metrics: list[str]) -> Iterator[Row]:
    """Each row, checked again: the file may have changed."""
    for where, row in _rows(path):
        _check_row(row, found.candidates, metrics, where)
        yield row


def _rows(path: Path) -> Iterator[tuple[str, Row]]:
    suffix = path.suffix.lower()
    if suffix in _DELIMITERS:
        return _csv_rows(path)
    return _json_rows(path) if suffix == ".jsonl" else _parquet_rows(path)


@contextmanager
def _opened(path: Path, newline: str | None = None) -> Iterator[io.TextIOBase]:
    try:
        with path.open(newline=newline, encoding="utf-8-sig") as stream:
            yield stream
    except UnicodeDecodeError as error:
        if path.read_bytes()[:4] == _ZIP:
            raise MetricError("a workbook or an archive, not a text", path.name, "Save it as CSV.") from None
        raise MetricError(f"not UTF-8 at byte {error.start}", path.name, "Save the file as UTF-8.") from None


def _header(path: Path) -> list[str]:
    """The columns that a table names; JSON lines name none."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return []
    if suffix == ".parquet":
        with _parquet_file(path) as file:
            columns = list(file.schema_arrow.names)
    else:
        columns = next(_csv_cells(path), ("", []))[1]
        if not columns:
            raise MetricError(f"no column {REFERENCE!r}", path.name, _columns([]))
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise MetricError(f"two columns are called {plain(twice, 30)!r}", path.name, _columns(columns))
    return columns


def _csv_cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    csv.field_size_limit(1 << 30)
    with _opened(path, newline="") as stream:
        reader = csv.reader(stream, strict=True, delimiter=_DELIMITERS[path.suffix.lower()])
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


@contextmanager
def _parquet_file(path: Path) -> Iterator[Any]:
    parquet = _parquet()
    import pyarrow

    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        first = str(error).partition("\n")[0]
        raise MetricError(f"not a Parquet file: {first:.100}", path.name, "Write it again.") from None


def _parquet_rows(path: Path) -> Iterator[tuple[str, Row]]:
    with _parquet_file(path) as file:
        number = 0
        for batch in file.iter_batches(batch_size=_BATCH):
            for row in batch.to_pylist():
                number += 1
                yield f"{path.name}, row {number}", row


@contextmanager
def writing(path: Path, found: FileContent, added: list[str]) -> Iterator[Callable[[Row], object]]:
    """What writes a row with the columns found and those added, which hold numbers."""
    columns, suffix = [*found.columns, *added], path.suffix.lower()
    if suffix == ".parquet":
        with _parquet_writer(path, found, added) as write:
            yield write
        return
    with path.open("w", newline="", encoding="utf-8") as stream:
        if suffix == ".jsonl":
            yield lambda row: stream.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
            return
        settings: dict[str, Any] = {"lineterminator": "\n", "delimiter": _DELIMITERS[suffix]}
        usual = csv.writer(stream, **settings)
        # The csv module quotes a carriage return only where it ends lines.
        quoting = csv.writer(stream, quoting=csv.QUOTE_ALL, **settings)

        def write_cells(cells: list[Any]) -> None:
            held = any(isinstance(cell, str) and "\r" in cell for cell in cells)
            (quoting if held else usual).writerow(cells)

        write_cells(columns)
        yield lambda row: write_cells([_cell(row.get(name)) for name in columns])


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    return _text(value) if isinstance(value, dict | list | bool) else value


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


@contextmanager
def _parquet_writer(path: Path, found: FileContent, added: list[str]) -> Iterator[Callable[[Row], object]]:
    """A column keeps its type where all its values have one of Parquet's plain types; else it is text."""
    parquet = _parquet()
    import pyarrow

    of = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    kinds = {}
    for name, types in found.columns.items():
        known = types - {type(None)}
        (kind,) = {float} if known == {int, float} else known if len(known) == 1 else {str}
        kinds[name] = of.get(kind, pyarrow.string())
    kinds |= dict.fromkeys(added, pyarrow.float64())
    schema = pyarrow.schema(list(kinds.items()))
    texts = {name for name, kind in kinds.items() if pyarrow.types.is_string(kind)}
    waiting: list[Row] = []
    with parquet.ParquetWriter(path, schema) as writer:

        def flush() -> None:
            writer.write_table(pyarrow.Table.from_pylist(waiting, schema=schema))
            waiting.clear()

        def write(row: Row) -> None:
            waiting.append({name: _text(row.get(name)) if name in texts else row.get(name) for name in kinds})
            if len(waiting) == _GROUP_ROWS:
                flush()

        yield write
        flush()
