"""The page on procedure selection: what its printed tables imply, and a classifier's classes read fairly."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import precision_recall_fscore_support

from radeval_lib import plots
from radeval_lib.pages.rales.printed_scores import SETTINGS, models
from radeval_lib.papers.printed_numbers import printed
from radeval_lib.stats.printed import predictions_that_print
from radeval_lib.study.checks import Check, check_statement

_READ_N, _READ_F1 = 7, 0.1 + 1e-9
"""How closely the dots of Figure 5 can be read."""
_TICKS = [20, 50, 100, 200, 500, 1000, 2000, 5000]


def predicted_counts(by_class: pd.DataFrame) -> pd.DataFrame:
    """How often each class was predicted, by its printed precision, recall and ``N``.

    Returns
    -------
    DataFrame
        ``low`` and ``high`` of each class with a recall above 0; NaN where no whole numbers print both.
    """
    found = {}
    for name, row in by_class[by_class["recall"] > 0].iterrows():
        precision = 1.0 if row["precision"] == 1 else row["precision"] / 100  # a printed 1 means 100%
        ways = predictions_that_print(precision, row["recall"] / 100, int(row["N"]), 0.0005)
        found[name] = ways or (np.nan, np.nan)
    return pd.DataFrame.from_dict(found, orient="index", columns=["low", "high"])


def rows_near(dots: pd.DataFrame, by_class: pd.DataFrame) -> list[pd.Index]:
    """For each dot of Figure 5 (``reports``, ``f1``) the rows of Table 15 that it can be."""
    return [
        by_class.index[
            ((by_class["N"] - dot["reports"]).abs() <= _READ_N)
            & ((by_class["F1"] - dot["f1"]).abs() <= _READ_F1)
        ]
        for _, dot in dots.iterrows()
    ]


def mean_accuracy() -> pd.Series:
    """Mean of the column *Procedure* of Tables 3, 9, 10 and 11, by ``labels`` and ``domain``."""
    domain = models().set_index("model")["domain"]
    rows = pd.concat({labels: printed(table) for labels, (table, _) in SETTINGS.items()}, names=["labels"])
    rows = rows[(rows["task"] == "Procedure") & rows["value"].notna()].assign(
        domain=lambda t: t["model"].map(domain)
    )
    means: pd.Series = rows.groupby(["labels", "domain"])["value"].mean()
    return means


def check_examples(cases: pd.DataFrame, classes: Sequence[str]) -> list[Check]:
    """What the predictions of Table 14 say of themselves, and whether their procedures are ``classes``."""
    same = cases["reference"] == cases["predicted"]
    marked = (cases["correct"] == "yes") == same
    likelier = cases["P(predicted)"] >= cases["P(reference)"]
    together = cases[~same][["P(reference)", "P(predicted)"]].sum(axis=1).max()
    right, wrong = (cases[rows]["P(predicted)"].min() for rows in (same, ~same))
    named = {*cases["reference"], *cases["predicted"]}
    listed = len(named & set(classes))
    return [
        check_statement(
            "marked correct where reference and prediction are the same",
            "six marks",
            f"{marked.sum()} of {len(cases)}",
            marked.all(),
        ),
        check_statement(
            "the predicted class is the more probable",
            "a prediction is the most probable class",
            f"{likelier.sum()} of {len(cases)}; sum at most {together:.2f} in the wrong ones",
            likelier.all() and together <= 1.01,
        ),
        check_statement(
            "lowest confidence, right and wrong",
            "confidently correct and incorrect",
            f"right {right:.2f}, wrong {wrong:.2f}",
            min(right, wrong) >= 0.9,
        ),
        check_statement(
            "procedures of the examples in Table 15",
            "one of 46 titles",
            f"{listed} of {len(named)} names are rows there",
            listed == len(named),
        ),
    ]


def _report_axis(ax: Axes) -> None:
    """A logarithmic axis of test reports with round numbers."""
    ax.set(xscale="log", xlabel="test reports", xticks=_TICKS)
    ax.set_xticklabels([f"{tick:,}" for tick in _TICKS])
    ax.minorticks_off()


def draw_counts(counts: pd.Series) -> Figure:
    """Test reports of each procedure, in the order given."""
    fig, ax = plt.subplots(figsize=(plots.WIDTH, 7.5))
    sns.scatterplot(x=counts.to_numpy(), y=counts.index, s=30, ax=ax)
    _report_axis(ax)
    ax.set(ylabel="")
    ax.tick_params(axis="y", labelsize=7)
    ax.margins(y=0.01)
    return fig


def draw_rare(by_class: pd.DataFrame, labelled: pd.DataFrame) -> Axes:
    """F1 against number of test reports with both medians; the rows ``labelled`` bear their names."""
    ax = sns.scatterplot(by_class, x="N", y="F1", s=40)
    ax.axvline(by_class["N"].median(), color="#4D4D4D", linestyle="--", linewidth=1)
    ax.axhline(by_class["F1"].median(), color="#4D4D4D", linestyle="--", linewidth=1)
    for name, row in labelled.iterrows():
        ax.annotate(name, (row["N"], row["F1"]), xytext=(5, 4), textcoords="offset points", fontsize=7)
    _report_axis(ax)
    ax.set(ylabel="F1 (percent)", xlim=(15, 30_000), ylim=(-3, 100))
    return ax


def draw_shrunken(table: pd.DataFrame) -> Figure:
    """Recalls of :func:`by_class` as counted and shrunken, against the number of test documents."""
    fig, ax = plt.subplots(figsize=(plots.WIDTH, 3.6))
    ax.vlines(table["N"], table["recall"], table["recall, shrunken"], color="#B0B0B0", linewidth=1)
    ax.scatter(
        table["N"], table["recall"], facecolors="none", edgecolors=plots.PALETTE[0], label="as counted"
    )
    ax.scatter(table["N"], table["recall, shrunken"], s=25, color=plots.PALETTE[1], label="shrunken")
    ax.set(xscale="log", xlabel="test documents", ylabel="recall (percent)", ylim=(-5, 105))
    ax.legend()
    return fig


def by_class(labels: ArrayLike, predicted: ArrayLike, names: Sequence[str]) -> pd.DataFrame:
    """Precision, recall and F1 of each class that has test documents.

    Parameters
    ----------
    labels, predicted : int, shape (n,), places among ``names``.
    names : of the classes.

    Returns
    -------
    DataFrame
        Index ``procedure``, the most frequent first; ``N`` (int), ``precision``, ``recall``, ``F1`` and
        ``recall, shrunken`` (percent; a precision without predictions is 0).
    """
    truth = np.asarray(labels)
    found = precision_recall_fscore_support(
        truth, np.asarray(predicted), labels=range(len(names)), zero_division=0
    )
    table = pd.DataFrame(
        dict(zip(("precision", "recall", "F1", "N"), found, strict=True)),
        index=pd.Index(names, name="procedure"),
    )
    table = table[table["N"] > 0].sort_values("N", ascending=False, kind="stable")
    hits = (table["recall"] * table["N"]).round().to_numpy()
    table["recall, shrunken"] = shrunken(hits, table["N"].to_numpy())
    shares = ["precision", "recall", "F1", "recall, shrunken"]
    return table.assign(**{name: 100 * table[name] for name in shares})[["N", *shares]]


def shrunken(hits: ArrayLike, totals: ArrayLike) -> NDArray[np.float64]:
    """Shares drawn towards what all have in common, the more the fewer cases they rest on.

    The shares are taken as drawn from one beta distribution, fitted by maximum likelihood to the counts
    (empirical Bayes; Efron and Morris 1975 for the idea); each is replaced by its posterior mean.
    """
    k, n = np.asarray(hits, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    if (n < 1).any() or (k < 0).any() or (k > n).any():
        raise ValueError("hits must lie between 0 and the total, and every total above 0")

    def loss(given: NDArray[np.float64]) -> float:
        mean, strength = expit(given[0]), np.exp(given[1])
        return -float(stats.betabinom.logpmf(k, n, mean * strength, (1 - mean) * strength).sum())

    # Beyond these strengths the prior is one point, or none at all.
    best = minimize(loss, x0=[0.0, 1.0], bounds=[(-5, 5), (-2, 7)], method="L-BFGS-B")
    mean, strength = expit(best.x[0]), np.exp(best.x[1])
    result: NDArray[np.float64] = (k + mean * strength) / (n + strength)
    return result


def predictions(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64], names: Sequence[str], texts: Sequence[str]
) -> pd.DataFrame:
    """Documents as Table 14 shows them: text, reference and prediction with their probabilities.

    Parameters
    ----------
    probabilities : shape (documents, classes).
    labels : shape (documents,), places among ``names``.
    """
    return pd.DataFrame(
        {
            "reason for examination": texts,
            "reference": [names[place] for place in labels],
            "predicted": [names[place] for place in probabilities.argmax(axis=1)],
            "P(reference)": probabilities[np.arange(len(labels)), labels],
            "P(predicted)": probabilities.max(axis=1),
        }
    )


def confident(predictions: pd.DataFrame, right: bool, number: int = 3) -> pd.DataFrame:
    """The surest predictions that are right, or wrong.

    Parameters
    ----------
    predictions : one row a document, with ``reference``, ``predicted`` and ``P(predicted)``.
    right : which are wanted.
    number : how many at most.
    """
    rows = predictions[(predictions["reference"] == predictions["predicted"]) == right]
    return rows.sort_values("P(predicted)", ascending=False, kind="stable").head(number)
