"""Rows of Parquet files, for :mod:`radeval_lib.metrics.table_files`; the package pyarrow is optional."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from radeval_lib.metrics.base import MetricError

_BATCH = 500  # rows that are read at a time
_GROUP_ROWS = 10_000  # rows of a row group that is written; they are in memory together


def check_installed() -> None:
    """Refuse to go on where pyarrow is not installed."""
    _parquet()


def _parquet() -> Any:
    try:
        import pyarrow.parquet as parquet
    except ModuleNotFoundError:
        what = "the package pyarrow is not installed"
        raise MetricError(what, "Parquet", "Run: pip install pyarrow") from None
    return parquet


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
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


def columns(path: Path) -> list[str]:
    """The names of a file's columns, in order."""
    with _opened(path) as file:
        return list(file.schema_arrow.names)


def rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row with its place, for messages."""
    with _opened(path) as file:
        number = 0
        for batch in file.iter_batches(batch_size=_BATCH):
            for row in batch.to_pylist():
                number += 1
                yield f"{path.name}, row {number}", row


def as_json(value: Any) -> str:
    """A value as JSON on one line, with null for numbers that JSON lacks, NaN and infinite ones."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def text(value: Any) -> str | None:
    """A value as a column of texts has it: lists and mappings as JSON, with JSON's words for True and False;
    None stays."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list | bool):
        return as_json(value)
    return str(value)


@contextmanager
def writing(path: Path, types: Mapping[str, set[type]]) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """What writes a row, by the types of each column's values: a column keeps its type where all its values
    have one of Parquet's plain types; else it is text."""
    parquet = _parquet()
    import pyarrow

    plain = {int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}

    def column_type(values: set[type]) -> Any:
        present = values - {type(None)}
        (single,) = {float} if present == {int, float} else present if len(present) == 1 else {str}
        return plain.get(single, pyarrow.string())

    schema = pyarrow.schema([(name, column_type(values)) for name, values in types.items()])
    texts = {field.name for field in schema if pyarrow.types.is_string(field.type)}
    waiting: list[dict[str, Any]] = []
    with parquet.ParquetWriter(path, schema) as writer:

        def flush() -> None:
            writer.write_table(pyarrow.Table.from_pylist(waiting, schema=schema))
            waiting.clear()

        def write(row: Mapping[str, Any]) -> None:
            waiting.append({name: text(row.get(name)) if name in texts else row.get(name) for name in types})
            if len(waiting) == _GROUP_ROWS:
                flush()

        yield write
        flush()
