"""Stored scores of four published files of generated reports.

A ``table`` has a row per study and system, with the columns that :mod:`notebooks.storing`
describes.
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
from radeval_lib.errors import listed
from radeval_lib.metrics.by_name import get
from radeval_lib.provenance import RECORDED_SCORES
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.resampling import mean_of_sums, sum_estimates
from radeval_lib.study.runs import Run

NAME = "iu_systems"


def open_recording(run: Run) -> Recording:
    """Return the stored scores of the files, noted as read."""
    recording = recorded.load(NAME)
    for path in recorded.files(NAME):
        run.reading.note_file(RECORDED_SCORES, path)
    return recording


def of_system(table: pd.DataFrame, system: str) -> pd.DataFrame:
    """Return the rows of a system, in the order of studies; an unknown system is a DataError."""
    rows = table[table["system"] == system].sort_values("study")
    if rows.empty:
        raise DataError(f"no system {system!r}", "system", f"Use one of {listed(table['system'].unique())}.")
    return rows


def difference(table: pd.DataFrame, metric: str, pair: tuple[str, str], run: Run, name: str) -> Estimate:
    """Return the mean of the first system minus that of the second on the studies that both have, positive if
    the first is better, with an interval from resampling distinct references; ``name``: of the random
    stream."""
    apart = _apart(table, metric, pair)
    sums = apart.groupby("case")["apart"].agg(["sum", "count"]).to_numpy(np.float64)
    (estimate,) = sum_estimates(sums, mean_of_sums, resamples=run.profile.resamples, rng=run.rng(name))
    return estimate


def between_groups(table: pd.DataFrame, metric: str, pair: tuple[str, str], run: Run, name: str) -> Estimate:
    """Return the :func:`difference` on references without masked words minus that on the others."""
    apart = _apart(table, metric, pair)
    apart["group"] = np.where(apart["masked"] == 0, "whole", "masked")
    sums = apart.pivot_table("apart", "case", "group", ["sum", "count"], fill_value=0)
    columns = [("sum", "whole"), ("count", "whole"), ("sum", "masked"), ("count", "masked")]
    (estimate,) = sum_estimates(
        sums[columns].to_numpy(np.float64),
        lambda of: (of[..., 0] / of[..., 1] - of[..., 2] / of[..., 3])[..., None],
        resamples=run.profile.resamples,
        rng=run.rng(name),
    )
    return estimate


def _apart(table: pd.DataFrame, metric: str, pair: tuple[str, str]) -> pd.DataFrame:
    """Return the first system's rows by study, with ``apart``: its score minus the second's, positive if the
    first is better."""
    first, other = (of_system(table, name).set_index("study") for name in pair)
    return first.assign(apart=get(metric).sign() * (first[metric] - other[metric])).dropna(subset="apart")


def named_codes(table: pd.DataFrame, system: str) -> NDArray[np.intp]:
    """Return, for each study, how many of its codes a system's text states according to our rules."""
    both = of_system(table, system)["gold"] & of_system(table, system)["found"]
    return np.array([int(code).bit_count() for code in both])


def draw_texts(axes: Axes, table: pd.DataFrame, systems: Sequence[str]) -> None:
    """Draw one line per file: how many studies have each of its texts, the most frequent first."""
    for row, system in enumerate(systems):
        counts = of_system(table, system)["text"].value_counts()
        axes.plot(
            range(1, len(counts) + 1),
            counts,
            color=plots.PALETTE[row],
            marker=plots.MARKERS[row],
            markevery=[0, len(counts) - 1],
            label=f"{system}, {len(counts)}",
        )
    axes.set(xscale="log", yscale="log", xlabel="texts, the most frequent first", ylabel="studies")
    for axis in (axes.xaxis, axes.yaxis):  # powers of ten have exponents too small for a phone
        axis.set_major_formatter("{x:g}")
    axes.legend(title="file, distinct texts", fontsize=10.5)
