"""Scoring a file of pairs: CSV or JSON lines in, the same rows with a column more for each metric out.

The file is read twice, first to check every row, so that nothing is scored of a file that cannot be finished.
A run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from radeval_lib import atomic, checksums, origin
from radeval_lib.metrics import pair_files
from radeval_lib.metrics.base import Metric, MetricError, create
from radeval_lib.metrics.kept_scores import described_models, device_name, kept_beside

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
