"""Whether a lead is kept on groups of reports that were not in training."""

from __future__ import annotations

from radeval_lib.pages.summarization.benchmark import estimate_words
from radeval_lib.pages.summarization.tallies import LeadRetention
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.checks import Check, above, check_statement
from radeval_lib.wording import with_interval

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
