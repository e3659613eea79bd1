"""The counts behind rates, and how metrics, and the lengths of the texts alone, agree with the rates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from notebooks.facts.fact_rates import counts_of, shared_reference_counts
from radeval_lib.data.errors import DataError
from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.correlations import resample

TARGETS = {"f1": "F1", "recall": "recall", "precision": "precision"}
"""Columns of :func:`table` that a metric may agree with, and how pages name them."""

LENGTH = "length alone"
"""Name of the prediction from the texts' lengths beside the metrics."""


def table(ratings: Sequence[FactRating]) -> pd.DataFrame:
    """Return one row per judgement, in their order.

    Index ``id``; ``case``, ``group``; ``reference`` and ``candidate`` (str; restricted texts are laid open,
    so these must not be shown); the columns of :data:`TARGETS` (float); ``reference_words`` and
    ``candidate_words`` (int).
    """
    if not ratings:
        raise DataError("no ratings of facts")
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
    """Return what is known of two texts by their words alone: the logarithms of both numbers, and the share
    of the candidate's in the reference's, at most 1; shape (judgements, 3), by the index of ``frame``."""
    reference, candidate = (frame[f"{text}_words"].astype(float) for text in ("reference", "candidate"))
    shorter = (candidate / reference.clip(lower=1)).clip(upper=1)
    return pd.DataFrame(
        {"reference": np.log1p(reference), "candidate": np.log1p(candidate), "share": shorter}
    )


def length_prediction(frame: pd.DataFrame, target: str) -> pd.Series:
    """Return what the two texts' :func:`lengths` predict of a rate, by linear regression from other cases."""
    rates, cases = frame[target].to_numpy(dtype=float), frame["case"].to_numpy()
    found = cross_val_predict(
        LinearRegression(), lengths(frame).to_numpy(), rates, groups=cases, cv=GroupKFold(5)
    )
    return pd.Series(found, index=frame.index)


def correlations(
    frame: pd.DataFrame,
    scores: pd.DataFrame,
    target: str = "f1",
    *,
    within: bool = False,
    resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the Pearson correlation of each metric, and of :data:`LENGTH`, with a rate; intervals draw whole
    cases.

    Parameters
    ----------
    frame : of :func:`table`.
    scores : one column per metric, index of ``frame``.
    target : one of :data:`TARGETS`.
    within : subtract the mean of its case from every number, so that only summaries of one case are compared.

    Returns
    -------
    DataFrame
        Index ``metric``; ``value``, ``low``, ``high``, and ``over_length``, ``over_length_low``,
        ``over_length_high``: that correlation minus the lengths', on the same draws.
    """
    values = scores.assign(**{LENGTH: length_prediction(frame, target), target: frame[target]})
    if within:
        values -= values.groupby(frame["case"]).transform("mean")
    predictions = {name: values[name] for name in [*scores, LENGTH]}
    drawn = resample(
        predictions, values[target], groups=frame["case"], kind="pearson", resamples=resamples, rng=rng
    )
    table, gaps = drawn.intervals().set_index("metric"), drawn.compare(LENGTH).set_index("rival")
    for name, end in (("", "difference"), ("_low", "high"), ("_high", "low")):
        table[f"over_length{name}"] = -gaps[end].reindex(table.index)
    return table


def counts(ratings: Sequence[FactRating]) -> pd.DataFrame:
    """Return the smallest counts that can have made each judgement's rates.

    Index ``id``; ``possible`` (int: sets of counts, no more facts than words); ``reference`` (int, of the
    smallest set); ``empty`` (bool: a summary without facts, whose precision is nothing over nothing);
    ``counted_twice`` and ``neither`` (int, facts of the reference); ``no_rate`` (bool: the source prints what
    is not a rate). Raises MetricError: naming the judgement, where no counts give its rates.
    """
    return pd.DataFrame(
        {
            "id": rating.id,
            "possible": len(possible),
            "reference": possible[0].reference,
            "empty": possible[0].generated == 0,
            "counted_twice": possible[0].counted_twice,
            "neither": possible[0].neither,
            "no_rate": bool(rating.fault),
        }
        for rating in ratings
        for possible in [counts_of(rating)]
    ).set_index("id")


def summary(behind: pd.DataFrame) -> pd.DataFrame:
    """Return how many judgements are of each kind; ``behind`` is of :func:`counts`."""
    kinds = pd.DataFrame(
        {
            "one set of counts gives the rates": behind["possible"] == 1,
            "several sets give them": behind["possible"] > 1,
            "a summary without facts: precision is nothing over nothing, printed as 1": behind["empty"],
            "facts of the reference both in common and left out": behind["counted_twice"] > 0,
            "facts of the reference neither in common nor left out": behind["neither"] > 0,
            "an omission rate that no counts give": behind["no_rate"],
        }
    )
    return pd.DataFrame({"judgements": kinds.sum(), "share": kinds.mean()})


def shared(ratings: Sequence[FactRating], rng: np.random.Generator) -> dict[str, float]:
    """Return whether one number of facts of a reference fits all judgements of its summaries.

    ``cases``; how many of them some number fits (``fit``), and one number alone (``determined``); the share
    that some number fits where each system's judgements are shuffled, twenty times (``by_chance``).
    """
    by_case = _by_case(ratings)
    sizes = [len(shared_reference_counts(case)) for case in by_case]
    possible = [[{fitting.reference for fitting in counts_of(rating)} for rating in case] for case in by_case]
    systems, fitting = min(len(case) for case in possible), []
    for _ in range(20):
        orders = [rng.permutation(len(possible)) for _ in range(systems)]
        for places in zip(*orders, strict=True):
            dealt = [possible[place][system] for system, place in enumerate(places)]
            fitting.append(bool(set.intersection(*dealt)))
    return {
        "cases": len(by_case),
        "fit": sum(size > 0 for size in sizes),
        "determined": sizes.count(1),
        "by_chance": float(np.mean(fitting)),
    }


def _by_case(ratings: Sequence[FactRating]) -> list[list[FactRating]]:
    cases: dict[tuple[str, str], list[FactRating]] = {}
    for rating in ratings:
        cases.setdefault((rating.case, reveal(rating.reference)), []).append(rating)
    return list(cases.values())
