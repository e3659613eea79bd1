"""Measures that follow from counts, such as micro F1: of a model of several training seeds, with intervals,
and of two models compared."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from radeval_lib.stats.inputs import FloatArray, OfSums, finite
from radeval_lib.stats.resampling import draws, ends, estimate


class Measure(NamedTuple):
    """Measures ``names`` that follow from sums of ``statistics`` over cases.

    The functions below take ``counts``, with one row per seed and case: ``seed``, ``case`` (a report, a
    document) and the statistics, finite and not negative. Every seed has the same cases. They raise a
    ValueError where that is not so.
    """

    statistics: tuple[str, ...]
    names: tuple[str, ...]
    values: OfSums


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return ``above / below``, and 0 where there is nothing below."""
    return np.divide(above, below, where=below > 0, out=np.zeros_like(above))


def f1(sums: FloatArray) -> FloatArray:
    """Return micro F1 of (matched, predicted, gold) on the last axis; 0 where there is nothing."""
    return ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def _micro(sums: FloatArray) -> FloatArray:
    matched, predicted, gold = (sums[..., place] for place in range(3))
    return np.stack([ratio(matched, predicted), ratio(matched, gold), f1(sums)], axis=-1)


MICRO = Measure(("matched", "predicted", "gold"), ("precision", "recall", "f1"), _micro)
"""Micro precision, recall and F1 of what was matched, predicted and gold."""
TAGGING = Measure(
    (*MICRO.statistics, "correct_words", "words"),
    (*MICRO.names, "accuracy"),
    lambda sums: np.concatenate([_micro(sums), ratio(sums[..., 3:4], sums[..., 4:5])], axis=-1),
)
"""Strict spans of an NER model, and the accuracy of its words' labels."""


def by_seed(counts: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Measures of each seed (rows), over all its cases."""
    seeds, _, table = _table(counts, measure)
    values = measure.values(table.sum(axis=1))
    return pd.DataFrame(values, index=pd.Index(seeds, name="seed"), columns=list(measure.names))


def intervals(
    counts: pd.DataFrame, measure: Measure, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Mean of the measures, which are shares, over seeds, with a 95 % interval by
    :class:`~radeval_lib.stats.resampling.Draws`.

    Index ``measure``: ``value``, ``low``, ``high``, and ``least`` and ``most`` over the seeds.
    """
    of_seeds = by_seed(counts, measure)
    (drawn,) = draws([_table(counts, measure)[2]], measure.values, resamples=resamples, rng=rng)
    low, high = ends(drawn.total()).clip(0, 1)
    least, most = of_seeds.min(), of_seeds.max()
    columns = {"value": of_seeds.mean(), "low": low, "high": high, "least": least, "most": most}
    return pd.DataFrame(columns, index=of_seeds.columns).rename_axis("measure")


def paired_difference(
    first: pd.DataFrame, second: pd.DataFrame, measure: Measure, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Mean measures of one model minus those of another on the same test cases, by ``counts`` of the two.

    Each resample draws the same cases for both; their seeds may differ in number. Index ``measure``:
    ``value``, ``low``, ``high``, ``p``, and the ``detectable`` difference
    (:meth:`~radeval_lib.stats.resampling.Draws.detectable`)."""
    (_, cases, ours), (_, others, theirs) = (_table(counts, measure) for counts in (first, second))
    if cases != others:
        raise ValueError("the models have other cases; compare on the same ones")
    mine, other = draws([ours, theirs], measure.values, resamples=resamples, rng=rng)
    gap = mine - other
    found = [vars(estimate(*pair)) for pair in zip(gap.value, gap.total().T, strict=True)]
    table = pd.DataFrame(found, index=pd.Index(measure.names, name="measure"))[["value", "low", "high", "p"]]
    return table.assign(detectable=gap.detectable())


def _table(counts: pd.DataFrame, measure: Measure) -> tuple[list[object], list[object], FloatArray]:
    """Return seeds and cases, sorted, and the statistics; shape (seeds, cases, statistics)."""
    if lacking := {"seed", "case", *measure.statistics} - {*counts.columns}:
        raise ValueError(f"counts has no column {', '.join(sorted(lacking))}")
    if counts[["seed", "case"]].isna().any(axis=None):
        raise ValueError("counts holds a row without its seed or case")
    ordered = counts.sort_values(["seed", "case"])
    seeds, cases = ordered["seed"].unique().tolist(), ordered["case"].drop_duplicates().sort_values().tolist()
    if ordered["case"].tolist() != cases * len(seeds):
        raise ValueError("every seed needs each case once")
    values = finite("counts", ordered[list(measure.statistics)], None, None)
    if (values < 0).any():
        raise ValueError("counts holds a negative count")
    table = values.reshape(len(seeds), len(cases), -1)
    return seeds, cases, table
