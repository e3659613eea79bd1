"""Scoring a file of pairs: CSV or JSON lines in, the same rows with a column more for each metric out.

The file is read twice, first to check every row, so that nothing is scored of a file that cannot be finished.
Scores are kept as they are made, under hashes of the texts, in a folder beside the output, which one run has
to itself; one that was interrupted goes on where it stopped, and the folder goes when the output is complete.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from radeval_lib import atomic, checksums, origin
from radeval_lib.errors import RadevalError, listed, of_system, plain
from radeval_lib.metrics.base import Metric, MetricError, Scores, create
from radeval_lib.models.cache import BlobCache, mend, text_key
from radeval_lib.models.loading import ADDRESSES, RULES, ModelError, checksum, device_of

COLUMNS = ("reference", "candidate")
CHUNK = 500
"""Rows scored, kept and written at a time: memory does not grow with the file, and little is lost."""

Row = dict[str, Any]
_HEAD = struct.Struct("<8sd")  # of a score that is kept: the run that made it, and the value
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
    """What was scored: the number of rows, how many were kept from an interrupted run, whether others were to
    be but were damaged, and remarks."""

    rows: int
    kept: int
    damaged: bool
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
        a metric or a setting is unknown; if the output cannot be written there, or another run is writing it.
        The message names the file and the row.
    FileError
        If the disk is full, or the system refuses otherwise.
    """
    source, target = Path(input_path), Path(output_path)
    _check_paths(source, target)
    chosen = {name: create(name, **settings) for name, settings in metrics.items()}
    devices = {name: _device(metric, metrics[name].get("device", "auto")) for name, metric in chosen.items()}
    version = _version(source)
    survey = _survey(source, list(chosen))
    remarks = {"an empty reference or candidate": survey.empty} if survey.empty.pairs else {}
    done = 0
    with (
        _kept_beside(target, chosen, devices) as kept,
        atomic.new_files(_about_path(target), target) as (beside, part),
        beside.open("w", encoding="utf-8") as told,
        part.open("w", newline="", encoding="utf-8") as stream,
    ):
        write = _writer(stream, target.suffix.lower(), [*survey.columns, *chosen])
        rows = _rows(source, list(chosen))
        while chunk := list(islice(rows, CHUNK)):
            pairs = [(row["reference"], row["candidate"]) for row in chunk]
            columns = {name: one.score(pairs) for name, one in kept.items()}
            for place, row in enumerate(chunk):
                write({**row, **{name: column[place][0] for name, column in columns.items()}})
                for name, column in columns.items():
                    if said := column[place][1]:
                        remarks.setdefault(f"{name}: {said}", Remark()).add(done + place + 1)
            done += len(chunk)
            if progress is not None:
                progress(done)
        told.write(json.dumps(_about(source, chosen, devices, done, remarks), indent=2) + "\n")
        if _version(source) != version:
            raise MetricError("changed while it was scored", source.name, "Score it again.")
    before = min((one.before for one in kept.values()), default=0)
    return Scored(done, before, any(one.damaged for one in kept.values()), remarks)


def _check_paths(source: Path, target: Path) -> None:
    for path in (source, target, _about_path(target)):
        _check_file(path)
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


def _about_path(target: Path) -> Path:
    return target.with_name(f"{target.name}.about.json")


def _version(path: Path) -> tuple[int, ...]:
    """Differs when the file was changed or another put in its place."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def _kept_beside(
    target: Path, metrics: Mapping[str, Metric], devices: Mapping[str, str]
) -> Iterator[dict[str, _Kept]]:
    """What is kept of an output's scores, for this run alone, in a folder that goes when the output is
    complete. If that fails, the folder stays where it lets the next run go on, and the error says so."""
    folder = target.with_name(f".scoring-{checksums.of_text(target.name)[:16]}")
    with ExitStack() as lock:
        try:
            lock.enter_context(atomic.alone(folder))
        except BlockingIOError:
            remedy = "Wait until it has ended, or give another name to the output."
            raise MetricError("another run is writing this output", target.name, remedy) from None
        stays = any(folder.iterdir())
        kept: dict[str, _Kept] = {}
        try:
            for name, metric in metrics.items():
                kept[name] = _Kept(folder / name, metric, devices[name])
            yield kept
        except BaseException as error:
            stays = stays or any(one.holds for one in kept.values())
            if not stays:
                shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError | RadevalError) and not isinstance(error, BrokenPipeError):
                told = of_system(error) if isinstance(error, OSError) else error
                goes_on = "What was scored is kept: the same command goes on there." if stays else ""
                remedy = f"{told.remedy} {goes_on}".strip()
                raise type(told)(told.what, told.where or target.name, remedy) from error
            raise
        shutil.rmtree(folder, ignore_errors=True)


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
        _check(dict.fromkeys(columns, ""), added, source.name)
    for number, row in enumerate(_rows(source, added), start=1):
        columns.update(dict.fromkeys(row))
        if not (row["reference"].strip() and row["candidate"].strip()):
            empty.add(number)
    return _Survey(list(columns) or list(COLUMNS), empty)


def _check(row: Row, added: Iterable[str], where: str) -> None:
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


def _rows(path: Path, added: list[str]) -> Iterator[Row]:
    """Each row, checked; the columns ``added`` must not be there yet."""
    for where, row in _csv_rows(path) if path.suffix.lower() == ".csv" else _json_rows(path):
        _check(row, added, where)
        yield row


@contextmanager
def _opened(path: Path, newline: str | None = None) -> Iterator[io.TextIOBase]:
    try:
        with path.open(newline=newline, encoding="utf-8-sig") as stream:
            yield stream
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
    """A metric's scores and remarks of distinct pairs, on disk in ``folder``."""

    def __init__(self, folder: Path, metric: Metric, device: str) -> None:
        self._metric = metric
        # What the values depend on beside the texts, and nothing that this process has done so far.
        decides = [metric.signature(), _models(metric), device, origin.own_files(), origin.environment()]
        table = json.dumps(decides)
        self.damaged = mend(folder, table)
        """Whether scores of an interrupted run were lost."""
        self._cache = BlobCache(folder, table)
        self._run = os.urandom(8)
        self.holds = False
        """Whether this run has kept a score."""
        self.before = 0
        """Rows whose score was there from an interrupted run."""

    def score(self, pairs: list[tuple[str, str]]) -> list[tuple[float, str]]:
        """(value, remark) of each pair; those not scored before are scored together and kept."""
        keys = [text_key(json.dumps(pair)) for pair in pairs]
        found, earlier = dict[bytes, tuple[float, str]](), set[bytes]()
        for key, content in self._cache.get(set(keys)).items():
            if zlib.crc32(content[4:]) != int.from_bytes(content[:4], "little"):
                self.damaged = True
                continue
            run, value = _HEAD.unpack_from(content, 4)
            found[key] = (value, content[4 + _HEAD.size :].decode())
            if run != self._run:
                earlier.add(key)
        self.before += sum(key in earlier for key in keys)
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        if new:
            scores = self._scored(list(new.values()))
            details = scores.details or repeat(None)
            for key, value, detail in zip(new, scores.values, details, strict=False):
                found[key] = (float(value), self._metric.remark(detail))
            self._cache.put({key: self._packed(*found[key]) for key in new})
            self.holds = True
        return [found[key] for key in keys]

    def _packed(self, value: float, remark: str) -> bytes:
        """A score with the run that made it, behind a checksum, because SQLite has none."""
        content = _HEAD.pack(self._run, value) + remark.encode()
        return zlib.crc32(content).to_bytes(4, "little") + content

    def _scored(self, pairs: list[tuple[str, str]]) -> Scores:
        try:
            return self._metric.score([one for one, _ in pairs], [one for _, one in pairs])
        except ModelError as error:
            name = self._metric.name
            where = " and ".join(f"{name}.{role}" for role in self._metric.needs)
            remedy = f"{error.remedy} The setting is {where}."
            raise MetricError(error.what, f"{name}, {error.where}", remedy) from error


def _models(metric: Metric) -> dict[str, str]:
    """Name and SHA-256 of the models that a metric uses, by setting."""
    found = metric.models()
    for role, name in found.items():
        with suppress(ModelError):
            found[role] = f"{Path(name).name}, sha256 {checksum(name)}"
    return found


def _device(metric: Metric, wanted: str) -> str:
    """The device that a metric's models run on, whether they are loaded or not."""
    if all(name.startswith((RULES, *ADDRESSES)) for name in metric.models().values()):
        return "cpu"
    import torch

    try:
        device = device_of(wanted)
    except ModelError as error:
        raise MetricError(error.what, f"{metric.name}.{error.where}", error.remedy) from error
    return "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)


def _about(
    source: Path,
    metrics: Mapping[str, Metric],
    devices: Mapping[str, str],
    rows: int,
    remarks: dict[str, Remark],
) -> Row:
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
                "device": devices[name],
            }
            for name, metric in metrics.items()
        },
        "remarks": {what: str(remark) for what, remark in remarks.items()},
        **origin.environment(),
    }
