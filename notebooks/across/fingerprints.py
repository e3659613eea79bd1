"""What each metric notices: plain edits of public reports, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.data.records import TextPair
from radeval_lib.data.report_edits import Edit
from radeval_lib.data.restricted import reveal
from radeval_lib.jobs.oriented_scores import score_candidates
from radeval_lib.metrics.base import Metric
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.resampling import mean_of_sums, sum_estimates
from radeval_lib.study.runs import Run

LOST, SOME, BESIDE = "a “no” lost", "“no” becomes “some”", "1 word exchanged beside the “no”"
EXCHANGED = ("1 word exchanged", "2 words exchanged", "3 words exchanged")


def pairs(records: Sequence[TextPair]) -> pd.DataFrame:
    """Return edited reports as :func:`radeval_lib.data.report_edits.edit_reports` gives them: ``report``,
    ``edit``, ``reference``, ``candidate``."""
    rows = [
        (int(record.case), record.group, reveal(record.reference), reveal(record.candidate))
        for record in records
    ]
    return pd.DataFrame(rows, columns=["report", "edit", "reference", "candidate"])


def losses(metrics: Mapping[str, Metric], frame: pd.DataFrame) -> pd.DataFrame:
    """Return how far each candidate scores below the unchanged report (the edit ``same``), one column per
    metric, with ``report`` and ``edit``; ``frame``: from :func:`pairs`."""
    values = score_candidates(metrics, frame["reference"], frame["candidate"]).set_index(frame.index)
    same = frame["edit"] == "same"
    best = values[same].set_index(frame.loc[same, "report"]).loc[frame["report"]].to_numpy()
    return pd.concat([frame[["report", "edit"]], best - values], axis=1)


def costs(frame: pd.DataFrame, edits: Sequence[str], run: Run) -> pd.DataFrame:
    """Return the loss from each edit as a share of the loss from an unrelated report, on the same texts:
    ``metric``, ``edit``, ``value``, ``low``, ``high`` (reports resampled; NaN if an unrelated report costs
    nothing), ``n`` (reports).

    ``frame``: from :func:`losses`.
    """
    wide = frame.pivot(index="report", columns="edit")
    rows = []
    for metric in wide.columns.unique(0):
        for edit in edits:
            both = wide[metric][[edit, "another report"]].dropna()
            cost = ratio(both[edit], both["another report"], run, edit)
            rows.append((metric, edit, cost.value, cost.low, cost.high, len(both)))
    return pd.DataFrame(rows, columns=["metric", "edit", "value", "low", "high", "n"])


def ratio(first: pd.Series, second: pd.Series, run: Run, name: str) -> Estimate:
    """Return the sum of one loss divided by the sum of another on the reports that have both, with an
    interval from resampling reports; NaN if the second sum is not positive."""
    both = pd.concat([first, second], axis=1).dropna().to_numpy(np.float64)
    if both[:, 1].sum() <= 0:
        return Estimate(np.nan, np.nan, np.nan)
    (estimate,) = sum_estimates(both, mean_of_sums, resamples=run.profile.resamples, rng=run.rng(name))
    return estimate


def worth_in_words(frame: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Return how many exchanged words cost each metric as much as one lost “no”: ``value``, ``low``,
    ``high``, and ``n``, the reports that have a “no” to lose and a word to exchange.

    In each report, the edit that exchanges most words (:data:`EXCHANGED`) counts. The loss per word is the
    sum of these losses divided by the number of exchanged words. ``frame``: from :func:`losses`.
    """
    wide = frame.pivot(index="report", columns="edit")
    rows = {}
    for metric in wide.columns.unique(0):
        exchanged = wide[metric][list(EXCHANGED)].set_axis([1.0, 2.0, 3.0], axis=1)
        word_counts = exchanged.notna().sum(axis=1)
        most = exchanged.ffill(axis=1).iloc[:, -1]
        both = pd.concat([wide[metric][LOST], most, word_counts], axis=1).dropna().assign(reports=1.0)
        sums = both.to_numpy(np.float64)
        (estimate,) = sum_estimates(sums, _worth, resamples=run.profile.resamples, rng=run.rng("words"))
        rows[metric] = (estimate.value, estimate.low, estimate.high, len(sums))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high", "n"])


def _worth(sums: FloatArray) -> FloatArray:
    """Return words per “no” from sums over reports: the loss of a “no”, the loss of exchanged words, their
    number, and the number of reports. Infinite if exchanged words cost nothing."""
    lost, exchanged, words, reports = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(exchanged > 1e-9, lost / reports * words / exchanged, np.inf)[..., None]


def examples(parts: Sequence[str], edits: Mapping[str, Edit]) -> pd.DataFrame:
    """Return, for each edit of a report's sentences, the first sentence that it changes, before and after:
    ``edit``, ``before``, ``after``."""
    rows = []
    for name, edit in edits.items():
        changed = (edit(list(parts), "") or "").split(". ")
        first = next(
            pair for pair in zip(parts, changed, strict=False) if pair[0].rstrip(".") != pair[1].rstrip(".")
        )
        rows.append((name, first[0].rstrip("."), first[1].rstrip(".")))
    return pd.DataFrame(rows, columns=["edit", "before", "after"])


def draw_worth(axes: Axes, table: pd.DataFrame) -> None:
    """Draw how many exchanged words cost as much as one lost “no”, on a logarithmic scale, with a line at
    one."""
    plots.intervals(axes, table, size=28)
    axes.axvline(1, color=plots.PALETTE[6], linewidth=1, linestyle=":")
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20], ["½", "1", "2", "5", "10", "20"])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("synonyms that cost as much as one deleted “no”")


def heat_map(table: pd.DataFrame, harmless: int) -> None:
    """Draw costs in percent by metric (rows) and edit (columns): the first ``harmless`` edits in red, the
    others in blue."""
    _, axes = plots.panels(1, 1, 4.6)
    signs = np.where(np.arange(table.shape[1]) < harmless, -100, 100)
    numbers = (100 * table).map("{:z.0f}".format)
    colours = {"vmin": -50, "vmax": 50, "cmap": "RdBu"}
    plots.heat_map(axes, signs * table, slant=35, annot=numbers, fmt="", **colours)
    axes.axvline(harmless, color="black", linewidth=2)
    axes.set(xlabel="", ylabel="")
