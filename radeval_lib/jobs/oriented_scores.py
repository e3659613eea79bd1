"""Scores of candidates by every metric, how their correlation with ratings varies, and how much of a text its
source holds. High is good in every column of scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from radeval_lib.data import recorded
from radeval_lib.data.errors import DataError
from radeval_lib.data.recorded import Recording
from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.by_name import get
from radeval_lib.stats.correlations import Resampled, resample
from radeval_lib.stats.printed import Kind
from radeval_lib.study.runs import Run

PUBLISHED = ("ratescore", "f1_radgraph", "green")
"""The metrics that the profile of this name scores, with the models that their papers publish."""


def score_candidates(
    metrics: Mapping[str, Metric], references: Sequence[str], candidates: Sequence[str]
) -> pd.DataFrame:
    """Return scores of candidates by every metric, one column each; high is good in every column. Scores have
    nine decimals, as in the recording of RadPref, so smaller differences are ties."""
    sides = list(references), list(candidates)
    return pd.DataFrame(
        {title: (metric.sign() * metric.score(*sides).values).round(9) for title, metric in metrics.items()}
    )


def stored_scores(recording: Recording, metrics: Iterable[str] = ()) -> pd.DataFrame:
    """Return the stored scores of a set, a column per metric by its stored title, which names a substitute
    model. High is good. ``metrics`` are names; default: all."""
    return pd.DataFrame(
        {
            recording.title(name): get(name).sign() * recording.table[name]
            for name in metrics or recording.about["columns"]
        }
    )


def published_scores(cases: Sequence[int]) -> pd.DataFrame:
    """Return the published models' scores of RadPref's candidates of these ``cases``: a column for each of
    :data:`PUBLISHED`, ``RaTEScore (published)``; high is good. There is no column until somebody has stored
    them, nor for cases of another set."""
    recording = recorded.published_recording("radpref")
    if recording is None or not np.array_equal(recording.table["case"], cases):
        return pd.DataFrame(index=range(len(cases)))
    return stored_scores(recording).add_suffix(" (published)")


def with_unscored(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table by metric with a row added for each of :data:`PUBLISHED` that it lacks, which says so in
    its first column and is otherwise NaN."""
    titles = [f"{get(name).title} (published)" for name in PUBLISHED]
    lacking = [title for title in titles if title not in table.index]
    return pd.concat([table, pd.DataFrame("published: not scored yet", lacking, table.columns[:1])])


def bootstrap_correlations(
    frame: pd.DataFrame, ratings: ArrayLike, cases: Sequence[object], kind: Kind, *, run: Run, name: str
) -> Resampled:
    """Return the correlation of every column with ratings of the same candidates, with cases drawn by
    ``run.rng(name)``. Raises DataError if there are too few cases, or if a column or the ratings do not
    vary."""
    columns = {str(key): frame[key].to_numpy() for key in frame}
    for key, values in [*columns.items(), ("the ratings", np.asarray(ratings))]:
        if len(values) > 1 and np.ptp(values) == 0:
            remedy = "Leave it out, or correct its source; more cases do not help."
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


def found_in_source(source: str, summary: str) -> float:
    """Return the share of a summary's words of four or more letters that occur in its source; 1 if it has
    none."""
    source_words = set(re.findall(r"\w+", source.lower()))
    words = [word for word in re.findall(r"\w+", summary.lower()) if len(word) > 3]
    return sum(word in source_words for word in words) / len(words) if words else 1.0
