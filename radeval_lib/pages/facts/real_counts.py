"""How metrics agree with fact-based rates, and how far the lengths of the two texts alone would get."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from radeval_lib.data.records import FactRating
from radeval_lib.data.restricted import reveal
from radeval_lib.pages.facts.granularity import DERIVED, RAW
from radeval_lib.pages.facts.rates import Shared
from radeval_lib.stats.correlations import resample
from radeval_lib.stats.printed import Kind
from radeval_lib.wording import in_words, joined, percent

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


def _best(found: pd.DataFrame, target: str) -> pd.Series:
    rows = found[(found["target"] == target) & (found["metric"] != LENGTH)]
    return rows.loc[rows["value"].idxmax()]


def _value(row: pd.Series) -> str:
    return f"{row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _against_length(row: pd.Series) -> str:
    if row["over_length_low"] > 0:
        return "more than"
    return "less than" if row["over_length_high"] < 0 else "no more, as far as can be told, than"


def conclusion(found: pd.DataFrame, behind: pd.DataFrame, source: str) -> str:
    """The page's first paragraph: the best metric, what length alone reaches, and who sees precision."""
    best = _best(found, "f1")
    alone = found[(found["target"] == "f1") & (found["metric"] == LENGTH)].iloc[0]
    odd = int(((behind["counted_twice"] > 0) | behind["empty"] | behind["no_rate"]).sum())
    return (
        f"On {source}, {best['metric']} agrees best with F1 of facts, at a correlation of {_value(best)}; "
        f"that is {_against_length(best)} the {_value(alone)} of a prediction that knows only how long both "
        f"texts are. {_seen(found)}{_odd(odd, len(behind))}"
    )


def _seen(found: pd.DataFrame) -> str:
    """How many metrics see precision."""
    rows = found[(found["target"] == "precision") & (found["metric"] != LENGTH)]
    if rows.empty:
        return "All summaries have the same precision."
    above = int((rows["low"] > 0).sum())
    best = _best(found, "precision")
    if not above:
        return f"No metric sees precision: the highest correlation is {best['metric']}'s, {_value(best)}."
    see = f"sees precision beyond chance: {best['metric']}, at"
    if above > 1:
        see = f"see precision beyond chance, {best['metric']} best, at"
    return f"{in_words(above).capitalize()} of {in_words(len(rows))} metrics {see} {_value(best)}."


def _odd(odd: int, total: int) -> str:
    if not odd:
        return ""
    does = "contradicts itself or rests" if odd == 1 else "contradict themselves or rest"
    return f" {odd} of the {total} judgements {does} on a convention."


def about_counts(behind: pd.DataFrame) -> str:
    """What the counts behind the rates give away."""
    known = int((behind["possible"] == 1).sum())
    told = [f"The counts behind {in_words(known)} of {_judgements(len(behind))} can be told."]
    if empty := int(behind["empty"].sum()):
        told.append(
            f"A precision of 1 beside a recall of 0, which no summary with facts can have, stands in "
            f"{_judgements(empty)}: the expert found no fact, and nothing over nothing was printed as 1. "
            "Such a precision counts as perfect in every average."
        )
    if twice := int((behind["counted_twice"] > 0).sum()):
        told.append(
            f"In {_judgements(twice)}, recall and omission rate together exceed 1: facts of the reference "
            "are both in common and left out."
        )
    if neither := int((behind["neither"] > 0).sum()):
        told.append(
            f"In {_judgements(neither)}, they fall short of 1: some facts of the reference are neither, as "
            "if omissions were noted only where they matter."
        )
    if no_rate := int(behind["no_rate"].sum()):
        told.append(f"The omission rate of {_judgements(no_rate)} is none that counts can give.")
    return " ".join(told)


def _judgements(number: int) -> str:
    return f"{in_words(number)} {'judgement' if number == 1 else 'judgements'}"


def about_shared(shared: Shared) -> str:
    """Whether one number of facts fits all judgements of a reference."""
    first = f"One number fits all judgements of {shared.fit} of {shared.cases} references."
    if shared.told:
        first = f"{first[:-1]}; for {shared.told} of them it can be told."
    chance = (
        f"If each system's judgements were dealt to the references at random, a number would fit "
        f"{percent(shared.by_chance)} of the time"
    )
    if shared.fit / shared.cases > shared.by_chance + 0.1:
        return f"{first} {chance}, so the references were counted alike."
    return f"{first} {chance}, so this says little."


def about_metrics(found: pd.DataFrame) -> str:
    """The best metric for each rate; no precision where all summaries have the same."""
    told = []
    for target in ("f1", "recall", "precision"):
        if target in set(found["target"]):
            best = _best(found, target)
            told.append(f"{best['metric']} agrees best with {TARGETS[target]}, at {_value(best)}.")
    return " ".join(told)


def about_length(found: pd.DataFrame) -> str:
    """How many metrics agree with each rate more than the lengths do."""
    told = []
    for target in ("f1", "recall"):
        rows = found[(found["target"] == target) & (found["metric"] != LENGTH)]
        sides = {
            "better": int((rows["over_length_low"] > 0).sum()),
            "worse": int((rows["over_length_high"] < 0).sum()),
        }
        parts = [
            f"{in_words(count)} {'agrees' if count == 1 else 'agree'} {side}"
            for side, count in sides.items()
            if count
        ]
        if parts:
            said = f"of {in_words(len(rows))} metrics {joined(parts)} than the lengths beyond chance"
        else:
            said = f"none of {in_words(len(rows))} metrics differs from the lengths beyond chance"
        told.append(f"With {TARGETS[target]}, {said}.")
    return " ".join(told)


def about_sizes(average: pd.DataFrame) -> str:
    """How simulated raters agree on counts and ratios where they misjudge nothing.

    Parameters
    ----------
    average : mean alphas by share of facts misjudged, from 0 on; columns of
        :data:`~radeval_lib.pages.facts.granularity.FIELDS`.
    """
    first = average.iloc[0]
    counts, ratios = ([first[name] for name in names if name in first] for names in (RAW, DERIVED))
    return (
        f"Without a misjudged fact the counts agree at an alpha of {min(counts):.2f} to {max(counts):.2f}, "
        f"and the ratios at {min(ratios):.2f} to {max(ratios):.2f}."
    )
