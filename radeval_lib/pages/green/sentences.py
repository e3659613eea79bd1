"""Sentences that state what came out on GREEN's pages, one function for each, with every branch tested."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.checks import above
from radeval_lib.study.superiority import LEVEL
from radeval_lib.wording import in_words, joined

GIVEN = "GREEN, one match given"
_RULES, _BY_RULES = "weighted errors by rules", "GREEN by rules"


def better(compared: pd.DataFrame, rival: str) -> bool | None:
    """Whether a rival agrees better than the metric that it is compared with: None where it cannot be told.

    Decided by p values corrected over all rivals, so that a rival may be chosen on the same data.

    Parameters
    ----------
    compared : of :meth:`radeval_lib.stats.correlations.Resampled.compare`, by rival.
    """
    row = compared.loc[rival]
    return bool(row["difference"] < 0) if row["p_holm"] < LEVEL else None


def ceiling_words(compared: pd.DataFrame, means: pd.DataFrame, together: pd.Series, best: str) -> str:
    """The first paragraph on ceilings: whether GREEN's formula loses what a sum of the same marks keeps.

    Parameters
    ----------
    compared : GREEN's formula against every variant.
    means : ``min`` and ``max`` over single radiologists, by variant.
    together : agreement with the marks of all three, by variant.
    best : the sum that agrees best.
    """
    lead = {
        True: "The formula limits GREEN here, not only its judge.",
        False: "The formula does not limit GREEN here: the best sum of the same marks agrees less well.",
        None: "That the formula limits GREEN is not established here.",
    }[better(compared, best)]
    spans = {
        name: f"{means.loc[name, 'min']:.2f} to {means.loc[name, 'max']:.2f}" for name in (best, "GREEN")
    }
    return (
        f"**{lead}** Of the sums, {best} agree best: by one radiologist's marks at τ_b {spans[best]} "
        f"with the grades of the other two, where GREEN's formula has {spans['GREEN']} by the same marks. "
        f"With marks and grades of all three it is {together[best]:.2f} against {together['GREEN']:.2f} (p = "
        f"{compared.loc[best, 'p_holm']:.2g}, corrected for {in_words(len(compared))} comparisons)."
    )


def ceiling_meaning(compared: pd.DataFrame, best: str) -> str:
    """What the ceilings advise; ``compared`` and ``best`` as for :func:`ceiling_words`."""
    told = {
        True: f"On these ratings GREEN's formula loses some of what a judge names. Whoever grades with GREEN "
        f"should keep the errors themselves, and can add up {best}.",
        False: "On these ratings nothing is won by adding up errors instead of GREEN's formula.",
        None: "These ratings do not tell whether adding up errors would serve better than GREEN's formula.",
    }[better(compared, best)]
    tie = {
        True: "Breaking the tie at zero, with one match given to every candidate, helps.",
        False: "Breaking the tie at zero, with one match given to every candidate, does harm.",
        None: "Whether it helps to break the tie at zero cannot be told.",
    }[better(compared, GIVEN)]
    return f"{told} {tie}"


def about_one_match(
    stated: pd.Series, clean: pd.Series, step: pd.Series, scores: pd.Series, grades: pd.Series
) -> str:
    """What one match more does to GREEN's score, and what a score of 0 leaves out.

    Parameters
    ----------
    stated, clean : findings of each candidate, and those that bear no mark.
    step : by how much one match more moves each score.
    scores, grades : GREEN's, and the other radiologists' mean grade.
    """
    first = (
        f"A candidate states {stated.median():.0f} findings in the median, and of these {clean.mean():.1f} "
        f"bear no mark on average. So one finding more that is called a match moves the score by "
        f"{step.mean():.2f} on average, on a scale that ends at 1."
    )
    within = grades[scores == 0]
    if within.empty:
        return f"{first} No score is exactly 0."
    share = f"{len(within) / len(scores):.0%} of the scores are exactly 0"
    if len(within) == 1:
        return f"{first} One score is exactly 0."
    return (
        f"{first} And {share}: nothing matches, and then the number and the gravity of the errors no longer "
        f"matter. The grades of these candidates run from {within.min():.1f} to {within.max():.1f} (standard "
        f"deviation {within.std():.2f}, that of all grades {grades.std():.2f})."
    )


def about_ratios(together: pd.Series, ratios: Sequence[str]) -> str:
    """Agreement of GREEN's form with one match given, and with its other changes.

    Parameters
    ----------
    together : agreement with the marks of all three, by variant.
    ratios : the variants of GREEN's form, GREEN among them.
    """
    others = [together[name] for name in ratios if name not in ("GREEN", GIVEN)]
    return (
        f"One match given to every candidate leaves no score at 0: agreement goes from "
        f"{together['GREEN']:.2f} to {together[GIVEN]:.2f}. With another rule for what counts as matched, or "
        f"for which errors count, it lies from {min(others):.2f} to {max(others):.2f}."
    )


def rules_words(
    table: pd.DataFrame, compared: pd.DataFrame, ceiling: pd.Series, lexical: Sequence[str], aim: float
) -> str:
    """How the judge by rules agrees with grades: its aim, lexical metrics, and the ceilings.

    Parameters
    ----------
    table : ``value``, ``low``, ``high`` by metric.
    compared : the weighted errors by rules against every other metric.
    ceiling : agreement of the radiologists' own marks, by variant.
    lexical : names of the lexical metrics.
    """
    ours, value = table.loc[_RULES], table["value"]
    reached = {True: "above", False: "below", None: "not distinguishable from"}[
        above(ours["low"], ours["high"], aim)
    ]
    green = {"weighted errors": _RULES, "GREEN": _BY_RULES}
    room = [
        f"{ceiling[name] - value[mine]:+.2f} with {words}"
        for (name, mine), words in zip(green.items(), ("weighted errors", "GREEN's formula"), strict=True)
    ]
    return (
        f"The weighted error score agrees at τ_b {ours['value']:.2f} ({ours['low']:.2f} to "
        f"{ours['high']:.2f}), which is {reached} the {aim:.2f} that was aimed at. "
        f"{_against_lexical(value, compared, lexical)} "
        f"The fourteen observations by rules reach {value['fourteen observations']:.2f}. The ceilings, from "
        f"the radiologists' own marks, are {ceiling['weighted errors']:.2f} for weighted errors and "
        f"{ceiling['GREEN']:.2f} for GREEN's formula, of which the rules reach {value[_RULES]:.2f} and "
        f"{value[_BY_RULES]:.2f}. To mark as the radiologists do would change agreement by "
        f"{joined(room)}."
    )


def _against_lexical(value: pd.Series, compared: pd.DataFrame, lexical: Sequence[str]) -> str:
    words = str(value[list(lexical)].idxmax())
    row = compared.loc[words]
    gap = f"{row['difference']:+.2f} (95% interval {row['low']:+.2f} to {row['high']:+.2f})"
    if (compared.loc[list(lexical), "low"] > 0).all():
        lead = "it leads every lexical metric, which is established"
    elif better(compared, words):
        lead = "it lies behind, which is established"
    else:
        lead = "a lead over every lexical metric is not established"
    return f"Its difference from the best lexical metric, {words}, is {gap}; {lead}."


def silent_words(by_rules: pd.Series, marked: pd.Series, grades: pd.Series) -> str:
    """How often the rules are silent where radiologists are not.

    Parameters
    ----------
    by_rules, marked : errors that the rules name and that a radiologist marks on average, by candidate.
    grades : mean grades.
    """
    silent = (by_rules == 0) & (marked >= 1)
    named, seen = by_rules.mean(), marked.mean()
    number = f"They name {named:.1f} errors a candidate, a radiologist marks {seen:.1f} on average."
    if not silent.any():
        return f"The rules name an error wherever radiologists mark at least one on average. {number}"
    found = "one candidate" if silent.sum() == 1 else f"{in_words(int(silent.sum()))} candidates"
    return (
        f"The rules name no error in {found} in which radiologists mark at least one on average, with a mean "
        f"grade of {grades[silent].mean():.1f}. {number}"
    )


def first_sight_words(presence: float, location: float, aims: tuple[float, float]) -> str:
    """What the reader made of the last draw at first sight, against its aims."""
    reached = (presence >= aims[0]) + (location >= aims[1])
    word = {0: "neither is reached", 1: "one of the two is reached", 2: "both are reached"}[reached]
    return (
        f"The fairest figure is that of the third draw at first sight: {presence:.3f} for presence and "
        f"{location:.3f} for places. Of the aims, {aims[0]:.2f} and {aims[1]:.2f}, {word}."
    )


def learned_words(gains: Sequence[Estimate], readable: int, asked: int) -> str:
    """What fine-tuning did to analyses that were not learned from, and how many answers have the layout.

    Parameters
    ----------
    gains : change of the log-probability of a token, in nats, one training each.
    """
    signs = [above(one.low, one.high) for one in gains]
    words = {True: "become likelier", False: "become less likely", None: "show no clear change"}
    answers = f"Of {asked} {'answer' if asked == 1 else 'answers'} {readable or 'none'} could be read back."
    spread = joined([f"{value:+.1f}" for value in sorted(one.value for one in gains)])
    if len(gains) == 1:
        return f"Held-out analyses {words[signs[0]]} ({spread} nats a token). {answers}"
    parts = [f"{words[sign]} in {in_words(signs.count(sign))}" for sign in words if sign in signs]
    return (
        f"Of {in_words(len(gains))} trainings, held-out analyses {joined(parts)} ({spread} nats a token). "
        f"{answers}"
    )


def bound_words(lead: Estimate) -> str:
    """Whether a judge passes what radiologists reach among themselves.

    Parameters
    ----------
    lead : the judge's tau with their mean, minus theirs with the others' mean.
    """
    gap = f"{lead.value:+.2f}, 95% interval {lead.low:+.2f} to {lead.high:+.2f}"
    return {
        True: f"The judge passes the radiologists' agreement ({gap}). What experts reach among themselves is "
        "no upper bound: errors of one person average out in a mean of several, so that a judge who errs "
        "less than one person can agree with it better than any of them.",
        False: f"The judge does not reach the radiologists' agreement ({gap}), so in this build it holds as "
        "an upper bound.",
        None: f"Whether the judge passes the radiologists' agreement cannot be told ({gap}).",
    }[above(lead.low, lead.high)]
