"""The sixteen models of RaLEs (Table 2), their printed averages, and a rank test between groups of models."""

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
"""The domains that the paper's text merges into one."""

SETTINGS = {
    "100%": ("rales.table3", "NLU score"),
    "10%": ("rales.table9", "Avg"),
    "1%": ("rales.table10", "Avg"),
    "100%, frozen": ("rales.table11", "Avg"),
}
"""A mapping from each share of labels to its table and the table's column of averages."""


def read_models() -> pd.DataFrame:
    """Return Table 2, indexed by model, with columns ``domain``, ``family`` and ``million parameters``.

    The table's domain *English* is called *General*, as in the paper's text and figures.
    """
    table2 = study.printed("rales.table2").set_index("model").rename(columns={"value": "million parameters"})
    table2["domain"] = table2["domain"].replace("English", GENERAL)
    return table2[["domain", "family", "million parameters"]]


def map_colours() -> dict[str, str]:
    """Return a mapping from each domain to its colour in all figures, in the order of Table 2."""
    return dict(zip(read_models()["domain"].unique(), plots.PALETTE, strict=False))


def read_averages() -> pd.DataFrame:
    """Return the printed averages of the sixteen models, one row per model and key of :data:`SETTINGS`.

    Columns are ``labels`` (the key), ``model``, ``value`` (percent), ``half_width`` (half a unit of the last
    printed digit), and those of :func:`read_models`. Models without a printed average are left out.
    """
    tables = [
        study.printed(table).query("task == @average").assign(labels=labels)
        for labels, (table, average) in SETTINGS.items()
    ]
    return pd.concat(tables).dropna(subset="value").join(read_models(), on="model", how="inner")


def mann_whitney(first: ArrayLike, second: ArrayLike) -> pd.Series:
    """Return the exact two-sided Mann-Whitney U test of two groups of scores, each of shape (models,).

    The test, which is pingouin's, enumerates all divisions of the pooled scores into groups of these sizes,
    so the p-value is exact even with ties.

    Returns
    -------
    Series
        ``p``, the p-value; ``cles``, the share of pairs in which the score of the first group is higher,
        where a tie counts as half; and ``least_p``, the smallest possible p-value for groups of these sizes,
        2 / C(n_first + n_second, n_first) but at most 1.

    Raises
    ------
    ValueError
        If a group is empty or not one-dimensional, or has a score that is not finite.
    """
    x, y = (check_array("scores", scores, None) for scores in (first, second))
    divisions = comb(len(x) + len(y), len(x))
    test = pg.mwu(x, y, method=PermutationMethod(n_resamples=divisions)).iloc[0]
    least = min(1.0, 2 / divisions)
    return pd.Series({"p": float(test["p_val"]), "cles": float(test["CLES"]), "least_p": least})
