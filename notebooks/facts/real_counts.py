"""Correlate metrics, and predictions from text lengths, with rates from counts of facts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.correlations import resample

# The columns of :func:`tabulate_judgements` with rates of facts, with their names on the page.
TARGETS = {"f1": "F1", "recall": "recall", "precision": "precision"}

# The name, among metrics, of the prediction of F1 from the word counts of both texts.
LENGTH = "word counts"


def tabulate_judgements(ratings: Sequence[FactRating]) -> pd.DataFrame:
    """Return a DataFrame with one row per judgement, in the order of ``ratings``, indexed by ``id``.

    Columns are ``case``, ``group``, ``reference`` and ``candidate`` (texts; restricted ones are revealed, so
    never show them), the keys of :data:`TARGETS` (0 to 1), and the word counts ``reference_words`` and
    ``candidate_words``.
    """
    frame = pd.DataFrame(
        {
            "id": rating.id,
            "case": rating.case,
            "group": rating.group,
            "reference": reveal(rating.reference),
            "candidate": reveal(rating.candidate),
            "f1": rating.f1,
            "recall": rating.recall,
            "precision": rating.precision,
        }
        for rating in ratings
    ).set_index("id")
    for side in ("reference", "candidate"):
        frame[f"{side}_words"] = frame[side].str.split().str.len()
    return frame


def compute_length_features(frame: pd.DataFrame) -> pd.DataFrame:
    """Return three features of each judgement's word counts, with the index of ``frame``.

    ``reference`` and ``candidate`` are log(1 + word count) of these texts; ``share`` is the candidate's word
    count divided by the reference's, at most 1. ``frame`` is a table from :func:`tabulate_judgements`.
    """
    reference, candidate = (frame[f"{side}_words"].astype(float) for side in ("reference", "candidate"))
    share = (candidate / reference.clip(lower=1)).clip(upper=1)
    return pd.DataFrame({"reference": np.log1p(reference), "candidate": np.log1p(candidate), "share": share})


def predict_from_lengths(frame: pd.DataFrame, target: str) -> pd.Series:
    """Return predictions of a column from word counts by linear regression, with the index of ``frame``.

    The regression is cross-validated in five folds; each prediction comes from a fit to other cases.

    Parameters
    ----------
    frame : a table from :func:`tabulate_judgements`, with at least five cases.
    target : the column to predict, a key of :data:`TARGETS`.
    """
    rates, cases = frame[target].to_numpy(dtype=float), frame["case"].to_numpy()
    model, features = LinearRegression(), compute_length_features(frame).to_numpy()
    return pd.Series(
        cross_val_predict(model, features, rates, groups=cases, cv=GroupKFold(5)), index=frame.index
    )


def correlate_f1(
    frame: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    within_cases: bool = False,
    resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the Pearson correlation of each metric, and of :data:`LENGTH`, with F1.

    The 95% confidence intervals come from a bootstrap over cases.

    Parameters
    ----------
    frame : a table from :func:`tabulate_judgements`.
    scores : one column per metric, with the index of ``frame``.
    within_cases : whether the mean of its case is first subtracted from each value, so that only summaries of
        the same case are compared.
    resamples : the number of bootstrap resamples.
    rng : the generator of the resamples.

    Returns
    -------
    DataFrame
        One row per metric, indexed by ``metric``. ``value`` is the correlation, with the bounds ``low`` and
        ``high``; ``over_length`` is this correlation minus that of :data:`LENGTH`, with the bounds
        ``over_length_low`` and ``over_length_high``, on the same draws of cases.
    """
    values = scores.assign(**{LENGTH: predict_from_lengths(frame, "f1"), "f1": frame["f1"]})
    if within_cases:
        values -= values.groupby(frame["case"]).transform("mean")
    predictions = {name: values[name] for name in [*scores, LENGTH]}
    resampled = resample(
        predictions, values["f1"], groups=frame["case"], kind="pearson", resamples=resamples, rng=rng
    )
    table, leads = resampled.intervals().set_index("metric"), resampled.compare(LENGTH).set_index("rival")
    # The lead of LENGTH over a metric, with its sign reversed, is the lead of the metric over LENGTH.
    for suffix, column in (("", "difference"), ("_low", "high"), ("_high", "low")):
        table[f"over_length{suffix}"] = -leads[column].reindex(table.index)
    return table
