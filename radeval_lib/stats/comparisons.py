"""Which candidate a metric prefers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from radeval_lib.stats.inputs import finite
from radeval_lib.stats.proportions import wilson

_SAME = 1e-9  # scores nearer than this are a tie


def preferences(better: pd.DataFrame, worse: pd.DataFrame) -> pd.DataFrame:
    """Return how often each metric scores the better of two candidates above the worse one; a tie counts as
    half.

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
    low, high = np.transpose([wilson(count, n) for count in value * n])
    columns = {"value": value, "low": low, "high": high, "tied": (right == 0.5).mean(axis=0), "n": n}
    return pd.DataFrame(columns, index=better.columns)
