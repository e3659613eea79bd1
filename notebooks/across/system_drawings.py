"""The drawings of the page on real systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from notebooks.across.system_scores import curve, means, titles
from radeval_lib import plots
from radeval_lib.jobs.storing.system_sets import CONSTANT, SAME


def draw(
    axes: Sequence[Axes], named: pd.DataFrame, table: pd.DataFrame, gained: pd.DataFrame, metric: str
) -> None:
    """Coded findings beyond shuffled against the mean of a metric, with the constant as a line; beside it the
    gain of each file over shuffled outputs among normal studies and those with a finding."""
    left, right = axes
    value = means(table, [metric])[metric]
    for place, system in enumerate(named.index):
        beyond = named.loc[system, "named"] - named.loc[system, "shuffled"]
        colour, marker = plots.PALETTE[place], plots.MARKERS[place]
        left.scatter(value[system], beyond, s=60, color=colour, marker=marker, label=system)
    left.axvline(value[CONSTANT], color="0.4", linestyle="--", label=CONSTANT, zorder=3)
    left.set(xlabel=titles([metric])[metric], ylabel="findings beyond shuffled")
    left.xaxis.set_major_locator(MaxNLocator(4))
    left.yaxis.set_major_locator(MaxNLocator(integer=True))
    left.margins(x=0.15, y=0.08)
    left.figure.legend(loc="outside upper left", ncols=3, fontsize=9)
    part = gained[(gained["metric"] == metric) & gained["stratum"].isin(["normal", "finding"])]
    for place, system in enumerate(part["system"].unique()):
        rows = part[part["system"] == system].set_index("stratum").loc[["normal", "finding"]]
        positions = np.arange(2) + (place - 1) * 0.15
        number = list(named.index).index(system)
        plots.series(right, rows.rename(columns={"gain": "value"}), positions, number, system, upright=True)
    right.axhline(0, color="0.4", linewidth=0.8)
    right.set_xticks([0, 1], ["normal", "coded\nfinding"])
    right.margins(y=0.08)
    right.set(ylabel=f"gain in {titles([metric])[metric]}", xlim=(-0.5, 1.5))


def draw_curve(axes: Axes, table: pd.DataFrame, pair: tuple[str, str], metrics: Sequence[str]) -> None:
    """The lead of the first of two systems by the share of normal studies, as a share of the larger mean."""
    shares, name = np.linspace(0, 1, 51), titles(metrics)
    for metric, marker in zip(metrics, plots.MARKERS, strict=False):
        largest = means(table, [metric]).loc[list(pair), metric].max()
        lead = curve(table, metric, pair, shares) / largest
        axes.plot(shares, lead, marker=marker, markevery=10, label=name[metric])
    counts = table[table["system"] == SAME]["stratum"].value_counts()
    axes.axvline(counts["normal"] / (counts["normal"] + counts["finding"]), color="0.4", linestyle=":")
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set(xlabel="share of normal studies", ylabel=f"lead of {pair[0]} over {pair[1]}")
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.legend(fontsize=9)
