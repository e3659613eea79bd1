"""The page on other benchmarks: the drawing of NLU scores against theirs."""

from __future__ import annotations

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from radeval_lib import plots
from radeval_lib.pages.rales.printed_scores import colours, domains

_LABELS_BELOW = ("RoBERTa_base", "RoBERTa_large", "RadBERT_1")


def draw_transfer(scores: pd.DataFrame) -> Figure:
    """NLU score ``nlu`` of each ``model`` against its ``value`` elsewhere with a least-squares line, one
    panel per ``benchmark``, coloured by ``domain``."""
    fig, axes = plots.panels(2, 1, 3.6)
    for ax, (name, part) in zip(axes, scores.groupby("benchmark", sort=False), strict=True):
        line = {"linewidth": 1}
        sns.regplot(part, x="value", y="nlu", ci=None, scatter=False, color="#4D4D4D", ax=ax, line_kws=line)
        order = {"hue_order": domains(), "style_order": domains(), "markers": plots.MARKERS[:4]}
        look = {**order, "palette": colours(), "s": 50, "ax": ax, "legend": name == "BLURB"}
        sns.scatterplot(part, x="value", y="nlu", hue="domain", style="domain", **look)
        for model, x, y in part[["model", "value", "nlu"]].itertuples(index=False):
            ax.annotate(
                model,
                (x, y),
                xytext=(0, -11 if model in _LABELS_BELOW else 6),
                textcoords="offset points",
                fontsize=8,
                ha="right" if model == "RoBERTa_base" else "center",
            )
        ax.set(xlabel=f"{name} score", ylabel="NLU score (percent)")
        ax.margins(x=0.2, y=0.12)
    handles, labels = axes[1].get_legend_handles_labels()
    axes[1].get_legend().remove()
    fig.legend(handles, labels, title="pretrained on", loc="outside upper center", ncols=2)
    return fig
