"""Sentences that state what came out of fact counting, one function for each, with every branch tested."""

from __future__ import annotations

import pandas as pd

from radeval_lib.experiments.facts.granularity import DERIVED, RAW
from radeval_lib.experiments.facts.metric_agreement import LENGTH, TARGETS
from radeval_lib.experiments.facts.rates import Shared
from radeval_lib.wording import percent


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
    return (
        f"{above} of {len(rows)} metrics see precision beyond chance, {best['metric']} best: {_value(best)}."
    )


def _odd(odd: int, total: int) -> str:
    if not odd:
        return ""
    return f" {odd} of the {total} judgements contradict themselves or rest on a convention."


def about_counts(behind: pd.DataFrame) -> str:
    """What the counts behind the rates give away."""
    told = [f"The counts of {int((behind['possible'] == 1).sum())} of {len(behind)} judgements can be told."]
    if empty := int(behind["empty"].sum()):
        told.append(
            f"A precision of 1 beside a recall of 0, which no summary with facts can have, stands in "
            f"{empty}: the expert found no fact, and nothing over nothing was printed as 1. Such a "
            "precision counts as perfect in every average."
        )
    if twice := int((behind["counted_twice"] > 0).sum()):
        told.append(
            f"In {twice}, recall and omission rate together exceed 1: facts of the reference are both in "
            "common "
            "and left out."
        )
    if neither := int((behind["neither"] > 0).sum()):
        told.append(
            f"In {neither} they fall short of 1: some facts of the reference are neither, as if omissions "
            "were "
            "noted only where they matter."
        )
    if no_rate := int(behind["no_rate"].sum()):
        told.append(f"The omission rate of {no_rate} is none that counts can give.")
    return " ".join(told)


def about_shared(shared: Shared) -> str:
    """Whether one number of facts fits all judgements of a reference."""
    first = (
        f"One number fits all judgements of {shared.fit} of {shared.cases} references; for {shared.told} of "
        "them "
        "it can be told."
    )
    chance = (
        f"If each system's judgements were dealt to the references at random, a number would fit "
        f"{percent(shared.by_chance)} of the time"
    )
    if shared.fit / shared.cases > shared.by_chance + 0.1:
        return f"{first} {chance}, so the references were counted alike."
    return f"{first} {chance}, so this says little."


def about_metrics(found: pd.DataFrame) -> str:
    """The best metric for each rate, and who sees precision."""
    told = []
    for target in ("f1", "recall"):
        best = _best(found, target)
        told.append(f"{best['metric']} agrees best with {TARGETS[target]}, at {_value(best)}.")
    return " ".join([*told, _seen(found)])


def about_length(found: pd.DataFrame) -> str:
    """How many metrics agree with each rate more than the lengths do."""
    told = []
    for target in ("f1", "recall"):
        rows = found[(found["target"] == target) & (found["metric"] != LENGTH)]
        above = int((rows["over_length_low"] > 0).sum())
        below = int((rows["over_length_high"] < 0).sum())
        told.append(
            f"With {TARGETS[target]}, {above} of {len(rows)} metrics agree better than the lengths beyond "
            "chance, "
            f"and {below} worse."
        )
    return " ".join(told)


def about_sizes(average: pd.DataFrame) -> str:
    """How simulated raters agree on counts and ratios where they misjudge nothing.

    Parameters
    ----------
    average : mean alphas by share of facts misjudged, from 0 on; columns of
        :data:`~radeval_lib.experiments.facts.granularity.FIELDS`.
    """
    first = average.iloc[0]
    counts, ratios = ([first[name] for name in names if name in first] for names in (RAW, DERIVED))
    return (
        f"Without a misjudged fact the counts agree at an alpha of {min(counts):.2f} to {max(counts):.2f}, "
        "the ratios at "
        f"{min(ratios):.2f} to {max(ratios):.2f}."
    )
