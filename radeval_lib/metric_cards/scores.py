"""Scores of a card's pairs: from a function, a metric of this library, a command or a file.

A pair that cannot be scored is a failure: it is counted, and it keeps its place in every number of the card
with the worst score of its part. Whatever the metric is, a failure of every pair is an error.
"""

from __future__ import annotations

import inspect
import math
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib.errors import listed, plain
from radeval_lib.metric_cards.pairs import as_lines
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.metrics.file_scoring import json_lines, table
from radeval_lib.stats.base import FloatArray

BATCH = 64
"""Pairs that a function of lists is given at once."""
_GIVE_UP = 20  # a function that fails on all of the first so many pairs is not a metric
_MISSING = "not a finite number"
_CANDIDATE_FIRST = ("cand", "pred", "hyp", "gen")  # how a parameter begins that holds the candidate
Progress = Callable[[int, float], object]


@dataclass
class Scored:
    """A metric's scores of a card's pairs.

    Attributes
    ----------
    values : as the metric gave them, NaN if it failed; shape (pairs,).
    reasons : by place, why a pair has no score.
    seconds : for a pair on average; None if that is not known.
    alone : scores of the pairs of ``again``, one pair a call, of a metric that takes several; else None.
    message : what the first exception said, for the person who runs the metric; a card does not repeat it.
    """

    values: FloatArray
    reasons: dict[int, str] = field(default_factory=dict)
    seconds: float | None = None
    alone: FloatArray | None = None
    message: str = ""


def score(
    metric: Callable[..., Any] | Metric | Mapping[str, float],
    frame: pd.DataFrame,
    *,
    batched: bool,
    progress: Progress,
) -> Scored:
    """Score every pair; ``progress`` is called with the number done and their share.

    A mapping gives the score of each pair by its ``id``. A MetricError if no pair gets a score.
    """
    if isinstance(metric, Mapping):
        if missing := [name for name in frame["id"] if name not in metric]:
            problem = f"{len(missing):,} of {len(frame):,} pairs have no score: {listed(missing, 90)}"
            remedy = "Score the pairs that --pairs writes with the same data root and options."
            raise MetricError(problem, "scores", remedy)
        scored = _of_values([metric[name] for name in frame["id"]])
    elif isinstance(metric, Metric):
        started = time.perf_counter()
        scored = _of_values(metric.values(list(frame["reference"]), list(frame["candidate"])))
        scored.seconds = (time.perf_counter() - started) / len(frame)
    else:
        return _Caller(metric, batched).score(frame, progress)
    progress(len(frame), 1.0)
    return scored


def _of_values(values: Iterable[float]) -> Scored:
    array = np.array(list(values), dtype=np.float64)
    finite = np.isfinite(array)
    reasons = dict.fromkeys(np.flatnonzero(~finite).tolist(), _MISSING)
    _check_some(reasons, len(array))
    return Scored(np.where(finite, array, np.nan), reasons)


def _check_some(reasons: Mapping[int, str], count: int, message: str = "") -> None:
    """Refuse a metric that failed on all pairs."""
    if count and len(reasons) == count:
        why = Counter(reasons.values()).most_common(1)[0][0]
        problem = f"none of {count:,} pairs could be scored ({why}{f': {message}' if message else ''})"
        raise MetricError(problem, "the metric", "Try it on one pair.")


class _Caller:
    """Calls a function ``(reference, candidate) -> number``, or with ``batched`` ``(references, candidates)
    -> numbers``; one whose parameters are called candidate and reference, in that order, gets them so."""

    def __init__(self, function: Callable[..., Any], batched: bool) -> None:
        self._function, self._batched, self._message = function, batched, ""
        try:
            first = next(iter(inspect.signature(function).parameters), "")
        except (TypeError, ValueError):  # built in
            first = ""
        self._candidate_first = first.lower().startswith(_CANDIDATE_FIRST)

    def score(self, frame: pd.DataFrame, progress: Progress) -> Scored:
        pairs = list(zip(frame["reference"], frame["candidate"], strict=True))
        scored, started = Scored(np.full(len(pairs), np.nan)), time.perf_counter()
        size = BATCH if self._batched else 1
        for start in range(0, len(pairs), size):
            for at, (value, why) in enumerate(self._tried(pairs[start : start + size]), start):
                scored.values[at] = value
                if why:
                    scored.reasons[at] = why
            done = min(start + size, len(pairs))
            if done >= _GIVE_UP:
                _check_some(scored.reasons, done, self._message)
            progress(done, done / len(pairs))
        scored.seconds = (time.perf_counter() - started) / len(pairs)
        scored.message = self._message
        if self._batched:
            again = np.flatnonzero(frame["part"] == "again")
            scored.alone = np.array([self._tried([pairs[at]])[0][0] for at in again])
        return scored

    def _tried(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, str]]:
        """Return value and, if there is none, the reason, of each pair; a batch that fails is tried by
        pair."""
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
        sides = list(zip(*pairs, strict=True))
        sides = sides[::-1] if self._candidate_first else sides
        if not self._batched:
            value = self._function(*(side[0] for side in sides))
            if isinstance(value, Sequence | Mapping) or getattr(value, "shape", ()) not in ((), (1,)):
                problem = f"it returns {type(value).__name__} for a pair, not a number"
                raise MetricError(problem, "the metric", "Return a number, or declare it batched.")
            return [value]
        values = self._function(*map(list, sides))
        if not hasattr(values, "__len__") or len(values) != len(pairs) or isinstance(values, str | Mapping):
            problem = f"it returns {type(values).__name__}, not {len(pairs)} scores for {len(pairs)} pairs"
            raise MetricError(problem, "the metric", "Return one number per pair, or leave batched out.")
        return list(values)


def _number(value: Any) -> tuple[float, str]:
    number = math.nan if value is None else float(value.item() if hasattr(value, "item") else value)
    return (number, "") if math.isfinite(number) else (math.nan, _MISSING)


def filled(frame: pd.DataFrame, oriented: FloatArray) -> FloatArray:
    """Return oriented scores with each failure set to the worst score of its part, or of all if its part has
    none."""
    result, worst = oriented.copy(), float(np.nanmin(oriented))
    for name in frame["part"].unique():
        here = (frame["part"] == name).to_numpy()
        scored = oriented[here & np.isfinite(oriented)]
        result[here & ~np.isfinite(oriented)] = scored.min() if len(scored) else worst
    return result


def of_command(words: Sequence[str], frame: pd.DataFrame) -> dict[str, float]:
    """Return the scores by id from a command that reads JSON lines (``id``, ``reference``, ``candidate``) and
    writes JSON lines (``id``, ``score``) in any order."""
    where = Path(words[0]).name
    ran = subprocess.run(list(words), input=as_lines(frame).encode(), stdout=subprocess.PIPE, check=False)
    if ran.returncode:
        problem = (
            f"it ended with status {ran.returncode} after {ran.stdout.count(10):,} of {len(frame):,} scores"
        )
        raise MetricError(problem, where, "Try it on a few lines of the file that --pairs writes.")
    _, rows = json_lines(StringIO(ran.stdout.decode("utf-8", "replace")), where)
    return _by_id(pd.DataFrame(rows, dtype=object), where)


def of_file(path: Path) -> dict[str, float]:
    """Return the scores of a file of pairs, with the columns ``id`` and ``score``."""
    return _by_id(table(path), path.name)


def _by_id(frame: pd.DataFrame, where: str) -> dict[str, float]:
    if lacking := [name for name in ("id", "score") if name not in frame]:
        raise MetricError(f"no {lacking[0]!r}", where, "Give the id and the score of each pair.")
    scores: dict[str, float] = {}
    for row, (name, given) in enumerate(zip(frame["id"].map(str), frame["score"], strict=True), start=1):
        if name in scores:
            raise MetricError(f"a second score of {plain(name, 40)}", f"{where}, row {row}", "Give only one.")
        empty = str(given).strip().lower() in ("", "nan", "null", "none")
        try:
            scores[name] = math.nan if empty else float(given)
        except (TypeError, ValueError):
            remedy = "Leave it empty if the metric fails."
            raise MetricError(f"{given!r:.60} is not a number", f"{where}, row {row}", remedy) from None
    return scores
