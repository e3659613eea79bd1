"""Scores for a card that are made outside this program: by a command, or in a file of scores.

Both give an ``id`` and a ``score`` for each pair that ``radbook metric-card --pairs`` writes; a score that is
empty, null or not finite says that the metric failed.
"""

from __future__ import annotations

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
from radeval_lib.data import reading, recorded
from radeval_lib.data.errors import FormatError
from radeval_lib.errors import listed
from radeval_lib.metric_cards.pairs import MOST, RATED, as_lines
from radeval_lib.metric_cards.scoring import Scored, Scorer, scored_values
from radeval_lib.metrics.base import MetricError
from radeval_lib.stats.inputs import FloatArray

_PARTS = "|".join((*RATED, "systems", "edits", "empty", "again"))
_PAIR_ID = re.compile(
    rf"(?P<part>{_PARTS})/(?P<place>0|[1-9][0-9]{{0,4}})/[0-9a-f]{{8}}"
)  # radpref/17/0a1b2c3d


class CommandScorer(Scorer):
    """A command that reads JSON lines (``id``, ``reference``, ``candidate``) and writes others (``id``,
    ``score``), in any order."""

    def __init__(self, command: str) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise MetricError(f"not a command: {error}", "--command", "Check its quotation marks.") from None
        if not self._words or "\0" in command:
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


_Rows = Iterator[tuple[str, Mapping[str, Any]]]  # each with its place, for messages


def _file_rows(path: Path) -> _Rows:
    try:
        if path.suffix == ".jsonl":
            yield from _json_rows(reading.read_text(path), path.name)
            return
        for row in reading.read_csv(path, ("id", "score")):
            yield row.where, row
    except FormatError as error:
        raise MetricError(error.what, error.where, error.remedy) from None


def _json_rows(text: str, source: str) -> _Rows:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{source}, line {number}"
        try:
            yield where, reading.decode_json(line, dict, source, line=number)
        except FormatError as error:
            what = f"not a JSON object of an id and a score: {error.what}"
            raise MetricError(what, where, 'Write {"id": ..., "score": ...} a line.') from None


def known_rows(path: Path, names: Collection[str]) -> dict[str, FloatArray]:
    """Scores of rated sets (``names``), each of shape (rows of the set,), from a file of scores that may hold
    other pairs too; NaN where the metric failed. A set of which the file has no row is left out.

    The digest of the texts that ends an id is not compared with them: they may stand elsewhere.

    Raises
    ------
    MetricError
        Where the file is not there or cannot be read, a row has no score, a rated set is there in part or a
        pair twice, or an id is not one that :func:`radeval_lib.metric_cards.pairs.build` gives.
    """
    by_part: dict[str, dict[int, float]] = {}
    for where, row in _file_rows(path):
        match = _PAIR_ID.fullmatch(str(row.get("id")))
        if match is None or int(match["place"]) >= MOST:
            raise MetricError("not the id of a pair", where, "Keep the ids that --pairs writes.")
        if match["part"] in names:
            scores, place = by_part.setdefault(match["part"], {}), int(match["place"])
            if place in scores:
                raise MetricError(f"a second score of {match[0]}", where, "Give each pair one row.")
            scores[place] = _score(row, where)
    for part, scores in by_part.items():
        first, rows = min(scores), _rows_of(part)
        if sorted(scores) != list(range(first, first + rows)):
            raise MetricError(f"rows of {part} are missing", path.name, "Score all of its pairs, or none.")
        if first not in (0, sum(map(_rows_of, RATED[: RATED.index(part)]))):  # alone, or behind those before
            what = f"the pairs of {part} do not begin at place {first:,}"
            raise MetricError(what, path.name, "Keep the ids that --pairs writes.")
    return {part: np.array([scores[place] for place in sorted(scores)]) for part, scores in by_part.items()}


def _rows_of(name: str) -> int:
    return len(recorded.load(name).table)


def _by_id(frame: pd.DataFrame, rows: Iterable[tuple[str, Mapping[str, Any]]], source: str) -> Scored:
    """Scores that come with ids, in the order of the pairs."""
    known = set(frame["id"])
    scores: dict[str, float] = {}
    for where, row in rows:
        pair_id = row.get("id")
        if not isinstance(pair_id, str) or pair_id not in known:
            remedy = "Score the pairs that --pairs writes with the same data root and --quick."
            raise MetricError(f"no pair has the id {pair_id!r}", where, remedy)
        if pair_id in scores:
            raise MetricError(f"a second score of {pair_id}", where, "Give each pair one row.")
        scores[pair_id] = _score(row, where)
    if missing := [pair_id for pair_id in frame["id"] if pair_id not in scores]:
        what = f"{len(missing):,} of {len(known):,} pairs have no row: {listed(missing, 90)}"
        raise MetricError(what, source, "Give each pair a row, with an empty score where the metric fails.")
    return scored_values(np.array([scores[pair_id] for pair_id in frame["id"]]))


def _score(row: Mapping[str, Any], where: str) -> float:
    """The score of a row; NaN where it says that there is none, or it is not finite."""
    if "score" not in row:
        raise MetricError("no score", where, 'Write {"id": ..., "score": ...}.')
    given = row["score"]
    if given is None or (isinstance(given, str) and given.strip().lower() in ("", "nan", "null", "none")):
        return math.nan
    if isinstance(given, str | int | float) and not isinstance(given, bool):
        with suppress(ValueError, OverflowError):
            number = float(given)
            return number if math.isfinite(number) else math.nan
    raise MetricError(f"{given!r:.60} is not a number", where, "Leave it empty where the metric fails.")
