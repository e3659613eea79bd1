"""The counts behind rates, and how metrics, and the lengths of the texts alone, agree with the rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import RestrictedText, reveal
from radeval_lib.metrics.fact_rates import counts_of, shared_reference_counts
from radeval_lib.stats.correlations import resample
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.printed import Kind

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

    Index ``id``; ``case``, ``group``; ``reference``, ``candidate`` and ``source`` (str; restricted texts are
    laid open, so these must not be shown); the columns of :data:`TARGETS` (float, NaN where a rate is not
    known); ``reference_words`` and ``candidate_words`` (int).
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
    """What the two texts' lengths predict of a rate, by linear regression from other cases."""
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

    ``frame``: of :func:`table`. ``scores``: one column a metric, index of ``frame``. One row a target and
    metric: ``target``, ``metric``, ``value``, ``low``, ``high``, ``n``, ``groups``, and ``over_length``,
    ``over_length_low``, ``over_length_high``: that correlation minus the length's, on the same draws.
    Judgements without the rate are left out of its rows.
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


_LONGEST = 90  # characters of a text shown in a table


def counts(ratings: Sequence[FactRating]) -> pd.DataFrame:
    """The smallest counts that can have made each judgement's rates.

    Index ``id``; ``case``; ``possible`` (int: sets of counts, no more facts than words); ``reference``,
    ``generated``, ``common`` (int, the smallest set); ``empty`` (bool: a summary without facts, whose
    precision is nothing over nothing); ``counted_twice`` and ``neither`` (int, facts of the reference);
    ``no_rate`` (bool: the source prints what is no rate). Raises MetricError: naming the judgement, where no
    counts give its rates.
    """
    rows = []
    for one in ratings:
        found = counts_of(one)
        least = found[0]
        rows.append(
            {
                "id": one.id,
                "case": one.case,
                "possible": len(found),
                "reference": least.reference,
                "generated": least.generated,
                "common": least.common,
                "empty": least.generated == 0,
                "counted_twice": least.counted_twice,
                "neither": least.neither,
                "no_rate": bool(one.fault),
            }
        )
    return pd.DataFrame(rows).set_index("id")


def summary(behind: pd.DataFrame) -> pd.DataFrame:
    """How many judgements are of each kind; ``behind`` is of :func:`counts`."""
    kinds = {
        "one set of counts gives the rates": behind["possible"] == 1,
        "several sets give them": behind["possible"] > 1,
        "a summary without facts: precision is nothing over nothing, printed as 1": behind["empty"],
        "facts of the reference both in common and left out": behind["counted_twice"] > 0,
        "facts of the reference neither in common nor left out": behind["neither"] > 0,
        "an omission rate that no counts give": behind["no_rate"],
    }
    return pd.DataFrame(
        {
            "judgements": [int(mask.sum()) for mask in kinds.values()],
            "share": [float(mask.mean()) for mask in kinds.values()],
        },
        index=list(kinds),
    )


def oddities(behind: pd.DataFrame, ratings: Sequence[FactRating], each: int = 2) -> pd.DataFrame:
    """A few judgements of each odd kind with their texts; none whose text may not be passed on."""
    kinds = {
        "no fact, precision 1": behind["empty"],
        "in common and left out": behind["counted_twice"] == behind["reference"],
        "no rate": behind["no_rate"],
    }
    by_id = {one.id: one for one in ratings}
    rows = []
    for kind, mask in kinds.items():
        for name in behind.index[mask][:each]:
            one = by_id[name]
            if isinstance(one.reference, RestrictedText) or isinstance(one.candidate, RestrictedText):
                continue
            rows.append(
                {
                    "what": kind,
                    "reference": _short(one.reference),
                    "summary": _short(one.candidate),
                    "precision": one.precision,
                    "recall": one.recall,
                    "omission": one.fault.split(" ")[1] if one.fault else f"{one.omission:g}",
                }
            )
    return pd.DataFrame(rows)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@dataclass(frozen=True)
class Shared:
    """Whether one number of facts of a reference fits all judgements of its summaries."""

    cases: int
    fit: int
    determined: int
    by_chance: float


def shared(ratings: Sequence[FactRating], rng: np.random.Generator, repeats: int = 20) -> Shared:
    """See :class:`Shared`; the chance level is the mean over ``repeats`` deals."""
    by_case = _by_case(ratings)
    sizes = [shared_reference_counts(case) for case in by_case]
    possible = [[{one.reference for one in counts_of(rating)} for rating in case] for case in by_case]
    systems = min(len(case) for case in possible)
    fitting = []
    for _ in range(repeats):
        orders = [rng.permutation(len(possible)) for _ in range(systems)]
        for place in range(len(possible)):
            dealt = [possible[order[place]][system] for system, order in enumerate(orders)]
            fitting.append(bool(set.intersection(*dealt)))
    return Shared(
        cases=len(by_case),
        fit=sum(bool(size) for size in sizes),
        determined=sum(len(size) == 1 for size in sizes),
        by_chance=float(np.mean(fitting)),
    )


def counts_by_text(ratings: Sequence[FactRating]) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Counts of reference, summary and both that fit all judgements of a reference together, by case and
    system, with as few facts of the reference as fit; judgements that no counts fit are left out."""
    return {(rating.case, rating.group): counts for rating, counts in _told(ratings)}


def _told(ratings: Sequence[FactRating]) -> Iterator[tuple[FactRating, tuple[int, int, int]]]:
    """Each judgement and counts that fit."""
    for case in _by_case(ratings):
        sizes = shared_reference_counts(case)
        for rating in case if sizes else []:
            one = next(one for one in counts_of(rating) if one.reference == sizes[0])
            if one.generated:
                yield rating, (one.reference, one.generated, one.common)


def _by_case(ratings: Sequence[FactRating]) -> list[list[FactRating]]:
    cases: dict[tuple[str, str], list[FactRating]] = {}
    for rating in ratings:
        cases.setdefault((rating.case, reveal(rating.reference)), []).append(rating)
    return list(cases.values())


def best(found: pd.DataFrame, target: str) -> str:
    """The metric that agrees best with a rate, and at what correlation; none where the rate does not vary."""
    rows = found[(found["target"] == target) & (found["metric"] != LENGTH)]
    if rows.empty:
        return "no metric, as all summaries have the same"
    one = rows.loc[rows["value"].idxmax()]
    return f"{one['metric']}, at {one['value']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"


def best_over_length(found: pd.DataFrame, target: str) -> Estimate:
    """By how much the metric that agrees best with a rate does so better than the lengths."""
    rows = found[(found["target"] == target) & (found["metric"] != LENGTH)]
    return Estimate(*rows.loc[rows["value"].idxmax(), ["over_length", "over_length_low", "over_length_high"]])


def over_length(found: pd.DataFrame, target: str) -> tuple[int, int]:
    """How many metrics agree with a rate better than the lengths beyond chance, and how many worse."""
    rows = found[(found["target"] == target) & (found["metric"] != LENGTH)]
    return int((rows["over_length_low"] > 0).sum()), int((rows["over_length_high"] < 0).sum())
