"""Oriented scores of candidates (higher is better for every metric), computed or stored, and the bootstrap of
their correlation with ratings."""

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
"""Metrics that the profile ``published`` runs with the models that their papers publish."""


def score_candidates(
    metrics: Mapping[str, Metric], references: Sequence[str], candidates: Sequence[str]
) -> pd.DataFrame:
    """Return the score of each candidate, where higher is better, in a column for each metric.

    Columns are named by the keys of ``metrics``. Scores are rounded to nine decimals, like stored scores, so
    that scores that differ only by rounding errors are tied.
    """
    texts = list(references), list(candidates)
    return pd.DataFrame(
        {title: (metric.sign() * metric.score(*texts).values).round(9) for title, metric in metrics.items()}
    )


def stored_scores(recording: Recording, metrics: Iterable[str] = ()) -> pd.DataFrame:
    """Return a set's stored scores, where higher is better: a row per candidate and a column per metric.

    ``metrics`` are names, such as ``rouge_l``; by default, all stored ones. Columns have the stored titles,
    which name a substitute model if there is one.
    """
    return pd.DataFrame(
        {
            recording.title(name): get(name).sign() * recording.table[name]
            for name in metrics or recording.description["columns"]
        }
    )


def published_scores(cases: Sequence[int]) -> pd.DataFrame:
    """Return RadPref's stored scores from published models (higher is better), a row per candidate.

    ``cases`` has the case number of each candidate, in order. Each stored metric has a column, such as
    ``RaTEScore (published)``. There are no columns if no such scores are stored, or if ``cases`` are not the
    cases of RadPref.
    """
    recording = recorded.load_published("radpref")
    if recording is None or not np.array_equal(recording.table["case"], cases):
        return pd.DataFrame(index=range(len(cases)))
    return stored_scores(recording).add_suffix(" (published)")


def add_unscored(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table, indexed by metric, with a row added for each of :data:`PUBLISHED` that it lacks.

    Added rows have ``published: not scored yet`` in the first column, and NaN in the others.
    """
    titles = pd.Index([f"{get(name).title} (published)" for name in PUBLISHED], name=table.index.name)
    missing = titles.difference(table.index, sort=False)
    return pd.concat([table, pd.DataFrame("published: not scored yet", missing, table.columns[:1])])


def bootstrap_correlations(
    frame: pd.DataFrame, ratings: ArrayLike, cases: Sequence[object], kind: Kind, *, run: Run, name: str
) -> Resampled:
    """Return each column's correlation with the ratings, bootstrapped over cases.

    Parameters
    ----------
    frame : scores, a row per candidate and a column per metric.
    ratings, cases : the rating and the case of each candidate. All candidates of a case are resampled
        together.
    kind : the correlation coefficient.
    run : the run, whose profile sets the number of resamples.
    name : the random stream of ``run`` that draws the resamples.

    Raises
    ------
    DataError
        If a value is missing or infinite, numbers of values differ, a column or the ratings do not vary, or
        vary in too few resamples, or there are fewer than five cases.
    """
    columns = {str(title): frame[title].to_numpy() for title in frame}
    for title, values in [*columns.items(), ("the ratings", np.asarray(ratings))]:
        n_finite = int(np.isfinite(np.asarray(values, np.float64)).sum())
        if not n_finite == len(values) == len(cases):
            problem = f"{title}: {len(values)} values, {n_finite} of them finite, for {len(cases)} candidates"
            raise DataError(problem, "the rated pairs", "Give every candidate one finite value.")
        if len(values) > 1 and np.ptp(values) == 0:
            remedy = "Leave this column out, or correct its source."
            raise DataError(f"{title}: all {len(values)} values are {values[0]:g}", "the rated pairs", remedy)
    groups, resamples = np.asarray(cases), run.profile.resamples
    try:
        return resample(columns, ratings, groups=groups, kind=kind, resamples=resamples, rng=run.rng(name))
    except ValueError as error:  # the message names metrics but quotes no text
        raise DataError(str(error), "the rated pairs", "Rate candidates from further cases.") from None


def found_in_source(source: str, summary: str) -> float:
    """Return the share of a summary's words of four or more letters that occur in its source, from 0 to 1.

    Case is ignored, and repeated words count each time. If the summary has no such word, the share is 1.
    """
    source_words = set(re.findall(r"\w+", source.lower()))
    words = [word for word in re.findall(r"\w+", summary.lower()) if len(word) > 3]
    return sum(word in source_words for word in words) / len(words) if words else 1.0
