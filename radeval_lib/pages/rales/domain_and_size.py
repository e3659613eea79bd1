"""The page on domain, size and labels: groups of models compared by their printed scores."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from radeval_lib import plots
from radeval_lib.pages.rales.printed_scores import ORDER, SPECIAL, colours, domains, models
from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.papers.rounding import rounding_range
from radeval_lib.stats.comparisons import pairwise_mann_whitney
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.checks import Check, check_statement
from radeval_lib.study.superiority import Lead, check_superiority

SHARES = ("100%", "10%", "1%")
"""Of the labels, as the paper's tests compare them."""

_LABELS = {  # points right of and above the dot, where the usual place would touch a line or another name
    "BioLinkBERT_base": (-7, 2),
    "RadBERT_2": (4, 11),
    "BioClinicalBERT": (-7, 2),
    "DeBERTa-V3_base": (-7, -3),
    "DeBERTa-V3_large": (3, 9),
    "BioLinkBERT_large": (0, -12),
    "ELECTRA_base": (4, 8),
    "PubMedBERT": (-9, 0),
    "BERT_base": (3, -21),
    "RoBERTa_base": (4, 9),
    "BERT_large": (3, 9),
    "RoBERTa_large": (0, -12),
}


def lead(scores: pd.DataFrame, better: Sequence[str], worse: Sequence[str]) -> Estimate:
    """Difference of the mean scores of two groups of domains, with what rounding allows."""
    rows = pd.concat([scores[scores["domain"].isin(group)] for group in (better, worse)])
    first = int(scores["domain"].isin(better).sum())
    return rounding_range(lambda values: float(values[:first].mean() - values[first:].mean()), rows)


def chance_of_lead(scores: pd.DataFrame, better: Sequence[str], worse: Sequence[str]) -> float:
    """p of the Mann-Whitney test between two groups of domains, exact over every division of their scores."""
    x, y = (scores[scores["domain"].isin(group)]["value"] for group in (better, worse))
    every_division = stats.PermutationMethod(n_resamples=comb(len(x) + len(y), len(x)))
    return float(stats.mannwhitneyu(x, y, method=every_division).pvalue)


def check_lead(
    name: str,
    claim: str,
    scores: pd.DataFrame,
    better: Sequence[str],
    rivals: Sequence[Sequence[str]] = (("English",), ("Biomedical",)),
) -> list[Check]:
    """Order and lead of a group of domains over others, by mean scores and the exact Mann-Whitney test.

    The models of a group are its cases: whether a lead is more than chance is asked of other models of the
    same kind.
    """
    x = scores[scores["domain"].isin(better)]["value"]
    cells, leads = {}, {}
    for domains_ in (better, *rivals):
        rows = scores[scores["domain"].isin(domains_)]
        mean = rounding_range(lambda values: float(np.mean(values)), rows)
        group, y = " and ".join(domains_), rows["value"]
        cells[group] = Printed(f"{mean.value:.2f}", mean.value, mean.high - mean.value)
        note = f"{len(x)} against {len(y)} models, where p is {2 / comb(len(x) + len(y), len(x)):.2g} or more"
        leads[group] = Lead.by_p(x.mean() - y.mean(), chance_of_lead(scores, better, domains_), note)
    return check_superiority(name, claim, cells, first=" and ".join(better), leads=leads)


def behind_smaller(scores: pd.DataFrame) -> pd.Series:
    """How many points each general model is behind the best of the clinical and radiology models that have
    fewer parameters, the nearest first; general models without such a rival are left out."""
    special = scores[scores["domain"].isin(SPECIAL)]
    gaps = {
        row["model"]: special[special["million parameters"] < row["million parameters"]]["value"].max()
        - row["value"]
        for _, row in scores[scores["domain"] == "English"].iterrows()
    }
    return pd.Series(gaps).dropna().sort_values(kind="stable")


def rank_tests(scores: pd.DataFrame) -> pd.DataFrame:
    """:func:`~radeval_lib.stats.comparisons.pairwise_mann_whitney` of every pair of domains at each share of
    ``labels``; its correction is for the pairs of one share."""
    of = dict(list(scores.groupby("labels")))
    tests = {labels: pairwise_mann_whitney(of[labels], value="value", group="domain") for labels in SHARES}
    return pd.concat([found.assign(labels=labels) for labels, found in tests.items()], ignore_index=True)


def check_one_call(found: pd.DataFrame, source: str) -> Check:
    """Whether no pair of ``found`` (:func:`rank_tests`) differs, corrected for all of them as in the figure
    notebook's call; where no scores could make a pair differ, it is undecided."""
    top = found.loc[found["p"].idxmin()]
    pairs = len(found) // found["labels"].nunique()
    corrected = min(1.0, top["p"] * len(found))
    least = min(1.0, (found["least_p"] / pairs).min() * len(found))
    return check_statement(
        f"{len(found)} pairs, {source}",
        "no significant pairwise difference",
        f"{top['first']} v {top['second']}, {top['labels']}: corrected p = {corrected:.3f}; "
        f"least possible {least:.3f}",
        corrected >= 0.05 if least < 0.05 else None,
    )


def draw_size(scores: pd.DataFrame) -> Figure:
    """NLU score against size; lines join the sizes of one family."""
    fig, ax = plots.panels(1, 1, 6.8, plots.NARROW)
    for _, family in scores.groupby(scores["model"].map(models().set_index("model")["family"])):
        ax.plot(family["million parameters"], family["value"], color=plots.PALETTE[6], linewidth=1, zorder=1)
    markers = dict(zip(domains(), plots.MARKERS, strict=False))
    look = {"palette": colours(), "markers": markers, "s": 60, "ax": ax}
    sns.scatterplot(scores, x="million parameters", y="value", hue="domain", style="domain", **look)
    for model, x, y in scores[["model", "million parameters", "value"]].itertuples(index=False):
        place = _LABELS.get(model, (7, 0))
        looks = {"ha": ("center", "left", "right")[np.sign(place[0])], "va": "center", "fontsize": 10}
        ax.annotate(model, (x, y), xytext=place, textcoords="offset points", **looks)
    ax.set(ylabel="NLU score (percent)", xlim=(-95, 495))
    ax.legend(title="pretrained on", loc="lower right", frameon=True, framealpha=1, edgecolor="none")
    return fig


def draw_shares(scores: pd.DataFrame) -> Axes:
    """Mean score by domain and share of labels, with the standard deviation over models."""
    bars = {"errorbar": "sd", "capsize": 0.15, "err_kws": {"linewidth": 1}}
    ax = sns.barplot(scores, x="labels", y="value", hue="domain", order=ORDER, palette=colours(), **bars)
    ax.set(xlabel="share of labels", ylabel="mean score (percent)")
    ax.legend(title="pretrained on", ncols=2, loc="upper left")
    return ax
