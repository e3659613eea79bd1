"""Ranks of systems by the variants of each score (:mod:`radeval_lib.jobs.storing.score_variants`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.data.errors import DataError
from radeval_lib.text_format import in_words, joined, out_of


def ranks(table: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """The rank of each system by each variant, 1 the best; equal values share the better rank.

    ``table``: by :func:`score_variants.computed`; a variant without a value of each system is a DataError.
    """
    absent = table[list(systems)].isna().any(axis=1)
    if absent.any():
        raise DataError("a variant has no value of a system", f"{table.loc[absent, 'variant'].iloc[0]}")
    values = table[list(systems)].where(table["lower"], -table[list(systems)])
    return values.rank(axis=1, method="min").astype(int)


def wins(table: pd.DataFrame, systems: Sequence[str]) -> pd.Series[int]:
    """By how many variants each system is first."""
    return (ranks(table, systems) == 1).sum().sort_values(ascending=False)


def wins_in_words(counts: Mapping[str, int]) -> str:
    """How many variants put each system first (:func:`wins`), most first.

    >>> wins_in_words({"A": 5, "B": 0, "C": 9})
    'nine put C first and five A'
    """
    ahead = sorted(((count, name) for name, count in counts.items() if count), reverse=True)
    (most, best), *others = [(in_words(count), name) for count, name in ahead]
    verb = "put" if ahead[0][0] > 1 else "puts"
    return joined([f"{most} {verb} {best} first", *(f"{count} {name}" for count, name in others)])


def undecided(table: pd.DataFrame, systems: Sequence[str]) -> list[str]:
    """The scores whose variants do not agree on who is first."""
    families = []
    for family, of in table.groupby("family", sort=False):
        winners = {tuple(row == 1) for row in ranks(of, systems).to_numpy()}
        families += [str(family)] if len(winners) > 1 else []
    return families


def alike_either_way(table: pd.DataFrame, ranked: pd.DataFrame) -> pd.Series[bool]:
    """Which variants that count “uncertain” as negative rank all as those that count it as positive."""
    negative, positive = "uncertain as negative", "uncertain as positive"
    names = zip(table["family"], table["variant"], strict=True)
    rows = dict(zip(names, ranked.to_numpy().tolist(), strict=True))
    alike = [
        name.endswith(negative) and rows.get((family, name.replace(negative, positive))) == rows[family, name]
        for family, name in rows
    ]
    return pd.Series(alike, index=table.index)


def rank_rows(table: pd.DataFrame, ranked: pd.DataFrame) -> pd.DataFrame:
    """Ranks with one row for all neighbouring variants of a score that rank alike.

    Returns
    -------
    index of names, the score and its variant, or how many variants there are; a column per system, int.
    """
    rows: dict[str, pd.Series[int]] = {}
    family = table["family"].to_numpy()
    new = np.append(True, (family[1:] != family[:-1]) | (np.diff(ranked.to_numpy(), axis=0) != 0).any(axis=1))
    for _, group in table.reset_index(drop=True).groupby(np.cumsum(new)):
        first, last = group.iloc[0], group.index[-1]
        name = first["variant"]
        if not name.startswith(first["family"]):  # as BLEU-1 to BLEU-4 do
            name = f"{first['family']}: {name}"
        if len(group) == (table["family"] == first["family"]).sum() > 1:
            name = f"{first['family']}: {out_of(len(group), len(group))}"
        elif len(group) > 1:
            name += f", and {in_words(len(group) - 1)} more"
        rows[name] = ranked.iloc[last]
    return pd.DataFrame(rows).T


def draw(axes: Axes, rows: pd.DataFrame) -> None:
    """Ranks (:func:`rank_rows`) as a heat map, the systems' names above it."""
    plots.heat_map(axes, rows, fmt="d", cmap="Blues_r", vmin=1, vmax=len(rows.columns) + 2)
    axes.tick_params(axis="y", labelsize=10.5)
    axes.tick_params(axis="x", labeltop=True, labelbottom=False)
    plt.setp(axes.get_xticklabels(), rotation=90)
    axes.set(xlabel="", ylabel="")
