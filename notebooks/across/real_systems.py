"""Stored scores of four published files of generated reports, each for the same studies of Open-i.

In every function here, ``table`` is the table of the stored set ``iu_systems``: one row per study and
system or baseline, with the columns of :func:`notebooks.storing.make_table`, the numbers of words in both
texts, and the scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from radeval_lib import plots
from radeval_lib.data import recorded
from radeval_lib.data.errors import DataError
from radeval_lib.data.recorded import Recording
from radeval_lib.errors import list_names
from radeval_lib.metrics.by_name import get
from radeval_lib.provenance import RECORDED_SCORES
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.resampling import ratio_of_sums, sum_estimates
from radeval_lib.study.runs import Run

NAME = "iu_systems"  # The stored set.


def open_recording(run: Run) -> Recording:
    """Return the stored set ``iu_systems`` and list its files in the page's provenance.

    Raises
    ------
    DataError
        If a file of the set is missing or has changed.
    """
    recording = recorded.load(NAME)
    for path in recorded.list_tables(NAME):
        run.inputs.note_file(RECORDED_SCORES, path)
    return recording


def select_system(table: pd.DataFrame, system: str) -> pd.DataFrame:
    """Return the rows of one system, sorted by study.

    Raises
    ------
    DataError
        If the table has no such system.
    """
    if (rows := table[table["system"] == system].sort_values("study")).empty:
        remedy = f"Use one of {list_names(table['system'].unique())}."
        raise DataError(f"no system {system!r}", "system", remedy)
    return rows


def compare_systems(table: pd.DataFrame, metric: str, pair: tuple[str, str], run: Run, name: str) -> Estimate:
    """Return the mean lead of the first system of a ``pair`` over the second, on the studies of both.

    The estimate is in the metric's unit and positive if the first system is better. Its 95% interval comes
    from a bootstrap over distinct references. ``name`` is the name of the random stream (``run.rng``).

    Raises
    ------
    DataError
        If the table lacks one of the systems.
    """
    leads = _compute_leads(table, metric, pair)
    sums = leads.groupby("case")["lead"].agg(["sum", "count"]).to_numpy(np.float64)
    (estimate,) = sum_estimates(sums, ratio_of_sums, resamples=run.profile.resamples, rng=run.rng(name))
    return estimate


def compare_groups(table: pd.DataFrame, metric: str, pair: tuple[str, str], run: Run, name: str) -> Estimate:
    """Return a system's lead on references without masked words minus its lead on those with masked words.

    The lead is that of :func:`compare_systems`. The 95% interval of the difference comes from a bootstrap
    over distinct references. ``name`` is the name of the random stream (``run.rng``).

    Raises
    ------
    DataError
        If the table lacks one of the systems.
    """
    leads = _compute_leads(table, metric, pair)
    leads["group"] = np.where(leads["masked"] == 0, "whole", "masked")
    sums = leads.pivot_table("lead", "case", "group", ["sum", "count"], fill_value=0)
    columns = [("sum", "whole"), ("count", "whole"), ("sum", "masked"), ("count", "masked")]
    (estimate,) = sum_estimates(
        sums[columns].to_numpy(np.float64),
        lambda total: (total[..., 0] / total[..., 1] - total[..., 2] / total[..., 3])[..., None],
        resamples=run.profile.resamples,
        rng=run.rng(name),
    )
    return estimate


def _compute_leads(table: pd.DataFrame, metric: str, pair: tuple[str, str]) -> pd.DataFrame:
    """Return the first system's rows, indexed by study, with its lead over the second system.

    The column ``lead`` is the difference of the scores, positive if the first system is better. Only studies
    of both systems are included.
    """
    first, second = (select_system(table, name).set_index("study") for name in pair)
    return first.assign(lead=get(metric).sign() * (first[metric] - second[metric])).dropna(subset="lead")


def count_named_findings(table: pd.DataFrame, system: str) -> NDArray[np.intp]:
    """Return, for each study, how many of the manually coded findings a system's text states.

    This book's rules read which findings the text states. The array has shape (studies,), with the studies
    sorted by number.

    Raises
    ------
    DataError
        If the table lacks the system.
    """
    rows = select_system(table, system)
    # Each set of findings is an integer, with one bit per finding.
    return np.array([int(code).bit_count() for code in rows["gold"] & rows["found"]])


def draw_texts(axes: Axes, table: pd.DataFrame, systems: Sequence[str]) -> None:
    """Draw one line per file: how many studies share each of its distinct texts, the most frequent text
    first, on logarithmic scales.

    ``systems`` are the files' names in the column ``system``; raises DataError if the table lacks one.
    """
    for number, system in enumerate(systems):
        counts = select_system(table, system)["text"].value_counts()
        axes.plot(
            range(1, len(counts) + 1),
            counts,
            color=plots.PALETTE[number],
            marker=plots.MARKERS[number],
            markevery=[0, len(counts) - 1],
            label=f"{system}, {len(counts)}",
        )
    axes.set(xscale="log", yscale="log", xlabel="distinct texts, most frequent first", ylabel="studies")
    for axis in (axes.xaxis, axes.yaxis):  # Exponents of powers of ten are too small to read on a phone.
        axis.set_major_formatter("{x:g}")
    axes.legend(title="file, distinct texts", fontsize=10.5)
