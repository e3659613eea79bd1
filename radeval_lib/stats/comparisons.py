"""Which candidate a metric prefers, and how groups differ."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from radeval_lib.stats.inputs import finite

_SAME = 1e-9  # scores nearer than this are a tie


def preferences(better: pd.DataFrame, worse: pd.DataFrame) -> pd.DataFrame:
    """How often each metric scores the better of two candidates above the worse one; a tie counts as half.

    Parameters
    ----------
    better, worse : finite scores of the two candidates of each item, one column per metric; row i of both is
        about one item.

    Returns
    -------
    DataFrame
        Index: the metrics. ``value``, with ``low`` and ``high`` (95 %, Wilson 1927, so wider than needed
        where there are ties), ``tied`` (share of items) and ``n`` (items).
    """
    if list(better.columns) != list(worse.columns):
        raise ValueError(f"scores by {list(better.columns)} and {list(worse.columns)}; give the same metrics")
    first = finite("better", better, None, None)
    gaps = first - finite("worse", worse, *first.shape)
    right = np.where(np.abs(gaps) < _SAME, 0.5, gaps > 0)
    value, n = right.mean(axis=0), len(right)
    low, high = proportion_confint(value * n, n, alpha=1 - 0.95, method="wilson")
    columns = {"value": value, "low": low, "high": high, "tied": (right == 0.5).mean(axis=0), "n": n}
    return pd.DataFrame(columns, index=better.columns)


def pairwise_mann_whitney(frame: pd.DataFrame, *, value: str, group: str) -> pd.DataFrame:
    """Two-sided exact Mann-Whitney U test of every pair of groups (every division of the pooled values is
    enumerated, ties included), with Bonferroni's correction.

    Parameters
    ----------
    frame : one observation a row.
    value, group : the columns of the numbers and of the groups; groups are compared in order of appearance.

    Returns
    -------
    DataFrame
        One row per pair: ``first``, ``second``, ``n_first``, ``n_second``, ``difference`` (mean of first
        minus mean of second), ``u`` (of first), ``p``, ``p_bonferroni`` (at most 1) and ``least_p``, the
        smallest corrected exact p that groups of these sizes can give: 2 / C(n_first + n_second, n_first)
        times the number of comparisons, at most 1. Where ``least_p`` exceeds the level, no data could be
        significant.
    """
    if frame[[value, group]].isna().any(axis=None):
        raise ValueError(f"column {value!r} or {group!r} has missing values; leave those rows out first")
    samples = {name: part[value].to_numpy(dtype=float) for name, part in frame.groupby(group, sort=False)}
    pairs = list(combinations(samples, 2))
    if not pairs:
        raise ValueError(f"column {group!r} holds {len(samples)} group; at least two are needed")
    rows = []
    for first, second in pairs:
        x, y = samples[first], samples[second]
        divisions = comb(len(x) + len(y), len(x))
        every = stats.PermutationMethod(n_resamples=divisions)
        test = stats.mannwhitneyu(x, y, alternative="two-sided", method=every)
        p, gap = float(test.pvalue), x.mean() - y.mean()
        corrected = min(1.0, p * len(pairs)), min(1.0, 2 / divisions * len(pairs))
        rows.append((first, second, len(x), len(y), gap, float(test.statistic), p, *corrected))
    names = ["first", "second", "n_first", "n_second", "difference", "u", "p", "p_bonferroni", "least_p"]
    return pd.DataFrame(rows, columns=names)
