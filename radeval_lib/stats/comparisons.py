"""Comparisons of groups: pairwise Mann-Whitney U tests with Bonferroni's correction."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Literal

import pandas as pd
from scipy import stats


def pairwise_mann_whitney(
    frame: pd.DataFrame,
    *,
    value: str,
    group: str,
    comparisons: int | None = None,
    method: Literal["exact", "asymptotic"] = "exact",
) -> pd.DataFrame:
    """Two-sided Mann-Whitney U test of every pair of groups, with Bonferroni's correction.

    Parameters
    ----------
    frame : one observation a row.
    value, group : the columns of the numbers and of the groups; groups are compared in order of appearance.
    comparisons : number of tests that the correction counts; default: the number of pairs.
    method : ``"exact"`` enumerates every division of the pooled values, ties included; ``"asymptotic"``
        is the normal approximation with continuity correction.

    Returns
    -------
    DataFrame
        One row a pair: ``first``, ``second``, ``n_first``, ``n_second``, ``difference`` (mean of first minus
        mean of second), ``u`` (of first), ``p``, ``p_bonferroni`` (at most 1) and ``least_p``, the smallest
        corrected exact p that groups of these sizes can give: 2 / C(n_first + n_second, n_first) times the
        number of comparisons, at most 1. Where ``least_p`` exceeds the level, no data could be significant.

    Raises
    ------
    ValueError
        Where there are fewer than two groups, or a value is missing.
    """
    if frame[value].isna().any():
        raise ValueError(f"column {value!r} has missing values; leave those rows out first")
    samples = {name: part[value].to_numpy(dtype=float) for name, part in frame.groupby(group, sort=False)}
    pairs = list(combinations(samples, 2))
    if not pairs:
        raise ValueError(f"column {group!r} holds {len(samples)} group; at least two are needed")
    count = len(pairs) if comparisons is None else comparisons
    rows = []
    for first, second in pairs:
        x, y = samples[first], samples[second]
        divisions = comb(len(x) + len(y), len(x))
        how = stats.PermutationMethod(n_resamples=divisions) if method == "exact" else "asymptotic"
        test = stats.mannwhitneyu(x, y, alternative="two-sided", method=how)
        rows.append(
            {
                "first": first,
                "second": second,
                "n_first": len(x),
                "n_second": len(y),
                "difference": x.mean() - y.mean(),
                "u": float(test.statistic),
                "p": float(test.pvalue),
                "p_bonferroni": min(1.0, float(test.pvalue) * count),
                "least_p": min(1.0, 2 / divisions * count),
            }
        )
    return pd.DataFrame(rows)
