"""The sixteen models of Table 2, their printed averages, and a rank test of two groups of models."""

from __future__ import annotations

from math import comb

import pandas as pd
import pingouin as pg
from numpy.typing import ArrayLike
from scipy.stats import PermutationMethod

from radeval_lib import plots, study
from radeval_lib.stats.base import finite

GENERAL = "General"
SPECIAL = ["Clinical", "Radiology"]
"""Domains that the paper's text takes together."""

SETTINGS = {
    "100%": ("rales.table3", "NLU score"),
    "10%": ("rales.table9", "Avg"),
    "1%": ("rales.table10", "Avg"),
    "100%, frozen": ("rales.table11", "Avg"),
}
"""By share of the labels: the table, and its column of averages."""


def models() -> pd.DataFrame:
    """Return Table 2, indexed by model: ``domain``, ``family`` and ``million parameters``; what the table
    calls *English* is *General* in the paper's text, its figures and here."""
    listed = study.printed("rales.table2").set_index("model").rename(columns={"value": "million parameters"})
    listed["domain"] = listed["domain"].replace("English", GENERAL)
    return listed[["domain", "family", "million parameters"]]


def colours() -> dict[str, str]:
    """Return a colour for each domain, in Table 2's order, the same in every figure."""
    return dict(zip(models()["domain"].unique(), plots.PALETTE, strict=False))


def averages() -> pd.DataFrame:
    """Return the printed averages of the sixteen models in every setting (percent), one row per model and
    setting: ``labels``, ``model``, ``value``, ``half_width`` and the columns of :func:`models`."""
    tables = [
        study.printed(table).query("task == @average").assign(labels=labels)
        for labels, (table, average) in SETTINGS.items()
    ]
    return pd.concat(tables).dropna(subset="value").join(models(), on="model", how="inner")


def mann_whitney(first: ArrayLike, second: ArrayLike) -> pd.Series:
    """Return pingouin's two-sided Mann-Whitney U test of two groups of scores, each of shape (models,), its p
    exact: every division of the pooled scores is enumerated, ties included.

    Returns
    -------
    Series
        ``p``, ``cles`` (how often a score of the first group exceeds one of the second, a tie being half) and
        ``least_p``, the smallest p that any scores of groups of these sizes can give: 2 / C(n_first +
        n_second, n_first).
    """
    x, y = (finite("scores", scores, None) for scores in (first, second))
    divisions = comb(len(x) + len(y), len(x))
    test = pg.mwu(x, y, method=PermutationMethod(n_resamples=divisions)).iloc[0]
    least = min(1.0, 2 / divisions)
    return pd.Series({"p": float(test["p_val"]), "cles": float(test["CLES"]), "least_p": least})
