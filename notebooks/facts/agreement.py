"""Whether the fact counters agree: what Table 2 reveals of the ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import krippendorff
import numpy as np
import pandas as pd

from radeval_lib.papers.printed_numbers import printed_in
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.printed import tables_with
from radeval_lib.study.checks import Check, Key, by_reading, check_statement, check_value

ALL = "E1-E2-E3"
RATERS = {ALL: (0, 1, 2), "E1-E2": (0, 1), "E1-E3": (0, 2), "E2-E3": (1, 2)}
Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)
FITTING = "cells that round to the print"
_HALF = 0.005 + 1e-9  # half a unit of the last printed digit of an alpha


def among_pairs(table2: pd.DataFrame) -> list[Check]:
    """Return whether the alpha of all three raters lies among those of the pairs, for each row of Table 2;
    the pairs are taken as printed, so the cell of all three is the one that is compared."""
    checks = []
    for metric, rows in table2.groupby("metric", sort=False):
        pairs, whole = rows[rows["pair"] != ALL], rows[rows["pair"] == ALL].iloc[0]
        low, high = (pairs["value"] - pairs["half_width"]).min(), (pairs["value"] + pairs["half_width"]).max()
        among = Estimate(float(pairs["value"].mean()), float(low), float(high))
        key = Key("all three among the pairs", str(metric))
        checks.append(check_value(key, printed_in(whole), among))
    return checks


def possible_ratings(table1: pd.DataFrame, number: Mapping[str, int], touched: int) -> list[FloatArray]:
    """Return every table of coherence codes, shape (3 raters, descriptions), with Table 1's means and these
    numbers of minor and major errors on ``touched`` descriptions."""
    single = table1[(table1["metric"] == "Coherence") & (table1["evaluator"] != "Avg")]
    means = single.pivot_table(index="model", columns="evaluator", values="value", sort=False)
    losses = {0.5: number["minor"], 1.0: number["major"]}
    return tables_with(means.to_numpy().tolist(), 10, losses, touched)


def alpha_fits(possible: Sequence[FloatArray], printed: pd.Series) -> pd.DataFrame:
    """Return alpha of each possible table of ratings at each level of measurement, beside the printed ones.

    ``printed``: the printed alphas of coherence, by the raters that :data:`RATERS` names, all of them.
    Returns ``table`` (from 1), ``level``, an alpha for each of :data:`RATERS`, and :data:`FITTING`.
    """
    if lacking := [name for name in RATERS if name not in printed.dropna().index]:
        raise ValueError(f"no printed alpha of {lacking[0]}")
    codes = [0.0, 0.5, 1.0]
    fits = pd.DataFrame(
        {
            "table": place,
            "level": level,
            **{
                name: krippendorff.alpha(table[list(who)], level_of_measurement=level, value_domain=codes)
                for name, who in RATERS.items()
            },
        }
        for place, table in enumerate(possible, start=1)
        for level in LEVELS
    )
    fits[FITTING] = ((fits[list(RATERS)] - printed.reindex(RATERS)).abs() <= _HALF).sum(axis=1)
    return fits


def farthest_off(fits: pd.DataFrame, printed: pd.Series) -> pd.Series:
    """Of each row of :func:`alpha_fits`, how far the alpha that misses its printed one most is off."""
    return (fits[list(RATERS)] - printed.reindex(RATERS)).abs().max(axis=1)


def reach(table2: pd.DataFrame, least: float) -> str:
    """For whom all derived metrics of Table 2 have an alpha of at least ``least``, in words."""
    lowest = table2[table2["kind"] == "derived metric"].groupby("pair")["value"].min()
    if (lowest >= least).all():
        return "for all three evaluators and for every pair"
    return "for all three evaluators, not for every pair" if lowest[ALL] >= least else "in part alone"


def _alphas_of_one(losses: FloatArray, descriptions: int, level: Level) -> FloatArray:
    """Return alpha of two raters on accuracy where one description alone lost some of it: of each of the
    losses of the one rater with each of the other's. All other accuracies are 1."""

    def apart(first: FloatArray, second: FloatArray | float) -> FloatArray:
        return ((first - second) / (first + second if level == "ratio" else 1)) ** 2

    first, second = 1 - losses[:, None], 1 - losses
    rest, values = 2 * descriptions - 2, 2 * descriptions
    chance = 2 * (rest * (apart(first, 1) + apart(second, 1)) + apart(first, second))
    return 1 - apart(first, second) / descriptions * values * (values - 1) / chance


def one_description(printed: Mapping[str, str], descriptions: int) -> list[Check]:
    """Return whether the three printed agreements on accuracy are possible where one description alone has
    wrong facts, whatever each rater took from it, at either level of measurement of continuous values."""
    losses = np.arange(1, 200) / 200
    wanted = [float(printed[pair]) for pair in RATERS if pair != ALL]
    checks = {}
    for level in ("interval", "ratio"):
        alphas = _alphas_of_one(losses, descriptions, level)
        missed = np.maximum(
            np.abs(alphas - wanted[0])[:, :, None],
            np.maximum(np.abs(alphas - wanted[1])[:, None, :], np.abs(alphas - wanted[2])[None]),
        )
        one, two, three = np.unravel_index(missed.argmin(), missed.shape)
        closest = [alphas[one, two], alphas[one, three], alphas[two, three]]
        checks[f"{level} level"] = check_statement(
            "the three agreements on accuracy, if one description alone had wrong facts",
            ", ".join(printed[pair] for pair in RATERS if pair != ALL),
            f"closest {', '.join(f'{alpha:.2f}' for alpha in closest)}, over {descriptions} descriptions",
            bool(missed.min() <= _HALF),
        )
    return by_reading(checks)
