"""The page on NLU and NLG averages: its figure, and the share of one hospital's reports that scores allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.papers.printed_numbers import cell_in, index_cells
from radeval_lib.study.checks import Check

_SLACK = 1e-9  # tolerance for rounding errors of differences


def draw_gaps(checks: Mapping[str, Sequence[Check]]) -> Axes:
    """Draw each printed average minus the mean of the columns: one dot per model, one row per setting.

    ``checks`` has the checks of the averages by setting.
    """
    rows = [
        (setting, check.stated - check.value)
        for setting, checks_of_setting in checks.items()
        for check in checks_of_setting
        if check.stated is not None and check.value is not None
    ]
    gaps = pd.DataFrame(rows, columns=["setting", "gap"])
    style = {"palette": list(plots.PALETTE[:4]), "size": 5, "legend": False}
    ax = sns.swarmplot(gaps, x="gap", y="setting", hue="setting", **style)
    ax.axvspan(-0.1, 0.1, color="#4D4D4D", alpha=0.15, zorder=0)
    ax.set(ylabel="share of labels", xlabel="printed average − mean of seven columns (points)")
    sns.despine(left=True)
    return ax


def bound_stanford_share(table12: pd.DataFrame, whole: pd.DataFrame) -> tuple[float, float]:
    """Return the lowest and the highest share of the test reports that can come from Stanford, 0 to 1.

    A share is possible if, for every model and metric, the mean of the scores at Stanford and Indiana (Table
    12), weighted by the share and its complement, equals the score of the whole test set within rounding. If
    no share is possible, the lowest is above the highest.

    Parameters
    ----------
    table12 : printed cells by ``model``, ``metric`` and ``site``.
    whole : printed cells of the whole test set by ``model`` and ``metric``.
    """
    lowest, highest = 0.0, 1.0
    for (model, metric), pair in table12.groupby(["model", "metric"], sort=False):
        by_site = index_cells(pair, "site")
        stanford, indiana = by_site["Stanford"], by_site["Indiana"]
        score = cell_in(whole[(whole["model"] == model) & (whole["metric"] == metric)].iloc[0])
        # The intervals overlap if share * slope <= room for both: the low end of the mean must not exceed the
        # high end of the score, nor the low end of the score the high end of the mean.
        for slope, room in (
            (stanford.low - indiana.low, score.high - indiana.low),
            (indiana.high - stanford.high, indiana.high - score.low),
        ):
            if slope > _SLACK:
                highest = min(highest, room / slope)
            elif slope < -_SLACK:
                lowest = max(lowest, room / slope)
            elif room < -_SLACK:
                return np.inf, -np.inf
    return lowest, highest + _SLACK
