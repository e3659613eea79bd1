"""Words that several of RaTEScore's pages state their results in, every branch of them tested."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from radeval_lib.experiments.ratescore.released import RATESCORE
from radeval_lib.wording import in_words, joined, ordinal

_JUST = 0.01  # an interval that ends nearer to 0 than this just misses it


def place(rank: int, of: int) -> str:
    """Where RaTEScore stands among metrics: ``second of seven``."""
    return f"{ordinal(rank)} of {in_words(of)}"


def standing(rank: int, of: int, coefficient: str, beats: Sequence[str], beaten_by: Sequence[str]) -> str:
    """RaTEScore's rank by a coefficient, and which differences from rivals chance does not explain.

    Parameters
    ----------
    beats, beaten_by : rivals that are significantly lower and higher.
    """
    parts = [f"it beats {joined(beats)}"] if beats else []
    if beaten_by:
        parts.append(f"{joined(beaten_by)} {'beats' if len(beaten_by) == 1 else 'beat'} it")
    sure = ", and ".join(parts)
    return f"{RATESCORE} ranks {place(rank, of)} by {coefficient}. " + (
        f"{sure[0].upper()}{sure[1:]} beyond chance (corrected p below 0.05)."
        if parts
        else "No difference from a rival is significant (corrected p below 0.05)."
    )


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
