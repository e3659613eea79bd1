"""Scores for a card, from a function or a metric of this library; :mod:`radeval_lib.metric_cards.score_files`
takes them from other programs.

A pair that cannot be scored is a failure: it is counted, and it keeps its place in every number of the card
with the worst score of its part. Whatever the metric is, a failure of every pair is an error.
"""

from __future__ import annotations

import inspect
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import checksums
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.stats.inputs import FloatArray

BATCH = 64
"""Pairs that a function of lists is given at once."""
_GIVE_UP = 20  # a function that fails on all of the first so many pairs is not a metric
MISSING = "not a finite number"


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


def scored_values(values: FloatArray) -> Scored:
    """Scores of which each that is not finite is a failure; a MetricError where all are."""
    known = np.isfinite(values)
    reasons = dict.fromkeys(np.flatnonzero(~known).tolist(), MISSING)
    if not known.any():
        raise _all_failed(len(values), reasons)
    return Scored(np.where(known, values, np.nan), reasons)


class Scorer:
    """Takes the pairs of a card in their order, and says what it is.

    Attributes
    ----------
    about : ``kind`` (function, name, command or file), ``version`` and ``sha256`` of its source, as far as
        these are known; of a command, of the last file that it names.
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
        if not hasattr(values, "__len__") or isinstance(values, str | Mapping | Set):
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
        scored = scored_values(self._metric.score(list(frame["reference"]), list(frame["candidate"])).values)
        scored.seconds = (time.perf_counter() - started) / len(frame)
        progress(len(frame))
        return scored


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
