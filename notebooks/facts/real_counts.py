"""How metrics, and the lengths of texts, agree with rates of counted facts; and the counts behind rates.

A published precision of 0.66666667 is 2 of 3, or 4 of 6, but not 5 of 7. Precision and recall share their
numerator, the facts in common, and further rates narrow the denominators: so the counts can often be
recovered, up to a common factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.metrics.base import MetricError
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
    """Return the features of two texts from their lengths alone: the logarithms of both numbers, and the
    share of the candidate's in the reference's, at most 1; shape (judgements, 3), by the index of
    ``frame``."""
    reference, candidate = (frame[f"{text}_words"].astype(float) for text in ("reference", "candidate"))
    shorter = (candidate / reference.clip(lower=1)).clip(upper=1)
    return pd.DataFrame(
        {"reference": np.log1p(reference), "candidate": np.log1p(candidate), "share": shorter}
    )


def length_prediction(frame: pd.DataFrame, target: str) -> pd.Series:
    """Return the rate predicted from the two texts' :func:`lengths`, by linear regression from other
    cases."""
    rates, cases = frame[target].to_numpy(dtype=float), frame["case"].to_numpy()
    model, features = LinearRegression(), lengths(frame).to_numpy()
    return pd.Series(
        cross_val_predict(model, features, rates, groups=cases, cv=GroupKFold(5)), index=frame.index
    )


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
    is not a rate). Raises MetricError: naming the judgement, if no counts give its rates.
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

    ``cases``; how many of them some number fits (``fit``); the share that some number fits if each system's
    judgements are shuffled, twenty times (``by_chance``).
    """
    by_case: dict[tuple[str, str], list[FactRating]] = {}
    for rating in ratings:
        by_case.setdefault((rating.case, reveal(rating.reference)), []).append(rating)
    possible = [
        [{counts.reference for counts in counts_of(rating)} for rating in case] for case in by_case.values()
    ]
    systems, fitting = min(len(case) for case in possible), []
    for _ in range(20):
        orders = [rng.permutation(len(possible)) for _ in range(systems)]
        for drawn in zip(*orders, strict=True):
            dealt = [possible[case][system] for system, case in enumerate(drawn)]
            fitting.append(bool(set.intersection(*dealt)))
    fit = sum(bool(set.intersection(*case)) for case in possible)
    return {"cases": len(by_case), "fit": fit, "by_chance": float(np.mean(fitting))}


TOLERANCE = 1e-7  # rates that passed through 32-bit numbers and were printed with eight decimals


class RateCounts(NamedTuple):
    """Counts that give a set of rates: facts in the reference, in the summary, in both, invented by the
    summary and omitted from it; the last is None if no omission rate is known."""

    reference: int
    generated: int
    common: int
    invented: int
    omitted: int | None = None

    @property
    def counted_twice(self) -> int:
        """Facts of the reference that are both in common and left out, which cannot be."""
        return max(0, self.common + self.omitted - self.reference) if self.omitted is not None else 0

    @property
    def neither(self) -> int:
        """Facts of the reference that are neither in common nor noted as left out."""
        return max(0, self.reference - self.common - self.omitted) if self.omitted is not None else 0


def possible_counts(
    precision: float,
    recall: float,
    *,
    hallucination: float = 0.0,
    omission: float | None = None,
    most_reference: int,
    most_generated: int,
) -> list[RateCounts]:
    """Return every set of counts up to the given sizes that gives these rates, smallest first.

    A precision of 1 beside a recall of 0 means a summary without any fact: nothing over nothing, printed
    as 1. There is no constraint where ``omission`` is None.
    """
    possible = []
    for reference in range(1, most_reference + 1):
        common = _share(recall, reference)
        omitted = None if omission is None else _share(omission, reference)
        if common is None or (omission is not None and omitted is None):
            continue
        for generated in _generated(precision, common, most_generated):
            invented = _share(hallucination, generated)
            if invented is not None and invented <= generated - common:
                possible.append(RateCounts(reference, generated, common, invented, omitted))
    return sorted(possible, key=lambda counts: (counts.reference + counts.generated, counts.reference))


def _share(rate: float, whole: int) -> int | None:
    """Return the number that makes up ``rate`` of ``whole``; None if no whole number does."""
    if whole == 0:
        return 0 if rate == 0 else None
    part = round(rate * whole)
    return part if abs(part / whole - rate) <= TOLERANCE else None


def _generated(precision: float, common: int, most: int) -> Iterator[int]:
    """Yield facts of a summary of which ``common`` are the share ``precision``."""
    if common == 0 and precision <= TOLERANCE:
        yield from range(1, most + 1)
    elif common == 0 and precision >= 1 - TOLERANCE:
        yield 0
    elif common and precision > TOLERANCE:
        whole = round(common / precision)
        if whole <= most and abs(common / whole - precision) <= TOLERANCE:
            yield whole


def counts_of(rating: FactRating) -> list[RateCounts]:
    """Return the counts that can have made one judgement's rates, with no more facts than words; if there are
    none, with up to ten facts a word: a bound on style must not be taken for a contradiction.

    Raises
    ------
    MetricError
        If no counts give the rates.
    """
    words = [max(1, len(reveal(text).split())) for text in (rating.reference, rating.candidate)]
    for bound in (1, 10):
        possible = possible_counts(
            rating.precision,
            rating.recall,
            hallucination=rating.hallucination,
            omission=rating.omission,
            most_reference=bound * words[0],
            most_generated=bound * words[1],
        )
        if possible:
            return possible
    shown = "unknown" if rating.omission is None else f"{rating.omission:g}"
    raise MetricError(
        f"no counts give precision {rating.precision:g}, recall {rating.recall:g}, hallucination "
        f"{rating.hallucination:g} and omission {shown}",
        f"judgement {rating.id}",
        "Look the row up in its source.",
    )
