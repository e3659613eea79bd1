"""The page on domain, size and labels: groups of models compared by their printed scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, count
from typing import Any

import numpy as np
import pandas as pd
import pingouin as pg
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from notebooks.rales.printed_scores import (
    GENERAL,
    ORDER,
    SETTINGS,
    SPECIAL,
    colours,
    domains,
    models,
)
from notebooks.rales.rank_tests import mann_whitney
from radeval_lib import plots, study
from radeval_lib.papers.printed_numbers import Printed
from radeval_lib.papers.rounding import rounding_range
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study.checks import Check, Key, check_statement
from radeval_lib.study.superiority import Lead, check_superiority
from radeval_lib.text_format import out_of

SHARES = ("100%", "10%", "1%")
"""Of the labels, as the paper's tests compare them."""

TABLES = {labels: f"Table {table.removeprefix('rales.table')}" for labels, (table, _) in SETTINGS.items()}
"""The table of each share of labels, as the paper numbers it."""

_ABOVE: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1)}  # of a legend

FRIEDMAN = ("Kendall's W", "p, tasks", "p, data sets", "smallest p of a pair", "smallest p, Holm")
"""Columns of the page's table of Friedman's tests and of what Wilcoxon's find pair by pair."""

_LABELS = {  # points right of and above the dot, where the usual place would touch a line or another name
    "BioLinkBERT_base": (0, 12),
    "RadBERT_2": (9, 7),
    "BioClinicalBERT": (-8, 1),
    "DeBERTa-V3_base": (-1, -14),
    "DeBERTa-V3_large": (3, 11),
    "BioLinkBERT_large": (0, -13),
    "ELECTRA_base": (5, 11),
    "PubMedBERT": (-9, 0),
    "BERT_base": (-14, -8),
    "RoBERTa_base": (6, -14),
    "BERT_large": (4, 10),
    "RoBERTa_large": (0, -13),
}


def lead(scores: pd.DataFrame, better: Sequence[str], worse: Sequence[str]) -> Estimate:
    """Difference of the mean scores of two groups of domains, with what rounding allows."""
    rows = pd.concat([scores[scores["domain"].isin(group)] for group in (better, worse)])
    first = int(scores["domain"].isin(better).sum())
    return rounding_range(lambda values: float(values[:first].mean() - values[first:].mean()), rows)


def lead_p(scores: pd.DataFrame, better: Sequence[str], worse: Sequence[str]) -> float:
    """p of the Mann-Whitney test between two groups of domains, exact over every division of their scores."""
    return float(_by_rank(scores, better, worse)["p"])


def least_lead_p(scores: pd.DataFrame, better: Sequence[str], worse: Sequence[str]) -> float:
    """The least p that :func:`lead_p` could find between as many models, whatever their scores."""
    return float(_by_rank(scores, better, worse)["least_p"])


def _by_rank(scores: pd.DataFrame, better: Sequence[str], worse: Sequence[str]) -> pd.Series:
    x, y = (scores[scores["domain"].isin(group)]["value"] for group in (better, worse))
    return mann_whitney(x, y)


def check_lead(
    name: Key | str,
    claim: str,
    scores: pd.DataFrame,
    better: Sequence[str],
    rivals: Sequence[Sequence[str]] = ((GENERAL,), ("Biomedical",)),
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
        test = mann_whitney(x, y)
        note = f"{len(x)} against {len(y)} models, where p is {test['least_p']:.2g} or more"
        leads[group] = Lead.by_p(x.mean() - y.mean(), test["p"], note)
    return check_superiority(name, claim, cells, first=" and ".join(better), leads=leads)


def orders(
    benchmark: str, claim: str, scores: Mapping[str, Printed], pairs: Sequence[tuple[str, str]]
) -> list[Check]:
    """The order of each pair of models, the one that is claimed to be better first, by a benchmark's
    ``scores``."""
    checks = []
    for better, worse in pairs:
        key = Key(f"order by {benchmark}", better, worse)
        checks += check_superiority(key, claim, scores, first=better, others=[worse], leads=None)
    return checks


def behind_smaller(scores: pd.DataFrame) -> pd.Series:
    """How many points each general model is behind the best of the clinical and radiology models that have
    fewer parameters, the nearest first; general models without such a rival are left out."""
    special = scores[scores["domain"].isin(SPECIAL)]
    gaps = {
        row["model"]: special[special["million parameters"] < row["million parameters"]]["value"].max()
        - row["value"]
        for _, row in scores[scores["domain"] == GENERAL].iterrows()
    }
    return pd.Series(gaps).dropna().sort_values(kind="stable")


def rank_tests(scores: pd.DataFrame) -> pd.DataFrame:
    """Mann-Whitney test of every pair of domains at each share of ``labels``, with Bonferroni's correction
    for the pairs of one share.

    Returns
    -------
    DataFrame
        One row per pair, domains in order of appearance: ``labels``, ``first``, ``second``, ``n_first``,
        ``n_second``, what :func:`~notebooks.rales.rank_tests.mann_whitney` finds, and
        ``p_bonferroni``. ``least_p`` is corrected too: where it exceeds the level, no data could be
        significant.
    """
    shares = []
    for labels in SHARES:
        rows = scores[scores["labels"] == labels]
        values = {name: part["value"] for name, part in rows.groupby("domain", sort=False)}
        names = ["labels", "first", "second", "n_first", "n_second"]
        pairs = [(labels, x, y, len(values[x]), len(values[y])) for x, y in combinations(values, 2)]
        tests = pd.DataFrame([mann_whitney(values[x], values[y]) for _, x, y, *_ in pairs])
        tests["p_bonferroni"] = pg.multicomp(tests["p"], method="bonf")[1]
        tests["least_p"] = pg.multicomp(tests["least_p"], method="bonf")[1]
        shares.append(pd.DataFrame(pairs, columns=names).join(tests))
    return pd.concat(shares, ignore_index=True)


def tasks_of(labels: str) -> pd.DataFrame:
    """Printed scores of Table 2's models at a share of ``labels``, one row per model and task, without the
    column of averages: ``model``, ``task``, ``value``, and ``dataset``, which RadGraph's four tasks share."""
    table, average = SETTINGS[labels]
    rows = study.printed(table)
    rows = rows[rows["model"].isin(models()["model"]) & (rows["task"] != average)]
    return rows.assign(dataset=rows["task"].str.replace(r"RadGraph.*", "RadGraph", regex=True))


def tasks_needed(comparisons: int) -> int:
    """From how many tasks on Wilcoxon's signed-rank test, corrected by Holm over so many comparisons, can
    find any at 5 %: over n tasks no p is below 2 / 2^n, for all signs alike, one way or the other."""
    return next(n for n in count(1) if comparisons * 2 / 2**n < 0.05)


def check_domains(plotted: pd.DataFrame) -> Check:
    """Whether the figure notebook (``plotted``: ``model``, ``domain``, and ``drawn`` as yes or no) averages
    each model that it draws under the domain that the text gives it."""
    averaged = plotted[plotted["drawn"] == "yes"].drop_duplicates("model")
    in_figure = averaged.set_index("model")["domain"]
    in_text = models().set_index("model")["domain"].reindex(in_figure.index)
    same = int((in_figure == in_text).sum())
    return check_statement(
        "domains of the models in the figure notebook",
        "values are averaged across model domain",
        f"{out_of(same, len(in_text), str)} averaged models have the domain that Section 4.2.1 gives them",
        same == len(in_text),
    )


def check_differences(scores: pd.DataFrame, source: str) -> Check:
    """Whether no pair of categories differs, by each reading that is open: of the four domains, corrected for
    all pairs of all shares as in the figure notebook's call; and with clinical and radiology models as one
    category, as the text has them, corrected so or for the pairs of one share, as the caption may be read.

    A reading by which no scores could make a pair differ does not show that none does: where all are such,
    the check is inconclusive.
    """
    four, three = rank_tests(scores), rank_tests(merged(scores))
    readings = {
        f"four domains, {len(four)} pairs": _of_one_call(four),
        f"three categories, {len(three)} pairs": _of_one_call(three),
        "three categories, each share by itself": tuple(three[["p_bonferroni", "least_p"]].min()),
    }
    findings = [f"{name}: {p:.3f} (least possible {least:.3f})" for name, (p, least) in readings.items()]
    return check_statement(
        Key("no pair of categories differs", source),
        "no statistically significant pairwise differences",
        f"least corrected p by {'; '.join(findings)}",
        study.under_every([p >= 0.05 for p, _ in readings.values()])
        if any(least < 0.05 for _, least in readings.values())
        else None,
    )


def merged(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with clinical and radiology models as one domain."""
    return scores.assign(domain=scores["domain"].replace(SPECIAL, " and ".join(SPECIAL).lower()))


def _of_one_call(tests: pd.DataFrame) -> tuple[float, float]:
    """The least p-value of :func:`rank_tests`, corrected for all its pairs, and the least possible."""
    pairs = len(tests) // tests["labels"].nunique()
    return min(1.0, tests["p"].min() * len(tests)), min(1.0, (tests["least_p"] / pairs).min() * len(tests))


def draw_size(scores: pd.DataFrame, released: pd.DataFrame) -> Figure:
    """NLU score against size, with a ring where the authors' figure notebook (``released``, by model) puts
    each; lines join the sizes of one family."""
    fig, ax = plots.panels(1, 1, 6.8)
    for _, family in scores.groupby(scores["model"].map(models().set_index("model")["family"])):
        ax.plot(family["million parameters"], family["value"], color=plots.PALETTE[6], linewidth=1, zorder=3)
    markers = dict(zip(domains(), plots.MARKERS, strict=False))
    look = {"palette": colours(), "markers": markers, "s": 60, "ax": ax}
    sns.scatterplot(scores, x="million parameters", y="value", hue="domain", style="domain", **look)
    for model, x, y in scores[["model", "million parameters", "value"]].itertuples(index=False):
        plots.label_point(ax, model, (x, y), _LABELS.get(model, (9, 0)))
    rings = {"s": 130, "facecolors": "none", "edgecolors": plots.PALETTE[6], "linewidth": 1, "zorder": 4}
    ax.scatter(released["parameters"], released["NLU score"], **rings)
    ax.set(ylabel="NLU score (percent)", xlim=(-85, 505))
    ax.legend(title="pretrained on (colour, marker)", ncols=2, **_ABOVE)
    return fig


def draw_shares(scores: pd.DataFrame, released: pd.DataFrame) -> Axes:
    """Mean score by domain and share of labels, with the standard deviation over models, and as diamonds the
    means that the authors' figure notebook (``released``) gives."""
    places = {"x": "labels", "y": "value", "hue": "domain", "order": ORDER, "hue_order": domains()}
    bars = {"errorbar": "sd", "capsize": 0.15, "err_kws": {"linewidth": 1, "zorder": 4}}
    ax = sns.barplot(scores, palette=colours(), **places, **bars)
    hollow = {"markersize": 4, "markerfacecolor": "none"}  # bars and their intervals show through
    dots = {"errorbar": None, "linestyle": "none", "markers": "D", "dodge": 0.6, **hollow}
    sns.pointplot(released, palette=[plots.PALETTE[6]] * len(domains()), legend=False, **places, **dots)
    ax.set(xlabel="share of labels", ylabel="mean score (percent)")
    ax.legend(title="pretrained on (colour)", ncols=3, **_ABOVE)
    return ax
