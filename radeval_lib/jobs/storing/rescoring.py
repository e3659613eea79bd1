"""Scores stored sets again, with the code and the models as they are, and compares every column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from radeval_lib.data import recorded
from radeval_lib.errors import ParameterError, listed
from radeval_lib.jobs.storing import systems_recording
from radeval_lib.jobs.storing.recorded_sets import CHOOSERS, DECIMALS, RATINGS, TABLES
from radeval_lib.jobs.storing.recording_runs import absent, begin, require_known, require_texts
from radeval_lib.metrics.base import Metric
from radeval_lib.stats.correlations import coefficient
from radeval_lib.study import recordings
from radeval_lib.study.runs import Run

OUT_OF_DATE = "out of date, scored by another version of the code"
EXACT = "no model"
SAME_MODELS = "the recorded models"
OTHER_MODELS = "other models than those recorded"
_SAME, _NEARLY_SAME, _NEAR_MEAN, _NEAR_TAU = 1.1e-9, 1e-6, 0.02, 0.03  # most differences: scores, means, τ_b


class Comparison(NamedTuple):
    """A stored column beside the scores that the same metric gives now.

    ``case``: one of :data:`OUT_OF_DATE`, :data:`EXACT`, :data:`SAME_MODELS` and :data:`OTHER_MODELS`;
    ``apart``: the largest difference of two scores; ``mean``: of the means; ``tau``: of Kendall's τ_b with
    the set's ratings, None where it has none.
    """

    metric: str
    case: str
    apart: float
    mean: float
    tau: float | None

    @property
    def holds(self) -> bool:
        """Whether the difference is within what the case allows."""
        if self.case == OTHER_MODELS:
            return abs(self.mean) <= _NEAR_MEAN and abs(self.tau or 0.0) <= _NEAR_TAU
        return self.apart <= {EXACT: _SAME, SAME_MODELS: _NEARLY_SAME}.get(self.case, -1.0)

    def __str__(self) -> str:
        tau = "" if self.tau is None else f", τ_b by {self.tau:+.3f}"
        differs = f"scores differ by at most {self.apart:.2g}, their mean by {self.mean:+.4f}{tau}"
        return f"{self.metric}, {self.case}: {'' if self.holds else 'NOT WITHIN TOLERANCE, '}{differs}"


def compare(
    metric: str, before: ArrayLike, after: ArrayLike, case: str, ratings: ArrayLike | None = None
) -> Comparison:
    """Return a stored column, ``before``, beside the scores ``after``, of today; both of one shape, (texts,)
    or (texts, columns). ``ratings`` have the shape (texts,).

    Raises
    ------
    ValueError
        Where the shapes differ.
    """
    before, after = (np.asarray(scores, dtype=np.float64) for scores in (before, after))
    if before.shape != after.shape:
        raise ValueError(f"{metric} has scores of shape {before.shape} recorded and {after.shape} now")
    tau = None
    if ratings is not None:
        tau = coefficient(after, ratings, "kendall") - coefficient(before, ratings, "kendall")
    return Comparison(
        metric, case, float(np.abs(after - before).max()), float(after.mean() - before.mean()), tau
    )


def check(name: str, profile: str, data_root: str = "", metrics: Sequence[str] = ()) -> list[Comparison]:
    """Score a stored set again with the code and the models as they are, and compare every column.

    Parameters
    ----------
    profile : over the models of whose build.
    metrics : default: all whose columns are recorded.

    Raises
    ------
    ParameterError
        Where there is no such set, no data root that holds it, or no column of a metric.
    """
    require_known(name, recorded.names())
    known, comparisons = recorded.load(name), []
    columns = known.about["columns"]
    if unknown := sorted(set(metrics) - set(columns)):
        raise ParameterError(f"no {unknown[0]} is recorded", name, f"Metrics: {listed(columns)}.")
    for key in metrics or columns:
        run, root = begin(name, profile, data_root)  # one per metric: it notes the models used
        metric = systems_recording.metric(run, key)
        case = _case(known, metric, run)
        for before, after, ratings in _again(known, metric, run, root):
            comparisons.append(compare(key, before, after, case, ratings))
    return comparisons


def _case(known: recorded.Recording, metric: Metric, run: Run) -> str:
    """Return which tolerance a metric's column is compared with."""
    chooser = CHOOSERS.get(known.name, metric.name)
    if recordings.out_of_date(known.name, [metric.name, chooser]):
        return OUT_OF_DATE
    if not metric.needs:
        return EXACT
    used = {role: model for role, model in run.reading.models.items() if role in metric.needs}
    same = all(known.about["models"].get(role, {}).get("sha256") == used[role]["sha256"] for role in used)
    return SAME_MODELS if same else OTHER_MODELS


_Columns = tuple[ArrayLike, ArrayLike, ArrayLike | None]


def _again(known: recorded.Recording, metric: Metric, run: Run, root: Path) -> Iterator[_Columns]:
    """Yield a metric's stored scores and its scores now, with the ratings of the same texts."""
    name, key = known.name, metric.name
    if name in TABLES:
        table, parts = TABLES[name](run, root, {key: metric})
        require_texts(name, run)
        for before, after in ((known.table, table), *((known.parts[one], parts[one]) for one in parts)):
            for column in (key, f"{key}_1", f"{key}_2", f"{key}_precision", f"{key}_precision_stemmed"):
                if column in before:
                    yield before[column], after[column], _ratings(name, before)
        if key == "green_rules_errors":  # the reader's and the judge's answers, not its scores
            for part in parts:
                numbers = known.parts[part].select_dtypes("number").columns
                yield known.parts[part][numbers], parts[part][numbers], None
        return
    if not (pairs := _pairs(name, root)):
        raise absent(name)
    references, candidates = map(list, zip(*pairs, strict=True))
    after = metric.score(references, candidates).values
    decimals = systems_recording.DECIMALS if name == recordings.SYSTEMS else DECIMALS
    yield known.table[key], after.round(decimals), _ratings(name, known.table)


def _pairs(name: str, root: Path) -> list[tuple[str, str]]:
    """Return reference and candidate of every row of a set."""
    if name == recordings.SYSTEMS:
        texts = systems_recording.read(root)
        return list(zip(texts["reference"], texts["candidate"], strict=True))
    return recordings.texts(name, root)


def _ratings(name: str, table: pd.DataFrame) -> pd.Series | None:
    """Return the mean rating of each row; None of a set without ratings."""
    columns = [column for column in RATINGS.get(name, ()) if column in table]
    return table[columns].mean(axis=1) if columns else None
