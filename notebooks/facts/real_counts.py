"""How metrics, and the lengths of texts, agree with rates of counted facts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.correlations import resample

TARGETS = {"f1": "F1", "recall": "recall", "precision": "precision"}
"""Columns of :func:`table` that a metric may agree with, and how the page names them."""

LENGTH = "word counts"
"""Name, among the metrics, of the prediction of F1 from the word counts of both texts."""


def table(ratings: Sequence[FactRating]) -> pd.DataFrame:
    """Return one row per judgement, in their order.

    Index ``id``; ``case``, ``group``; ``reference`` and ``candidate`` (str; restricted texts are laid open,
    so these must not be shown); the columns of :data:`TARGETS` (float); ``reference_words`` and
    ``candidate_words`` (int).
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


def lengths(frame: pd.DataFrame) -> pd.DataFrame:
    """Return three features from word counts: the logarithms of both counts, and the ratio of the candidate's
    count to the reference's, at most 1; one row per judgement, with the index of ``frame``."""
    reference, candidate = (frame[f"{text}_words"].astype(float) for text in ("reference", "candidate"))
    shorter = (candidate / reference.clip(lower=1)).clip(upper=1)
    return pd.DataFrame(
        {"reference": np.log1p(reference), "candidate": np.log1p(candidate), "share": shorter}
    )


def length_prediction(frame: pd.DataFrame, target: str) -> pd.Series:
    """Return predictions of the column ``target`` from the :func:`lengths` of the two texts, by linear
    regression fitted to other cases, in five folds."""
    rates, cases = frame[target].to_numpy(dtype=float), frame["case"].to_numpy()
    model, features = LinearRegression(), lengths(frame).to_numpy()
    return pd.Series(
        cross_val_predict(model, features, rates, groups=cases, cv=GroupKFold(5)), index=frame.index
    )


def correlations(
    frame: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    within: bool = False,
    resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the Pearson correlation of each metric, and of :data:`LENGTH`, with F1; intervals draw whole
    cases.

    Parameters
    ----------
    frame : of :func:`table`.
    scores : one column per metric, index of ``frame``.
    within : subtract the mean of its case from every number, so that only summaries of one case are compared.

    Returns
    -------
    DataFrame
        Index ``metric``; ``value``, ``low``, ``high``, and ``over_length``, ``over_length_low``,
        ``over_length_high``: that correlation minus that of :data:`LENGTH`, on the same draws.
    """
    values = scores.assign(**{LENGTH: length_prediction(frame, "f1"), "f1": frame["f1"]})
    if within:
        values -= values.groupby(frame["case"]).transform("mean")
    predictions = {name: values[name] for name in [*scores, LENGTH]}
    drawn = resample(
        predictions, values["f1"], groups=frame["case"], kind="pearson", resamples=resamples, rng=rng
    )
    table, gaps = drawn.intervals().set_index("metric"), drawn.compare(LENGTH).set_index("rival")
    for name, end in (("", "difference"), ("_low", "high"), ("_high", "low")):
        table[f"over_length{name}"] = -gaps[end].reindex(table.index)
    return table
