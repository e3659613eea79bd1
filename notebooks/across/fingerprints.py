"""What each metric notices: plain edits of public reports, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.data.records import TextPair
from radeval_lib.data.restricted import reveal
from radeval_lib.jobs.storing.oriented_scores import scored
from radeval_lib.metrics.base import Metric
from radeval_lib.stats.resampling import mean_of_sums, sum_estimates
from radeval_lib.study.runs import Run
from radeval_lib.text_format import joined


def pairs(records: Sequence[TextPair]) -> pd.DataFrame:
    """Edited reports as :func:`radeval_lib.data.report_edits.edited` gives them: ``report``,
    ``edit``, ``reference``, ``candidate``."""
    rows = [(int(one.case), one.group, reveal(one.reference), reveal(one.candidate)) for one in records]
    return pd.DataFrame(rows, columns=["report", "edit", "reference", "candidate"])


def losses(metrics: Mapping[str, Metric], frame: pd.DataFrame) -> pd.DataFrame:
    """What each candidate scores below the text that is identical to its report (the edit ``same``), one
    column per metric, beside ``report`` and ``edit``; ``frame``: by :func:`pairs`."""
    values = scored(metrics, frame["reference"], frame["candidate"]).set_index(frame.index)
    same = frame["edit"] == "same"
    best = values[same].set_index(frame.loc[same, "report"]).loc[frame["report"]].to_numpy()
    return pd.concat([frame[["report", "edit"]], best - values], axis=1)


def costs(frame: pd.DataFrame, edits: Sequence[str], run: Run) -> pd.DataFrame:
    """What edits cost, as a share of what another report costs on the same texts: ``metric``, ``edit``,
    ``value``, ``low``, ``high`` (reports resampled; NaN where another report costs nothing), ``n`` (reports).

    ``frame``: by :func:`losses`.
    """
    wide = frame.pivot(index="report", columns="edit")
    rows = []
    for metric in wide.columns.unique(0):
        for edit in edits:
            sums = wide[metric][[edit, "another report"]].dropna().to_numpy(np.float64)
            if not len(sums):
                continue
            if sums[:, 1].sum() <= 0:
                rows.append((metric, edit, np.nan, np.nan, np.nan, len(sums)))
                continue
            (cost,) = sum_estimates(sums, mean_of_sums, resamples=run.profile.resamples, rng=run.rng(edit))
            rows.append((metric, edit, cost.value, cost.low, cost.high, len(sums)))
    return pd.DataFrame(rows, columns=["metric", "edit", "value", "low", "high", "n"])


def cheaper_on_the_same(frame: pd.DataFrame, edit: str, other: str, run: Run) -> tuple[list[str], int]:
    """The metrics that charge less for one edit than for another on the reports that allow both, beyond
    chance: the 95% interval of the difference lies below 0 (reports resampled); and how many reports do."""
    wide = frame.pivot(index="report", columns="edit")
    cheaper, reports = [], 0
    for metric in wide.columns.unique(0):
        both = wide[metric][[edit, other]].dropna()
        apart = np.column_stack([both[edit] - both[other], np.ones(len(both))])
        (gap,) = sum_estimates(
            apart, mean_of_sums, resamples=run.profile.resamples, rng=run.rng(f"{edit}, {other}")
        )
        if gap.high < 0:
            cheaper.append(str(metric))
        reports = max(reports, len(both))
    return cheaper, reports


def heat_map(axes: Axes, table: pd.DataFrame, harmless: int) -> None:
    """Costs in percent by metric (rows) and edit (columns), with a line after the harmless edits."""
    plots.heat_map(axes, 100 * table, slant=35, fmt="z.0f", vmin=0, vmax=100, cmap="Blues")
    axes.axvline(harmless, color=plots.PALETTE[1], linewidth=3)
    axes.set(xlabel="", ylabel="")


def how_many(names: Sequence[str], whole: int) -> str:
    """Which of so many metrics, in a sentence after one that names them all."""
    return joined(list(names)) or "none of them" if len(names) < whole else "all of them"
