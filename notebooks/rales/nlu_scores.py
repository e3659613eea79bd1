"""The page on NLU and NLG averages: a figure of differences, and bounds on a hospital's share of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.papers.printed_numbers import cell_in, index_cells
from radeval_lib.study.checks import Check

_SLACK = 1e-9  # tolerance for floating-point errors of differences


def draw_gaps(checks: Mapping[str, Sequence[Check]]) -> Axes:
    """Draw the differences between printed averages and means of the printed columns, in points.

    There is one row per share of labels and one dot per model. ``checks`` maps each share of labels to the
    checks of its averages.
    """
    rows = [
        (labels, check.stated - check.value)
        for labels, checks_of_share in checks.items()
        for check in checks_of_share
        if check.stated is not None and check.value is not None
    ]
    gaps = pd.DataFrame(rows, columns=["labels", "gap"])
    style = {"palette": list(plots.PALETTE[:4]), "size": 5, "legend": False}
    ax = sns.swarmplot(gaps, x="gap", y="labels", hue="labels", **style)
    ax.axvspan(-0.1, 0.1, color="#4D4D4D", alpha=0.15, zorder=0)
    ax.set(ylabel="share of labels", xlabel="printed average − mean of seven columns (points)")
    sns.despine(left=True)
    return ax


def bound_stanford_share(table12: pd.DataFrame, whole: pd.DataFrame) -> tuple[float, float]:
    """Return the lowest and the highest share (0 to 1) of test reports that can come from Stanford.

    A share is possible if, for every model and metric, the mean of the scores at Stanford and Indiana (Table
    12), weighted by the share and its complement, equals the score on the whole test set within rounding. If
    no share is possible, the first number returned is greater than the second.

    Parameters
    ----------
    table12 : printed cells of both sites, one row per ``model``, ``metric`` and ``site``.
    whole : printed cells of the whole test set, one row per ``model`` and ``metric``.
    """
    lowest, highest = 0.0, 1.0
    for (model, metric), pair in table12.groupby(["model", "metric"], sort=False):
        by_site = index_cells(pair, "site")
        stanford, indiana = by_site["Stanford"], by_site["Indiana"]
        score = cell_in(whole[(whole["model"] == model) & (whole["metric"] == metric)].iloc[0])
        # The intervals overlap if share * slope <= limit in both cases: neither interval's lower bound may
        # exceed the upper bound of the other.
        for slope, limit in (
            (stanford.low - indiana.low, score.high - indiana.low),
            (indiana.high - stanford.high, indiana.high - score.low),
        ):
            if slope > _SLACK:
                highest = min(highest, limit / slope)
            elif slope < -_SLACK:
                lowest = max(lowest, limit / slope)
            elif limit < -_SLACK:
                return np.inf, -np.inf
    return lowest, highest + _SLACK
