"""The page on RaLEs' understanding tasks: scores of encoders and their differences, with uncertainty.

``counts``, a table of the jobs, has one row per encoder, task, regime, draw, case, domain and part. The
bootstrap draws cases with replacement, the same for every encoder, and adds the variance between draws of
training records (:class:`radeval_lib.stats.resampling.Draws`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from notebooks.rales.fitting import encoder_title
from radeval_lib import plots
from radeval_lib.errors import ResultError
from radeval_lib.jobs.rales import RalesSettings
from radeval_lib.jobs.rales_tasks import BenchmarkTask, Column
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.measures import f1
from radeval_lib.stats.resampling import Draws, average_draws, estimate, percentile_ends, resample_models
from radeval_lib.study.jobs import JobOutput

SCORE = "NLU score"
REGIMES = {
    "all": "all labels",
    "tenth": "10 % of labels",
    "hundredth": "1 % of labels",
    "probe": "frozen encoder",
}
_STATISTICS = ["matched", "predicted", "gold"]


def join_job_tables(outputs: Sequence[JobOutput], name: str, settings: RalesSettings) -> pd.DataFrame:
    """Return the rows of all jobs' tables of this name, with a column ``encoder``, the title of the job's
    encoder.

    Jobs without this table, or with an empty one, are left out. The result has no rows or columns if no job
    is left.
    """
    present = [output for output in outputs if name in output.tables and len(output.tables[name])]
    encoders = [str(output.job.parameters["encoder"]) for output in present]
    frames = [
        output.tables[name].assign(encoder=encoder_title(encoder, settings.shallow_layers))
        for output, encoder in zip(present, encoders, strict=True)
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


@dataclass(frozen=True)
class PercentScores:
    """Scores of encoders in percent, with their draws.

    Attributes
    ----------
    encoders : the titles of the encoders.
    drawn : by column of scores, the draws of each encoder, in the order of ``encoders``.
    """

    encoders: tuple[str, ...]
    drawn: dict[str, list[Draws]]

    @property
    def observed(self) -> pd.DataFrame:
        """The scores of all test cases, in percent: one row per encoder and a column per column of scores."""
        values = {column: [draws.value[0] for draws in drawn] for column, drawn in self.drawn.items()}
        return pd.DataFrame(values, index=pd.Index(self.encoders, name="encoder"))

    def intervals(self) -> pd.DataFrame:
        """Return one row per encoder and column of scores: ``encoder``, ``column``, ``value``, ``low``,
        ``high`` (95% interval; all in percent)."""
        rows = [
            (encoder, column, draws.value[0], *percentile_ends(draws.total()[:, 0]).clip(0, 100))
            for column, drawn in self.drawn.items()
            for encoder, draws in zip(self.encoders, drawn, strict=True)
        ]
        return pd.DataFrame(rows, columns=["encoder", "column", "value", "low", "high"])

    def lead(self, first: str, second: str) -> Estimate:
        """Return the NLU score of one encoder minus that of another, in points, with interval and p."""
        first_drawn, second_drawn = (self.drawn[SCORE][self.encoders.index(name)] for name in (first, second))
        gap = first_drawn - second_drawn
        return estimate(float(gap.value[0]), gap.total()[:, 0])


def score_encoders(
    counts: pd.DataFrame,
    tasks: Sequence[BenchmarkTask],
    *,
    resamples: int,
    rng: Callable[[str], np.random.Generator],
) -> PercentScores:
    """Return the scores of all encoders in one regime: one column per score of a task, and the NLU score.

    The NLU score is the mean of all these columns (RaLEs, Section 4.2.2).

    Parameters
    ----------
    counts : the rows of one regime.
    tasks : the tasks to score, each with its columns.
    resamples : the number of resamples of the test cases.
    rng : returns the random generator of a stream, given the stream's name.
    """
    encoders = tuple(dict.fromkeys(counts["encoder"]))
    drawn: dict[str, list[Draws]] = {}
    for task in tasks:
        for column in task.columns:
            tables = _tables(counts[counts["task"] == task.name], column, encoders)
            # Columns of a domain share a stream, so entities and relations of a document are drawn together.
            drawn[column.name] = resample_models(
                tables,
                lambda sums: 100 * f1(sums)[..., None],
                resamples=resamples,
                rng=rng(f"{task.name} {column.domain}"),
            )
    drawn[SCORE] = [average_draws(draw_of) for draw_of in zip(*drawn.values(), strict=True)]
    return PercentScores(encoders, drawn)


def _tables(counts: pd.DataFrame, column: Column, encoders: Sequence[str]) -> list[FloatArray]:
    """Return one array per encoder with the counts from which a column of scores is computed.

    Its shape is (draws, cases, 3); the last dimension has matched, predicted and gold items. Raises
    ResultError if an encoder has no counts for the column.
    """
    rows = counts[counts["part"] == column.part].sort_values(["draw", "case"])
    if column.domain:
        rows = rows[rows["domain"] == column.domain]
    by_encoder = rows.groupby("encoder")
    if lacking := [encoder for encoder in encoders if encoder not in by_encoder.groups]:
        tested = f"{column.part} of {column.domain}" if column.domain else column.part
        raise ResultError(
            f"{column.name}: no {tested} was tested with {lacking[0]}",
            "rales/fitting",
            "Raise `test_documents` in the profile; 0 tests all records.",
        )
    return [
        by_encoder.get_group(encoder)[_STATISTICS].to_numpy(np.float64).reshape(-1, rows["case"].nunique(), 3)
        for encoder in encoders
    ]


def draw_regimes(by_regime: Mapping[str, PercentScores]) -> Figure:
    """Draw each encoder's NLU score with its interval, one panel per share of labels and one row per encoder.

    ``by_regime`` has the scores by the keys of :data:`REGIMES`; regimes that it lacks are left out.
    """
    shares = [name for name in ("hundredth", "tenth", "all") if name in by_regime]
    figure, axes = plots.panels(len(shares), 1, height=1.3, sharex=True, squeeze=False)
    for axis, name in zip(axes[:, 0], shares, strict=True):
        rows = by_regime[name].intervals()
        plots.draw_intervals(axis, rows[rows["column"] == SCORE].set_index("encoder"))
        axis.set_title(REGIMES[name])
    axes[-1, 0].set_xlabel("NLU score, %")
    return figure
