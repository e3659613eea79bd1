"""The page on domain, size and transfer: tests of groups of models, and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pingouin as pg
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from notebooks.rales.scores import SPECIAL, colours, mann_whitney
from radeval_lib import plots
from radeval_lib.papers.printed_numbers import Printed, rounding_range
from radeval_lib.study.checks import Check, Key, by_reading, check_one_sided, check_statement
from radeval_lib.study.superiority import Lead, check_superiority

SHARES = ("100%", "10%", "1%")
"""Of the labels, as the paper's tests compare them."""
_ORDER = ["1%", "10%", "100%", "100%, frozen"]  # of Figure 2
_ABOVE: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1)}  # of a legend
_HALF_PERCENT = 0.5  # the paper prints whole percents

_BY_SIZE = {  # points right of and above the dot, where the usual place would touch a line or another name
    "RadBERT_2": (9, 7),
    "BioClinicalBERT": (-8, 1),
    "DeBERTa-V3_large": (3, 11),
    "BioLinkBERT_large": (0, -13),
    "BERT_large": (4, 10),
    "RoBERTa_large": (0, -13),
}
_IN_TEXT = {"DeBERTa-V3_base": (-1, 12), "RadBERT_1": (0, -12), "RadBERT_2": (0, 12)}  # of the page


def contrast(scores: pd.DataFrame, better: Sequence[str], worse: Sequence[str]) -> pd.Series:
    """Return the difference of mean scores between two groups of domains, and exact Mann-Whitney tests of it.

    Parameters
    ----------
    scores : one row per model: ``domain``, ``family``, ``value``.

    Returns
    -------
    Series
        ``models`` and ``families`` (how many against how many), ``difference`` and ``p`` over models,
        ``difference, families``, ``p, families`` and ``least p, families`` over the means of families.
    """
    groups = [scores[scores["domain"].isin(domains)] for domains in (better, worse)]
    families = [group.groupby("family")["value"].mean() for group in groups]
    by_model = mann_whitney(*(group["value"] for group in groups))
    by_family = mann_whitney(*families)
    return pd.Series(
        {
            "models": " against ".join(str(len(group)) for group in groups),
            "difference": groups[0]["value"].mean() - groups[1]["value"].mean(),
            "p": by_model["p"],
            "families": " against ".join(str(len(group)) for group in families),
            "difference, families": families[0].mean() - families[1].mean(),
            "p, families": by_family["p"],
            "least p, families": by_family["least_p"],
        }
    )


def check_lead(
    name: Key | str, claim: str, scores: pd.DataFrame, better: Sequence[str], rivals: Sequence[Sequence[str]]
) -> list[Check]:
    """Check order and lead of a group of domains over others, by mean scores and :func:`contrast`.

    Whether a lead would hold for other models of the same kind is tested over models and over families, since
    models of one family are not independent; it is established where both tests say so.
    """
    cells, leads = {}, {}
    for domains in (better, *rivals):
        mean = rounding_range(np.mean, scores[scores["domain"].isin(domains)])
        cells[" and ".join(domains)] = Printed(f"{mean.value:.2f}", mean.value, mean.high - mean.value)
    for domains in rivals:
        test = contrast(scores, better, domains)
        note = (
            f"over models {test['p']:.2g} ({test['models']}), over families {test['p, families']:.2g} "
            f"({test['families']}, where it is {test['least p, families']:.2g} or more)"
        )
        larger = max(test["p"], test["p, families"])
        leads[" and ".join(domains)] = Lead.by_p(test["difference"], larger, note)
    return check_superiority(name, claim, cells, first=" and ".join(better), leads=leads)


def rank_tests(scores: pd.DataFrame) -> pd.DataFrame:
    """Test every pair of domains at each share of ``labels``, with Bonferroni's correction for the pairs of
    one share.

    Returns
    -------
    DataFrame
        One row per pair, domains in order of appearance: ``labels``, ``pair``, ``models``, what
        :func:`~notebooks.rales.scores.mann_whitney` returns, and ``p_bonferroni``. ``least_p`` is corrected
        too: if it is 0.05 or more, no scores could be significant.
    """
    shares = []
    for labels in SHARES:
        values = dict(list(scores[scores["labels"] == labels].groupby("domain", sort=False)["value"]))
        pairs = list(combinations(values, 2))
        tests = pd.DataFrame([mann_whitney(values[x], values[y]) for x, y in pairs])
        tests["p_bonferroni"] = pg.multicomp(tests["p"], method="bonf")[1]
        tests["least_p"] = pg.multicomp(tests["least_p"], method="bonf")[1]
        named = [(labels, f"{x} v {y}", f"{len(values[x])} v {len(values[y])}") for x, y in pairs]
        shares.append(pd.DataFrame(named, columns=["labels", "pair", "models"]).join(tests))
    return pd.concat(shares, ignore_index=True)


def merge_domains(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores with clinical and radiology models as one domain."""
    return scores.assign(domain=scores["domain"].replace(SPECIAL, " and ".join(SPECIAL).lower()))


def check_differences(scores: pd.DataFrame, source: str) -> list[Check]:
    """Check that no pair of categories differs, by each open reading: the four domains, corrected for all
    pairs of all shares as in the figure notebook's call; and with clinical and radiology models as one
    category, as the text has them, corrected so or for the pairs of one share, as the caption may be read.

    A reading by which no scores could make a pair differ does not show that none does: it only contradicts.
    """
    four, three = rank_tests(scores), rank_tests(merge_domains(scores))

    def of_one_call(tests: pd.DataFrame) -> tuple[float, float]:
        pairs = len(tests) // tests["labels"].nunique()
        return min(1.0, tests["p"].min() * len(tests)), min(1.0, tests["least_p"].min() / pairs * len(tests))

    readings = {
        f"four domains, {len(four)} pairs": of_one_call(four),
        f"three categories, {len(three)} pairs": of_one_call(three),
        "three categories, each share by itself": tuple(three[["p_bonferroni", "least_p"]].min()),
    }
    name = Key("no pair of categories differs", source)
    claim, checks = "no statistically significant pairwise differences", {}
    for reading, (p, least) in readings.items():
        computed = f"least corrected p {p:.3f} (least possible {least:.3f})"
        if least < 0.05:
            checks[reading] = check_statement(name, claim, computed, bool(p >= 0.05))
        else:
            checks[reading] = check_one_sided(name, claim, computed, p < 0.05)
    return by_reading(checks)


def lies_within(row: pd.Series, least: float, most: float) -> bool | None:
    """Return whether the interval of a slope lies among the numbers that round to ``least`` to ``most``
    percent, read as points of NLU score and as percent of the mean score ``nlu``: True where it does by both,
    False where by neither any of it does, else None."""
    bottom, top = least - _HALF_PERCENT, most + _HALF_PERCENT
    units = (1.0, 100 / row["nlu"])
    if all(bottom <= row["low"] * unit and row["high"] * unit <= top for unit in units):
        return True
    if all(row["high"] * unit < bottom or row["low"] * unit > top for unit in units):
        return False
    return None


def draw_size(scores: pd.DataFrame, released: pd.DataFrame) -> Figure:
    """Draw NLU score against size, with a ring where the authors' figure notebook (``released``, by model)
    puts each; lines join the sizes of one family."""
    fig, ax = plots.panels(1, 1, 6.8)
    for _, family in scores.groupby("family"):
        ax.plot(family["million parameters"], family["value"], color=plots.PALETTE[6], linewidth=1, zorder=3)
    markers = dict(zip(colours(), plots.MARKERS, strict=False))
    look = {"palette": colours(), "markers": markers, "s": 60, "ax": ax}
    sns.scatterplot(scores, x="million parameters", y="value", hue="domain", style="domain", **look)
    shown = (scores["million parameters"] > 200) | scores["domain"].isin(SPECIAL)
    for model, x, y in scores.loc[shown, ["model", "million parameters", "value"]].itertuples(index=False):
        plots.label_point(ax, model, (x, y), _BY_SIZE.get(model, (9, 0)))
    rings = {"s": 130, "facecolors": "none", "edgecolors": plots.PALETTE[6], "linewidth": 1, "zorder": 4}
    ax.scatter(released["parameters"], released["NLU score"], **rings)
    ax.set(ylabel="NLU score (percent)", xlim=(-85, 505))
    ax.legend(title="pretrained on (colour, marker)", ncols=2, **_ABOVE)
    return fig


def draw_shares(scores: pd.DataFrame, released: pd.DataFrame) -> Axes:
    """Draw mean score by domain and share of labels, with the standard deviation over models, and as diamonds
    the means that the authors' figure notebook (``released``) gives."""
    grid = {"x": "labels", "y": "value", "hue": "domain", "order": _ORDER, "hue_order": list(colours())}
    bars = {"errorbar": "sd", "capsize": 0.15, "err_kws": {"linewidth": 1, "zorder": 4}}
    ax = sns.barplot(scores, palette=colours(), **grid, **bars)
    hollow = {"markersize": 4, "markerfacecolor": "none"}  # bars and their intervals show through
    dots = {"errorbar": None, "linestyle": "none", "markers": "D", "dodge": 0.6, **hollow}
    sns.pointplot(released, palette=[plots.PALETTE[6]] * len(colours()), legend=False, **grid, **dots)
    ax.set(xlabel="share of labels", ylabel="mean score (percent)")
    ax.legend(title="pretrained on (colour)", ncols=3, **_ABOVE)
    return ax


def draw_transfer(scores: pd.DataFrame) -> Figure:
    """Draw NLU score ``nlu`` of each ``model`` against its ``value`` elsewhere with a least-squares line, one
    panel per ``benchmark``, coloured by ``domain``."""
    fig, axes = plots.panels(2, 1, 3.6)
    names = list(colours())
    for ax, (name, part) in zip(axes, scores.groupby("benchmark", sort=False), strict=True):
        line = {"linewidth": 1}
        sns.regplot(part, x="value", y="nlu", ci=None, scatter=False, color="#4D4D4D", ax=ax, line_kws=line)
        order = {"hue_order": names, "style_order": names, "markers": plots.MARKERS[:4]}
        look = {**order, "palette": colours(), "s": 50, "ax": ax, "legend": name == "BLURB"}
        sns.scatterplot(part, x="value", y="nlu", hue="domain", style="domain", **look)
        named = part.set_index("model").reindex(_IN_TEXT).dropna(subset="nlu")
        for model, row in named.iterrows():
            plots.label_point(ax, str(model), (row["value"], row["nlu"]), _IN_TEXT[str(model)])
        ax.set(xlabel=f"{name} score", ylabel="NLU score (percent)")
        ax.margins(x=0.2, y=0.12)
    handles, labels = axes[1].get_legend_handles_labels()
    axes[1].get_legend().remove()
    fig.legend(handles, labels, title="pretrained on", loc="outside upper center", ncols=2)
    return fig
