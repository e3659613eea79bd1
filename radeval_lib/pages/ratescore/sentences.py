"""Words that several of RaTEScore's pages state their results in, every branch of them tested."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.checks import above
from radeval_lib.study.superiority import Lead
from radeval_lib.wording import in_words, joined, ordinal, with_interval

GUESSING = 0.5
_JUST = 0.01  # an interval that ends nearer to 0 than this just misses it


def place(rank: int, of: int) -> str:
    """Where RaTEScore stands among metrics: ``second of seven``."""
    return f"{ordinal(rank)} of {in_words(of)}"


def link_with_lengths(rows: pd.DataFrame) -> str:
    """Which way a rating goes with each length, as far as the interval of the coefficient excludes 0.

    Parameters
    ----------
    rows : index: lengths, as ``words, reference``; columns ``low`` and ``high``, the ends of the interval.
    """
    told = {
        length.replace(",", " of the"): _direction(row["low"], row["high"]) for length, row in rows.iterrows()
    }
    sure = not any(0 < max(row["low"], -row["high"]) < _JUST for _, row in rows.iterrows())
    if len(set(told.values())) == 1 and sure:
        return f"{next(iter(told.values()))} with the words of either text"
    return "; ".join(f"{word} with the {length}" for length, word in told.items())


def _direction(low: float, high: float) -> str:
    near = " (the interval just misses 0)" if 0 < max(low, -high) < _JUST else ""
    if low > 0:
        return "rises" + near
    return "falls" + near if high < 0 else "has no sure link"


def about_recovery(found: float, equal: float, lead: Estimate | None) -> str:
    """How near scores by the weights that a search found come to the planted scores, beside equal weights.

    Parameters
    ----------
    found, equal : correlation with the planted scores, over the pairs that the search has not seen.
    lead : the first less the second; None where these pairs are too few for an interval.
    """
    told = (
        "On the pairs that the search has not seen, scores by the weights found correlate with the planted "
        f"scores by {found:.2f}, scores by equal weights by {equal:.2f}"
    )
    if lead is None:
        return f"{told}. These pairs are too few to tell which comes nearer."
    words = {
        True: "The weights found come nearer to the planted scores than equal weights do.",
        False: "Equal weights come nearer to the planted scores than the weights found do.",
        None: "Which of the two comes nearer cannot be told.",
    }
    ends = with_interval(lead.value, lead.low, lead.high, "+.3f")
    return f"{told} (difference {ends}). {words[above(lead.low, lead.high)]}"


def beside(first: str, rival: str, lead: Lead) -> str:
    """How two encoders compare, where the difference may not be established.

    Their names may hold commas, so emphasis sets them off.
    """
    told = {
        1: f"*{first}* leads *{rival}*",
        -1: f"*{rival}* leads *{first}*",
        0: f"*{first}* and *{rival}* cannot be told apart",
    }
    return f"{told[lead.sign]} (difference {lead.told})."


def wording_words(low: float, high: float) -> str:
    """Whether other words cost more than the costliest single error, as a heading.

    Parameters
    ----------
    low, high : ends of the interval of the cost of other words less that of the error.
    """
    return {
        True: "Wording weighs more than any error",
        False: "An error can weigh more than wording",
        None: "Wording and the costliest error cannot be told apart",
    }[above(low, high)]


def copying_words(low: float, high: float) -> str:
    """Whether repeating the reference with an error pays more than being right in other words.

    Parameters
    ----------
    low, high : ends of the interval of the share of cases in which what is right is above what is copied.
    """
    return {
        True: "So being right in other words pays more than repeating the reference with an error.",
        False: "So repeating the reference with an error pays more than being right in other words.",
        None: "Which of the two pays more for RaTEScore cannot be told.",
    }[above(low, high, GUESSING)]


def least_seen_words(error: str, told: str, low: float, high: float) -> str:
    """What RaTEScore makes of the error that it sees least.

    Parameters
    ----------
    told : the share of cases in which the faithful text is above the one with the error, with its interval.
    low, high : the ends of that interval.
    """
    does = {
        True: f"sees a *{error}* least",
        False: f"rewards a *{error}*",
        None: f"is not shown to see a *{error}*",
    }[above(low, high, GUESSING)]
    return (
        f"RaTEScore {does}: it puts the faithful text above the erroneous one in {told} of the cases, where "
        "guessing gives 0.5."
    )


def as_said_words(answers: Mapping[str, bool | None]) -> str:
    """Which metrics behave as A.6 of the paper says, which do the opposite, and for which neither shows."""
    named = {
        one: [name for name, answer in answers.items() if answer is one]
        for one in (True, False, None)
        if one in answers.values()
    }
    told = {True: ("behaves", "behave"), False: ("does", "do")}
    rest = {True: "as A.6 says", False: "the opposite"}
    parts = [
        f"{joined(names)} {told[one][len(names) > 1]} {rest[one]}"
        for one, names in named.items()
        if one is not None
    ]
    if None in named:
        parts.append(f"for {joined(named[None])} it cannot be told")
    words = "; ".join(parts)
    return f"{words[0].upper()}{words[1:]}."
