"""Scoring a file of pairs: CSV or JSON lines in, the same rows with a column more for each metric out.

The file is read twice, first to check every row, so that nothing is scored of a file that cannot be finished.
Scores are kept as they are made, under hashes of the texts, in a folder beside the output; a run that was
interrupted goes on where it stopped, and the folder goes when the output is complete.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from radeval_lib import atomic, checksums, origin
from radeval_lib.errors import listed, plain
from radeval_lib.metrics.base import Metric, MetricError, Scores, create
from radeval_lib.models.cache import BlobCache, text_key
from radeval_lib.models.loading import ModelError, checksum

COLUMNS = ("reference", "candidate")
CHUNK = 500
"""Rows scored, kept and written at a time: memory does not grow with the file, and little is lost."""

Row = dict[str, Any]
_HALF = "half of a surrogate pair, which is no character"


@dataclass
class Remark:
    """Something about pairs that a reader of their scores should know, with how many and the first rows."""

    pairs: int = 0
    rows: list[int] = field(default_factory=list)

    def add(self, row: int) -> None:
        self.pairs += 1
        if len(self.rows) < 5:
            self.rows.append(row)

    def __str__(self) -> str:
        more = ", ..." if self.pairs > len(self.rows) else ""
        return f"{self.pairs:,} pair(s), in row(s) {', '.join(map(str, self.rows))}{more}"


@dataclass(frozen=True)
class Scored:
    """What was scored: the number of rows, how many were kept from an interrupted run, and remarks."""

    rows: int
    kept: int
    remarks: dict[str, Remark]


def score_file(
    metrics: Mapping[str, Mapping[str, Any]],
    input_path: str | Path,
    output_path: str | Path,
    *,
    progress: Callable[[int], object] | None = None,
) -> Scored:
    """Score the columns ``reference`` and ``candidate`` of a file and write its rows with a column a metric.

    The input's columns, their order and the rows' order stay. The output appears only when it is complete,
    and with it ``<output>.about.json``: metrics, settings, models, versions, and remarks such as empty texts.

    Parameters
    ----------
    metrics : settings, as texts or values, by name of the metric (:func:`radeval_lib.metrics.names`), which
        is also the name of the new column.
    input_path, output_path : ``.csv`` or ``.jsonl``; the two may differ in format, but not be one file.
    progress : called with the number of rows done so far.

    Raises
    ------
    MetricError
        If the file is missing, not of its format, lacks a column, or already has one of a metric's name; if
        a metric or a setting is unknown; or if the output cannot be written there. The message names the file
        and the row.
    """
    source, target = Path(input_path), Path(output_path)
    _check_paths(source, target)
    chosen = {name: create(name, **settings) for name, settings in metrics.items()}
    survey = _survey(source, list(chosen))
    kept = {name: _Kept(target, metric) for name, metric in chosen.items()}
    remarks = {"an empty reference or candidate": survey.empty} if survey.empty.pairs else {}
    done = 0
    with atomic.new_file(target) as part, part.open("w", newline="", encoding="utf-8") as stream:
        write = _writer(stream, target.suffix.lower(), [*survey.columns, *chosen])
        rows = _rows(source)
        while chunk := list(islice(rows, CHUNK)):
            pairs = [(row["reference"], row["candidate"]) for _, row in chunk]
            columns = {name: one.score(pairs) for name, one in kept.items()}
            for place, (_, row) in enumerate(chunk):
                write({**row, **{name: column[place][0] for name, column in columns.items()}})
                for name, column in columns.items():
                    if said := column[place][1]:
                        remarks.setdefault(f"{name}: {said}", Remark()).add(done + place + 1)
            done += len(chunk)
            if progress is not None:
                progress(done)
    before = min((one.before for one in kept.values()), default=0)
    about = _about(source, chosen, done, remarks)
    atomic.write_text(target.with_name(f"{target.name}.about.json"), json.dumps(about, indent=2) + "\n")
    for one in kept.values():
        one.forget()
    return Scored(done, before, remarks)


def _check_paths(source: Path, target: Path) -> None:
    for path in (source, target):
        if path.suffix.lower() not in (".csv", ".jsonl"):
            raise MetricError(
                f"unknown format {path.suffix!r}", path.name, "Use a name that ends in .csv or .jsonl."
            )
    if not source.is_file():
        raise MetricError("no such file", source.name)
    if not target.parent.is_dir():
        raise MetricError(f"no folder {target.parent.name!r} to write to", target.name)
    if target.is_dir():
        raise MetricError("this is a folder", target.name, "Give the name of a file.")
    if target.exists() and os.path.samefile(source, target):
        raise MetricError("input and output are one file", target.name, "Give another name to the output.")


@dataclass(frozen=True)
class _Survey:
    """What a first pass found: every column in order of first appearance, and pairs with an empty text."""

    columns: list[str]
    empty: Remark


def _survey(source: Path, added: list[str]) -> _Survey:
    """Read the whole file and check it."""
    columns, empty = dict[str, None](), Remark()
    if source.suffix.lower() == ".csv":
        columns = dict.fromkeys(_csv_header(source))
        _check_columns(list(columns), added, source.name)
    for number, (where, row) in enumerate(_rows(source), start=1):
        columns.update(dict.fromkeys(row))
        for name in COLUMNS:
            if not isinstance(row.get(name), str):
                found = _found(row)
                raise MetricError(f"{name!r} is missing or not a text", where, found)
        if doubled := [name for name in added if name in row]:
            raise MetricError(f"there is already a column {doubled[0]!r}", where, "Rename it.")
        if not (row["reference"].strip() and row["candidate"].strip()):
            empty.add(number)
    return _Survey(list(columns) or list(COLUMNS), empty)


def _check_columns(columns: list[str], added: list[str], where: str) -> None:
    found = _found(columns)
    if missing := [name for name in COLUMNS if name not in columns]:
        raise MetricError(f"no column {missing[0]!r}", where, found)
    if doubled := [name for name in added if name in columns]:
        raise MetricError(f"there is already a column {doubled[0]!r}", where, f"Rename it. {found}")


def _found(columns: Iterable[str]) -> str:
    """The columns for a message; what is not one word may be a report, in a file without a header."""
    names = (
        name if re.fullmatch(r"[\w.-]{1,30}", name) else f"a text of {len(name):,} characters"
        for name in columns
    )
    return f"Columns found: {listed(names)}."


def _rows(path: Path) -> Iterator[tuple[str, Row]]:
    """(where, row) of each row."""
    try:
        yield from _csv_rows(path) if path.suffix.lower() == ".csv" else _json_rows(path)
    except UnicodeDecodeError as error:
        raise MetricError(f"not UTF-8 at byte {error.start}", path.name, "Save the file as UTF-8.") from None


def _csv_header(path: Path) -> list[str]:
    columns = next(_csv_cells(path), ("", []))[1]
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise MetricError(f"two columns are called {plain(twice, 30)!r}", path.name, _found(columns))
    return columns


def _csv_cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    csv.field_size_limit(1 << 30)
    with path.open(newline="", encoding="utf-8-sig") as stream:
        reader = csv.reader(stream, strict=True)
        try:
            for number, row in enumerate(reader):
                yield f"{path.name}, row {number}", row
        except csv.Error as error:
            raise MetricError(f"not a CSV file: {error}", f"{path.name}, line {reader.line_num}") from None
        except UnicodeDecodeError as error:
            raise MetricError(
                f"not UTF-8 at byte {error.start}", path.name, "Save the file as UTF-8."
            ) from None


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
    with path.open(encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            where = f"{path.name}, line {number}"
            try:
                row = json.loads(line, object_pairs_hook=_without_duplicates)
            except RecursionError:
                raise MetricError("nested too deep", where) from None
            except ValueError as error:
                raise MetricError(f"not JSON: {error}", where) from None
            if not isinstance(row, dict):
                raise MetricError(f"a row must be an object, not {type(row).__name__}", where)
            if "\\ud" in line.lower():
                try:
                    json.dumps(row, ensure_ascii=False).encode()
                except UnicodeEncodeError:
                    raise MetricError(f"holds {_HALF}", where, "Mend the escape sequence.") from None
            yield where, row


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return row


def _writer(stream: io.TextIOBase | Any, suffix: str, columns: list[str]) -> Callable[[Row], object]:
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


class _Kept:
    """A metric's scores and remarks of distinct pairs, kept on disk until the output is complete."""

    def __init__(self, target: Path, metric: Metric) -> None:
        self._folder = target.with_name(f".scoring-{checksums.of_text(target.name)[:16]}")
        self._metric = metric
        self._cache: BlobCache | None = None
        self._new: set[bytes] = set()
        self.before = 0
        """Rows whose score was there from an interrupted run."""

    def score(self, pairs: list[tuple[str, str]]) -> list[tuple[float, str]]:
        """(value, remark) of each pair; those not scored before are scored together and kept."""
        keys = [text_key(json.dumps(pair)) for pair in pairs]
        known = self._open().get(set(keys)) if self._folder.is_dir() else {}
        found = {key: _unpacked(value) for key, value in known.items()}
        self.before += sum(key in found and key not in self._new for key in keys)
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        if new:
            scores = self._scored(list(new.values()))
            details = scores.details or repeat(None)
            for key, value, detail in zip(new, scores.values, details, strict=False):
                found[key] = (float(value), self._metric.remark(detail))
            self._open().put({key: _packed(*found[key]) for key in new})
            self._new.update(new)
        return [found[key] for key in keys]

    def _open(self) -> BlobCache:
        if self._cache is None:
            # What the values depend on beside the texts.
            table = json.dumps([self._metric.signature(), _models(self._metric), origin.environment()])
            self._cache = BlobCache(self._folder, table)
        return self._cache

    def _scored(self, pairs: list[tuple[str, str]]) -> Scores:
        try:
            return self._metric.score([one for one, _ in pairs], [one for _, one in pairs])
        except ModelError as error:
            name, needs = (
                self._metric.name,
                " and ".join(f"{self._metric.name}.{role}" for role in self._metric.needs),
            )
            raise MetricError(
                error.what, f"{name}, {error.where}", f"{error.remedy} The setting is {needs}."
            ) from error

    def forget(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _packed(value: float, remark: str) -> bytes:
    return struct.pack("<d", value) + remark.encode()


def _unpacked(content: bytes) -> tuple[float, str]:
    return struct.unpack("<d", content[:8])[0], content[8:].decode()


def _models(metric: Metric) -> dict[str, str]:
    """Name and SHA-256 of the models that a metric uses, by setting."""
    found = {}
    for role in metric.needs:
        if name := metric.settings().get(role):
            found[role] = str(name)
            with suppress(ModelError):
                found[role] = f"{Path(str(name)).name}, sha256 {checksum(str(name))}"
    return found


def _about(source: Path, metrics: Mapping[str, Metric], rows: int, remarks: dict[str, Remark]) -> Row:
    return {
        "input": source.name,
        "sha256 of the input": checksums.of_file(source),
        "rows": rows,
        "metrics": {
            name: {
                "signature": metric.signature(),
                "range": [str(end) for end in metric.range],
                "higher is better": metric.higher_is_better,
                "source": metric.citation,
                "settings": {key: str(value) for key, value in metric.settings().items()},
                "models": _models(metric),
            }
            for name, metric in metrics.items()
        },
        "remarks": {what: str(remark) for what, remark in remarks.items()},
        **origin.environment(),
    }
