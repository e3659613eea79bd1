"""Which candidate a metric prefers, and how groups differ."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

_SAME = 1e-9  # scores nearer than this are a tie


def preferences(
    better: pd.DataFrame, worse: pd.DataFrame, level: float = 0.95, *, groups: ArrayLike | None = None
) -> pd.DataFrame:
    """How often each metric scores the better of two candidates above the worse one.

    A tie counts as one half, so that a metric that sees no difference gets one half.

    Parameters
    ----------
    better, worse : scores of the two candidates of each item, one column a metric, of the same shape and
        columns; row i of both is about one item.
    level : coverage of the intervals, strictly between 0 and 1.
    groups : the group of each item, as items of one report; default: each item is its own. Groups are taken
        as independent and count alike; the items of a group need not be.

    Returns
    -------
    DataFrame
        Index: the metrics. ``value``, the mean over the groups; ``low`` and ``high`` (Wilson 1927, with the
        number of groups, so wider than needed where there are ties or items of a group differ); ``tied``
        (share of items), ``n`` (items) and ``groups``.

    Raises
    ------
    ValueError
        Where the shapes or columns differ, there is no item, a score is not finite, the groups are not one an
        item, or ``level`` is out of range.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be strictly between 0 and 1, not {level}")
    right = preferred(better, worse)
    labels = np.arange(len(right)) if groups is None else np.asarray(groups)
    if labels.shape != (len(right),):
        raise ValueError(f"groups of shape {labels.shape} for {len(right)} items")
    means = right.groupby(labels).mean()
    values, n = means.mean().to_numpy(), len(means)
    low, high = proportion_confint(values * n, n, alpha=1 - level, method="wilson")
    return pd.DataFrame(
        {
            "value": values,
            "low": low,
            "high": high,
            "tied": (right == 0.5).mean().to_numpy(),
            "n": len(right),
            "groups": n,
        },
        index=better.columns,
    )


def preferred(better: pd.DataFrame, worse: pd.DataFrame) -> pd.DataFrame:
    """For each item and metric 1 where the better candidate scores higher, 0 where lower, 0.5 for a tie.

    Parameters
    ----------
    better, worse : as for :func:`preferences`, which also says what is refused.
    """
    if list(better.columns) != list(worse.columns) or len(better) != len(worse):
        raise ValueError(f"scores of {better.shape} and {worse.shape} do not belong together")
    if not len(better):
        raise ValueError("no item to compare scores on")
    gaps = better.to_numpy(dtype=np.float64) - worse.to_numpy(dtype=np.float64)
    if not np.isfinite(gaps).all():
        raise ValueError("a score is missing or not finite; leave those items out")
    return pd.DataFrame(np.where(np.abs(gaps) < _SAME, 0.5, gaps > 0), columns=better.columns)


def pairwise_mann_whitney(
    frame: pd.DataFrame,
    *,
    value: str,
    group: str,
) -> pd.DataFrame:
    """Two-sided exact Mann-Whitney U test of every pair of groups (every division of the pooled values is
    enumerated, ties included), with Bonferroni's correction.

    Parameters
    ----------
    frame : one observation a row.
    value, group : the columns of the numbers and of the groups; groups are compared in order of appearance.

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
    rows = []
    for first, second in pairs:
        x, y = samples[first], samples[second]
        divisions = comb(len(x) + len(y), len(x))
        every = stats.PermutationMethod(n_resamples=divisions)
        test = stats.mannwhitneyu(x, y, alternative="two-sided", method=every)
        rows.append(
            {
                "first": first,
                "second": second,
                "n_first": len(x),
                "n_second": len(y),
                "difference": x.mean() - y.mean(),
                "u": float(test.statistic),
                "p": float(test.pvalue),
                "p_bonferroni": min(1.0, float(test.pvalue) * len(pairs)),
                "least_p": min(1.0, 2 / divisions * len(pairs)),
            }
        )
    return pd.DataFrame(rows)
