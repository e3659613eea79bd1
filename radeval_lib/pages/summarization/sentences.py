"""Sentences that the pages on summarization state from their results, every branch of them tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from IPython.display import Markdown

from radeval_lib.pages.summarization.benchmark import estimate_words, named_counts
from radeval_lib.pages.summarization.tallies import LeadRetention
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.checks import Check, above, check_statement
from radeval_lib.study.superiority import Lead
from radeval_lib.wording import in_words, joined, with_interval


def lead_words(gaps: Mapping[str, Estimate]) -> str:
    """Over whom a lead is established, over whom not, and who leads instead."""
    signs = {name: Lead.by_interval(gap).sign for name, gap in gaps.items()}
    told = {1: "beats", 0: "cannot be told from", -1: "stays behind"}
    parts = [
        f"{told[sign]} {joined([name for name in signs if signs[name] == sign])}"
        for sign in (1, 0, -1)
        if sign in signs.values()
    ]
    return joined(parts)


def conclusion(source: str, best: str, gaps: Mapping[str, Estimate]) -> Markdown:
    """What training on all pairs gives, in the page's first sentence.

    Parameters
    ----------
    source : where the reports are from, as ``Run.source`` names it.
    gaps : ROUGE-L of ``best`` minus that of each other system, all trained on ALL.
    """
    baseline = f" Its lead over Lead-3 is {estimate_words(gaps['Lead-3'])}." if "Lead-3" in gaps else ""
    return Markdown(
        f"**In short.** On reports from {source}, with training on all pairs and by ROUGE-L over all "
        f"twelve tests, the {best.lower()} {lead_words(gaps)}.{baseline} What these systems show of the "
        "paper's claims stands below; none of its own models was run."
    )


def first_against(best: str, gaps: Mapping[str, Estimate], ranking: pd.Series) -> Markdown:
    """How a system that was trained on a single pair compares, and which is best where."""
    return Markdown(
        f"With the reports of a single pair to learn from, the {best.lower()} {lead_words(gaps)} on the mean "
        f"of the {len(ranking)} tests. The best system by number of pairs: {named_counts(ranking)}."
    )


def transfer_words(
    table: pd.DataFrame, everything: str, trained: Sequence[str], unseen: Sequence[str], each: int
) -> Markdown:
    """What the grid says of training on all pairs and of tests outside the training pairs.

    Parameters
    ----------
    table : training sets by test sets.
    everything : the row trained on all pairs.
    each : training reports of a pair; 0 where all were used.
    """
    own = sum(float(table.loc[name, name]) for name in trained) / len(trained)
    away = float(table.loc[list(trained), list(unseen)].mean(axis=None))
    seen, new = (float(table.loc[everything, list(names)].mean()) for names in (trained, unseen))
    pairs = "pair" if len(trained) == 1 else f"{in_words(len(trained))} pairs"
    others = "other" if len(unseen) == 1 else f"{in_words(len(unseen))} others"
    amount = f"{len(trained) * each} reports against {each}" if each else "the reports of all pairs"
    return Markdown(
        f"Trained on one pair, the system scores {own:.2f} on its own pair and {away:.2f} on the pairs that "
        f"have no training set. Trained on all, it scores {seen:.2f} on the {pairs} and "
        f"{new:.2f} on the {others}. ALL has more to learn from ({amount}), so that variety and "
        "amount cannot be told apart here; nor can they in the paper."
    )


def observation_words(outside: float, chest: float, p: float) -> Markdown:
    """Whether observations of the chest pass wrong summaries of other body parts.

    Parameters
    ----------
    outside, chest : share of summaries in other words that get a perfect score.
    p : of their difference.
    """
    told = "two shares that cannot be told apart"
    if p < 0.05:
        told = "as the paper objects" if outside > chest else "the opposite of what the paper objects"
    return Markdown(
        f"Of the summaries that share hardly a word with the reference, {outside:.0%} outside the chest and "
        f"{chest:.0%} of those of the chest get a perfect score of observations, {told} (p = {p:.2g}). Where "
        "neither text names an observation, both count as agreeing, whatever else they say."
    )


_HALF = 0.5


def unseen_check(best: str, left: LeadRetention) -> Check:
    """Whether most of a lead over Lead-3 is lost on groups that were not in training; it cannot be told where
    there is no established lead, or where the interval of what is left holds one half."""
    return check_statement(
        f"lead of {best} over Lead-3 in ROUGE-L, on groups seen in training and on others",
        "most of the benefits may not generalize",
        f"{estimate_words(left.seen)} and {estimate_words(left.unseen)}: "
        + ("no lead to lose is established" if left.share is None else f"{_share_words(left.share)} is left"),
        _mostly_lost(left),
    )


def _mostly_lost(left: LeadRetention) -> bool | None:
    return None if left.share is None else above(-left.share.high, -left.share.low, -_HALF)


def _share_words(share: Estimate) -> str:
    return with_interval(share.value, share.low, share.high, ".0%")
