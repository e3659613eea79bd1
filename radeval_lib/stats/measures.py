"""Measures computed from counts: micro F1 averaged over training seeds, the difference between two models,
and precision, recall, F-score and accuracy of a text from a rater's counts of facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from radeval_lib.stats.base import FloatArray, Formula
from radeval_lib.stats.resampling import estimate, percentile_ends, resample_models


class Measure(NamedTuple):
    """A group of measures that are computed from sums of statistics over cases.

    The functions below take a DataFrame ``counts`` with one row per training seed and case, where every seed
    has each case once: ``seed``, ``case`` (a report or document) and the statistics.

    Attributes
    ----------
    statistics : the columns of ``counts`` to sum; finite, not negative.
    names : the names of the measures.
    values : the measures as a function of the summed statistics.
    """

    statistics: tuple[str, ...]
    names: tuple[str, ...]
    values: Formula


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return ``numerator / denominator``, element by element; 0 if the denominator is 0 or negative."""
    return np.divide(numerator, denominator, where=denominator > 0, out=np.zeros_like(numerator))


def f1(sums: FloatArray) -> FloatArray:
    """Return the micro F1 of sums (..., 3) of matched, predicted and gold items: shape (...), 0 to 1.

    0 if nothing was predicted and nothing is gold.
    """
    return ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def _compute_micro(sums: FloatArray) -> FloatArray:
    """Return micro precision, recall and F1, shape (..., 3), from sums of matched, predicted and gold items,
    shape (..., 3); 0 to 1. A measure whose denominator is 0 is 0."""
    matched, predicted, gold = (sums[..., column] for column in range(3))
    return np.stack([ratio(matched, predicted), ratio(matched, gold), f1(sums)], axis=-1)


MICRO = Measure(("matched", "predicted", "gold"), ("precision", "recall", "f1"), _compute_micro)
"""Micro precision, recall and F1 from the numbers of matched, predicted and gold items."""
TAGGING = Measure(
    (*MICRO.statistics, "correct_words", "words"),
    (*MICRO.names, "accuracy"),
    lambda sums: np.concatenate([MICRO.values(sums), ratio(sums[..., 3:4], sums[..., 4:5])], axis=-1),
)
"""The measures of an NER model: :data:`MICRO` of its spans, which must match in both ends and label, and the
accuracy of its word labels."""


def values_by_seed(counts: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Return the measures of each seed over all its cases: index ``seed``, a column per measure."""
    seeds, _, table = _make_array(counts, measure)
    values = measure.values(table.sum(axis=1))
    return pd.DataFrame(values, index=pd.Index(seeds, name="seed"), columns=list(measure.names))


def intervals(
    counts: pd.DataFrame, measure: Measure, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return each measure, a share from 0 to 1, averaged over seeds, with a 95% interval over cases and seeds
    (:class:`~radeval_lib.stats.resampling.Draws`).

    Index ``measure``. Columns: ``value``, ``low``, ``high``; ``least`` and ``most``, the smallest and largest
    value of a seed.
    """
    by_seed = values_by_seed(counts, measure)
    *_, table = _make_array(counts, measure)
    (draws,) = resample_models([table], measure.values, resamples=resamples, rng=rng)
    low, high = percentile_ends(draws.total()).clip(0, 1)
    least, most = by_seed.min(), by_seed.max()
    columns = {"value": by_seed.mean(), "low": low, "high": high, "least": least, "most": most}
    return pd.DataFrame(columns, index=by_seed.columns).rename_axis("measure")


def paired_difference(
    first: pd.DataFrame, second: pd.DataFrame, measure: Measure, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the first model's mean measures minus the second's on the same test cases.

    Parameters
    ----------
    first, second : the ``counts`` of each model (:class:`Measure`); the numbers of seeds may differ.
    measure : the measures to compute.
    resamples, rng : as in :func:`intervals`; each resample draws the same cases for both models.

    Returns
    -------
    DataFrame
        Index ``measure``. Columns: the difference ``value`` with ``low`` and ``high`` (95%); its
        p-value ``p``; and ``detectable``, the smallest difference that would be detected with 80% power
        (:meth:`~radeval_lib.stats.resampling.Draws.detectable`).

    Raises
    ------
    ValueError
        If the two models were tested on different cases.
    """
    (_, cases, left), (_, second_cases, right) = (_make_array(counts, measure) for counts in (first, second))
    if cases != second_cases:
        n_unshared = len({*cases} ^ {*second_cases})
        raise ValueError(f"{n_unshared} cases are in only one of the tables; pass counts of the same cases")
    first_draws, second_draws = resample_models([left, right], measure.values, resamples=resamples, rng=rng)
    gap = first_draws - second_draws
    rows = [vars(estimate(*pair)) for pair in zip(gap.value, gap.total().T, strict=True)]
    table = pd.DataFrame(rows, index=pd.Index(measure.names, name="measure"))[["value", "low", "high", "p"]]
    return table.assign(detectable=gap.detectable())


def _make_array(counts: pd.DataFrame, measure: Measure) -> tuple[list[object], list[object], FloatArray]:
    """Return the sorted seeds, the sorted cases, and the statistics as an array of shape (seeds, cases,
    statistics), whose first two dimensions have the order of these lists."""
    ordered = counts.sort_values(["seed", "case"])
    seeds, cases = ordered["seed"].unique().tolist(), ordered["case"].drop_duplicates().sort_values().tolist()
    table = ordered[list(measure.statistics)].to_numpy(np.float64).reshape(len(seeds), len(cases), -1)
    return seeds, cases, table


@dataclass(frozen=True)
class FactCounts:
    """One rater's counts of facts for one generated description. Source: Moramarco et al. 2021, Section 5.

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
        """Common facts / generated facts (R&G / G), 0 to 1; NaN if nothing was generated."""
        return self.common / self.generated if self.generated else math.nan

    @property
    def recall(self) -> float:
        """Common facts / reference facts (R&G / R); NaN if the reference has no fact."""
        return self.common / self.reference if self.reference else math.nan

    @property
    def f_score(self) -> float:
        """Harmonic mean of precision and recall; 0 if both are 0, NaN if one is NaN."""
        if not (self.generated and self.reference):
            return math.nan
        return 2 * self.common / (self.generated + self.reference)

    @property
    def accuracy(self) -> float:
        """Correct facts / generated facts (C / G), 0 to 1; NaN if nothing was generated."""
        return self.correct / self.generated if self.generated else math.nan
