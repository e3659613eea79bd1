"""What the printed tables of GREEN's paper have in common: cells of ``mean ± sd``, and bounds on them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from radeval_lib.papers.printed_numbers import Printed, cell, wide
from radeval_lib.study.checks import Check, check_bounds, check_value

COUNTS = ["significant errors", "insignificant errors", "matched findings"]
LEXICAL = ["BERTScore", "ROUGE-L", "BLEU"]
FRACTIONS = {"GREEN scores": ["GREEN"], "similarities": LEXICAL}
_KEYS = ("evaluation", "training", "model", "quantity")


def as_printed(frame: pd.DataFrame, rows: str | list[str], columns: str = "quantity") -> pd.DataFrame:
    """A printed table with cells as ``mean ± sd``."""
    keys = [*([rows] if isinstance(rows, str) else rows), columns]
    cells = frame.pivot_table(index=keys, columns="statistic", values="printed", aggfunc="first", sort=False)
    both = (cells["mean"] + " ± " + cells["sd"]).rename("cell").reset_index()
    return wide(both, rows, columns, "cell").fillna("")


def shares_of_largest(frame: pd.DataFrame) -> pd.Series:
    """Printed standard deviations of GREEN and similarities as shares of the largest possible."""
    value = _cells(frame, ["GREEN", *LEXICAL])["value"]
    return value["sd"] / np.sqrt(value["mean"] * (1 - value["mean"]))


def check_spreads(frame: pd.DataFrame) -> list[Check]:
    """The printed standard deviations of a table against the bounds that their means set.

    Numbers from 0 to 1 with mean m spread by at most sqrt(m (1 - m)); without the bound, anything to one half
    is possible. Whole numbers spread by at least sqrt(f (1 - f)), where f is what m exceeds the whole number
    below by; without the floor, a standard deviation is taken to lie between 0 and twice what is printed.
    """
    found = []
    for what, quantities in {"counts and their differences": COUNTS, **FRACTIONS}.items():
        cells = _cells(frame, quantities)
        if cells.empty:
            continue
        value, half = cells["value"], cells["half_width"]
        ends = np.stack([value["mean"] - half["mean"], value["mean"] + half["mean"]]) % 1
        spreads = np.sqrt(ends * (1 - ends))
        if quantities is COUNTS:
            of, low, high = "whole counts", spreads.min(axis=0), np.full(len(cells), np.inf)
            top = np.maximum(2 * value["sd"], low)
        else:
            of, low, high = "numbers from 0 to 1", np.zeros(len(cells)), spreads.max(axis=0)
            top = np.full(len(cells), 0.5)
        printed = [Printed("", *pair) for pair in zip(value["sd"], half["sd"], strict=True)]
        found.append(
            check_bounds(
                f"standard deviations of {what}",
                f"means ± standard deviations of {of}",
                list(zip(printed, low, high, strict=True)),
                [(0.0, float(end)) for end in top],
            )
        )
    return found


def check_quoted(
    frame: pd.DataFrame, table: str, told: Mapping[str, Printed], key: str, what: str, **where: str
) -> list[Check]:
    """A mean and a standard deviation of the prose, ``key`` and ``key``_sd, against the table's cells."""
    return [
        check_value(
            f"{what}, {statistic}: prose against {table}",
            told[name],
            cell(frame, statistic=statistic, **where).value,
        )
        for statistic, name in (("mean", key), ("sd", f"{key}_sd"))
    ]


def _cells(frame: pd.DataFrame, quantities: list[str]) -> pd.DataFrame:
    """``value`` and ``half_width`` of ``mean`` and ``sd``, one row a printed cell."""
    keys = [key for key in _KEYS if key in frame]
    chosen = frame[frame["quantity"].isin(quantities) & frame["statistic"].isin(["mean", "sd"])]
    return chosen.pivot_table(index=keys, columns="statistic", values=["value", "half_width"], sort=False)
