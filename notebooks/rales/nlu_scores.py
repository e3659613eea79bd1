"""The page on the NLU and NLG averages: its figure, and what the printed scores of two hospitals allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.papers.printed_numbers import cell_in, cells_by
from radeval_lib.study.checks import Check

_SLACK = 1e-9  # of differences of decimals


def draw_gaps(checks: Mapping[str, Sequence[Check]]) -> Axes:
    """Draw printed averages less the mean of the columns, one dot per model and one row per setting."""
    rows = [
        (setting, check.stated - check.value)
        for setting, several in checks.items()
        for check in several
        if check.stated is not None and check.value is not None
    ]
    gaps = pd.DataFrame(rows, columns=["setting", "gap"])
    look = {"palette": list(plots.PALETTE[:4]), "size": 5, "legend": False}
    ax = sns.swarmplot(gaps, x="gap", y="setting", hue="setting", **look)
    ax.axvspan(-0.1, 0.1, color="#4D4D4D", alpha=0.15, zorder=0)
    ax.set(ylabel="share of labels", xlabel="printed average − mean of seven columns (points)")
    sns.despine(left=True)
    return ax


def shares_of_stanford(table12: pd.DataFrame, whole: pd.DataFrame) -> tuple[float, float]:
    """Return the lowest and the highest share of Stanford's reports with which every mean of Table 12's two
    hospitals rounds to the score of the ``whole`` test set; if there is none, the lowest is the larger.

    Each score of Table 12 may be anything that rounds to what is printed, so each mean allows the shares
    from its lowest to its highest.
    """
    lowest, highest = 0.0, 1.0
    for (model, metric), pair in table12.groupby(["model", "metric"], sort=False):
        by_site = cells_by(pair, "site")
        stanford, indiana = by_site["Stanford"], by_site["Indiana"]
        score = cell_in(whole[(whole["model"] == model) & (whole["metric"] == metric)].iloc[0])
        # share * slope <= room: the mean's low end is at most the score's high end, and the other way round.
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
