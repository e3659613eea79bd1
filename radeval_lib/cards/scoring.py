"""Scores for a card: from a function, a metric of this library, a command, or a file.

A pair that cannot be scored is a failure: it is counted, and it keeps its place in every number of the card
with the worst score of its part. Whatever the metric is, a failure of every pair is an error.
"""

from __future__ import annotations

import csv
import inspect
import io
import json
import math
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import checksums
from radeval_lib.cards.pairs import as_lines
from radeval_lib.data.reading import line_of_bad_byte
from radeval_lib.errors import listed
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.stats.inputs import FloatArray

BATCH = 64
"""Pairs that a function of lists is given at once."""
_GIVE_UP = 20  # a function that fails on all of the first so many pairs is not a metric
MISSING = "not a finite number"
_PAIR_ID = re.compile(r"(?P<part>\w+)/(?P<place>\d+)/[0-9a-f]+")  # radpref/17/0a1b2c3d


@dataclass
class Scored:
    """What a metric said of the pairs of a card.

    Attributes
    ----------
    values : as the metric gave them, NaN where it failed; shape (pairs,).
    reasons : by place, why a pair has no score.
    seconds : for a pair on average; None where that is not known.
    alone : scores of the pairs of ``again``, one pair a call, of a metric that takes several; else None.
    message : what the first exception said, for the person who runs the metric; a card does not repeat it.
    """

    values: FloatArray
    reasons: dict[int, str] = field(default_factory=dict)
    seconds: float | None = None
    alone: FloatArray | None = None
    message: str = ""


class Scorer:
    """Takes the pairs of a card in their order, and says what it is.

    Attributes
    ----------
    about : ``kind`` (function, name, command or file), ``version`` and ``sha256`` of its source, as far as
        these are known.
    """

    about: dict[str, str | None]

    def score(self, frame: pd.DataFrame, progress: Callable[[int], None]) -> Scored:
        """Scores of every pair; ``progress`` is called with how many are done."""
        raise NotImplementedError


class FunctionScorer(Scorer):
    """A function ``(reference, candidate) -> number``, or with ``batched`` ``(references, candidates) ->
    numbers``."""

    def __init__(self, function: Callable[..., Any], batched: bool) -> None:
        self._function, self._batched, self._message = function, batched, ""
        module = sys.modules.get(getattr(function, "__module__", ""))
        self.about = {
            "kind": "function, pairs in batches" if batched else "function",
            "version": getattr(module, "__version__", None),
            "sha256": _source_digest(function),
        }

    def score(self, frame: pd.DataFrame, progress: Callable[[int], None]) -> Scored:
        pairs = list(zip(frame["reference"], frame["candidate"], strict=True))
        scored, started = Scored(np.full(len(pairs), np.nan)), time.perf_counter()
        size = BATCH if self._batched else 1
        for start in range(0, len(pairs), size):
            for place, (value, why) in enumerate(self._tried(pairs[start : start + size]), start):
                scored.values[place] = value
                if why:
                    scored.reasons[place] = why
            done = min(start + size, len(pairs))
            if done >= _GIVE_UP and len(scored.reasons) == done:
                raise _all_failed(done, scored.reasons, self._message)
            progress(done)
        scored.seconds = (time.perf_counter() - started) / len(pairs)
        if len(scored.reasons) == len(pairs):
            raise _all_failed(len(pairs), scored.reasons, self._message)
        scored.message = self._message
        if self._batched:
            again = np.flatnonzero(frame["part"] == "again")
            scored.alone = np.array([self._tried([pairs[place]])[0][0] for place in again])
        return scored

    def _tried(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, str]]:
        """Value and, where there is none, the reason, of each pair; a batch that fails is tried by pair."""
        try:
            return [_number(value) for value in self._called(pairs)]
        except MetricError:
            raise
        except Exception as error:
            if len(pairs) > 1:
                return [self._tried([pair])[0] for pair in pairs]
            self._message = self._message or f"{error}"
            return [(math.nan, type(error).__name__)]

    def _called(self, pairs: Sequence[tuple[str, str]]) -> list[Any]:
        if not self._batched:
            ((reference, candidate),) = pairs
            value = self._function(reference, candidate)
            if isinstance(value, Sequence | Mapping) or getattr(value, "shape", ()) not in ((), (1,)):
                what = f"it gives {type(value).__name__} for a pair, not a number"
                raise MetricError(what, "the metric", "Return a number, or say that it is batched.")
            return [value]
        sides = ([pair[side] for pair in pairs] for side in (0, 1))
        values = self._function(*sides)
        if not hasattr(values, "__len__") or isinstance(values, str | Mapping):
            what = f"it gives {type(values).__name__} for a list of pairs"
            raise MetricError(what, "the metric", "Return one number per pair, or leave batched out.")
        if len(values) != len(pairs):
            what = f"it gives {len(values)} scores for {len(pairs)} pairs"
            raise MetricError(what, "the metric", "Return one number per pair, nan where there is none.")
        return list(values)


class MetricScorer(Scorer):
    """A metric of this library."""

    def __init__(self, metric: Metric) -> None:
        self._metric, self.name = metric, metric.name
        signature = str(metric.signature())
        self.about = {"kind": "name", "version": signature, "sha256": None}

    def score(self, frame: pd.DataFrame, progress: Callable[[int], None]) -> Scored:
        started = time.perf_counter()
        values = self._metric.score(list(frame["reference"]), list(frame["candidate"])).values
        progress(len(frame))
        return Scored(values, seconds=(time.perf_counter() - started) / max(1, len(frame)))


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


def known_rows(path: Path, names: Iterable[str]) -> dict[str, FloatArray]:
    """Scores by rated set and row from a file of scores, whichever other pairs it holds.

    Raises
    ------
    MetricError
        Where a rated set is there in part, or an id is not one of :func:`radeval_lib.cards.pairs.build`.
    """
    by_part: dict[str, dict[int, float]] = {}
    for line, row in _file_rows(path):
        where = f"{path.name}, {line}"
        match = _PAIR_ID.fullmatch(str(row.get("id")))
        if match is None:
            raise MetricError("not the id of a pair", where, "Keep the ids that --pairs writes.")
        if match["part"] in names:
            by_part.setdefault(match["part"], {})[int(match["place"])] = _value(row.get("score"), where)
    result = {}
    for part, scores in by_part.items():
        first = min(scores)
        if sorted(scores) != list(range(first, first + len(scores))):
            raise MetricError(f"rows of {part} are missing", path.name, "Score all of its pairs, or none.")
        result[part] = np.array([scores[place] for place in sorted(scores)])
    return result


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
    values = np.array([scores[pair_id] for pair_id in frame["id"]])
    failed = np.flatnonzero(~np.isfinite(values))
    if len(failed) == len(values):
        raise _all_failed(len(values), dict.fromkeys(failed.tolist(), MISSING))
    return Scored(np.where(np.isfinite(values), values, np.nan), dict.fromkeys(failed.tolist(), MISSING))


def _value(given: Any, where: str) -> float:
    """A score from a file; NaN where it says that there is none."""
    if given is None or (isinstance(given, str) and given.strip().lower() in ("", "nan", "null", "none")):
        return math.nan
    if isinstance(given, str | int | float) and not isinstance(given, bool):
        with suppress(ValueError, OverflowError):
            return float(given)
    raise MetricError(f"{given!r:.60} is not a number", where, "Leave it empty where the metric fails.")


def _number(value: Any) -> tuple[float, str]:
    if value is None:
        return math.nan, MISSING
    number = float(value.item() if hasattr(value, "item") else value)
    return (number, "") if math.isfinite(number) else (math.nan, MISSING)


def _all_failed(count: int, reasons: Mapping[int, str], message: str = "") -> MetricError:
    why, _ = Counter(reasons.values()).most_common(1)[0]
    why = f"{why}: {message}" if message else why
    return MetricError(
        f"none of {count:,} pairs could be scored ({why})", "the metric", "Try it on one pair."
    )


def _source_digest(function: Callable[..., Any]) -> str | None:
    """SHA-256 of the source of a function or of its class; None where that cannot be read."""
    for part in (function, type(function)):
        try:
            return checksums.of_text(inspect.getsource(part))
        except (OSError, TypeError):
            continue
    return None
