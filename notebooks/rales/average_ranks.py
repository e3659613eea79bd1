"""Average ranks of models by the measures of Table 7: what their rounding and their directions allow."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from notebooks.rales.printed_scores import GENERAL, models
from notebooks.rales.rank_tests import mann_whitney
from radeval_lib import plots, study
from radeval_lib.study.checks import Check

ARROWS = {"ECE": "lower", "SCE": "lower", "aPE": "lower", "WMC": "higher", "aKLU": "higher"}
"""Which way is better, by the arrows in the head of Table 7."""

# Ends of neighbouring rounding intervals are equal on paper but not in binary floating point.
_DIGITS = 9


def rank_range(low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lowest and highest rank (1: the smallest) of n numbers that lie in intervals; intervals that only
    touch count as disjoint.

    Raises
    ------
    ValueError
        If the two are not lists of equal length with low <= high.
    """
    bottom, top = (np.round(np.asarray(end, dtype=np.float64), _DIGITS) for end in (low, high))
    if bottom.shape != top.shape or bottom.ndim != 1 or not (bottom <= top).all():
        raise ValueError("low and high must be two lists of equal length with low <= high")
    others = ~np.eye(len(bottom), dtype=bool)
    # An exact number must not come out both below and above another exact number of the same value.
    apart = (top[None, :] <= bottom[:, None]) & (
        (bottom[None, :] < bottom[:, None]) | (top[None, :] < top[:, None])
    )
    smaller = (apart & others).sum(axis=1)
    larger = (apart.T & others).sum(axis=1)
    return 1 + smaller.astype(np.int64), len(bottom) - larger.astype(np.int64)


def average_ranks(table7: pd.DataFrame, better: Mapping[str, str]) -> pd.DataFrame:
    """The interval of each model's average rank that the rounding of the metrics leaves: ``low``, ``high``,
    ``middle``, the ``printed`` average, and whether it ``fits`` between.

    ``better`` is ``lower`` or ``higher`` for each metric. A ValueError where it is neither or names no
    metric, or a metric has not one value for each model with a printed average.
    """
    if not better:
        raise ValueError("an average rank needs a metric")
    printed = table7[table7["metric"] == "average rank"].set_index("model")["value"]
    ranks = []
    for metric, way in better.items():
        if way not in ("lower", "higher"):
            raise ValueError(f"{metric}: better must be lower or higher, not {way!r}")
        cells = table7[table7["metric"] == metric].set_index("model")
        if sorted(cells.index) != sorted(printed.index):
            raise ValueError(f"{metric} has not one value for each model with an average rank")
        cells = cells.loc[printed.index]
        centre = cells["value"].to_numpy() * (1 if way == "lower" else -1)
        half = cells["half_width"].to_numpy()
        ranks.append((*rank_range(centre - half, centre + half), rankdata(centre)))
    frame = pd.DataFrame(np.mean(ranks, axis=0).T, index=printed.index, columns=["low", "high", "middle"])
    fits = printed.between(frame["low"] - 1e-9, frame["high"] + 1e-9)
    return frame.assign(printed=printed, fits=fits)


def directions(table7: pd.DataFrame) -> pd.DataFrame:
    """All 32 choices of which way is better on the metrics, those first that fit most printed averages."""
    tried = [
        dict(zip(ARROWS, ways, strict=True)) for ways in product(("lower", "higher"), repeat=len(ARROWS))
    ]
    rows = [{**way, "averages that fit": int(average_ranks(table7, way)["fits"].sum())} for way in tried]
    return pd.DataFrame(rows).sort_values("averages that fit", ascending=False, kind="stable")


def ranks_above(model: pd.Series, rival: pd.Series) -> bool | None:
    """Whether a model's average rank is better than a rival's, each between ``low`` and ``high``; None where
    these allow both or are not known, and False where they allow a shared rank at best."""
    room = rival["high"] - model["low"]
    return False if room <= 1e-9 else study.above(rival["low"] - model["high"], room)


def _two_domains(ranks: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of biomedical models, and those of general ones."""
    domain = models().set_index("model")["domain"].reindex(ranks.index)
    if domain.isna().any():
        raise ValueError(f"Table 2 has no model {ranks.index[domain.isna()][0]!r}")
    return [ranks[domain == wanted] for wanted in ("Biomedical", GENERAL)]


def compared_models(ranks: pd.DataFrame) -> int:
    """How many models :func:`domains_compared` tests; rows that are the same
    (:func:`~notebooks.rales.calibration.alike`) count twice."""
    return sum(map(len, _two_domains(ranks)))


def domains_compared(name: str, ranks: pd.DataFrame) -> list[Check]:
    """Whether biomedical models have a better average rank than general ones, by a test over models.

    ``ranks`` has ``low``, ``middle`` and ``high`` of each model. The test is made of the ranks that are best
    for biomedical models and worst for general ones, and of the opposite; p is the larger of the two, and 1
    where they do not lead the same way, since ranks between these show no difference.
    """
    biomedical, general = _two_domains(ranks)
    ends = (("low", "high"), ("high", "low"))
    tests = pd.DataFrame([mann_whitney(biomedical[end], general[other]) for end, other in ends])
    ahead = np.sign(0.5 - tests["cles"])  # 1: biomedical ranks are the lower ones
    p = tests["p"].max() if ahead.nunique() == 1 else 1.0
    lead = study.Lead.by_p(ahead.mean(), p, "Mann-Whitney over models")
    means = {"biomedical": biomedical["middle"].mean(), "general": general["middle"].mean()}
    settings = {"first": "biomedical", "leads": lead, "lower_is_better": True, "decimals": 2}
    claim = "general domain models have inferior performance"
    return study.check_superiority(
        study.Key("biomedical over general models", name), claim, means, **settings
    )


def draw_ranks(panels: Mapping[str, pd.DataFrame]) -> Figure:
    """Printed average ranks and their intervals, one panel per frame of :func:`average_ranks`."""
    fig, axes = plots.panels(1, len(panels), 5.4, sharey=True)
    for ax, (title, frame) in zip(axes, panels.items(), strict=True):
        bars = {"color": plots.PALETTE[6], "alpha": 0.2, "height": 0.7, "linewidth": 0}
        ax.barh(frame.index, frame["high"] - frame["low"], left=frame["low"], **bars)
        for fits, label, marker in ((True, "inside the interval", "o"), (False, "outside", "X")):
            dots = frame.loc[frame["fits"] == fits, "printed"]
            colour = plots.PALETTE[0 if fits else 1]
            ax.scatter(dots, dots.index, color=colour, marker=marker, s=40, label=label, zorder=3)
        ax.set_title(title, fontsize=11)
        ax.set(xlabel="average rank", xlim=(4, 14))
    axes[0].invert_yaxis()
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside lower center", ncols=2, title="printed average rank")
    return fig
