"""Scores of candidates by every metric and by the composite, and how their correlation with ratings varies.

High is good in every column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from radeval_lib.data.errors import DataError
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.metrics.by_name import get
from radeval_lib.stats.correlations import Resampled, resample
from radeval_lib.stats.printed import Kind
from radeval_lib.study.runs import Run

COMPOSITE = "the composite"
PARTS = ("observations", "green_rules_errors", "rouge_l")
"""Of the composite: an equal-weighted mean of ranks, declared before it met a rating of RadPref."""


def described(metric: str) -> str:
    """A metric as the front page names it, where nothing else explains the composite."""
    return "a composite of ROUGE-L and two scores by our rules" if metric == COMPOSITE else metric


def scored(
    metrics: Mapping[str, Metric], references: Sequence[str], candidates: Sequence[str]
) -> pd.DataFrame:
    """Scores of candidates by every metric, one column each; high is good in every column. As what is
    recorded of RadPref, they have nine decimals: what differs by less is equal, and a tie in rank."""
    sides = list(references), list(candidates)
    return pd.DataFrame(
        {title: (metric.sign() * metric.score(*sides).values).round(9) for title, metric in metrics.items()}
    )


def scores(metrics: Mapping[str, Metric], pairs: pd.DataFrame) -> pd.DataFrame:
    """:func:`scored` of every pair, and the composite's scores."""
    frame = scored(metrics, pairs["reference"], pairs["candidate"]).set_index(pairs.index)
    return _with_composite(frame, {title: metric.name for title, metric in metrics.items()})


def of_columns(columns: pd.DataFrame) -> pd.DataFrame:
    """What :func:`scores` gives, from scores that are there, a column per metric by its name."""
    metrics = {get(name).title or name: get(name) for name in columns}
    found = {title: one.sign() * columns[one.name] for title, one in metrics.items()}
    return _with_composite(pd.DataFrame(found), {title: one.name for title, one in metrics.items()})


def _with_composite(frame: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Oriented scores with the composite's; ``names`` of the metrics by their columns."""
    if missing := set(PARTS) - set(names.values()):
        raise MetricError("no scores for a part of the composite", min(missing), "Score by it too.")
    parts = [title for title, name in names.items() if name in PARTS]
    return frame.assign(**{COMPOSITE: frame[parts].rank(pct=True).mean(axis=1)})


def drawn(
    frame: pd.DataFrame, ratings: ArrayLike, cases: Sequence[object], kind: Kind, *, run: Run, name: str
) -> Resampled:
    """Correlation of every column with ratings of the same candidates, cases drawn by ``run.rng(name)``; a
    DataError where there are too few cases for that, or a column or the ratings have one value only."""
    columns = {str(key): frame[key].to_numpy() for key in frame}
    for key, values in [*columns.items(), ("the ratings", np.asarray(ratings))]:
        if len(values) > 1 and np.ptp(values) == 0:
            remedy = "Leave it out, or correct what gives it: more cases do not help."
            raise DataError(f"{key}: all {len(values)} values are {values[0]:g}", "the rated pairs", remedy)
    try:
        return resample(
            columns,
            ratings,
            groups=np.asarray(cases),
            kind=kind,
            resamples=run.profile.resamples,
            rng=run.rng(name),
        )
    except ValueError as error:  # which says so, of metrics and not of texts
        raise DataError(str(error), "the rated pairs", "Rate candidates of more cases.") from None
