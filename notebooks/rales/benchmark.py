"""The page on the benchmark: scores with their uncertainty, and how sure their order is.

``counts`` has one row per encoder, task, regime, draw, case, domain and part, as the jobs leave them. A
resample draws cases with replacement, the same ones for every encoder; what other training records would do
is added (:class:`radeval_lib.stats.resampling.Draws`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from notebooks.rales.fitting import title
from radeval_lib import plots
from radeval_lib.errors import ResultError
from radeval_lib.jobs.rales import RalesSettings
from radeval_lib.jobs.rales_tasks import BenchmarkTask, Column
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.measures import f1
from radeval_lib.stats.resampling import Draws, draws, ends, estimate, mean_draws
from radeval_lib.study.jobs import JobOutput

SCORE = "NLU score"
REGIMES = {
    "all": "all labels",
    "tenth": "10 % of labels",
    "hundredth": "1 % of labels",
    "probe": "frozen encoder",
}
_STATISTICS = ["matched", "predicted", "gold"]


def table_of_cells(kept: Sequence[JobOutput], name: str, settings: RalesSettings) -> pd.DataFrame:
    """Return one table of all jobs, with the encoder's title in front; jobs without the table are left
    out."""
    present = [output for output in kept if name in output.tables and len(output.tables[name])]
    encoders = [str(output.job.parameters["encoder"]) for output in present]
    frames = [
        output.tables[name].assign(encoder=title(encoder, settings.shallow_layers))
        for output, encoder in zip(present, encoders, strict=True)
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


@dataclass(frozen=True)
class PercentScores:
    """Scores in percent: by column, what was drawn of each encoder."""

    encoders: tuple[str, ...]
    drawn: dict[str, list[Draws]]

    @property
    def observed(self) -> pd.DataFrame:
        """The scores themselves, one row per encoder."""
        values = {column: [draws.value[0] for draws in drawn] for column, drawn in self.drawn.items()}
        return pd.DataFrame(values, index=pd.Index(self.encoders, name="encoder"))

    def intervals(self) -> pd.DataFrame:
        """Return one row per encoder and column: ``encoder``, ``column``, ``value``, ``low``, ``high`` (95
        %)."""
        rows = [
            (encoder, column, draws.value[0], *ends(draws.total()[:, 0]).clip(0, 100))
            for column, drawn in self.drawn.items()
            for encoder, draws in zip(self.encoders, drawn, strict=True)
        ]
        return pd.DataFrame(rows, columns=["encoder", "column", "value", "low", "high"])

    def lead(self, first: str, second: str) -> Estimate:
        """Return how far the NLU score of the first is above that of the second, with a two-sided ``p``."""
        first_drawn, second_drawn = (self.drawn[SCORE][self.encoders.index(name)] for name in (first, second))
        gap = first_drawn - second_drawn
        return estimate(float(gap.value[0]), gap.total()[:, 0])


def scores(
    counts: pd.DataFrame,
    tasks: Sequence[BenchmarkTask],
    *,
    resamples: int,
    rng: Callable[[str], np.random.Generator],
) -> PercentScores:
    """Return scores of one regime by its ``counts``; the NLU score is the mean of all columns of the
    ``tasks`` (RaLEs, Section 4.2.2)."""
    encoders = tuple(dict.fromkeys(counts["encoder"]))
    drawn: dict[str, list[Draws]] = {}
    for task in tasks:
        for column in task.columns:
            tables = _tables(counts[counts["task"] == task.name], column, encoders)
            # A stream by domain: entities and relations of the same documents are drawn together.
            drawn[column.name] = draws(
                tables,
                lambda sums: 100 * f1(sums)[..., None],
                resamples=resamples,
                rng=rng(f"{task.name} {column.domain}"),
            )
    drawn[SCORE] = [mean_draws(draw_of) for draw_of in zip(*drawn.values(), strict=True)]
    return PercentScores(encoders, drawn)


def _tables(counts: pd.DataFrame, column: Column, encoders: Sequence[str]) -> list[FloatArray]:
    """Return the counts of each encoder, shape (draws, cases, 3); a :class:`ResultError` if one lacks
    them."""
    rows = counts[counts["part"] == column.part].sort_values(["draw", "case"])
    if column.domain:
        rows = rows[rows["domain"] == column.domain]
    by_encoder = rows.groupby("encoder")
    if lacking := [encoder for encoder in encoders if encoder not in by_encoder.groups]:
        asked = f"{column.part} of {column.domain}" if column.domain else column.part
        raise ResultError(
            f"{column.name}: no {asked} was tested with {lacking[0]}",
            "rales/fitting",
            "Have more records tested: `test_documents` in the profile, 0 for all.",
        )
    return [
        by_encoder.get_group(encoder)[_STATISTICS].to_numpy(np.float64).reshape(-1, rows["case"].nunique(), 3)
        for encoder in encoders
    ]


def draw_regimes(by_regime: Mapping[str, PercentScores]) -> Figure:
    """Draw the NLU score with its interval, one panel per share of labels and one row per encoder."""
    shares = [name for name in ("hundredth", "tenth", "all") if name in by_regime]
    figure, axes = plots.panels(len(shares), 1, height=1.3, sharex=True, squeeze=False)
    for axis, name in zip(axes[:, 0], shares, strict=True):
        rows = by_regime[name].intervals()
        plots.intervals(axis, rows[rows["column"] == SCORE].set_index("encoder"))
        axis.set_title(REGIMES[name])
    axes[-1, 0].set_xlabel("NLU score, %")
    return figure
