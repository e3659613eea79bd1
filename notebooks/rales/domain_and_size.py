"""The page on domain, size and transfer: comparisons of groups of models, and figures."""

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

from notebooks.rales.scores import SPECIAL, mann_whitney, map_colours
from radeval_lib import plots
from radeval_lib.papers.printed_numbers import Printed, rounding_range
from radeval_lib.study.checks import Check, Key, by_reading, check_one_sided, check_statement
from radeval_lib.study.superiority import Lead, check_superiority

SHARES = ("100%", "10%", "1%")
"""The shares of labels that the paper's tests compare."""
_ORDER = ["1%", "10%", "100%", "100%, frozen"]  # of the shares in Figure 2
_LEGEND_ABOVE: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1)}  # above the axes
_HALF_PERCENT = 0.5  # half a unit of the last digit: the paper prints integer percentages

# Offsets of labels in draw_size, in points to the right and up, where the default would overlap.
_SIZE_OFFSETS = {
    "RadBERT_2": (9, 7),
    "BioClinicalBERT": (-8, 1),
    "DeBERTa-V3_large": (3, 11),
    "BioLinkBERT_large": (0, -13),
    "BERT_large": (4, 10),
    "RoBERTa_large": (0, -13),
}
# Offsets of labels in draw_transfer, which labels only the models that the page discusses.
_TRANSFER_OFFSETS = {"DeBERTa-V3_base": (-1, 12), "RadBERT_1": (0, -12), "RadBERT_2": (0, 12)}


def compare_domains(scores: pd.DataFrame, better: Sequence[str], worse: Sequence[str]) -> pd.Series:
    """Return the difference between two groups of domains in mean score, with exact Mann-Whitney tests.

    Parameters
    ----------
    scores : one row per model, with columns ``domain``, ``family`` and ``value`` (the score).
    better, worse : the domains of the two groups; the mean of ``worse`` is subtracted.

    Returns
    -------
    Series
        ``models`` and ``families``, their numbers in the two groups, such as ``5 against 8``; ``difference``
        and the p-value ``p`` over models; and ``difference, families``, ``p, families`` and
        ``smallest possible p, families`` over the families' mean scores.
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
            "smallest possible p, families": by_family["least_p"],
        }
    )


def check_lead(
    name: Key | str, claim: str, scores: pd.DataFrame, better: Sequence[str], rivals: Sequence[Sequence[str]]
) -> list[Check]:
    """Return the checks that the models of some domains have a higher mean score than those of others.

    Each lead has the larger p-value of the tests over models and over families (:func:`compare_domains`),
    because models of the same family are not independent.

    Parameters
    ----------
    name : the name of the checks, with the keys that distinguish them.
    claim : the paper's words.
    scores : printed scores, one row per model, with columns ``domain``, ``family``, ``value`` and
        ``half_width`` (half a unit of the last printed digit).
    better : the domains that are claimed to lead.
    rivals : the groups of domains with which ``better`` is compared.
    """
    cells, leads = {}, {}
    for domains in (better, *rivals):
        mean = rounding_range(np.mean, scores[scores["domain"].isin(domains)])
        cells[" and ".join(domains)] = Printed(f"{mean.value:.2f}", mean.value, mean.high - mean.value)
    for domains in rivals:
        test = compare_domains(scores, better, domains)
        note = (
            f"over models {test['p']:.2g} ({test['models']}), over families {test['p, families']:.2g} "
            f"({test['families']}, where it is {test['smallest possible p, families']:.2g} or more)"
        )
        p = max(test["p"], test["p, families"])
        leads[" and ".join(domains)] = Lead.by_p(test["difference"], p, note)
    return check_superiority(name, claim, cells, first=" and ".join(better), leads=leads)


def compare_domain_pairs(scores: pd.DataFrame) -> pd.DataFrame:
    """Return Mann-Whitney tests of each pair of domains at each share of the labels.

    The Bonferroni correction is for the number of pairs at one share. ``scores`` has one row per model and
    share, with columns ``labels`` (the share), ``domain`` and ``value`` (the score).

    Returns
    -------
    DataFrame
        One row per share and pair. Columns are ``labels``, ``pair`` (``A v B``), ``models`` (the numbers of
        models, such as ``2 v 3``), ``p`` and ``cles`` (see :func:`~notebooks.rales.scores.mann_whitney`),
        ``p_bonferroni`` (the corrected p-value), and ``least_p`` (the smallest possible corrected p-value).
        If ``least_p`` is 0.05 or more, no scores could make the pair differ significantly.
    """
    tables = []
    for labels in SHARES:
        values = dict(list(scores[scores["labels"] == labels].groupby("domain", sort=False)["value"]))
        pairs = list(combinations(values, 2))
        tests = pd.DataFrame([mann_whitney(values[x], values[y]) for x, y in pairs])
        tests["p_bonferroni"] = pg.multicomp(tests["p"], method="bonf")[1]
        tests["least_p"] = pg.multicomp(tests["least_p"], method="bonf")[1]
        keys = [(labels, f"{x} v {y}", f"{len(values[x])} v {len(values[y])}") for x, y in pairs]
        tables.append(pd.DataFrame(keys, columns=["labels", "pair", "models"]).join(tests))
    return pd.concat(tables, ignore_index=True)


def merge_domains(scores: pd.DataFrame) -> pd.DataFrame:
    """Return ``scores`` with the domain ``clinical and radiology`` in place of the clinical and the radiology
    domain."""
    return scores.assign(domain=scores["domain"].replace(SPECIAL, " and ".join(SPECIAL).lower()))


def check_differences(scores: pd.DataFrame, source: str) -> list[Check]:
    """Return the checks that no pair of categories of models differs significantly, one check per reading.

    Three readings are checked: the four domains, corrected for all pairs at all shares, as in the authors'
    figure notebook; three categories, with clinical and radiology models merged, as in the paper's text, and
    the same correction; and three categories, corrected for the pairs at one share, as the caption may mean.
    If no scores could make a pair differ under a reading, its check can fail but never hold.

    Parameters
    ----------
    scores : one row per model and share, with columns ``labels`` (the share), ``domain`` and ``value``.
    source : the source of the scores, which distinguishes the checks.
    """
    four, three = compare_domain_pairs(scores), compare_domain_pairs(merge_domains(scores))

    def find_least_p(tests: pd.DataFrame) -> tuple[float, float]:
        """Return the smallest and the smallest possible p-value, both corrected for all tests."""
        pairs = len(tests) // tests["labels"].nunique()
        return min(1.0, tests["p"].min() * len(tests)), min(1.0, tests["least_p"].min() / pairs * len(tests))

    readings = {
        f"four domains, {len(four)} pairs": find_least_p(four),
        f"three categories, {len(three)} pairs": find_least_p(three),
        "three categories, each share by itself": tuple(three[["p_bonferroni", "least_p"]].min()),
    }
    name = Key("no pair of categories differs", source)
    claim, checks = "no statistically significant pairwise differences", {}
    for reading, (p, least) in readings.items():
        computed = f"smallest corrected p {p:.3f} (smallest possible {least:.3f})"
        if least < 0.05:
            checks[reading] = check_statement(name, claim, computed, bool(p >= 0.05))
        else:
            checks[reading] = check_one_sided(name, claim, computed, p < 0.05)
    return by_reading(checks)


def is_slope_within(slope: pd.Series, least: float, most: float) -> bool | None:
    """Return whether a slope's interval is within the numbers that round to ``least`` to ``most`` percent.

    Percent may mean points of the NLU score, or percent of the mean NLU score. The result is True if the
    whole interval is within this range in both senses, False if it is wholly outside in both, and None
    otherwise. ``slope`` has the bounds ``low`` and ``high`` of the interval in points, and the mean
    NLU score ``nlu`` in percent.
    """
    bottom, top = least - _HALF_PERCENT, most + _HALF_PERCENT
    units = (1.0, 100 / slope["nlu"])
    if all(bottom <= slope["low"] * unit and slope["high"] * unit <= top for unit in units):
        return True
    if all(slope["high"] * unit < bottom or slope["low"] * unit > top for unit in units):
        return False
    return None


def draw_size(scores: pd.DataFrame, released: pd.DataFrame) -> Figure:
    """Draw each model's NLU score against its number of parameters, with lines between models of a family.

    Parameters
    ----------
    scores : one row per model, with columns ``model``, ``domain``, ``family``, ``million parameters`` and
        ``value`` (the NLU score in percent).
    released : ``parameters`` (millions) and ``NLU score`` from the authors' figure notebook, drawn as rings.
    """
    fig, ax = plots.panels(1, 1, 6.8)
    for _, family in scores.groupby("family"):
        ax.plot(family["million parameters"], family["value"], color=plots.PALETTE[6], linewidth=1, zorder=3)
    markers = dict(zip(map_colours(), plots.MARKERS, strict=False))
    style = {"palette": map_colours(), "markers": markers, "s": 60, "ax": ax}
    sns.scatterplot(scores, x="million parameters", y="value", hue="domain", style="domain", **style)
    labelled = (scores["million parameters"] > 200) | scores["domain"].isin(SPECIAL)
    for model, x, y in scores.loc[labelled, ["model", "million parameters", "value"]].itertuples(index=False):
        plots.label_point(ax, model, (x, y), _SIZE_OFFSETS.get(model, (9, 0)))
    rings = {"s": 130, "facecolors": "none", "edgecolors": plots.PALETTE[6], "linewidth": 1, "zorder": 4}
    ax.scatter(released["parameters"], released["NLU score"], **rings)
    ax.set(ylabel="NLU score (percent)", xlim=(-85, 505))
    ax.legend(title="pretrained on (colour, marker)", ncols=2, **_LEGEND_ABOVE)
    return fig


def draw_shares(scores: pd.DataFrame, released: pd.DataFrame) -> Axes:
    """Draw the mean score of each domain at each share of labels, with the standard deviation over models.

    ``scores`` has one row per model and share, with columns ``labels`` (the share), ``domain`` and ``value``
    (percent). ``released`` has the same columns, with the scores that the authors' figure notebook averages;
    their means are drawn as diamonds.
    """
    grid = {"x": "labels", "y": "value", "hue": "domain", "order": _ORDER, "hue_order": list(map_colours())}
    bars = {"errorbar": "sd", "capsize": 0.15, "err_kws": {"linewidth": 1, "zorder": 4}}
    ax = sns.barplot(scores, palette=map_colours(), **grid, **bars)
    hollow = {"markersize": 4, "markerfacecolor": "none"}  # bars and error bars show through
    dots = {"errorbar": None, "linestyle": "none", "markers": "D", "dodge": 0.6, **hollow}
    sns.pointplot(released, palette=[plots.PALETTE[6]] * len(map_colours()), legend=False, **grid, **dots)
    ax.set(xlabel="share of labels", ylabel="mean score (percent)")
    ax.legend(title="pretrained on (colour)", ncols=3, **_LEGEND_ABOVE)
    return ax


def draw_transfer(scores: pd.DataFrame) -> Figure:
    """Draw NLU scores of models against their scores on other benchmarks, with least-squares lines.

    There is one panel per benchmark. ``scores`` has one row per model and benchmark, with columns ``model``,
    ``domain``, ``benchmark``, ``value`` (the score on the benchmark) and ``nlu`` (the NLU score, percent).
    """
    fig, axes = plots.panels(2, 1, 3.6)
    domains = list(map_colours())
    for ax, (name, part) in zip(axes, scores.groupby("benchmark", sort=False), strict=True):
        line = {"linewidth": 1}
        sns.regplot(part, x="value", y="nlu", ci=None, scatter=False, color="#4D4D4D", ax=ax, line_kws=line)
        order = {"hue_order": domains, "style_order": domains, "markers": plots.MARKERS[:4]}
        style = {**order, "palette": map_colours(), "s": 50, "ax": ax, "legend": name == "BLURB"}
        sns.scatterplot(part, x="value", y="nlu", hue="domain", style="domain", **style)
        labelled = part.set_index("model").reindex(_TRANSFER_OFFSETS).dropna(subset="nlu")
        for model, row in labelled.iterrows():
            plots.label_point(ax, str(model), (row["value"], row["nlu"]), _TRANSFER_OFFSETS[str(model)])
        ax.set(xlabel=f"{name} score", ylabel="NLU score (percent)")
        ax.margins(x=0.2, y=0.12)
    handles, labels = axes[1].get_legend_handles_labels()
    axes[1].get_legend().remove()
    fig.legend(handles, labels, title="pretrained on", loc="outside upper center", ncols=2)
    return fig
