"""Measures that follow from counts: micro F1 over training seeds with intervals, the difference between two
models, and a text's precision, recall, F-score and accuracy from a rater's counts of facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from radeval_lib.stats.base import FloatArray, OfSums
from radeval_lib.stats.resampling import draws, ends, estimate


class Measure(NamedTuple):
    """Measures ``names`` that follow from sums of ``statistics`` over cases.

    The functions below take ``counts``, with one row per seed and case: ``seed``, ``case`` (a report, a
    document) and the statistics, finite and not negative. Every seed has each case once.
    """

    statistics: tuple[str, ...]
    names: tuple[str, ...]
    values: OfSums


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return ``above / below``, and 0 if ``below`` is 0."""
    return np.divide(above, below, where=below > 0, out=np.zeros_like(above))


def f1(sums: FloatArray) -> FloatArray:
    """Return the micro F1 of (matched, predicted, gold) on the last axis; 0 if all are 0."""
    return ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def _micro(sums: FloatArray) -> FloatArray:
    matched, predicted, gold = (sums[..., column] for column in range(3))
    return np.stack([ratio(matched, predicted), ratio(matched, gold), f1(sums)], axis=-1)


MICRO = Measure(("matched", "predicted", "gold"), ("precision", "recall", "f1"), _micro)
"""Micro precision, recall and F1 of what was matched, predicted and gold."""
TAGGING = Measure(
    (*MICRO.statistics, "correct_words", "words"),
    (*MICRO.names, "accuracy"),
    lambda sums: np.concatenate([MICRO.values(sums), ratio(sums[..., 3:4], sums[..., 4:5])], axis=-1),
)
"""Strict spans of an NER model, and the accuracy of its words' labels."""


def values_by_seed(counts: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Return the measures of each seed (rows) over all its cases."""
    seeds, _, table = _table(counts, measure)
    values = measure.values(table.sum(axis=1))
    return pd.DataFrame(values, index=pd.Index(seeds, name="seed"), columns=list(measure.names))


def intervals(
    counts: pd.DataFrame, measure: Measure, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the measures, which are shares, averaged over seeds, with a 95 % interval from
    :class:`~radeval_lib.stats.resampling.Draws`.

    Index ``measure``: ``value``, ``low``, ``high``, and ``least`` and ``most`` over the seeds.
    """
    of_seeds = values_by_seed(counts, measure)
    (drawn,) = draws([_table(counts, measure)[2]], measure.values, resamples=resamples, rng=rng)
    low, high = ends(drawn.total()).clip(0, 1)
    least, most = of_seeds.min(), of_seeds.max()
    columns = {"value": of_seeds.mean(), "low": low, "high": high, "least": least, "most": most}
    return pd.DataFrame(columns, index=of_seeds.columns).rename_axis("measure")


def paired_difference(
    first: pd.DataFrame, second: pd.DataFrame, measure: Measure, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return one model's mean measures minus another's on the same test cases, from the ``counts`` of both.

    Each resample draws the same cases for both; their seeds may differ in number. Index ``measure``:
    ``value``, ``low``, ``high``, ``p``, and the ``detectable`` difference
    (:meth:`~radeval_lib.stats.resampling.Draws.detectable`)."""
    (_, cases, left), (_, others, right) = (_table(counts, measure) for counts in (first, second))
    if cases != others:
        raise ValueError("the two models were not tested on the same cases")
    ours, theirs = draws([left, right], measure.values, resamples=resamples, rng=rng)
    gap = ours - theirs
    rows = [vars(estimate(*pair)) for pair in zip(gap.value, gap.total().T, strict=True)]
    table = pd.DataFrame(rows, index=pd.Index(measure.names, name="measure"))[["value", "low", "high", "p"]]
    return table.assign(detectable=gap.detectable())


def _table(counts: pd.DataFrame, measure: Measure) -> tuple[list[object], list[object], FloatArray]:
    """Return seeds and cases, sorted, and the statistics; shape (seeds, cases, statistics)."""
    ordered = counts.sort_values(["seed", "case"])
    seeds, cases = ordered["seed"].unique().tolist(), ordered["case"].drop_duplicates().sort_values().tolist()
    table = ordered[list(measure.statistics)].to_numpy(np.float64).reshape(len(seeds), len(cases), -1)
    return seeds, cases, table


@dataclass(frozen=True)
class FactCounts:
    """One rater's counts for one generated description. Source: Moramarco et al. 2021, Section 5.

    Attributes
    ----------
    reference : R, facts in the reference description.
    generated : G, facts in the generated description.
    common : R&G, facts of the generated description that are also in the reference.
    correct : C, facts of the generated description that are correct.
    """

    reference: int
    generated: int
    common: int
    correct: int

    @property
    def precision(self) -> float:
        """R&G / G; NaN if the generated description has no fact."""
        return self.common / self.generated if self.generated else math.nan

    @property
    def recall(self) -> float:
        """R&G / R; NaN if the reference has no fact."""
        return self.common / self.reference if self.reference else math.nan

    @property
    def f_score(self) -> float:
        """Harmonic mean of precision and recall; 0 if both are 0, NaN if one is not defined."""
        if not (self.generated and self.reference):
            return math.nan
        return 2 * self.common / (self.generated + self.reference)

    @property
    def accuracy(self) -> float:
        """C / G; NaN if the generated description has no fact."""
        return self.correct / self.generated if self.generated else math.nan
