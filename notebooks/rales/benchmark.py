"""The page on RaLEs' understanding tasks: scores of encoders and their differences, with uncertainty.

The jobs' table ``counts`` has one row per encoder, task, regime, draw, case, domain and part. The bootstrap
draws cases with replacement, the same cases for every encoder, and adds the variance between draws of
training records (:class:`radeval_lib.stats.resampling.Draws`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from notebooks.rales.fitting import format_encoder_title
from radeval_lib import plots
from radeval_lib.errors import ResultError
from radeval_lib.jobs.rales import RalesSettings
from radeval_lib.jobs.rales_tasks import BenchmarkTask, Column
from radeval_lib.stats.base import Estimate, FloatArray
from radeval_lib.stats.measures import f1
from radeval_lib.stats.resampling import Draws, average_draws, estimate, percentile_ends, resample_models
from radeval_lib.study.jobs import JobOutput

SCORE = "NLU score"
# The regimes in which encoders are fitted, with their titles.
REGIMES = {
    "all": "all labels",
    "tenth": "10 % of labels",
    "hundredth": "1 % of labels",
    "probe": "frozen encoder",
}
_COUNTS = ["matched", "predicted", "gold"]


def concatenate_job_tables(outputs: Sequence[JobOutput], name: str, settings: RalesSettings) -> pd.DataFrame:
    """Concatenate the jobs' tables called ``name``, and add the column ``encoder`` with the encoders' titles.

    Jobs in which the table is missing or empty are left out. If no job remains, the DataFrame has neither
    rows nor columns. ``settings`` has the number of layers that the titles of shallow encoders give.
    """
    filled = [output for output in outputs if name in output.tables and len(output.tables[name])]
    encoders = [str(output.job.parameters["encoder"]) for output in filled]
    frames = [
        output.tables[name].assign(encoder=format_encoder_title(encoder, settings.shallow_layers))
        for output, encoder in zip(filled, encoders, strict=True)
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


@dataclass(frozen=True)
class PercentScores:
    """Scores of encoders in percent, with their bootstrap draws.

    Attributes
    ----------
    encoders : the titles of the encoders.
    draws : a mapping from score name to the draws of each encoder, in the order of ``encoders``.
    """

    encoders: tuple[str, ...]
    draws: dict[str, list[Draws]]

    @property
    def observed(self) -> pd.DataFrame:
        """The scores on all test cases, in percent, with one row per encoder and one column per score."""
        values = {name: [draws.value[0] for draws in by_encoder] for name, by_encoder in self.draws.items()}
        return pd.DataFrame(values, index=pd.Index(self.encoders, name="encoder"))

    def intervals(self) -> pd.DataFrame:
        """Return one row per encoder and score, with the bounds of the score's 95% confidence interval.

        Columns are ``encoder``, ``column`` (the score's name), ``value``, ``low`` and ``high`` (percent).
        """
        rows = [
            (encoder, name, draws.value[0], *percentile_ends(draws.total()[:, 0]).clip(0, 100))
            for name, by_encoder in self.draws.items()
            for encoder, draws in zip(self.encoders, by_encoder, strict=True)
        ]
        return pd.DataFrame(rows, columns=["encoder", "column", "value", "low", "high"])

    def estimate_lead(self, first: str, second: str) -> Estimate:
        """Return the NLU score of ``first`` minus that of ``second``, in percentage points.

        Both are titles of encoders. The estimate has a 95% confidence interval and a p-value.
        """
        minuend, subtrahend = (self.draws[SCORE][self.encoders.index(name)] for name in (first, second))
        gap = minuend - subtrahend
        return estimate(float(gap.value[0]), gap.total()[:, 0])


def score_encoders(
    counts: pd.DataFrame,
    tasks: Sequence[BenchmarkTask],
    *,
    resamples: int,
    rng: Callable[[str], np.random.Generator],
) -> PercentScores:
    """Return the scores of all encoders in one regime: the scores of each task, and the NLU score.

    The NLU score is the mean of the tasks' scores (RaLEs, Section 4.2.2).

    Parameters
    ----------
    counts : the rows of one regime in the jobs' table ``counts``.
    tasks : the tasks to score, each with the columns that define its scores.
    resamples : the number of resamples of the test cases.
    rng : a function from the name of a random stream to its generator.

    Raises
    ------
    ResultError
        If an encoder has no counts for a score.
    """
    encoders = tuple(dict.fromkeys(counts["encoder"]))
    draws: dict[str, list[Draws]] = {}
    for task in tasks:
        for column in task.columns:
            by_encoder = _arrange_counts(counts[counts["task"] == task.name], column, encoders)
            # Columns of a domain share a stream, so entities and relations of a document are drawn together.
            draws[column.name] = resample_models(
                by_encoder,
                lambda sums: 100 * f1(sums)[..., None],
                resamples=resamples,
                rng=rng(f"{task.name} {column.domain}"),
            )
    draws[SCORE] = [average_draws(of_encoder) for of_encoder in zip(*draws.values(), strict=True)]
    return PercentScores(encoders, draws)


def _arrange_counts(counts: pd.DataFrame, column: Column, encoders: Sequence[str]) -> list[FloatArray]:
    """Return one array per encoder with the counts from which the score of a column is computed.

    Each array has shape (draws, cases, 3), where the last axis holds the numbers of matched, predicted and
    gold items.

    Raises
    ------
    ResultError
        If an encoder has no counts for the column.
    """
    rows = counts[counts["part"] == column.part].sort_values(["draw", "case"])
    if column.domain:
        rows = rows[rows["domain"] == column.domain]
    by_encoder = rows.groupby("encoder")
    if untested := [encoder for encoder in encoders if encoder not in by_encoder.groups]:
        items = f"{column.part} of {column.domain}" if column.domain else column.part
        raise ResultError(
            f"{column.name}: no {items} was tested with {untested[0]}",
            "rales/fitting",
            "In the profile, raise the task's number under `rales: test_documents`, or set 0 to test all.",
        )
    return [
        by_encoder.get_group(encoder)[_COUNTS].to_numpy(np.float64).reshape(-1, rows["case"].nunique(), 3)
        for encoder in encoders
    ]


def draw_regimes(by_regime: Mapping[str, PercentScores]) -> Figure:
    """Draw each encoder's NLU score with its interval, one panel per share of labels and one row per encoder.

    ``by_regime`` maps keys of :data:`REGIMES` to scores. Regimes that it lacks have no panel.
    """
    shares = [name for name in ("hundredth", "tenth", "all") if name in by_regime]
    figure, axes = plots.panels(len(shares), 1, height=1.3, sharex=True, squeeze=False)
    for axis, name in zip(axes[:, 0], shares, strict=True):
        rows = by_regime[name].intervals()
        plots.draw_intervals(axis, rows[rows["column"] == SCORE].set_index("encoder"))
        axis.set_title(REGIMES[name])
    axes[-1, 0].set_xlabel("NLU score, %")
    return figure
