"""From scores of single summaries to tables with intervals: means, differences, and the grid of training
sets against test sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.papers.rounding import Estimate
from radeval_lib.stats.resampling import drawn_counts

if TYPE_CHECKING:
    from radeval_lib.metrics.base import Metric

FloatArray = NDArray[np.float64]
_ENDS = (0.025, 0.975)


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
    """Cases, sorted, and values of shape (seeds, cases).

    Raises
    ------
    ValueError
        Where there is no row, or a seed lacks a case or has it twice.
    """
    if scores.empty:
        raise ValueError("no summary to average over")
    if scores.duplicated(["seed", "case"]).any():
        raise ValueError("a seed has a case twice; choose one system and training set first")
    table = scores.pivot(index="seed", columns="case", values=metric).sort_index(axis=1)
    if table.isna().any(axis=None):
        raise ValueError("a seed lacks a case, or a score is missing")
    return table.columns.tolist(), table.to_numpy(dtype=np.float64)


def mean_of(scores: pd.DataFrame, metric: str, *, resamples: int, rng: np.random.Generator) -> Estimate:
    """Mean of a metric over cases and seeds, with a 95 % percentile interval that draws both anew.

    Parameters
    ----------
    scores : rows of one system and training set: ``seed``, ``case`` and the metric; each seed has each case.
    """
    _, values = _matrix(scores, metric)
    return _estimate(float(values.mean()), _draws([values], resamples, rng)[0])


def difference_of(
    first: pd.DataFrame, second: pd.DataFrame, metric: str, *, resamples: int, rng: np.random.Generator
) -> Estimate:
    """Mean of ``first`` minus mean of ``second`` on the same cases, with a 95 % percentile interval.

    Cases are drawn together for both, seeds for each apart.

    Raises
    ------
    ValueError
        Where the two have other cases.
    """
    (cases, ours), (others, theirs) = (_matrix(one, metric) for one in (first, second))
    if cases != others:
        raise ValueError("the two were not tested on the same cases")
    draws = _draws([ours, theirs], resamples, rng)
    return _estimate(float(ours.mean() - theirs.mean()), draws[0] - draws[1])


def _estimate(value: float, draws: FloatArray) -> Estimate:
    low, high = np.quantile(draws, _ENDS)
    return Estimate(value, float(low), float(high))


def _draws(tables: Sequence[FloatArray], resamples: int, rng: np.random.Generator) -> list[FloatArray]:
    """Of each table of shape (seeds, cases) the mean in each resample; cases are drawn for all at once."""
    cases = tables[0].shape[1]
    case_rng, *seed_rngs = rng.spawn(1 + len(tables))
    found: list[list[FloatArray]] = [[] for _ in tables]
    for counts in drawn_counts(cases, resamples, case_rng, cases):
        for kept, table, seed_rng in zip(found, tables, seed_rngs, strict=True):
            means = counts @ table.T / cases
            seeds = len(table)
            times = seed_rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=len(counts))
            kept.append((times * means).sum(axis=1) / seeds)
    return [np.concatenate(chunks) for chunks in found]


def grid(scores: pd.DataFrame, metric: str, rows: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Means of a metric by training set (rows, column ``taught``) and test set (columns, ``group``)."""
    means = scores.pivot_table(index="taught", columns="group", values=metric, aggfunc="mean")
    return means.reindex(index=list(rows), columns=list(columns))


def within(scores: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """The rows of systems that were tested on the pair that they were trained on, or need no training."""
    untrained = scores["taught"] == ""
    return scores[(untrained | (scores["taught"] == scores["group"])) & scores["system"].isin(systems)]
