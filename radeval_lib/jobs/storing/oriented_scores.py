"""Scores of candidates by every metric, and how their correlation with ratings varies.

High is good in every column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from radeval_lib.data.errors import DataError
from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.by_name import get
from radeval_lib.stats.correlations import Resampled, resample
from radeval_lib.stats.printed import Kind
from radeval_lib.study.runs import Run


def scored(
    metrics: Mapping[str, Metric], references: Sequence[str], candidates: Sequence[str]
) -> pd.DataFrame:
    """Return scores of candidates by every metric, one column each; high is good in every column. As what is
    recorded of RadPref, they have nine decimals: what differs by less is equal, and a tie in rank."""
    sides = list(references), list(candidates)
    return pd.DataFrame(
        {title: (metric.sign() * metric.score(*sides).values).round(9) for title, metric in metrics.items()}
    )


def of_columns(columns: pd.DataFrame) -> pd.DataFrame:
    """Return what :func:`scored` gives, from scores that are there, a column per metric by its name."""
    metrics = {get(name).title or name: get(name) for name in columns}
    return pd.DataFrame({title: one.sign() * columns[one.name] for title, one in metrics.items()})


def drawn(
    frame: pd.DataFrame, ratings: ArrayLike, cases: Sequence[object], kind: Kind, *, run: Run, name: str
) -> Resampled:
    """Return correlation of every column with ratings of the same candidates, cases drawn by
    ``run.rng(name)``; a DataError where there are too few cases for that, or a column or the ratings have one
    value only."""
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
