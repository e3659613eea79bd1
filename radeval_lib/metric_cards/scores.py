"""Scores of a card's pairs: from a function, a metric of this library, a command or a file.

A pair that cannot be scored is a failure: it is counted, and it keeps its place in every number of the card
with the worst score of its part. Whatever the metric is, a failure of every pair is an error.
"""

from __future__ import annotations

import inspect
import math
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
_CANDIDATE_FIRST = ("cand", "pred", "hyp", "gen")  # how a parameter begins that holds the candidate
Progress = Callable[[int, float], object]


@dataclass
class Scored:
    """A metric's scores of a card's pairs.

    Attributes
    ----------
    values : as the metric gave them, NaN if it failed; shape (pairs,).
    seconds : for a pair on average; None if that is not known.
    alone : scores of the pairs of ``again``, one pair a call, of a metric that takes several; else None.
    message : what the first exception said, for the person who runs the metric; a card does not repeat it.
    """

    values: FloatArray
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
        values = np.array([metric[name] for name in frame["id"]], dtype=np.float64)
        scored = Scored(np.where(np.isfinite(values), values, np.nan))
    elif isinstance(metric, Metric):
        started = time.perf_counter()
        values = metric.values(list(frame["reference"]), list(frame["candidate"]))
        seconds = (time.perf_counter() - started) / len(frame)
        scored = Scored(np.where(np.isfinite(values), values, np.nan), seconds)
    else:
        scored = _Caller(metric, batched).score(frame, progress)
    _check_some(scored.values, scored.message)
    progress(len(frame), 1.0)
    return scored


def _check_some(values: FloatArray, message: str) -> None:
    """Refuse a metric that failed on all pairs."""
    if len(values) and np.isnan(values).all():
        problem = f"none of {len(values):,} pairs could be scored ({message or 'not a finite number'})"
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
        values, started = np.full(len(pairs), np.nan), time.perf_counter()
        size = BATCH if self._batched else 1
        for done in range(0, len(pairs), size):
            part = pairs[done : done + size]
            values[done : done + size] = self._tried(part)
            if done >= _GIVE_UP:
                _check_some(values[:done], self._message)
            progress(done + len(part), (done + len(part)) / len(pairs))
        scored = Scored(values, (time.perf_counter() - started) / len(pairs), message=self._message)
        if self._batched:
            again = np.flatnonzero(frame["part"] == "again")
            scored.alone = np.array([self._tried([pairs[at]])[0] for at in again])
        return scored

    def _tried(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the score of each pair, NaN if it has none; a batch that fails is tried by pair."""
        sides = [*zip(*pairs, strict=True)][:: -1 if self._candidate_first else 1]
        try:
            if self._batched:
                given = list(self._function(*map(list, sides)))
            else:
                given = [self._function(*(side[0] for side in sides))]
            numbers = [value.item() if hasattr(value, "item") else value for value in given]
            values = [math.nan if value is None else float(value) for value in numbers]
        except Exception as error:
            if len(pairs) > 1:
                return [self._tried([pair])[0] for pair in pairs]
            self._message = self._message or f"{type(error).__name__}: {error}"
            return [math.nan]
        if len(values) != len(pairs):
            problem = f"it returns {len(values)} scores for {len(pairs)} pairs"
            raise MetricError(problem, "the metric", "Return one number per pair, or leave batched out.")
        return [value if math.isfinite(value) else math.nan for value in values]


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
        try:
            scores[name] = math.nan if str(given).strip().lower() in ("", "null", "none") else float(given)
        except (TypeError, ValueError):
            remedy = "Leave it empty if the metric fails."
            raise MetricError(f"{given!r:.60} is not a number", f"{where}, row {row}", remedy) from None
    return scores
