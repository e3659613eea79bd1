"""Scoring a file of pairs: CSV or JSON lines in, the same rows with one more column out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from radeval_lib import atomic
from radeval_lib.metrics.base import MetricError, create

COLUMNS = ("reference", "candidate")
CHUNK = 5_000
"""Rows scored and written at a time, so that memory does not grow with the file."""


def score_file(
    metric_name: str,
    settings: Mapping[str, Any],
    input_path: str | Path,
    output_path: str | Path,
    *,
    progress: Any = None,
) -> int:
    """Score the columns ``reference`` and ``candidate`` of a file and write its rows with the metric's
    column added.

    The input's columns, their order and the rows' order stay. The output appears only when it is complete.

    Parameters
    ----------
    metric_name : see :func:`radeval_lib.metrics.names`; also the name of the new column.
    settings : the metric's settings, as texts or values, without the metric's name before them.
    input_path, output_path : ``.csv`` or ``.jsonl``; the two may differ in format.
    progress : called with the number of rows done so far.

    Returns
    -------
    The number of rows.

    Raises
    ------
    MetricError
        If the file is missing, not of its format, lacks a column, or already has one of the metric's name;
        or if the metric or a setting is unknown. The message names the file and the row.
    """
    source, target = Path(input_path), Path(output_path)
    for path in (source, target):
        if path.suffix.lower() not in (".csv", ".jsonl"):
            raise MetricError(
                f"unknown format {path.suffix!r}", path.name, "Use a name that ends in .csv or .jsonl."
            )
    if not target.parent.is_dir():
        raise MetricError(f"no folder {target.parent.name!r} to write to", target.name)
    metric = create(metric_name, **settings)
    rows = _rows(source)
    columns = next(rows)
    _check(columns, metric_name, source.name)
    done = 0
    with (
        atomic.new_file(target) as part,
        part.open("w", newline="", encoding="utf-8", errors="surrogatepass") as stream,
    ):
        write = _writer(stream, target.suffix.lower(), [*columns, metric_name])
        while chunk := [row for _, row in zip(range(CHUNK), rows, strict=False)]:
            texts = [[row[name] for row in chunk] for name in COLUMNS]
            values = metric.score(texts[0], texts[1]).values
            for row, value in zip(chunk, values, strict=True):
                write({**row, metric_name: float(value)})
            done += len(chunk)
            if progress is not None:
                progress(done)
    return done


def _check(columns: Sequence[str], metric_name: str, where: str) -> None:
    found = f"Columns found: {', '.join(columns) or 'none'}."
    if missing := [name for name in COLUMNS if name not in columns]:
        raise MetricError(f"no column {missing[0]!r}", where, found)
    if metric_name in columns:
        raise MetricError(f"there is already a column {metric_name!r}", where, f"Rename it. {found}")
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise MetricError(f"two columns are called {twice!r}", where, found)


def _rows(path: Path) -> Iterator[Any]:
    """First the column names, then one dictionary a row."""
    if not path.is_file():
        raise MetricError("no such file", path.name)
    try:
        yield from _csv_rows(path) if path.suffix.lower() == ".csv" else _json_rows(path)
    except UnicodeDecodeError as error:
        raise MetricError(f"not UTF-8 at byte {error.start}", path.name, "Save the file as UTF-8.") from None


def _csv_rows(path: Path) -> Iterator[Any]:
    csv.field_size_limit(1 << 30)
    with path.open(newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream, strict=True)
        try:
            columns = next(reader, [])
            yield columns
            for number, row in enumerate(reader, start=1):
                if not row:
                    continue
                if len(row) != len(columns):
                    raise MetricError(
                        f"{len(row)} values for {len(columns)} columns", f"{path.name}, row {number}"
                    )
                yield dict(zip(columns, row, strict=True))
        except csv.Error as error:
            raise MetricError(f"not a CSV file: {error}", f"{path.name}, line {reader.line_num}") from None


def _json_rows(path: Path) -> Iterator[Any]:
    columns: list[str] | None = None
    with path.open(encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            where = f"{path.name}, line {number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise MetricError(f"not JSON: {error}", where) from None
            if not isinstance(row, dict):
                raise MetricError(f"a row must be an object, not {type(row).__name__}", where)
            if columns is None:
                columns = list(row)
                yield columns
            for name in COLUMNS:
                if not isinstance(row.get(name), str):
                    found = f"Columns found: {', '.join(row)}."
                    raise MetricError(f"{name!r} is missing or not a text", where, found)
            yield row
    if columns is None:
        yield []


def _writer(stream: io.TextIOBase | Any, suffix: str, columns: list[str]) -> Any:
    if suffix == ".jsonl":
        return lambda row: stream.write(json.dumps(row, ensure_ascii=False) + "\n")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    return lambda row: writer.writerow([_cell(row.get(name)) for name in columns])


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
