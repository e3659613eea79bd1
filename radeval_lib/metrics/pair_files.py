"""Files of report pairs (CSV, TSV, JSON lines, Parquet): read in chunks, and written with more columns."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import pandas as pd

from radeval_lib.errors import listed, plain
from radeval_lib.metrics.base import MetricError

if TYPE_CHECKING:
    from radeval_lib.rules.lexicon.significance import Context

REFERENCE, CANDIDATE, GROUP, ID = "reference", "candidate", "group", "id"
CASES = ("case", "patient")
"""Columns that say which rows are of one case; the first that is there counts."""
CONTEXT = ("age", "indication")
"""Columns on a row's patient, which the judge by rules reads."""
CHUNK = 500
"""Rows that are read, scored and kept together: memory does not grow with the file, and little is lost."""
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_FORMATS = (*_SEPARATORS, ".jsonl", ".parquet")
_ZIP = b"PK\x03\x04"  # how a workbook of Excel begins
# An empty cell, "___" and "XXXX" of de-identified texts, "NaT", "n/a".
_NOTHING = re.compile(r"(?i)|_+|-+|x{3,}|nan|nat|<na>|n/a|none|null|unknown")
# 45, 045Y, ">89", "90+", "6 months", "2.5 y".
_AGE = re.compile(r"(?i)>?\s*(\d{1,3}(?:\.\d+)?)\s*(y|yo|years?|m|months?|w|weeks?|d|days?)?\+?")
_PER_YEAR = {"y": 1.0, "m": 12.0, "w": 365.25 / 7, "d": 365.25}


class Chunk(NamedTuple):
    """Rows of a table: the number of the first of them, from 1, and how much of the file was read, 0 to 1."""

    start: int
    frame: pd.DataFrame
    share: float = 1.0


def score_column(metric: str, candidate: str) -> str:
    """Return the column of a metric's scores of a column of candidates."""
    return metric + candidate.removeprefix(CANDIDATE)


def system_of(candidate: str) -> str:
    """Return the system whose candidates a column holds; empty for the column ``candidate``."""
    return candidate.removeprefix(CANDIDATE).removeprefix(":")


def check(frame: pd.DataFrame, metrics: Sequence[str], where: str, start: int = 1) -> tuple[str, ...]:
    """Check that the pairs of a table can be scored by metrics, and return its columns of candidates.

    Parameters
    ----------
    where : the file or argument, for messages; these repeat no text.
    start : the number of the first row.

    Raises
    ------
    MetricError
        Where a column of texts is not there or twice, holds something else, or scores would get a column that
        is there already.
    """
    columns = [str(name) for name in frame.columns]
    own = [name for name in columns if name == CANDIDATE or name.startswith(f"{CANDIDATE}:")]
    candidates = tuple(own or [CANDIDATE])
    for name in (REFERENCE, *candidates):
        if (count := columns.count(name)) != 1:
            what = f"two columns are called {plain(name, 30)!r}" if count else f"no column {name!r}"
            raise MetricError(what, where, columns_found(columns))
        for row, text in enumerate(frame[name], start):
            if not isinstance(text, str):
                what = f"{plain(name, 30)!r} is of type {type(text).__name__}, not a text"
                raise MetricError(what, f"{where}, row {row}", "Use '' for a report that is empty.")
    for name in (score_column(metric, candidate) for metric in metrics for candidate in candidates):
        if name in columns:
            raise MetricError(f"there is already a column {plain(name, 30)!r}", where, "Rename it.")
    return candidates


def columns_found(columns: Iterable[str]) -> str:
    """Return the columns for a message; what is not one word may be a report, in a file without a header."""
    columns = list(columns)
    names = [
        name if re.fullmatch(r"[\w.:-]{1,30}", name) else f"a text of {len(name):,} characters"
        for name in columns
    ]
    wanted = {REFERENCE, CANDIDATE} - set(columns)
    alike = next((name for name in columns if name.lower() in wanted), None)
    remedy = f"Rename {alike!r} to {alike.lower()!r}." if alike else "Rename the column that holds the texts."
    return f"Columns found: {listed(names)}. {remedy}"


def context_of(row: Mapping[str, Any], where: str) -> Context | None:
    """Return the context that a row gives; None where both are empty or marked as unknown.

    An age is a number of years, or a number with a unit (``045Y`` as DICOM has it, ``6 months``), or
    the least of a range without an end (``90+``, ``>89``).

    Raises
    ------
    MetricError
        If the age is something else, or not from 0 to 130 years; ``where`` names the row.
    """
    age, indication = (_known(row.get(name)) for name in CONTEXT)
    if not age and not indication:
        return None
    from radeval_lib.rules.lexicon.significance import Context

    return Context(_years(age, where) if age else None, indication)


def contexts_of(table: pd.DataFrame, where: str, start: int = 1) -> list[Context | None] | None:
    """Return the context of each row of a table, whose first row is number ``start``; None where it has
    neither column."""
    columns = [name for name in CONTEXT if name in table]
    if not columns:
        return None
    rows = enumerate(table[columns].to_dict("records"), start)
    return [context_of(row, f"{where}, row {number}") for number, row in rows]


def _known(value: Any) -> str:
    text = "" if value is None else str(value).strip()
    return "" if _NOTHING.fullmatch(text) else text


def _years(age: str, where: str) -> float:
    found = _AGE.fullmatch(age)
    years = float(found[1]) / _PER_YEAR[(found[2] or "y")[0].lower()] if found else -1.0
    if not 0 <= years <= 130:
        remedy = "Give years, from 0 to 130, or leave it empty."
        raise MetricError(f"{plain(age, 20)!r} is not an age", f"{where}, column 'age'", remedy)
    return years


def chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of a file, in one chunk at least; every value of a CSV or TSV file is a text.

    Raises
    ------
    MetricError
        Where there is no file, it is not of its format, or a later row has a column that the first lack.
    """
    check_format(path)
    if not path.is_file():
        raise MetricError("no such file", path.name)
    suffix = path.suffix.lower()
    read = {".jsonl": _json_lines, ".parquet": _parquet}.get(suffix, _delimited)
    start, columns = 1, list[Any]()
    for frame, share in read(path):
        columns = columns or [*frame.columns]
        if later := [name for name in frame.columns if name not in columns]:
            what = f"a column {plain(str(later[0]), 30)!r}, which rows before it lack"
            raise MetricError(what, f"{path.name}, row {start} or later", "Give every row the same columns.")
        yield Chunk(start, frame, share)
        start += len(frame)


def table(path: Path) -> pd.DataFrame:
    """Return all rows of a file; errors as of :func:`chunks`."""
    return pd.concat([chunk.frame for chunk in chunks(path)], ignore_index=True)


def _delimited(path: Path) -> Iterator[tuple[pd.DataFrame, float]]:
    csv.field_size_limit(1 << 30)  # of a cell; the module's own limit is 131,072, less than some reports have
    size = path.stat().st_size or 1
    with _opened(path) as stream:
        separator = _separator(stream, _SEPARATORS[path.suffix.lower()])
        reader = csv.reader(stream, strict=True, delimiter=separator)
        rows = (row for row in reader if row)  # blank lines are no rows
        try:
            columns = next(rows, [])
            if twice := [name for name in columns if columns.count(name) > 1]:
                what = f"two columns are called {plain(twice[0], 30)!r}"
                raise MetricError(what, path.name, columns_found(columns))
            for start in count(1, CHUNK):
                cells = list(islice(rows, CHUNK))
                for number, row in enumerate(cells, start):
                    if len(row) != len(columns):
                        what = f"{len(row)} values for {len(columns)} columns"
                        raise MetricError(what, f"{path.name}, row {number}", "Quote texts with separators.")
                if cells or start == 1:
                    yield pd.DataFrame(cells, columns=columns, dtype=object), stream.buffer.tell() / size
                if len(cells) < CHUNK:
                    return
        except csv.Error as error:
            raise MetricError(f"not a CSV file: {error}", f"{path.name}, line {reader.line_num}") from None


def _separator(stream: TextIO, usual: str) -> str:
    """Return what separates the columns, which may be another sign than the name of the file says."""
    first = next((line for line in stream if line.strip()), "")
    stream.seek(0)
    return max((usual, ",", ";", "\t"), key=first.count)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            yield stream
    except UnicodeDecodeError:
        content = path.read_bytes()
        if content.startswith(_ZIP):
            what = "a workbook or an archive, not a text"
            raise MetricError(what, path.name, "Save it as CSV.") from None
        # The stream decodes in blocks, so its own place is not that in the file.
        before = re.split("[\ud800-\udfff]", content.decode("utf-8", "surrogateescape"), maxsplit=1)[0]
        line = before.count("\n") + 1
        raise MetricError("not UTF-8 text", f"{path.name}, line {line}", "Save the file as UTF-8.") from None


def _json_lines(path: Path) -> Iterator[tuple[pd.DataFrame, float]]:
    size = path.stat().st_size
    with _opened(path) as stream:
        lines = ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
        for start in count(1, CHUNK):
            rows = [_object(line, f"{path.name}, line {number}") for number, line in islice(lines, CHUNK)]
            if rows or start == 1:
                columns = None if rows else [REFERENCE, CANDIDATE]
                yield pd.DataFrame(rows, columns=columns, dtype=object), stream.buffer.tell() / (size or 1)
            if len(rows) < CHUNK:
                return


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        at = f"{where}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else where
        raise MetricError("not JSON", at, "Write one object on each line.") from None
    if not isinstance(row, dict):
        raise MetricError(f"a JSON {type(row).__name__}, not an object", where)
    return row


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ModuleNotFoundError:
        remedy = "Run: pip install pyarrow"
        raise MetricError("the package pyarrow is not installed", "Parquet", remedy) from None
    return pyarrow


def _parquet(path: Path) -> Iterator[tuple[pd.DataFrame, float]]:
    arrow, rows = _pyarrow(), 0
    try:
        with arrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(CHUNK):
                rows += len(batch)
                yield pd.DataFrame(batch.to_pydict(), dtype=object), rows / file.metadata.num_rows
            if not rows:
                yield pd.DataFrame(columns=file.schema_arrow.names, dtype=object), 1.0
    except arrow.ArrowException as error:
        first = str(error).partition("\n")[0]
        raise MetricError(f"not a Parquet file: {first:.100}", path.name, "Write it again.") from None


def check_format(path: Path) -> None:
    """Refuse a file whose name does not end as that of a table."""
    if path.suffix.lower() not in _FORMATS:
        what, remedy = f"unknown format {path.suffix!r}", f"Use a name that ends in {', '.join(_FORMATS)}."
        raise MetricError(what, path.name, remedy)
    if path.suffix.lower() == ".parquet":
        _pyarrow()


def check_target(target: Path, sources: Iterable[Path] = ()) -> None:
    """Refuse a place where no file can be written, or that is one of those read."""
    if target.is_dir() or (target.exists() and not target.is_file()):
        raise MetricError("not a file", target.name, "Give the name of a file.")
    if not target.parent.is_dir():
        raise MetricError(f"no folder {target.parent.name!r} to write to", target.name)
    if any(target.exists() and source.exists() and target.samefile(source) for source in sources):
        raise MetricError("input and output are one file", target.name, "Give another name to the output.")


@contextmanager
def writing(path: Path, source: Path) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Open a table for the rows of ``source`` with further columns of numbers, and yield what writes rows.

    JSON lines have null for what is not a finite number; Parquet keeps the types of a Parquet source, and
    other values are texts there.
    """
    if path.suffix.lower() == ".parquet":
        with _writing_parquet(path, source) as write:
            yield write
        return
    with path.open("w", newline="", encoding="utf-8") as stream:

        def write_lines(frame: pd.DataFrame) -> None:
            for row in frame.to_dict("records"):
                row = {key: None if _is_no_number(value) else value for key, value in row.items()}
                stream.write(f"{json.dumps(row, ensure_ascii=False, default=str)}\n")

        def write_cells(frame: pd.DataFrame) -> None:
            cells = frame.map(_text)
            # The csv module quotes a carriage return only where it ends lines.
            returns = cells.map(lambda cell: isinstance(cell, str) and "\r" in cell).any(axis=None)
            quoting = csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
            separator = _SEPARATORS[path.suffix.lower()]
            header = not stream.tell()
            cells.to_csv(
                stream, sep=separator, header=header, index=False, lineterminator="\n", quoting=quoting
            )

        yield write_lines if path.suffix.lower() == ".jsonl" else write_cells


def _is_no_number(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _text(value: Any) -> Any:
    """Return a value as a cell of texts has it: lists, mappings and truth values as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | bool) else value


@contextmanager
def _writing_parquet(path: Path, source: Path) -> Iterator[Callable[[pd.DataFrame], None]]:
    arrow = _pyarrow()
    known = arrow.parquet.read_schema(source) if source.suffix.lower() == ".parquet" else arrow.schema([])
    writer: Any = None

    def write(frame: pd.DataFrame) -> None:
        nonlocal writer
        columns, fields = {}, []
        for name in frame.columns:
            field = arrow.field(name, arrow.float64() if frame[name].dtype == float else arrow.string())
            fields.append(known.field(name) if name in known.names else field)
            values = [None if _is_no_number(value) else value for value in frame[name].tolist()]
            texts = arrow.types.is_string(fields[-1].type)
            columns[name] = [value if value is None or not texts else str(_text(value)) for value in values]
        schema = arrow.schema(fields)
        writer = writer or arrow.parquet.ParquetWriter(path, schema)
        writer.write_table(arrow.Table.from_pydict(columns, schema=schema))

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()
