"""The page on calibration: ranges of average ranks, temperature scaling of classifiers, and figures.

ECE and SCE are the expected and the static calibration error, aPE is the average predictive entropy, WMC the
weighted model confidence, and aKLU the average divergence from the uniform distribution
(:mod:`radeval_lib.stats.calibration`).
"""

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
"""Whether a ``lower`` or a ``higher`` value is better for each metric of Table 7, by the printed arrows."""
_DIGITS = 9  # in later digits, floating-point error can separate the equal ends of two rounding intervals
REFITS = 100
"""The number of resamples of the validation documents; a temperature is fitted to each resample."""


def bound_correlation(first: pd.DataFrame, second: pd.DataFrame) -> Estimate:
    """Return Pearson's correlation of two printed columns, with the range that their rounding allows.

    The correlation is NaN if all values of a column are equal.

    Parameters
    ----------
    first, second : the printed cells of each column (``value`` and ``half_width``), with the same rows in the
        same order, at least two.

    Notes
    -----
    The correlation is not monotone in the values, so L-BFGS-B searches for its minimum and maximum with the
    exact gradient. Each search starts both at the printed values and near them, because the gradient is 0 if
    the printed points are collinear.
    """
    values, half_widths = (
        np.array([first[column], second[column]], dtype=np.float64) for column in ("value", "half_width")
    )

    def correlate(shifts: FloatArray, sign: int) -> tuple[float, FloatArray]:
        """Return ``sign`` times the correlation of the shifted columns, and its gradient with respect to the
        shifts. A shift of 1 is half a unit of the last printed digit; shifts have shape (2 * rows,)."""
        columns = values + shifts.reshape(values.shape) * half_widths
        columns -= columns.mean(axis=1, keepdims=True)
        norms = np.sqrt((columns**2).sum(axis=1, keepdims=True))
        columns /= norms
        correlation = float(columns.prod(axis=0).sum())
        gradient = (columns[::-1] - correlation * columns) / norms * half_widths
        return sign * correlation, sign * gradient.ravel()

    bounds = [(-1, 1)] * values.size
    starts = np.zeros(values.size), np.resize([0.5, -0.5, -0.5], values.size)

    def minimize_correlation(sign: int) -> float:
        """Return the minimum of ``sign`` times the correlation over all shifts from -1 to 1."""
        options = {"method": "L-BFGS-B", "jac": True, "bounds": bounds}
        return float(min(minimize(correlate, start, (sign,), **options).fun for start in starts))

    return Estimate(correlate(starts[0], 1)[0], minimize_correlation(1), -minimize_correlation(-1))


def unpack_outputs(outputs: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.int64], list[str]]:
    """Return (logits, true classes, cases) from rows of the jobs' table ``outputs``, one row per document.

    Logits have shape (documents, classes) and come from the columns ``c0``, ``c1``, ...; columns without any
    value, which belong to classes that the classifier lacks, are left out. True classes have shape
    (documents,). Cases are a list with one string per document.
    """
    columns = [column for column in outputs if str(column)[0] == "c" and str(column)[1:].isdigit()]
    logits = outputs[columns].dropna(axis=1, how="all").to_numpy(np.float64)
    return logits, outputs["label"].to_numpy(np.int64), outputs["case"].astype(str).tolist()


def bound_ranks(low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest and the highest possible rank of each of n numbers of which only intervals are known.

    The smallest number has rank 1. ``low`` and ``high`` are the bounds of the intervals and have shape (n,),
    as do both arrays returned. Intervals that merely touch count as disjoint.
    """
    bottom, top = (np.round(np.asarray(bound, dtype=np.float64), _DIGITS) for bound in (low, high))
    distinct = ~np.eye(len(bottom), dtype=bool)
    # The second condition excludes two equal exact numbers, each of which would be above the other.
    is_above = (top[None, :] <= bottom[:, None]) & (
        (bottom[None, :] < bottom[:, None]) | (top[None, :] < top[:, None])
    )
    smaller = (is_above & distinct).sum(axis=1)
    larger = (is_above.T & distinct).sum(axis=1)
    return 1 + smaller.astype(np.int64), len(bottom) - larger.astype(np.int64)


def average_ranks(table7: pd.DataFrame, better: Mapping[str, str]) -> pd.DataFrame:
    """Return each model's average rank over metrics, with the range that the rounding of the metrics allows.

    Parameters
    ----------
    table7 : the printed cells of Table 7.
    better : a mapping from each metric to average to its better direction, ``lower`` or ``higher``.

    Returns
    -------
    DataFrame
        One row per model, indexed by model. Columns are ``low`` and ``high``, the range; ``middle``, the
        average rank of the printed values, in which ties share their mean rank; ``printed``, the paper's
        average rank; and ``fits``, whether the paper's average rank is within the range.
    """
    printed = table7[table7["metric"] == "average rank"].set_index("model")["value"]
    ranks = []
    for metric, direction in better.items():
        cells = table7[table7["metric"] == metric].set_index("model").loc[printed.index]
        value = cells["value"].to_numpy() * {"lower": 1, "higher": -1}[direction]
        half_width = cells["half_width"].to_numpy()
        ranks.append((*bound_ranks(value - half_width, value + half_width), rankdata(value)))
    frame = pd.DataFrame(np.mean(ranks, axis=0).T, index=printed.index, columns=["low", "high", "middle"])
    fits = printed.between(frame["low"] - 1e-9, frame["high"] + 1e-9)
    return frame.assign(printed=printed, fits=fits)


def try_directions(table7: pd.DataFrame, metrics: Sequence[str] = tuple(ARROWS)) -> pd.DataFrame:
    """Return how many printed average ranks are possible under each choice of the metrics' directions.

    A metric's direction says whether a lower or a higher value is better. The result has one row per choice,
    with the most possible ranks first. It has one column per metric (``lower`` or ``higher``), and ``averages
    that fit``, the number of models whose printed average rank is possible.
    """
    ways = product(("lower", "higher"), repeat=len(metrics))
    choices = [dict(zip(metrics, directions, strict=True)) for directions in ways]
    fits = [int(average_ranks(table7, choice)["fits"].sum()) for choice in choices]
    frame = pd.DataFrame(choices).assign(**{"averages that fit": fits})
    return frame.sort_values("averages that fit", ascending=False, kind="stable")


def ranks_above(model: pd.Series, rival: pd.Series) -> bool | None:
    """Return whether a model's average rank is better (lower) than a rival's.

    Each rank is given as the bounds ``low`` and ``high`` of its range. The result is True if the rank is
    better throughout both ranges, False if it is never better, and None otherwise or if a bound is NaN.
    """
    largest_lead = rival["high"] - model["low"]
    return False if largest_lead <= 1e-9 else study.above(rival["low"] - model["high"], largest_lead)


def check_domains(name: str, ranks: pd.DataFrame) -> list[Check]:
    """Return the checks that biomedical models have a better average rank than general ones.

    Mann-Whitney tests compare models, and means of families, once at the best possible ranks of biomedical
    models and the worst of general ones, and once at the opposite extremes. The lead has the largest p-value
    of these tests; if the tests disagree on which group leads, its p-value is 1, because some ranks between
    the extremes then show no difference.

    Parameters
    ----------
    name : the source of the ranks, which distinguishes the checks.
    ranks : one row per model, with ``low``, ``middle`` and ``high`` of its average rank.
    """
    domain = read_models()["domain"].reindex(ranks.index)
    biomedical, general = (ranks[domain == label] for label in ("Biomedical", GENERAL))
    extremes = (("low", "high"), ("high", "low"))
    family = read_models()["family"].reindex(ranks.index)
    tests = pd.DataFrame(
        [mann_whitney(biomedical[bound], general[opposite]) for bound, opposite in extremes]
        + [
            mann_whitney(biomedical[bound].groupby(family).mean(), general[opposite].groupby(family).mean())
            for bound, opposite in extremes
        ]
    )
    leader = np.sign(0.5 - tests["cles"])  # 1 if biomedical models have the lower ranks
    p = tests["p"].max() if leader.nunique() == 1 else 1.0
    return study.check_superiority(
        study.Key("biomedical over general models", name),
        "general domain models have inferior performance",
        {"biomedical": biomedical["middle"].mean(), "general": general["middle"].mean()},
        first="biomedical",
        leads=study.Lead.by_p(leader.mean(), p, "Mann-Whitney over models and over families, the larger"),
        lower_is_better=True,
        decimals=2,
    )


def measure_scaling_effect(
    outputs: pd.DataFrame, *, resamples: int, documents: np.random.Generator, refits: np.random.Generator
) -> pd.Series:
    """Return the effect of temperature scaling on a classifier's calibration on the test documents.

    The temperature is fitted to the validation documents, except those with a true class that the classifier
    lacks.

    Parameters
    ----------
    outputs : the classifier's rows of the jobs' table ``outputs``.
    resamples : the number of resamples of the test documents.
    documents : the generator of these resamples.
    refits : the generator of :data:`REFITS` resamples of the validation documents, to each of which another
        temperature is fitted.

    Returns
    -------
    Series
        ``temperature``; ``ECE before``, ``ECE after``, and their difference ``change`` (after minus before)
        with the bounds ``low`` and ``high`` of its 95% confidence interval and its p-value ``p``, both over
        resamples of test and of validation documents; ``NLL before`` and ``NLL after`` (the negative
        log-likelihood); and ``constant``, whether the classifier predicts the same class for all test
        documents.

    Raises
    ------
    ValueError
        If no validation document is left to which a temperature can be fitted.
    """
    logits, labels, _ = unpack_outputs(outputs[outputs["split"] == "dev"])
    is_finite = calibration.has_finite_truth(logits, labels)
    kept_logits, kept_labels = logits[is_finite], labels[is_finite]
    fitted = fit_temperature(kept_logits, kept_labels)
    samples = refits.integers(len(kept_logits), size=(REFITS, len(kept_logits)))
    refitted = [fit_temperature(kept_logits[rows], kept_labels[rows]) for rows in samples]
    logits, labels, cases = unpack_outputs(outputs[outputs["split"] == "test"])
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
    """Draw accuracy against confidence on test documents, before and after temperature scaling.

    Each dot is a bin, and its size shows the bin's share of the documents. ``outputs`` has the classifier's
    rows of the jobs' table ``outputs``; ``fitted`` is the temperature.
    """
    logits, labels, _ = unpack_outputs(outputs[outputs["split"] == "test"])
    figure, axes = plots.panels(1, 2, 3.4, sharey=True)
    for ax, (title, value) in zip(axes, {"before": 1.0, "after": fitted}.items(), strict=True):
        bins = calibration.reliability(at_temperature(logits, value), labels)
        ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1)
        ax.scatter(bins["confidence"], bins["accuracy"], s=300 * bins["count"] / bins["count"].sum() + 10)
        ax.set(title=title, xlabel="confidence", ylabel="accuracy" if title == "before" else "")
    return figure


def draw_aklu(table7: pd.DataFrame, top: float, labelled: Sequence[str]) -> Axes:
    """Draw printed aKLU against printed aPE, with the line of KL(p || U) and its maximum ``top`` (log 46).

    ``table7`` has the printed cells of Table 7; the models in ``labelled`` are labelled in the figure.
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
    """Draw printed average ranks and their possible ranges, one panel per table of :func:`average_ranks`.

    ``panels`` is a mapping from each panel's title to its table.
    """
    fig, axes = plots.panels(1, len(panels), 5.4, sharey=True)
    for ax, (title, frame) in zip(axes, panels.items(), strict=True):
        bars = {"color": plots.PALETTE[6], "alpha": 0.2, "height": 0.7, "linewidth": 0}
        ax.barh(frame.index, frame["high"] - frame["low"], left=frame["low"], **bars)
        for fits, label, marker in ((True, "inside the range", "o"), (False, "outside", "X")):
            dots = frame.loc[frame["fits"] == fits, "printed"]
            colour = plots.PALETTE[0 if fits else 1]
            ax.scatter(dots, dots.index, color=colour, marker=marker, s=40, label=label, zorder=3)
        ax.set_title(title, fontsize=11)
        ax.set(xlabel="average rank", xlim=(4, 14))
    axes[0].invert_yaxis()
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside lower center", ncols=2, title="printed average rank")
    return fig
