"""Correlate metrics, and predictions from the lengths of texts, with rates of counted facts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.correlations import resample

# Columns of :func:`tabulate_judgements` with rates of facts, and their names on the page.
TARGETS = {"f1": "F1", "recall": "recall", "precision": "precision"}

# Name, among the metrics, of the prediction of F1 from the word counts of both texts.
LENGTH = "word counts"


def tabulate_judgements(ratings: Sequence[FactRating]) -> pd.DataFrame:
    """Return one row per judgement, in their order.

    The index is ``id``. Columns are ``case``, ``group``, ``reference`` and ``candidate`` (str; restricted
    texts are revealed, so never show them), those of :data:`TARGETS` (0 to 1), ``reference_words`` and
    ``candidate_words`` (numbers of words).
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
    for text in ("reference", "candidate"):
        frame[f"{text}_words"] = frame[text].str.split().str.len()
    return frame


def compute_length_features(frame: pd.DataFrame) -> pd.DataFrame:
    """Return three features from the word counts of each judgement's texts, with the index of ``frame``.

    They are log(1 + count) of ``reference`` and of ``candidate``, and ``share``, the candidate's count
    divided by the reference's, at most 1. ``frame`` is a table of :func:`tabulate_judgements`.
    """
    reference, candidate = (frame[f"{text}_words"].astype(float) for text in ("reference", "candidate"))
    share = (candidate / reference.clip(lower=1)).clip(upper=1)
    return pd.DataFrame({"reference": np.log1p(reference), "candidate": np.log1p(candidate), "share": share})


def predict_from_lengths(frame: pd.DataFrame, target: str) -> pd.Series:
    """Return predictions of the column ``target`` from :func:`compute_length_features`, with the index of ``frame``.

    Each prediction is by a linear regression fitted to other cases, in five folds.
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

    The 95% intervals are from a bootstrap over cases.

    Parameters
    ----------
    frame : a table of :func:`tabulate_judgements`.
    scores : one column per metric, with the index of ``frame``.
    within_cases : whether the mean over its case is first subtracted from each number, so that only summaries
        of the same case are compared.

    Returns
    -------
    DataFrame
        Index ``metric``; ``value``, ``low`` and ``high`` of the correlation; ``over_length``,
        ``over_length_low`` and ``over_length_high`` of its difference from the correlation of :data:`LENGTH`,
        on the same draws of cases.
    """
    values = scores.assign(**{LENGTH: predict_from_lengths(frame, "f1"), "f1": frame["f1"]})
    if within_cases:
        values -= values.groupby(frame["case"]).transform("mean")
    predictions = {name: values[name] for name in [*scores, LENGTH]}
    drawn = resample(
        predictions, values["f1"], groups=frame["case"], kind="pearson", resamples=resamples, rng=rng
    )
    table, length_leads = drawn.intervals().set_index("metric"), drawn.compare(LENGTH).set_index("rival")
    # The lead of the lengths over a metric, with its sign reversed, is the lead of the metric over them.
    for name, end in (("", "difference"), ("_low", "high"), ("_high", "low")):
        table[f"over_length{name}"] = -length_leads[end].reindex(table.index)
    return table
