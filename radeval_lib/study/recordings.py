"""Recorded scores of public test sets: numbers that stand in the repository, where texts may not.

``data_manifests/recorded/<set>.csv`` has a row per candidate in the order of the set's files, its ratings and
what each metric said of it; ``<set>.yml`` says with what each column was made. An instrument that reads by
rules and was frozen before it met a test set keeps its recorded scores there while it is developed: they are
shown in place of new ones until it is frozen and recorded again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from radeval_lib import own_yaml, registry
from radeval_lib.data import radpref, readers
from radeval_lib.data.manifests import find
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import Metric, Scores
from radeval_lib.origin import RECORDED_SCORES, Reading
from radeval_lib.paths import RECORDED

PROBE = "probe.csv"


@dataclass(frozen=True)
class Recording:
    """One set's recorded scores: ``table``, a row per candidate by its ``number`` in the files' order, and
    ``about``, what is known of the set and of each column."""

    name: str
    table: pd.DataFrame
    about: dict[str, Any]

    def digest(self, metric: str) -> str:
        """The behaviour digest of what made a metric's column."""
        return str(self.about["columns"][metric]["behaviour"])


def names() -> list[str]:
    """Every set that is recorded."""
    return sorted(path.stem for path in RECORDED.glob("*.yml"))


@lru_cache(maxsize=8)
def load(name: str) -> Recording:
    """The recorded scores of a set."""
    return Recording(name, pd.read_csv(RECORDED / f"{name}.csv"), own_yaml.read(RECORDED / f"{name}.yml"))


def texts(name: str, root: Path) -> list[tuple[str, str]]:
    """Reference and candidate of every candidate of a set, in the order of its files; empty where the data
    root does not hold it."""
    if name == "radpref":
        path = find(name, root, "preference_data.json")
        cases = radpref.load_cases(path) if path else []
        return [(case.reference, case.candidates[key]) for case in cases for key in radpref.CANDIDATES]
    return [(reveal(one.reference), reveal(one.candidate)) for one in readers.load(name, root)]


@lru_cache(maxsize=1)
def probe() -> tuple[list[str], list[str]]:
    """Generated references and candidates, kept as texts, by which the behaviour of a metric is known."""
    frame = pd.read_csv(RECORDED / PROBE, keep_default_na=False)
    return frame["reference"].tolist(), frame["candidate"].tolist()


def behaviour(metric: Metric) -> str:
    """SHA-256 of a metric's scores of :func:`probe`, to six decimals."""
    values = metric.score(*probe()).values
    return hashlib.sha256(" ".join(f"{value:.6f}" for value in values + 0.0).encode()).hexdigest()


def is_out_of_date(name: str, metric: Metric) -> bool:
    """Whether a metric no longer behaves as when the set was recorded."""
    return load(name).digest(metric.name) != behaviour(metric)


def frozen(metric: Metric, sets: Sequence[str], root: Path, reading: Reading) -> Metric:
    """The metric, which gives recorded scores to the pairs of sets for which it is out of date."""
    known: dict[tuple[str, str], float] = {}
    for name in sets:
        if is_out_of_date(name, metric):
            values = load(name).table[metric.name].tolist()
            known |= zip(map(_key, texts(name, root)), values, strict=True)
            reading.note_file(RECORDED_SCORES, RECORDED / f"{name}.csv")
    return cast(Metric, _WithRecorded(metric, known)) if known else metric


def columns(name: str, root: Path, pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """The recorded rows of pairs of a set, in their order."""
    place = {_key(pair): number for number, pair in enumerate(texts(name, root))}
    return load(name).table.iloc[[place[_key(pair)] for pair in pairs]].reset_index(drop=True)


def sets_of(fillers: Iterable[str]) -> list[str]:
    """The recorded sets among what fills roles, or among data sets."""
    found = (name for filler in fillers for name in registry.datasets_of(filler))
    known = names()
    return [name for name in dict.fromkeys(found) if name in known]


def _key(pair: tuple[str, str]) -> tuple[str, str]:
    """A pair whatever its white space, since metrics may be given texts on one line."""
    reference, candidate = (" ".join(text.split()) for text in pair)
    return reference, candidate


class _WithRecorded:
    """A metric with recorded scores for some pairs; all else is the metric's own."""

    def __init__(self, metric: Metric, known: Mapping[tuple[str, str], float]) -> None:
        self._metric, self._known = metric, known

    def __getattr__(self, name: str) -> Any:
        return getattr(self._metric, name)

    def score(self, references: Sequence[str], candidates: Sequence[str], *more: Any) -> Scores:
        """As :meth:`Metric.score`; a recorded score has no detail."""
        pairs = list(zip(references, candidates, strict=True))
        fresh = [place for place, pair in enumerate(pairs) if _key(pair) not in self._known]
        own = self._metric.score([pairs[at][0] for at in fresh], [pairs[at][1] for at in fresh], *more)
        values = np.array([self._known.get(_key(pair), 0.0) for pair in pairs], dtype=np.float64)
        details: list[Any] = [None] * len(pairs)
        for at, value, detail in zip(fresh, own.values, own.details, strict=True):
            values[at], details[at] = value, detail
        return replace(own, values=values, details=details)
