"""How metrics agree with fact-based rates, and how far the lengths of the two texts alone would get."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.correlations import resample
from radeval_lib.stats.printed_correlation import Kind

TARGETS = {
    "f1": "F1",
    "recall": "recall",
    "precision": "precision",
    "not_omitted": "1 - omission",
    "not_invented": "1 - hallucination",
}
"""Columns of :func:`table` that a metric may agree with; higher is better in all, and how pages name them."""

LENGTH = "length alone"
"""Name of the prediction from the texts' lengths beside the metrics."""


def table(ratings: Sequence[FactRating]) -> pd.DataFrame:
    """One row a judgement, in their order.

    Returns
    -------
    DataFrame
        Index ``id``; ``case``, ``group``; ``reference``, ``candidate`` and ``source`` (str; restricted texts
        are laid open, so these must not be shown); the columns of :data:`TARGETS` (float, NaN where a rate
        is not known); ``reference_words`` and ``candidate_words`` (int).
    """
    frame = pd.DataFrame(
        {
            "id": one.id,
            "case": one.case,
            "group": one.group,
            "reference": reveal(one.reference),
            "candidate": reveal(one.candidate),
            "source": reveal(one.source),
            "f1": one.f1,
            "recall": one.recall,
            "precision": one.precision,
            "not_omitted": np.nan if one.omission is None else 1 - one.omission,
            "not_invented": 1 - one.hallucination,
        }
        for one in ratings
    ).set_index("id")
    for text in ("reference", "candidate"):
        frame[f"{text}_words"] = frame[text].str.split().str.len()
    return frame


def length_prediction(frame: pd.DataFrame, target: str, folds: int = 5) -> pd.Series:
    """What the two texts' lengths predict of a rate, by linear regression from other cases.

    Parameters
    ----------
    frame : of :func:`table`, without missing values in ``target``.
    folds : parts of the cases; each is predicted from the others.

    Returns
    -------
    Series
        float64, index of ``frame``. The regression sees the logarithms of both numbers of words and the
        candidate's share of the reference's words, at most 1, and nothing of what the texts say.
    """
    reference, candidate = (
        frame[name].to_numpy(dtype=float) for name in ("reference_words", "candidate_words")
    )
    lengths = np.column_stack(
        [
            np.log1p(reference),
            np.log1p(candidate),
            np.minimum(1.0, candidate / np.maximum(reference, 1)),
        ]
    )
    found = cross_val_predict(
        LinearRegression(),
        lengths,
        frame[target].to_numpy(dtype=float),
        groups=frame["case"].to_numpy(),
        cv=GroupKFold(folds),
    )
    return pd.Series(found, index=frame.index)


def correlations(
    frame: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    kind: Kind,
    resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Correlation of each metric, and of :data:`LENGTH`, with each rate; intervals draw whole cases.

    Parameters
    ----------
    frame : of :func:`table`.
    scores : one column a metric, index of ``frame``.

    Returns
    -------
    DataFrame
        One row a target and metric: ``target``, ``metric``, ``value``, ``low``, ``high``, ``n``, ``groups``,
        and ``over_length``, ``over_length_low``, ``over_length_high``: that correlation minus the length's,
        on the same draws. Judgements without the rate are left out of its rows.
    """
    rows = []
    for target in TARGETS:
        known = frame[frame[target].notna()]
        if known[target].nunique() < 2:
            continue
        columns = {name: scores.loc[known.index, name].to_numpy(dtype=float) for name in scores}
        columns[LENGTH] = length_prediction(known, target).to_numpy()
        drawn = resample(
            columns,
            known[target].to_numpy(),
            groups=known["case"].to_numpy(),
            kind=kind,
            resamples=resamples,
            rng=rng,
        )
        gaps = drawn.compare(LENGTH).set_index("rival")
        found = drawn.intervals().assign(target=target)
        found["over_length"] = -found["metric"].map(gaps["difference"])
        found["over_length_low"] = -found["metric"].map(gaps["high"])
        found["over_length_high"] = -found["metric"].map(gaps["low"])
        rows.append(found)
    return pd.concat(rows, ignore_index=True)
