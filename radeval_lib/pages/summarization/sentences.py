"""What a lead over several rivals is called, and whether one is kept on other groups of reports."""

from __future__ import annotations

from collections.abc import Mapping

from radeval_lib.pages.summarization.benchmark import estimate_words
from radeval_lib.pages.summarization.tallies import LeadRetention
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.checks import Check, above, check_statement
from radeval_lib.study.superiority import Lead
from radeval_lib.wording import joined, with_interval


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
