"""Scores for a card that are made outside this program: by a command, or in a file of scores.

Both give an ``id`` and a ``score`` for each pair that ``radbook metric-card --pairs`` writes; a score that is
empty, null or not finite says that the metric failed.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import checksums
from radeval_lib.cards.pairs import as_lines
from radeval_lib.cards.scoring import Scored, Scorer, scored_values
from radeval_lib.data import recorded
from radeval_lib.data.reading import line_of_bad_byte
from radeval_lib.errors import listed
from radeval_lib.metrics.base import MetricError
from radeval_lib.stats.inputs import FloatArray

_PAIR_ID = re.compile(r"(?P<part>\w+)/(?P<place>\d+)/[0-9a-f]+")  # radpref/17/0a1b2c3d


class CommandScorer(Scorer):
    """A command that reads JSON lines (``id``, ``reference``, ``candidate``) and writes others (``id``,
    ``score``), in any order."""

    def __init__(self, command: str) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise MetricError(f"not a command: {error}", "--command", "Check its quotation marks.") from None
        if not self._words:
            raise MetricError("no command", "--command", "Give a program that reads and writes JSON lines.")
        files = [Path(word) for word in self._words if Path(word).is_file()]
        digest = checksums.of_file(files[-1]) if files else None
        self.about = {"kind": "command", "version": None, "sha256": digest}

    def score(self, frame: pd.DataFrame, progress: Callable[[int], None]) -> Scored:
        started = time.perf_counter()
        try:
            ran = subprocess.run(
                self._words, input=as_lines(frame), stdout=subprocess.PIPE, encoding="utf-8", check=False
            )
        except OSError as error:
            what = (error.strerror or type(error).__name__).lower()
            raise MetricError(f"cannot be started: {what}", self._words[0], "Give its path.") from None
        except UnicodeDecodeError:
            raise MetricError(
                "it writes what is not UTF-8", self._words[0], "Have it write JSON lines in UTF-8."
            ) from None
        if ran.returncode:
            ending = f"signal {-ran.returncode}" if ran.returncode < 0 else f"status {ran.returncode}"
            written = sum(bool(line.strip()) for line in ran.stdout.split("\n"))
            what = f"it ended with {ending} after {written:,} of {len(frame):,} scores"
            raise MetricError(what, self._words[0], "Try it on a few lines of the file that --pairs writes.")
        scored = _by_id(frame, _json_rows(ran.stdout, self._words[0]), self._words[0])
        scored.seconds = (time.perf_counter() - started) / len(frame)
        progress(len(frame))
        return scored


class FileScorer(Scorer):
    """A file of scores, ``id`` and ``score``: CSV, or JSON lines where its name ends in ``.jsonl``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.is_file():
            raise MetricError("no such file", path.name, "Give the scores of the pairs that --pairs writes.")
        self.about = {"kind": "file", "version": None, "sha256": checksums.of_file(path)}

    def score(self, frame: pd.DataFrame, progress: Callable[[int], None]) -> Scored:
        scored = _by_id(frame, _file_rows(self._path), self._path.name)
        progress(len(frame))
        return scored


_Rows = Iterator[tuple[str, Mapping[str, Any]]]  # each with its place in the file, for messages


def _file_rows(path: Path) -> _Rows:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        where = f"{path.name}, line {line_of_bad_byte(path)}"
        raise MetricError("not UTF-8 text", where, "Write CSV or JSON lines in UTF-8.") from None
    if path.suffix == ".jsonl":
        yield from _json_rows(text, path.name)
        return
    table = csv.DictReader(io.StringIO(text))
    columns = table.fieldnames or ()
    for name in ("id", "score"):
        if name not in columns:
            raise MetricError(f"no column {name!r}", path.name, f"Columns: {listed(columns)}.")
    for row in table:
        yield f"line {table.line_num}", row


def _json_rows(text: str, source: str) -> _Rows:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            where, remedy = f"{source}, line {number}", 'Write {"id": ..., "score": ...} a line.'
            raise MetricError("not a JSON object", where, remedy)
        yield f"line {number}", row


def known_rows(path: Path, names: Collection[str]) -> dict[str, FloatArray]:
    """Scores of rated sets (``names``), each of shape (rows of the set,), from a file of scores that may hold
    other pairs too; NaN where the metric failed. A set of which the file has no row is left out.

    Raises
    ------
    MetricError
        Where a rated set is there in part or a pair twice, or an id is not one of
        :func:`radeval_lib.cards.pairs.build`.
    """
    by_part: dict[str, dict[int, float]] = {}
    for line, row in _file_rows(path):
        where = f"{path.name}, {line}"
        match = _PAIR_ID.fullmatch(str(row.get("id")))
        if match is None:
            raise MetricError("not the id of a pair", where, "Keep the ids that --pairs writes.")
        if match["part"] in names:
            scores, place = by_part.setdefault(match["part"], {}), int(match["place"])
            if place in scores:
                raise MetricError(f"a second score of {match[0]}", where, "Give each pair one row.")
            scores[place] = _value(row.get("score"), where)
    for part, scores in by_part.items():
        first, rows = min(scores), len(recorded.load(part).table)
        if sorted(scores) != list(range(first, first + rows)):
            raise MetricError(f"rows of {part} are missing", path.name, "Score all of its pairs, or none.")
    return {part: np.array([scores[place] for place in sorted(scores)]) for part, scores in by_part.items()}


def _by_id(frame: pd.DataFrame, rows: Iterable[tuple[str, Mapping[str, Any]]], source: str) -> Scored:
    """Scores that come with ids, in the order of the pairs."""
    known = set(frame["id"])
    scores: dict[str, float] = {}
    for line, row in rows:
        pair_id, where = row.get("id"), f"{source}, {line}"
        if not isinstance(pair_id, str) or pair_id not in known:
            remedy = "Score the pairs that --pairs writes with the same data root and --quick."
            raise MetricError(f"no pair has the id {pair_id!r}", where, remedy)
        if pair_id in scores:
            raise MetricError(f"a second score of {pair_id}", where, "Give each pair one row.")
        if "score" not in row:
            raise MetricError("no score", where, 'Write {"id": ..., "score": ...}.')
        scores[pair_id] = _value(row["score"], where)
    if missing := [pair_id for pair_id in frame["id"] if pair_id not in scores]:
        what = f"{len(missing):,} of {len(known):,} pairs have no row: {listed(missing, 90)}"
        raise MetricError(what, source, "Give each pair a row, with an empty score where the metric fails.")
    return scored_values(np.array([scores[pair_id] for pair_id in frame["id"]]))


def _value(given: Any, where: str) -> float:
    """A score from a file; NaN where it says that there is none."""
    if given is None or (isinstance(given, str) and given.strip().lower() in ("", "nan", "null", "none")):
        return math.nan
    if isinstance(given, str | int | float) and not isinstance(given, bool):
        with suppress(ValueError, OverflowError):
            return float(given)
    raise MetricError(f"{given!r:.60} is not a number", where, "Leave it empty where the metric fails.")
