"""Scoring files of pairs, and scores kept so that an interrupted scoring goes on."""

from __future__ import annotations

import json
import os
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from radeval_lib import atomic, checksums, origin
from radeval_lib.errors import RadevalError, of_system
from radeval_lib.metrics import pair_files
from radeval_lib.metrics.base import Metric, MetricError, Scores, create
from radeval_lib.models.cache import BlobCache, mend, text_key
from radeval_lib.models.loading import ADDRESSES, RULES, ModelError, checksum, device_of

_HEAD = struct.Struct("<8sd")  # of a score that is kept: the run that made it, and the value


@contextmanager
def kept_beside(
    target: Path, metrics: Mapping[str, Metric], devices: Mapping[str, str]
) -> Iterator[dict[str, Kept]]:
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
        kept: dict[str, Kept] = {}
        try:
            for name, metric in metrics.items():
                kept[name] = Kept(folder / name, metric, devices[name])
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


class Kept:
    """A metric's scores and remarks of distinct pairs, on disk in ``folder``."""

    def __init__(self, folder: Path, metric: Metric, device: str) -> None:
        self._metric = metric
        # What the values depend on beside the texts, and on nothing that this process has done so far.
        versions = [origin.own_files(), origin.environment()]
        table = json.dumps([metric.signature(), described_models(metric), device, *versions])
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


def described_models(metric: Metric) -> dict[str, str]:
    """Name and SHA-256 of the models that a metric uses, by setting."""
    found = metric.models()
    for role, name in found.items():
        with suppress(ModelError):
            found[role] = f"{Path(name).name}, sha256 {checksum(name)}"
    return found


def device_name(metric: Metric, wanted: str) -> str:
    """The device that a metric's models run on, whether they are loaded or not."""
    if all(name == RULES or name.startswith(ADDRESSES) for name in metric.models().values()):
        return "cpu"
    import torch

    try:
        device = device_of(wanted)
    except ModelError as error:
        raise MetricError(error.what, f"{metric.name}.{error.where}", error.remedy) from error
    return "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)


CHUNK = 500
"""Rows scored, kept and written at a time: memory does not grow with the file, and little is lost."""


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
    pair_files.check(source, target)
    chosen = {name: create(name, **settings) for name, settings in metrics.items()}
    devices = {name: device_name(one, metrics[name].get("device", "auto")) for name, one in chosen.items()}
    version = pair_files.version(source)
    before, empty = _survey(source, list(chosen))
    remarks = {"an empty reference or candidate": empty} if empty.pairs else {}
    done = 0
    with (
        kept_beside(target, chosen, devices) as kept,
        atomic.new_files(pair_files.about_path(target), target) as (beside, part),
        beside.open("w", encoding="utf-8") as told,
        part.open("w", newline="", encoding="utf-8") as stream,
    ):
        write = pair_files.writer(stream, target.suffix.lower(), [*before, *chosen])
        rows = pair_files.rows(source, list(chosen))
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
        if pair_files.version(source) != version:
            raise MetricError("changed while it was scored", source.name, "Score it again.")
    again = min((one.before for one in kept.values()), default=0)
    return Scored(done, again, any(one.damaged for one in kept.values()), remarks)


def _survey(source: Path, added: list[str]) -> tuple[list[str], Remark]:
    """Every column in order of first appearance, and pairs with an empty text, of a file that is in order."""
    columns, empty = dict.fromkeys(pair_files.header(source, added)), Remark()
    for number, row in enumerate(pair_files.rows(source, added), start=1):
        columns.update(dict.fromkeys(row))
        if not (row["reference"].strip() and row["candidate"].strip()):
            empty.add(number)
    return list(columns) or list(pair_files.COLUMNS), empty


def _about(
    source: Path,
    metrics: Mapping[str, Metric],
    devices: Mapping[str, str],
    rows: int,
    remarks: dict[str, Remark],
) -> dict[str, Any]:
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
                "models": described_models(metric),
                "device": devices[name],
            }
            for name, metric in metrics.items()
        },
        "remarks": {what: str(remark) for what, remark in remarks.items()},
        **origin.environment(),
    }
