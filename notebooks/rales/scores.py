"""The sixteen models of RaLEs (Table 2), their printed averages, and a rank test of two groups of models."""

from __future__ import annotations

from math import comb

import pandas as pd
import pingouin as pg
from numpy.typing import ArrayLike
from scipy.stats import PermutationMethod

from radeval_lib import plots, study
from radeval_lib.stats.base import check_array

GENERAL = "General"
SPECIAL = ["Clinical", "Radiology"]
"""The domains that the paper's text treats as one."""

SETTINGS = {
    "100%": ("rales.table3", "NLU score"),
    "10%": ("rales.table9", "Avg"),
    "1%": ("rales.table10", "Avg"),
    "100%, frozen": ("rales.table11", "Avg"),
}
"""By share of the labels, the table and its column of averages."""


def read_models() -> pd.DataFrame:
    """Return Table 2, indexed by model: ``domain``, ``family`` and ``million parameters``.

    The table's domain *English* is called *General*, as in the paper's text and figures.
    """
    table2 = study.printed("rales.table2").set_index("model").rename(columns={"value": "million parameters"})
    table2["domain"] = table2["domain"].replace("English", GENERAL)
    return table2[["domain", "family", "million parameters"]]


def colours() -> dict[str, str]:
    """Return a colour by domain, in the order of Table 2; every figure uses the same."""
    return dict(zip(read_models()["domain"].unique(), plots.PALETTE, strict=False))


def read_averages() -> pd.DataFrame:
    """Return the printed averages of the sixteen models, one row per model and key of :data:`SETTINGS`.

    Columns: ``labels`` (the key), ``model``, ``value`` and ``half_width`` (percent), and those of
    :func:`read_models`.
    """
    tables = [
        study.printed(table).query("task == @average").assign(labels=labels)
        for labels, (table, average) in SETTINGS.items()
    ]
    return pd.concat(tables).dropna(subset="value").join(read_models(), on="model", how="inner")


def mann_whitney(first: ArrayLike, second: ArrayLike) -> pd.Series:
    """Return the exact two-sided Mann-Whitney U test of two groups of scores, each of shape (models,).

    The p enumerates all divisions of the pooled scores into groups of these sizes, so it is exact with ties,
    too. The test is pingouin's.

    Returns
    -------
    Series
        ``p``; ``cles``, the share of pairs in which the score of the first group is higher, where a tie
        counts as half; and ``least_p``, the smallest p that is possible for groups of these sizes: 2 /
        C(n_first + n_second, n_first).
    """
    x, y = (check_array("scores", scores, None) for scores in (first, second))
    divisions = comb(len(x) + len(y), len(x))
    test = pg.mwu(x, y, method=PermutationMethod(n_resamples=divisions)).iloc[0]
    least = min(1.0, 2 / divisions)
    return pd.Series({"p": float(test["p_val"]), "cles": float(test["CLES"]), "least_p": least})
