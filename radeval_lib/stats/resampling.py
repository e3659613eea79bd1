"""The bootstrap behind the book's intervals: whole groups are drawn with replacement, and the variation
between training seeds is added.

Callers pass each group's statistics, from whose sums a measure is computed, or take the drawn row numbers.
The functions return a measure's values in the resamples ("draws") and estimates with 95% percentile
intervals. Training seeds are too few to be resampled; :class:`Draws` adds their variance instead. pingouin
resamples rows, without groups or seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from scipy.stats import chi2
from scipy.stats import t as student

from radeval_lib.stats.base import Estimate, FloatArray, Formula, check_array, number_groups
from radeval_lib.stats.inference import inversion_p

_NUMBERS_IN_MEMORY = 2_000_000  # 16 MB for an array


def draw_counts(groups: int, resamples: int, rng: np.random.Generator, width: int) -> Iterator[FloatArray]:
    """Yield how often each group is drawn in each resample with replacement, in batches of resamples.

    A batch is a float64 array of shape (resamples of the batch, groups), and its rows sum to ``groups``, the
    number of groups. ``width`` is how many numbers the caller holds in memory for each resample. It limits
    the size of a batch and does not change the draws.
    """
    step = max(1, _NUMBERS_IN_MEMORY // max(1, width))
    shares = np.full(groups, 1 / groups)
    for start in range(0, resamples, step):
        yield rng.multinomial(groups, shares, size=min(step, resamples - start)).astype(np.float64)


def draw_rows(groups: ArrayLike, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Yield, for each resample, the numbers of the rows that it contains, in rising order.

    A row's number occurs as often as its group was drawn. ``groups`` has the group of each row, shape
    (rows,). Raises ValueError if a group is missing.
    """
    numbers = number_groups("groups", groups, len(np.asarray(groups)))
    for counts in draw_counts(int(numbers.max()) + 1, resamples, rng, len(numbers)):
        for times in counts[:, numbers].astype(np.intp):
            yield np.repeat(np.arange(len(numbers)), times)


def resample_sums(
    table: FloatArray, values: Formula, *, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the measures in each resample of groups; shape (resamples, measures).

    ``table`` holds the statistics of each group, shape (groups, statistics). ``values`` computes the measures
    from the statistics, summed over the groups of a resample.
    """
    chunks = draw_counts(len(table), resamples, rng, max(table.shape))
    return np.concatenate([values(counts @ table) for counts in chunks])


class SeedNoise(NamedTuple):
    """The variation of one model's measures between training seeds.

    ``normals``: standard normal random numbers, shape (resamples, seeds). ``deviations``: each seed's
    measures minus their mean over seeds, divided by the square root of seeds x (seeds - 1); shape (seeds,
    measures). Their squares then sum to the variance of the mean over seeds.
    """

    normals: FloatArray
    deviations: FloatArray


@dataclass(frozen=True)
class Draws:
    """Measures, averaged over training seeds, in each resample of cases, with the variation between seeds.

    Attributes
    ----------
    value : the measures of all cases; shape (measures,).
    cases : the measures in each resample of cases, averaged over all seeds; shape (resamples, measures).
    seeds : one entry for each model that was trained with two or more seeds. Without an entry, the draws vary
        with the cases alone.
    uniforms : random numbers in [0, 1), shape (resamples, 1), from which :meth:`total` computes chi-squared
        values.
    size : the number of cases.
    """

    value: FloatArray
    cases: FloatArray
    seeds: tuple[SeedNoise, ...]
    uniforms: FloatArray
    size: int

    def __sub__(self, other: Draws) -> Draws:
        """Return the difference of two models on the same resamples of cases; their seeds are independent."""
        return replace(
            self,
            value=self.value - other.value,
            cases=self.cases - other.cases,
            seeds=self.seeds + other.seeds,
        )

    @property
    def _variances(self) -> list[tuple[FloatArray, int]]:
        """Pairs of a variance, shape (measures,), and its degrees of freedom: first that from cases, then one
        for the seeds of each model in ``seeds``."""
        by_seeds = [((noise.deviations**2).sum(axis=0), len(noise.deviations) - 1) for noise in self.seeds]
        return [(self.cases.var(axis=0), max(1, self.size - 1)), *by_seeds]

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of each measure; shape (measures,)."""
        return np.sqrt(sum(variance for variance, _ in self._variances))

    @property
    def degrees(self) -> FloatArray:
        """Degrees of freedom of :attr:`standard_error` (Satterthwaite 1946); shape (measures,)."""
        denominator = np.asarray(sum(variance**2 / dof for variance, dof in self._variances))
        largest = np.full(denominator.shape, float(max(1, self.size - 1)))
        return np.divide(self.standard_error**4, denominator, out=largest, where=denominator > 0)

    def total(self) -> FloatArray:
        """Return draws that vary with cases and seeds, for percentile intervals; shape (resamples, measures).

        If ``seeds`` is empty, they are :attr:`cases`. Otherwise, the deviations of the draws from ``value``
        are stretched at random, so that they follow Student's t with :attr:`degrees` degrees of freedom.
        """
        if not self.seeds:
            return self.cases
        noise = sum(of_model.normals @ of_model.deviations for of_model in self.seeds)
        stretch = np.sqrt(self.degrees / chi2.ppf(self.uniforms, self.degrees))
        return self.value + (self.cases + noise - self.value) * stretch

    def detectable(self) -> FloatArray:
        """Return how far from 0 each measure must be for its 95% interval to exclude 0 with a probability of
        80%; shape (measures,)."""
        return (student.ppf(0.975, self.degrees) + student.ppf(0.8, self.degrees)) * self.standard_error


def resample_models(
    tables: Sequence[FloatArray], values: Formula, *, resamples: int, rng: np.random.Generator
) -> list[Draws]:
    """Return the measures of each model, averaged over its training seeds, in each resample of cases.

    The list has one item per table. The same cases are drawn for all tables. The variation between seeds is
    drawn for each table separately, because seeds with equal numbers in two tables are unrelated.

    Parameters
    ----------
    tables : the statistics of each model, shape (seeds, cases, statistics), with the same cases in the same
        order; the numbers of seeds may differ.
    values : the measures as a function of sums over cases.
    resamples : the number of resamples.
    rng : the generator from which those of cases and of each table's seeds are spawned.
    """
    cases = tables[0].shape[1]
    # Separate generators keep the draws independent of how many resamples are computed at a time.
    case_rng, uniform_rng, *seed_rngs = rng.spawn(2 + len(tables))
    chunks: list[list[FloatArray]] = [[] for _ in tables]
    for counts in draw_counts(cases, resamples, case_rng, cases):
        for chunk, table in zip(chunks, tables, strict=True):
            chunk.append(values(np.einsum("bc,sck->bsk", counts, table, optimize=True)).mean(axis=1))
    uniforms, results = uniform_rng.uniform(size=(resamples, 1)), []
    for table, chunk, seed_rng in zip(tables, chunks, seed_rngs, strict=True):
        by_seed, seeds = values(table.sum(axis=1)), len(table)
        mean = by_seed.mean(axis=0)
        noise: tuple[SeedNoise, ...] = ()
        if seeds > 1:
            deviations = (by_seed - mean) / np.sqrt(seeds * (seeds - 1))
            noise = (SeedNoise(seed_rng.standard_normal((resamples, seeds)), deviations),)
        results.append(Draws(mean, np.concatenate(chunk), noise, uniforms, cases))
    return results


def average_draws(by_task: Sequence[Draws]) -> Draws:
    """Return the draws of one model's measures, averaged over tasks.

    All tasks have the same numbers of seeds and resamples. A seed denotes the same training run in every
    task, so its deviations are averaged. The cases of different tasks are independent.
    """
    return replace(
        by_task[0],
        value=np.mean([task.value for task in by_task], axis=0),
        cases=np.mean([task.cases for task in by_task], axis=0),
        seeds=tuple(
            SeedNoise(of_tasks[0].normals, np.mean([noise.deviations for noise in of_tasks], axis=0))
            for of_tasks in zip(*(task.seeds for task in by_task), strict=True)
        ),
        size=sum(task.size for task in by_task),
    )


def percentile_ends(resampled: ArrayLike, level: float = 0.95) -> FloatArray:
    """Return the lower and the upper bound, in this order, of the percentile interval of draws.

    Draws have shape (resamples, ...), the result (2, ...). Draws that are NaN are left out; the bounds
    are NaN if all are. A percentile interval stays within the possible values. A BCa interval would need an
    acceleration, whose jackknife estimate is unstable for few cases.
    """
    return np.nanquantile(np.asarray(resampled, dtype=np.float64), (0.5 - level / 2, 0.5 + level / 2), axis=0)


def frame_estimates(resampled: pd.DataFrame) -> pd.DataFrame:
    """Return each column's ``value`` with ``low`` and ``high``, its 95% percentile interval; one row per
    column of ``resampled``.

    Row 0 of ``resampled`` has the values of the data, every further row those of one resample.
    """
    low, high = percentile_ends(resampled.iloc[1:])
    return pd.DataFrame({"value": resampled.iloc[0], "low": low, "high": high})


def widened_level(cases: int) -> float:
    """Return the nominal level, above 0.95 and below 1, at which a percentile interval of the mean of few
    cases covers the true mean with a probability of 95%.

    The level is that of the expanded percentile interval (Hesterberg 2015, section 4.2), which corrects the
    bootstrap's
    variance, which is (n - 1)/n of the unbiased one, and takes quantiles of Student's t instead of the normal
    distribution. ``cases`` is at least 2.
    """
    t = student.ppf(0.975, cases - 1)
    return float(1 - 2 * ndtr(-math.sqrt(cases / (cases - 1)) * t))


def estimate(value: float, resampled: ArrayLike, level: float = 0.95) -> Estimate:
    """Return a number with its percentile interval of this ``level`` and the p-value for the hypothesis
    that it is 0 (:func:`~radeval_lib.stats.inference.inversion_p`).

    ``resampled`` has the number in each resample, shape (resamples,). NaN is left out, and infinite values
    count for the interval but not for the p-value. If there are values but none is finite, the bounds are NaN
    and the p-value is 1.
    """
    array = np.asarray(resampled, dtype=np.float64)
    defined = array[np.isfinite(array)]
    if len(array) and not len(defined):
        return Estimate(float(value), math.nan, math.nan, 1.0)
    low, high = percentile_ends(array, level)
    return Estimate(float(value), float(low), float(high), inversion_p(defined))


def ratio_of_sums(sums: FloatArray) -> FloatArray:
    """Return all sums but the last, each divided by the last: shape (..., n + 1) to (..., n).

    If the last statistic is 1 for each case, its sum is the number of cases, so the ratios are means. NaN or
    infinite if the last sum is 0.
    """
    return sums[..., :-1] / sums[..., -1:]


def sum_estimates(
    table: FloatArray, values: Formula, *, resamples: int, rng: np.random.Generator
) -> list[Estimate]:
    """Return each measure with its 95% interval and p-value (:func:`estimate`) from resamples of groups.

    The list has one item per measure. Parameters are those of :func:`resample_sums`.
    """
    resampled = resample_sums(table, values, resamples=resamples, rng=rng)
    return [estimate(*pair) for pair in zip(values(table.sum(axis=0)), resampled.T, strict=True)]


def mean_difference(
    first: ArrayLike, second: ArrayLike, *, resamples: int, rng: np.random.Generator, level: float = 0.95
) -> Estimate:
    """Return the mean of ``first`` minus the mean of ``second`` with its percentile interval of this
    ``level``.

    Both have shape (cases,) or (seeds, cases) with the same cases, which are drawn together; seeds are drawn
    for each separately.
    """
    tables = [np.atleast_2d(np.asarray(scores, dtype=np.float64))[..., None] for scores in (first, second)]
    cases = tables[0].shape[1]
    left, right = resample_models(tables, lambda sums: sums / cases, resamples=resamples, rng=rng)
    return estimate(float(tables[0].mean() - tables[1].mean()), (left - right).total()[:, 0], level)


def share_interval(
    hits: ArrayLike, groups: Sequence[object], *, resamples: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return (mean, low, high): the mean of ``hits`` with its 95% percentile interval from resampled groups.

    ``hits`` are 0 or 1 for a share, or any finite numbers, shape (n,); ``groups`` has the group of each.
    Raises ValueError if a hit is missing or infinite, or a group is missing.
    """
    hit = check_array("hits", hits, None)
    numbers = number_groups("groups", groups, len(hit), sort=True)
    table = pd.Series(hit).groupby(numbers).agg(["sum", "count"])
    (share,) = sum_estimates(table.to_numpy(np.float64), ratio_of_sums, resamples=resamples, rng=rng)
    return float(hit.mean()), share.low, share.high
