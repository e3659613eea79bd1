"""The page on limits of metrics: how often they prefer acceptable impressions to one with an error."""

from __future__ import annotations

from textwrap import fill

import pandas as pd
from matplotlib.figure import Figure

from radeval_lib import plots
from radeval_lib.jobs.impression_versions import ERROR, FAIR
from radeval_lib.stats.inference import preference_shares


def measure_preferences(scored: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """Return how often each metric scores an acceptable candidate above the one with the error.

    Parameters
    ----------
    scored : one row per candidate, with columns ``report`` and ``phenomenon`` and one column per metric.
    metrics : the columns of scores, where higher is better.

    Returns
    -------
    DataFrame
        One row per phenomenon and metric. Index levels are ``phenomenon`` (how the acceptable candidate
        differs from the reference) and ``metric``; columns are those of
        :func:`radeval_lib.stats.inference.preference_shares`. If ``value`` is below one half, the metric more
        often prefers the candidate with the error.

    Raises
    ------
    ValueError
        If there is no acceptable candidate, or a score is missing or infinite.
    KeyError
        If a report with an acceptable candidate has none with an error.
    """
    with_error = scored[scored["phenomenon"] == ERROR].set_index("report")[metrics]
    shares = {}
    for phenomenon in FAIR:
        acceptable = scored[scored["phenomenon"] == phenomenon].set_index("report")[metrics]
        if len(acceptable):
            shares[phenomenon] = preference_shares(acceptable, with_error.loc[acceptable.index])
    return pd.concat(shares, names=["phenomenon", "metric"])


def draw_preferences(shares: pd.DataFrame) -> Figure:
    """Draw how often each metric prefers the acceptable candidate, one panel per phenomenon.

    ``shares`` is the table that :func:`measure_preferences` returned.
    """
    phenomena = [name for name in FAIR if name in shares.index.get_level_values("phenomenon")]
    figure, grid = plots.panels(-(-len(phenomena) // 2), 2, height=2.4, sharey=True, squeeze=False)
    for ax in grid.flat[len(phenomena) :]:
        ax.remove()
    for ax, phenomenon in zip(grid.flat, phenomena, strict=False):
        ax.axvline(0.5, color="#888888", linewidth=1)
        plots.draw_intervals(ax, shares.loc[phenomenon])
        n = int(shares.loc[phenomenon, "n"].iloc[0])
        ax.set(title=f"{fill(phenomenon, 15)}\n(n = {n})", xlim=(-0.04, 1.04))
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    figure.supxlabel("share of references", fontsize="medium")
    return figure
