"""The page on other benchmarks: NLU scores against theirs, as slopes and drawn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from notebooks.rales.printed_scores import colours, domains
from radeval_lib import plots, study
from radeval_lib.text_format import out_of

_LABELS = {  # points right of and above the dot, where the usual place would touch a line or another name
    "BERT_base": (-1, 12),
    "DeBERTa-V3_base": (-1, 12),
    "DeBERTa-V3_large": (-9, 0),
    "RadBERT_1": (0, -12),
    "RoBERTa_base": (0, -12),
    "RoBERTa_large": (1, -12),
}
_HALF_PERCENT = 0.5  # the paper prints whole percents


def slopes(scores: pd.DataFrame, choices: Mapping[str, NDArray[np.bool_]]) -> pd.DataFrame:
    """Least-squares slope of ``nlu`` on ``value`` for each choice of rows, for ten points of ``value``.

    Returns
    -------
    DataFrame
        One row per choice, by its name: ``n``, ``slope`` with its 95 % interval over models (``low``,
        ``high``), ``r`` (Pearson) and ``nlu``, the mean score of these models.

    Raises
    ------
    ValueError
        Where a choice has fewer than three models, which leave no interval, or a score is missing.
    """
    rows = []
    for name, chosen in choices.items():
        part = scores[chosen]
        if len(part) < 3 or part[["value", "nlu"]].isna().any(axis=None):
            raise ValueError(
                f"{name}: a slope with its interval needs three models or more, with both scores"
            )
        fit = stats.linregress(part["value"], part["nlu"])
        reach = stats.t.ppf(0.975, len(part) - 2) * fit.stderr
        ends = (fit.slope, fit.slope - reach, fit.slope + reach)
        rows.append((len(part), *(10 * end for end in ends), fit.rvalue, part["nlu"].mean()))
    return pd.DataFrame(rows, index=list(choices), columns=["n", "slope", "low", "high", "r", "nlu"])


def lies_within(row: pd.Series, least: float, most: float) -> bool | None:
    """Whether the interval of a row of :func:`slopes` lies among the numbers that round to ``least`` to
    ``most`` percent, read as points of NLU score and as percent of the models' mean score: True where it does
    by both, False where by neither any of it does, else None."""
    bottom, top = least - _HALF_PERCENT, most + _HALF_PERCENT
    units = (1.0, 100 / row["nlu"])
    if all(bottom <= row["low"] * unit and row["high"] * unit <= top for unit in units):
        return True
    if all(row["high"] * unit < bottom or row["low"] * unit > top for unit in units):
        return False
    return None


def decided(within: int, outside: int, choices: int) -> str:
    """What the intervals by all ``choices`` of models come to, as a sentence: so many lie ``within`` and
    ``outside`` the claimed range."""
    if not within + outside:
        return "The scores do not decide it."
    return f"The scores decide it for {out_of(within + outside, choices)} ways to choose the models."


def check_slopes(found: pd.DataFrame, least: float, most: float) -> list[study.Check]:
    """One check for each benchmark, which the names of the choices begin with: it holds or fails only where
    it does so by every choice of models."""
    checks = []
    for benchmark, rows in found.groupby(found.index.str.partition(",").get_level_values(0), sort=False):
        phrases = [
            f"{name.partition(', ')[2]} {row['slope']:+.2f} [{row['low']:+.2f}, {row['high']:+.2f}]"
            for name, row in rows.iterrows()
        ]
        checks.append(
            study.check_statement(
                study.Key("NLU points for ten points of", str(benchmark)),
                f"{least:g} to {most:g} percent",
                "; ".join(phrases),
                study.under_every(lies_within(row, least, most) for _, row in rows.iterrows()),
            )
        )
    return checks


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
            plots.label_point(ax, model, (x, y), _LABELS.get(model, (0, 12)))
        ax.set(xlabel=f"{name} score", ylabel="NLU score (percent)")
        ax.margins(x=0.2, y=0.12)
    handles, labels = axes[1].get_legend_handles_labels()
    axes[1].get_legend().remove()
    fig.legend(handles, labels, title="pretrained on", loc="outside upper center", ncols=2)
    return fig
