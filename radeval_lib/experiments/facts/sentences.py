"""Sentences that state what came out of fact counting, one function for each, with every branch tested."""

from __future__ import annotations

import pandas as pd

from radeval_lib.experiments.facts.granularity import DERIVED, RAW
from radeval_lib.experiments.facts.metric_agreement import LENGTH, TARGETS
from radeval_lib.experiments.facts.rates import Shared
from radeval_lib.wording import in_words, joined, percent


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
        :data:`~radeval_lib.experiments.facts.granularity.FIELDS`.
    """
    first = average.iloc[0]
    counts, ratios = ([first[name] for name in names if name in first] for names in (RAW, DERIVED))
    return (
        f"Without a misjudged fact the counts agree at an alpha of {min(counts):.2f} to {max(counts):.2f}, "
        f"and the ratios at {min(ratios):.2f} to {max(ratios):.2f}."
    )
