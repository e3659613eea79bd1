"""The page on calibration: average ranks within rounding, temperature scaling of classifiers, its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.stats import rankdata

from notebooks.rales.scores import GENERAL, mann_whitney, models
from radeval_lib import plots, study
from radeval_lib.papers.printed_numbers import wide
from radeval_lib.stats import calibration
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.calibration import at_temperature, fit_temperature, resample
from radeval_lib.stats.resampling import estimate
from radeval_lib.study.checks import Check

ARROWS = {"ECE": "lower", "SCE": "lower", "aPE": "lower", "WMC": "higher", "aKLU": "higher"}
"""Which way is better, by the arrows in the head of Table 7."""
_DIGITS = 9  # ends of neighbouring rounding intervals are equal on paper but not in binary floating point
REFITS = 100
"""Resamples of the validation documents, in each of which a temperature is fitted."""


def correlation_range(first: pd.DataFrame, second: pd.DataFrame) -> Estimate:
    """Return Pearson's correlation of two printed columns, and its range over all columns that round to them.

    Parameters
    ----------
    first, second : frames of printed cells (columns ``value`` and ``half_width``), with the same rows in the
        same order, two at least. A column of equal numbers gives NaN.

    Notes
    -----
    Correlations are not monotone in their inputs, so the ends are searched for, by L-BFGS-B with the exact
    gradient: from the printed values, and from beside them, since columns on a line have no gradient.
    """
    values, steps = (
        np.array([first[column], second[column]], dtype=np.float64) for column in ("value", "half_width")
    )

    def moved(shifts: FloatArray, side: int) -> tuple[float, FloatArray]:
        columns = values + shifts.reshape(values.shape) * steps
        columns -= columns.mean(axis=1, keepdims=True)
        norms = np.sqrt((columns**2).sum(axis=1, keepdims=True))
        columns /= norms
        correlation = float(columns.prod(axis=0).sum())
        slopes = (columns[::-1] - correlation * columns) / norms * steps
        return side * correlation, side * slopes.ravel()

    box = [(-1, 1)] * values.size
    starts = np.zeros(values.size), np.resize([0.5, -0.5, -0.5], values.size)

    def least(side: int) -> float:
        fits = (minimize(moved, start, (side,), "L-BFGS-B", jac=True, bounds=box) for start in starts)
        return float(min(fit.fun for fit in fits))

    return Estimate(moved(starts[0], 1)[0], least(1), -least(-1))


def logits_of(outputs: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """Return scores, shape (documents, classes), labels and cases of rows of ``outputs``."""
    columns = [column for column in outputs if str(column)[0] == "c" and str(column)[1:].isdigit()]
    scores = outputs[columns].dropna(axis=1, how="all").to_numpy(np.float64)
    return scores, outputs["label"].to_numpy(np.int64), outputs["case"].astype(str).tolist()


def rank_range(low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest and highest rank (1: the smallest) of n numbers that lie in intervals, from arrays of
    shape (n,) with low <= high; intervals that only touch count as disjoint."""
    bottom, top = (np.round(np.asarray(end, dtype=np.float64), _DIGITS) for end in (low, high))
    others = ~np.eye(len(bottom), dtype=bool)
    # An exact number must not come out both below and above another exact number of the same value.
    apart = (top[None, :] <= bottom[:, None]) & (
        (bottom[None, :] < bottom[:, None]) | (top[None, :] < top[:, None])
    )
    smaller = (apart & others).sum(axis=1)
    larger = (apart.T & others).sum(axis=1)
    return 1 + smaller.astype(np.int64), len(bottom) - larger.astype(np.int64)


def average_ranks(table7: pd.DataFrame, better: Mapping[str, str]) -> pd.DataFrame:
    """Return the interval of each model's average rank that the rounding of the metrics leaves: ``low``,
    ``high``, ``middle`` (ties share their mean rank), the ``printed`` average, and whether it ``fits``.

    ``better`` is ``lower`` or ``higher`` for each metric that is averaged.
    """
    printed = table7[table7["metric"] == "average rank"].set_index("model")["value"]
    ranks = []
    for metric, way in better.items():
        cells = table7[table7["metric"] == metric].set_index("model").loc[printed.index]
        centre = cells["value"].to_numpy() * {"lower": 1, "higher": -1}[way]
        half = cells["half_width"].to_numpy()
        ranks.append((*rank_range(centre - half, centre + half), rankdata(centre)))
    frame = pd.DataFrame(np.mean(ranks, axis=0).T, index=printed.index, columns=["low", "high", "middle"])
    fits = printed.between(frame["low"] - 1e-9, frame["high"] + 1e-9)
    return frame.assign(printed=printed, fits=fits)


def directions(table7: pd.DataFrame, metrics: Sequence[str] = tuple(ARROWS)) -> pd.DataFrame:
    """Return every choice of which way is better on the metrics, with how many printed averages fit it, those
    first that fit most."""
    choices = [
        dict(zip(metrics, ways, strict=True)) for ways in product(("lower", "higher"), repeat=len(metrics))
    ]
    rows = [{**way, "averages that fit": int(average_ranks(table7, way)["fits"].sum())} for way in choices]
    return pd.DataFrame(rows).sort_values("averages that fit", ascending=False, kind="stable")


def ranks_above(model: pd.Series, rival: pd.Series) -> bool | None:
    """Return whether a model's average rank is better than a rival's, each between ``low`` and ``high``: None
    if these allow both or are not known, and False if they allow a shared rank at best."""
    room = rival["high"] - model["low"]
    return False if room <= 1e-9 else study.above(rival["low"] - model["high"], room)


def check_domains(name: str, ranks: pd.DataFrame) -> list[Check]:
    """Check that biomedical models have a better average rank than general ones, by tests over models and
    over the means of families.

    ``ranks`` has ``low``, ``middle`` and ``high`` of each model. Tests are made of the ranks that are best
    for biomedical models and worst for general ones, and of the opposite; p is the largest, and 1 if not all
    lead the same way, since ranks between these show no difference.
    """
    domain = models()["domain"].reindex(ranks.index)
    biomedical, general = (ranks[domain == wanted] for wanted in ("Biomedical", GENERAL))
    ends = (("low", "high"), ("high", "low"))
    family = models()["family"].reindex(ranks.index)
    tests = pd.DataFrame(
        [mann_whitney(biomedical[end], general[other]) for end, other in ends]
        + [
            mann_whitney(
                *(of[end].groupby(family).mean() for of, end in zip((biomedical, general), pair, strict=True))
            )
            for pair in ends
        ]
    )
    ahead = np.sign(0.5 - tests["cles"])  # 1: biomedical ranks are the lower ones
    p = tests["p"].max() if ahead.nunique() == 1 else 1.0
    return study.check_superiority(
        study.Key("biomedical over general models", name),
        "general domain models have inferior performance",
        {"biomedical": biomedical["middle"].mean(), "general": general["middle"].mean()},
        first="biomedical",
        leads=study.Lead.by_p(ahead.mean(), p, "Mann-Whitney over models and over families, the larger"),
        lower_is_better=True,
        decimals=2,
    )


def temperature_effect(
    outputs: pd.DataFrame, *, resamples: int, documents: np.random.Generator, refits: np.random.Generator
) -> pd.Series:
    """Return what changes with temperature scaling, fitted on a classifier's validation documents, on its
    test documents.

    Parameters
    ----------
    documents, refits : draw other test documents, and the validation documents of other temperatures.

    Returns
    -------
    Series
        ``temperature``; ``ECE before``, ``ECE after`` and their ``change`` with its 95 % interval (``low``,
        ``high``) and ``p``, which allow for both kinds of draws; ``NLL before`` and ``NLL after``; and
        ``constant``, whether it names one class for every document, so that it has learned nothing.
    """
    logits, labels, _ = logits_of(outputs[outputs["split"] == "dev"])
    explained = calibration.has_finite_truth(logits, labels)
    kept, truth = logits[explained], labels[explained]
    fitted = fit_temperature(kept, truth)
    others = [
        fit_temperature(kept[r], truth[r]) for r in refits.integers(len(kept), size=(REFITS, len(kept)))
    ]
    logits, labels, cases = logits_of(outputs[outputs["split"] == "test"])
    both = [at_temperature(logits, value) for value in (1.0, fitted)]
    before, after = resample(both, labels, cases, resamples=resamples, rng=documents)
    elsewhere = [
        calibration.expected_calibration_error(at_temperature(logits, value), labels) for value in others
    ]
    moved = (np.array(elsewhere) - after.observed["ECE"])[refits.integers(REFITS, size=resamples)]
    change = estimate(
        after.observed["ECE"] - before.observed["ECE"], after.values["ECE"] - before.values["ECE"] + moved
    )
    return pd.Series(
        {
            "temperature": fitted,
            "ECE before": before.observed["ECE"],
            "ECE after": after.observed["ECE"],
            "change": change.value,
            "low": change.low,
            "high": change.high,
            "p": change.p,
            "NLL before": before.observed["NLL"],
            "NLL after": after.observed["NLL"],
            "constant": len(np.unique(logits.argmax(axis=1))) == 1,
        }
    )


def draw_reliability(outputs: pd.DataFrame, fitted: float) -> Figure:
    """Draw accuracy against confidence of a classifier's test documents before and after scaling by a
    temperature, each dot as large as its share of documents."""
    logits, labels, _ = logits_of(outputs[outputs["split"] == "test"])
    figure, axes = plots.panels(1, 2, 3.4, sharey=True)
    for ax, (title, value) in zip(axes, {"before": 1.0, "after": fitted}.items(), strict=True):
        bins = calibration.reliability(at_temperature(logits, value), labels)
        ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1)
        ax.scatter(bins["confidence"], bins["accuracy"], s=300 * bins["count"] / bins["count"].sum() + 10)
        ax.set(title=title, xlabel="confidence", ylabel="accuracy" if title == "before" else "")
    return figure


def draw_aklu(table7: pd.DataFrame, most: float, labelled: Sequence[str]) -> Axes:
    """Draw printed aKLU against printed aPE, with the line of KL(p || U) and its maximum ``most``."""
    values = wide(table7, "model", "metric")
    _, ax = plots.panels(1, 1, 4.2)
    sns.scatterplot(values, x="aPE", y="aKLU", s=50, ax=ax)
    ends = np.array([0.95, 1.35])
    ax.plot(ends, most - ends, color=plots.PALETTE[1], label="log 46 − aPE")
    ax.axhline(most, color="#4D4D4D", linestyle="--", linewidth=1, label="log 46, the maximum of KL(p || U)")
    for model in labelled:
        plots.label_point(ax, str(model), tuple(values.loc[model, ["aPE", "aKLU"]]), (8, 4))
    ax.set(xlabel="aPE, as printed", ylabel="aKLU, as printed", xlim=(0.95, 1.35))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1))
    return ax


def draw_ranks(panels: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw printed average ranks and the intervals in which they should lie, one panel per table of
    :func:`average_ranks`, by title."""
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
