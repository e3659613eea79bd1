"""Edits of public reports, and how far they lower the score of each metric.

A table of *losses* has one row per candidate: ``report``, ``edit``, and one column per metric with the drop
in its score (:func:`compute_losses`). All intervals are 95% intervals from a bootstrap over reports.
"""

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
from radeval_lib.stats.resampling import ratio_of_sums, sum_estimates
from radeval_lib.study.runs import Run

# Names of the edits of a denial.
LOST, SOME, NEIGHBOUR = "a “no” lost", "“no” becomes “some”", "1 word exchanged beside the “no”"
# Names of the edits that exchange one to three words for synonyms.
EXCHANGED = ("1 word exchanged", "2 words exchanged", "3 words exchanged")


def tabulate_pairs(records: Sequence[TextPair]) -> pd.DataFrame:
    """Return a table with one row per edited report.

    Columns are ``report`` (its number), ``edit`` (the name of the edit), ``reference`` (the unchanged text)
    and ``candidate`` (the edited text). ``records`` come from
    :func:`radeval_lib.data.report_edits.edit_reports`.
    """
    rows = [
        (int(record.case), record.group, reveal(record.reference), reveal(record.candidate))
        for record in records
    ]
    return pd.DataFrame(rows, columns=["report", "edit", "reference", "candidate"])


def compute_losses(metrics: Mapping[str, Metric], pairs: pd.DataFrame) -> pd.DataFrame:
    """Return how much lower each candidate scores than the unchanged report, whose edit is ``same``.

    ``pairs`` is the table of :func:`tabulate_pairs`. The result has one row per row of ``pairs``: ``report``,
    ``edit`` and one column per metric, in the metric's unit; a positive number is a drop. Every report in
    ``pairs`` must have a row with the edit ``same``.
    """
    scores = score_candidates(metrics, pairs["reference"], pairs["candidate"]).set_index(pairs.index)
    is_same = pairs["edit"] == "same"
    unchanged = scores[is_same].set_index(pairs.loc[is_same, "report"]).loc[pairs["report"]].to_numpy()
    return pd.concat([pairs[["report", "edit"]], unchanged - scores], axis=1)


def compute_costs(losses: pd.DataFrame, edits: Sequence[str], run: Run) -> pd.DataFrame:
    """Return the cost of each edit: its loss divided by the loss from an unrelated report.

    Both losses are summed over the reports that allow the edit.

    Returns
    -------
    DataFrame
        One row per metric and edit: ``metric``, ``edit``, ``value`` (the cost as a share), ``low`` and
        ``high`` (the bounds of its interval) and ``n`` (the number of reports). The value and the bounds are
        NaN if an unrelated report costs nothing.
    """
    wide = losses.pivot(index="report", columns="edit")
    rows = []
    for metric in wide.columns.unique(0):
        for edit in edits:
            paired = wide[metric][[edit, "another report"]].dropna()
            cost = divide_losses(paired[edit], paired["another report"], run, edit)
            rows.append((metric, edit, cost.value, cost.low, cost.high, len(paired)))
    return pd.DataFrame(rows, columns=["metric", "edit", "value", "low", "high", "n"])


def divide_losses(first: pd.Series, second: pd.Series, run: Run, name: str) -> Estimate:
    """Return the sum of ``first`` divided by the sum of ``second``, with its 95% interval.

    Both are losses indexed by report; a report counts only if it has a number in both. The value and the
    bounds of the interval are NaN if the second sum is not positive. ``name`` is the name of the random
    stream (``run.rng``).
    """
    paired = pd.concat([first, second], axis=1).dropna().to_numpy(np.float64)
    if paired[:, 1].sum() <= 0:
        return Estimate(np.nan, np.nan, np.nan)
    (estimate,) = sum_estimates(paired, ratio_of_sums, resamples=run.profile.resamples, rng=run.rng(name))
    return estimate


def compute_words_per_no(losses: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Return, for each metric, how many words exchanged for synonyms cost as much as one deleted “no”.

    Of the edits in :data:`EXCHANGED`, the one that exchanges the most words of a report is used. The loss per
    word is the sum of these losses divided by the number of words exchanged.

    Returns
    -------
    DataFrame
        One row per metric: ``value`` (number of words) with the bounds ``low`` and ``high``, and ``n``, the
        number of reports that allow both edits. The value is infinite if synonyms cost nothing; a bound is
        infinite or NaN if synonyms cost nothing in too many resamples.
    """
    wide = losses.pivot(index="report", columns="edit")
    rows = {}
    for metric in wide.columns.unique(0):
        exchanged = wide[metric][list(EXCHANGED)].set_axis([1.0, 2.0, 3.0], axis=1)
        word_counts = exchanged.notna().sum(axis=1)
        most_words = exchanged.ffill(axis=1).iloc[:, -1]
        paired = pd.concat([wide[metric][LOST], most_words, word_counts], axis=1).dropna().assign(reports=1.0)
        sums = paired.to_numpy(np.float64)
        (estimate,) = sum_estimates(sums, _count_words, resamples=run.profile.resamples, rng=run.rng("words"))
        rows[metric] = (estimate.value, estimate.low, estimate.high, len(sums))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high", "n"])


def _count_words(sums: FloatArray) -> FloatArray:
    """Return the mean loss from a deleted “no” divided by the mean loss from one exchanged word.

    The last axis of ``sums`` has four sums over reports: the loss from the deleted “no”, the loss from
    exchanged words, the number of these words, and the number of reports. The last axis of the result has
    length 1. A value is infinite if the loss from exchanged words is not positive.
    """
    no_loss, word_loss, words, reports = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(word_loss > 1e-9, no_loss / reports * words / word_loss, np.inf)[..., None]


def edit_sentences(sentences: Sequence[str], edits: Mapping[str, Edit]) -> pd.DataFrame:
    """Return the first sentence of a report that each edit changes, before and after the edit.

    Parameters
    ----------
    sentences : the sentences of the report.
    edits : a mapping from name to edit. Each edit must keep the order of sentences.

    Returns
    -------
    DataFrame
        One row per edit: ``edit`` (its name), ``before`` and ``after`` (the sentence, without its full stop).

    Raises
    ------
    StopIteration
        If an edit changes no sentence.
    """
    rows = []
    for name, edit in edits.items():
        edited = (edit(list(sentences), "") or "").split(". ")
        pairs = [(old.rstrip("."), new.rstrip(".")) for old, new in zip(sentences, edited, strict=False)]
        rows.append((name, *next(pair for pair in pairs if pair[0] != pair[1])))
    return pd.DataFrame(rows, columns=["edit", "before", "after"])


def draw_words_per_no(axes: Axes, table: pd.DataFrame) -> None:
    """Draw the values of :func:`compute_words_per_no` with their intervals, and a line at one word.

    The scale is logarithmic. All values and bounds must be finite.
    """
    plots.draw_intervals(axes, table, size=28)
    axes.axvline(1, color=plots.PALETTE[6], linewidth=1, linestyle=":")
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20], ["½", "1", "2", "5", "10", "20"])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("synonyms that cost as much as one deleted “no”")


def draw_costs(table: pd.DataFrame, n_harmless: int) -> None:
    """Draw costs, in percent, as a heat map of metrics (rows) and edits (columns).

    ``table`` has the costs as shares. Its first ``n_harmless`` columns are edits that keep the meaning: they
    are drawn in red, the others in blue, and a line separates the two groups.
    """
    _, axes = plots.panels(1, 1, 4.6)
    signs = np.where(np.arange(table.shape[1]) < n_harmless, -100, 100)
    percentages = (100 * table).map("{:z.0f}".format)
    colours = {"vmin": -50, "vmax": 50, "cmap": "RdBu"}
    plots.draw_heat_map(axes, signs * table, slant=35, annot=percentages, fmt="", **colours)
    axes.axvline(n_harmless, color="black", linewidth=2)
    axes.set(xlabel="", ylabel="")
