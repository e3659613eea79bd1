"""Rank tests of two groups, with the smallest p that groups of their sizes can give."""

from __future__ import annotations

from math import comb

import pandas as pd
import pingouin as pg
from numpy.typing import ArrayLike
from scipy.stats import PermutationMethod

from radeval_lib.stats.inputs import finite


def mann_whitney(first: ArrayLike, second: ArrayLike) -> pd.Series:
    """pingouin's two-sided Mann-Whitney U test of two groups of scores, each of shape (models,), its p exact:
    every division of the pooled scores is enumerated, ties included.

    Returns
    -------
    Series
        ``u`` (of the first), ``p``, ``cles`` (how often one of the first beats one of the second, a tie being
        half) and ``least_p``, the smallest p that any scores of groups of these sizes can give: 2 / C(n_first
        + n_second, n_first). pingouin does not say that one.
    """
    x, y = (finite("scores", scores, None) for scores in (first, second))
    divisions = comb(len(x) + len(y), len(x))
    test = pg.mwu(x, y, method=PermutationMethod(n_resamples=divisions)).iloc[0]
    p = {"p": float(test["p_val"]), "least_p": min(1.0, 2 / divisions)}
    return pd.Series({"u": float(test["U_val"]), "cles": float(test["CLES"])} | p)
