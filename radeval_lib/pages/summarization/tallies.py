"""From scores of single summaries to tables with intervals: means, differences, and the grid of training
sets against test sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import Draws, draws, ratio

if TYPE_CHECKING:
    from radeval_lib.metrics.base import Metric

FloatArray = NDArray[np.float64]


def scored(
    pairs: Sequence[ReportPair], summaries: Sequence[str], metrics: Mapping[str, Metric]
) -> pd.DataFrame:
    """One row a summary: ``case`` (the record's id), ``group``, ``words`` (of the summary), and a column for
    each metric, by the metric's registered name."""
    references = [reveal(pair.impression) for pair in pairs]
    columns: dict[str, object] = {
        "case": [pair.id for pair in pairs],
        "group": [pair.group for pair in pairs],
        "words": [len(text.split()) for text in summaries],
    }
    for metric in metrics.values():
        columns[metric.name] = metric.score(references, list(summaries)).values
    return pd.DataFrame(columns)


def _matrix(scores: pd.DataFrame, metric: str) -> tuple[list[object], FloatArray]:
    """Cases, sorted, and values of shape (seeds, cases)."""
    if scores.empty:
        raise ValueError("no summary to average over")
    if scores.duplicated(["seed", "case"]).any():
        raise ValueError("a seed has a case twice; choose one system and training set first")
    table = scores.pivot(index="seed", columns="case", values=metric).sort_index(axis=1)
    if table.isna().any(axis=None):
        raise ValueError("a seed lacks a case, or a score is missing")
    return table.columns.tolist(), table.to_numpy(dtype=np.float64)


def mean_of(scores: pd.DataFrame, metric: str, *, resamples: int, rng: np.random.Generator) -> Estimate:
    """Mean of a metric from 0 to 1 over cases and seeds, with a 95 % interval that allows for both.

    Parameters
    ----------
    scores : rows of one system and training set: ``seed``, ``case`` and the metric; each seed has each case.
    """
    _, values = _matrix(scores, metric)
    drawn = _draws([values], resamples, rng)[0].total()[:, 0]
    return _estimate(float(values.mean()), drawn.clip(0, 1))


def paired_difference(
    first: pd.DataFrame,
    second: pd.DataFrame,
    metric: str,
    *,
    resamples: int,
    rng: np.random.Generator,
    of: int = 1,
) -> Estimate:
    """Mean of ``first`` minus mean of ``second`` on the same cases, with a 95 % percentile interval.

    Cases are drawn together for both, seeds for each apart.

    Parameters
    ----------
    of : how many comparisons the 95 % are to hold for together (Bonferroni). The resamples are as many times
        more, so that as many lie beyond an end.

    Raises
    ------
    ValueError
        Where the two have other cases.
    """
    (cases, ours), (others, theirs) = (_matrix(one, metric) for one in (first, second))
    if cases != others:
        raise ValueError("the two were not tested on the same cases")
    mine, other = _draws([ours, theirs], of * resamples, rng)
    return _estimate(float(ours.mean() - theirs.mean()), (mine - other).total()[:, 0], of)


def _estimate(value: float, drawn: FloatArray, of: int = 1) -> Estimate:
    low, high = np.quantile(drawn, (0.025 / of, 1 - 0.025 / of))
    return Estimate(value, float(low), float(high))


def _draws(tables: Sequence[FloatArray], resamples: int, rng: np.random.Generator) -> list[Draws]:
    """Of each table of shape (seeds, cases) the mean in each resample; cases are drawn for all at once."""
    cases = tables[0].shape[1]
    return draws(
        [table[..., None] for table in tables], lambda sums: sums / cases, resamples=resamples, rng=rng
    )


@dataclass(frozen=True)
class LeadRetention:
    """A lead on groups that were in training, and what is left of it on others."""

    seen: Estimate
    unseen: Estimate
    share: Estimate | None


def lead_left(
    first: pd.DataFrame, second: pd.DataFrame, metric: str, *, resamples: int, rng: np.random.Generator
) -> LeadRetention:
    """The lead of ``first`` over ``second`` on groups seen in training and on others, by the same resamples.

    Cases are drawn together for both, seeds for each apart. Resamples without a lead on the groups seen have
    no share and are left out of its interval; where that lead is established they are fewer than 3 %.

    Parameters
    ----------
    first, second : as for :func:`paired_difference`, with the column ``seen``; some cases are seen, some not.
    """
    tables = []
    for one in (first, second):
        _, values = _matrix(one, metric)
        _, seen = _matrix(one.assign(seen=one["seen"].astype(float)), "seen")
        tables.append(np.stack([values * seen, seen, values * (1 - seen), 1 - seen], axis=-1))

    def means(sums: FloatArray) -> FloatArray:
        return np.stack([ratio(sums[..., 0], sums[..., 1]), ratio(sums[..., 2], sums[..., 3])], axis=-1)

    ours, theirs = draws(tables, means, resamples=resamples, rng=rng)
    lead = ours - theirs
    gaps = lead.total()
    known, new = (_estimate(float(lead.value[side]), gaps[:, side]) for side in (0, 1))
    if known.low <= 0:
        return LeadRetention(known, new, None)
    led = gaps[gaps[:, 0] > 0]
    return LeadRetention(known, new, _estimate(new.value / known.value, led[:, 1] / led[:, 0]))


def grid(scores: pd.DataFrame, metric: str, rows: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Means of a metric by training set (rows, column ``train_set``) and test set (columns, ``group``)."""
    means = scores.pivot_table(index="train_set", columns="group", values=metric, aggfunc="mean")
    return means.reindex(index=list(rows), columns=list(columns))


def within(scores: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """The rows of systems that were tested on the pair that they were trained on, or need no training."""
    untrained = scores["train_set"] == ""
    return scores[(untrained | (scores["train_set"] == scores["group"])) & scores["system"].isin(systems)]
