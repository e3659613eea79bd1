"""The page on calibration: average ranks within rounding, temperature scaling of classifiers, and figures."""

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

from notebooks.rales.scores import GENERAL, mann_whitney, read_models
from radeval_lib import plots, study
from radeval_lib.papers.printed_numbers import wide
from radeval_lib.stats import calibration
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.calibration import at_temperature, fit_temperature, resample_measures
from radeval_lib.stats.resampling import estimate
from radeval_lib.study.checks import Check

ARROWS = {"ECE": "lower", "SCE": "lower", "aPE": "lower", "WMC": "higher", "aKLU": "higher"}
"""For each metric of Table 7 whether a lower or a higher value is better, according to the printed arrows."""
_DIGITS = 9  # equal ends of neighbouring rounding intervals differ in later digits of binary floating point
REFITS = 100
"""The number of resamples of the validation documents; a temperature is fitted to each."""


def correlation_range(first: pd.DataFrame, second: pd.DataFrame) -> Estimate:
    """Return Pearson's correlation of two printed columns, with the range that their rounding allows.

    It is NaN if a column has equal numbers only.

    Parameters
    ----------
    first, second : frames of printed cells (columns ``value`` and ``half_width``), with the same rows in the
        same order, two at least.

    Notes
    -----
    The correlation is not monotone in the numbers, so its smallest and largest value are searched for by
    L-BFGS-B with the exact gradient. Each search starts at the printed numbers and at numbers near them,
    because the gradient is 0 if the printed points lie on a line.
    """
    values, steps = (
        np.array([first[column], second[column]], dtype=np.float64) for column in ("value", "half_width")
    )

    def signed_correlation(shifts: FloatArray, side: int) -> tuple[float, FloatArray]:
        """Return ``side`` times the correlation of the shifted columns, and its gradient. Shifts are in half
        units of the last printed digit, from -1 to 1."""
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
        """Return the smallest value of :func:`signed_correlation`."""
        settings = {"method": "L-BFGS-B", "jac": True, "bounds": box}
        return float(min(minimize(signed_correlation, start, (side,), **settings).fun for start in starts))

    return Estimate(signed_correlation(starts[0], 1)[0], least(1), -least(-1))


def split_outputs(outputs: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """Return logits, true classes and cases, in this order, from rows of the jobs' table ``outputs``.

    Logits are float64 of shape (documents, classes), from the columns ``c0``, ``c1``, ...; columns without
    any value belong to classes that the classifier lacks, and are left out. True classes are int64 of shape
    (documents,). Cases are a list of strings, one per document.
    """
    columns = [column for column in outputs if str(column)[0] == "c" and str(column)[1:].isdigit()]
    scores = outputs[columns].dropna(axis=1, how="all").to_numpy(np.float64)
    return scores, outputs["label"].to_numpy(np.int64), outputs["case"].astype(str).tolist()


def rank_range(low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest and the highest possible rank (1: the smallest) of each of n numbers that are known
    only to lie in intervals.

    ``low`` and ``high`` are the ends of the intervals, shape (n,). Intervals that only touch are disjoint.
    """
    bottom, top = (np.round(np.asarray(end, dtype=np.float64), _DIGITS) for end in (low, high))
    others = ~np.eye(len(bottom), dtype=bool)
    # The second condition excludes two equal exact numbers, each of which would be below the other.
    apart = (top[None, :] <= bottom[:, None]) & (
        (bottom[None, :] < bottom[:, None]) | (top[None, :] < top[:, None])
    )
    smaller = (apart & others).sum(axis=1)
    larger = (apart.T & others).sum(axis=1)
    return 1 + smaller.astype(np.int64), len(bottom) - larger.astype(np.int64)


def average_ranks(table7: pd.DataFrame, better: Mapping[str, str]) -> pd.DataFrame:
    """Return each model's average rank over metrics, with the range that the rounding of the metrics allows.

    Parameters
    ----------
    table7 : the printed cells of Table 7.
    better : for each metric to average, whether the ``lower`` or the ``higher`` value is better.

    Returns
    -------
    DataFrame
        Index: the models. ``low`` and ``high``, the range; ``middle``, the average rank of the numbers as
        printed, in which ties share their mean rank; ``printed``, the paper's average rank; and ``fits``,
        whether it lies in the range.
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


def try_directions(table7: pd.DataFrame, metrics: Sequence[str] = tuple(ARROWS)) -> pd.DataFrame:
    """Return how many printed average ranks are possible under each choice of the metrics' directions:
    whether a lower or a higher value is better.

    One row per choice, sorted from most possible ranks to fewest: a column per metric (``lower`` or
    ``higher``) and ``averages that fit``, the number of models whose printed average rank is possible.
    """
    choices = [
        dict(zip(metrics, ways, strict=True)) for ways in product(("lower", "higher"), repeat=len(metrics))
    ]
    rows = [{**way, "averages that fit": int(average_ranks(table7, way)["fits"].sum())} for way in choices]
    return pd.DataFrame(rows).sort_values("averages that fit", ascending=False, kind="stable")


def ranks_above(model: pd.Series, rival: pd.Series) -> bool | None:
    """Return whether a model's average rank is better (lower) than a rival's, from the ends ``low`` and
    ``high`` of both.

    True if it is better within all of the range, False if it is equal or worse, None if both are possible or
    an end is NaN.
    """
    room = rival["high"] - model["low"]
    return False if room <= 1e-9 else study.above(rival["low"] - model["high"], room)


def check_domains(name: str, ranks: pd.DataFrame) -> list[Check]:
    """Return the checks that biomedical models have a better average rank than general ones.

    Mann-Whitney tests over models and over means of families take the ranks that are best for biomedical and
    worst for general models, and the opposite. The lead has the largest p of these tests. It is 1 if they
    disagree on who leads, because ranks between the two extremes then show no difference.

    Parameters
    ----------
    name : the source of the ranks, which distinguishes the checks.
    ranks : ``low``, ``middle`` and ``high`` of each model's average rank.
    """
    domain = read_models()["domain"].reindex(ranks.index)
    biomedical, general = (ranks[domain == wanted] for wanted in ("Biomedical", GENERAL))
    ends = (("low", "high"), ("high", "low"))
    family = read_models()["family"].reindex(ranks.index)
    tests = pd.DataFrame(
        [mann_whitney(biomedical[end], general[other]) for end, other in ends]
        + [
            mann_whitney(
                *(of[end].groupby(family).mean() for of, end in zip((biomedical, general), pair, strict=True))
            )
            for pair in ends
        ]
    )
    ahead = np.sign(0.5 - tests["cles"])  # 1 if biomedical models have the lower ranks
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
    """Return the effect of temperature scaling on a classifier's test documents.

    The temperature is fitted on the validation documents.

    Parameters
    ----------
    outputs : the classifier's rows of the jobs' table of outputs.
    resamples : of the test documents.
    documents, refits : the random generators for resamples of the test documents, and of the validation
        documents, to which further temperatures are fitted.

    Returns
    -------
    Series
        ``temperature``; ``ECE before``, ``ECE after`` and their difference ``change`` (after minus before)
        with its 95% interval (``low``, ``high``) and ``p``, which cover both kinds of resamples; ``NLL
        before`` and ``NLL after``; and ``constant``, whether the classifier predicts one class for all test
        documents.
    """
    logits, labels, _ = split_outputs(outputs[outputs["split"] == "dev"])
    explained = calibration.has_finite_truth(logits, labels)
    kept, truth = logits[explained], labels[explained]
    fitted = fit_temperature(kept, truth)
    rows = refits.integers(len(kept), size=(REFITS, len(kept)))
    refitted = [fit_temperature(kept[row], truth[row]) for row in rows]
    logits, labels, cases = split_outputs(outputs[outputs["split"] == "test"])
    both = [at_temperature(logits, value) for value in (1.0, fitted)]
    before, after = resample_measures(both, labels, cases, resamples=resamples, rng=documents)
    errors = [
        calibration.expected_calibration_error(at_temperature(logits, value), labels) for value in refitted
    ]
    shifts = (np.array(errors) - after.observed["ECE"])[refits.integers(REFITS, size=resamples)]
    change = estimate(
        after.observed["ECE"] - before.observed["ECE"], after.values["ECE"] - before.values["ECE"] + shifts
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
    """Draw accuracy against confidence of a classifier's test documents before and after scaling by the
    ``fitted`` temperature: one dot per bin, whose size shows its share of the documents."""
    logits, labels, _ = split_outputs(outputs[outputs["split"] == "test"])
    figure, axes = plots.panels(1, 2, 3.4, sharey=True)
    for ax, (title, value) in zip(axes, {"before": 1.0, "after": fitted}.items(), strict=True):
        bins = calibration.reliability(at_temperature(logits, value), labels)
        ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1)
        ax.scatter(bins["confidence"], bins["accuracy"], s=300 * bins["count"] / bins["count"].sum() + 10)
        ax.set(title=title, xlabel="confidence", ylabel="accuracy" if title == "before" else "")
    return figure


def draw_aklu(table7: pd.DataFrame, top: float, labelled: Sequence[str]) -> Axes:
    """Draw printed aKLU against printed aPE, with the line of KL(p || U) and its maximum ``top`` (log 46).

    The models in ``labelled`` are named.
    """
    values = wide(table7, "model", "metric")
    _, ax = plots.panels(1, 1, 4.2)
    sns.scatterplot(values, x="aPE", y="aKLU", s=50, ax=ax)
    ends = np.array([0.95, 1.35])
    ax.plot(ends, top - ends, color=plots.PALETTE[1], label="log 46 − aPE")
    ax.axhline(top, color="#4D4D4D", linestyle="--", linewidth=1, label="log 46, the maximum of KL(p || U)")
    for model in labelled:
        plots.label_point(ax, str(model), tuple(values.loc[model, ["aPE", "aKLU"]]), (8, 4))
    ax.set(xlabel="aPE, as printed", ylabel="aKLU, as printed", xlim=(0.95, 1.35))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1))
    return ax


def draw_ranks(panels: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw printed average ranks and the ranges in which they should lie, one panel per table of
    :func:`average_ranks`; ``panels`` has the tables by their titles."""
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
