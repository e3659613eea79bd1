"""The one bootstrap: groups are resampled with replacement, and the variation of training seeds is added.

Callers pass per-group sufficient statistics, whose sums decide a measure, or a measure of row numbers; what
comes back are draws and estimates with 95 % percentile intervals. Seeds are too few to be drawn
again: of three, a resample holds two different ones on average. :class:`Draws` says what is done instead.
pingouin resamples rows and knows neither groups nor seeds.
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

from radeval_lib.stats.base import Estimate, FloatArray, OfSums, finite, group_numbers
from radeval_lib.stats.inference import inversion_p

_CELLS = 2_000_000  # counts held at a time: 16 MB an array


def drawn_counts(groups: int, resamples: int, rng: np.random.Generator, width: int) -> Iterator[FloatArray]:
    """Yield how often each group is drawn if ``groups`` are drawn with replacement, in parts: arrays of shape
    (resamples, groups).

    ``width`` is how many numbers the caller holds for each resample: the larger it is, the fewer resamples
    are yielded at a time. The draws do not depend on it.
    """
    step = max(1, _CELLS // max(1, width))
    shares = np.full(groups, 1 / groups)
    for start in range(0, resamples, step):
        yield rng.multinomial(groups, shares, size=min(step, resamples - start)).astype(np.float64)


def drawn_rows(groups: ArrayLike, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Yield the row numbers in each resample, each as often as its group (shape (rows,)) was drawn."""
    numbers = group_numbers("groups", groups, len(np.asarray(groups)))
    for counts in drawn_counts(int(numbers.max()) + 1, resamples, rng, len(numbers)):
        for times in counts[:, numbers].astype(np.intp):
            yield np.repeat(np.arange(len(numbers)), times)


def sum_draws(table: FloatArray, values: OfSums, *, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the measures in each resample of groups, shape (resamples, measures); ``table`` (groups,
    statistics)."""
    chunks = drawn_counts(len(table), resamples, rng, max(table.shape))
    return np.concatenate([values(counts @ table) for counts in chunks])


class SeedNoise(NamedTuple):
    """The variation of a model's measures between training seeds.

    ``normals``: standard normal numbers, shape (resamples, seeds). ``deviations``: how far each seed's
    measures are from their mean, shape (seeds, measures), so scaled that their squares sum to the variance of
    that mean.
    """

    normals: FloatArray
    deviations: FloatArray


@dataclass(frozen=True)
class Draws:
    """Measures, averaged over training seeds, in each resample of cases, with the variation between seeds.

    Attributes
    ----------
    value : the measures at the data; shape (measures,).
    cases : the measures in each resample of cases, with the seeds as they are; shape (resamples, measures).
    seeds : of each model that was trained with several seeds. A single seed says nothing about others: the
        draws then are of cases alone.
    uniforms : numbers in (0, 1), shape (resamples, 1), from which :meth:`total` takes its tails.
    size : number of cases.
    """

    value: FloatArray
    cases: FloatArray
    seeds: tuple[SeedNoise, ...]
    uniforms: FloatArray
    size: int

    def __sub__(self, other: Draws) -> Draws:
        """Return the difference on the same resamples; the two have independent seeds."""
        return replace(
            self,
            value=self.value - other.value,
            cases=self.cases - other.cases,
            seeds=self.seeds + other.seeds,
        )

    @property
    def _variances(self) -> list[tuple[FloatArray, int]]:
        """Variance by cases and by each model's seeds, with degrees of freedom."""
        by_seeds = [((noise.deviations**2).sum(axis=0), len(noise.deviations) - 1) for noise in self.seeds]
        return [(self.cases.var(axis=0), max(1, self.size - 1)), *by_seeds]

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of each measure; shape (measures,)."""
        return np.sqrt(sum(variance for variance, _ in self._variances))

    @property
    def degrees(self) -> FloatArray:
        """Degrees of freedom of :attr:`standard_error` (Satterthwaite 1946); shape (measures,)."""
        below = np.asarray(sum(variance**2 / free for variance, free in self._variances))
        most = np.full(below.shape, float(max(1, self.size - 1)))
        return np.divide(self.standard_error**4, below, out=most, where=below > 0)

    def total(self) -> FloatArray:
        """Return draws with percentiles that allow for cases and seeds; shape (resamples, measures).

        Deviations from the value are stretched so that normal ones follow Student's t with :attr:`degrees`.
        """
        if not self.seeds:
            return self.cases
        noise = sum(of_model.normals @ of_model.deviations for of_model in self.seeds)
        stretch = np.sqrt(self.degrees / chi2.ppf(self.uniforms, self.degrees))
        return self.value + (self.cases + noise - self.value) * stretch

    def detectable(self) -> FloatArray:
        """Return the size of each measure that gives an 80 % chance of a 95 % interval without 0."""
        return (student.ppf(0.975, self.degrees) + student.ppf(0.8, self.degrees)) * self.standard_error


def draws(
    tables: Sequence[FloatArray], values: OfSums, *, resamples: int, rng: np.random.Generator
) -> list[Draws]:
    """Return the measures in each resample for each table of shape (seeds, cases, statistics), averaged over
    its seeds.

    Cases are drawn for all tables at once, seeds for each table separately, because equal seed numbers of two
    tables have nothing in common.
    """
    cases = tables[0].shape[1]
    # Apart, so that what is drawn does not depend on how many resamples are computed at a time.
    case_rng, uniform_rng, *seed_rngs = rng.spawn(2 + len(tables))
    chunks: list[list[FloatArray]] = [[] for _ in tables]
    for counts in drawn_counts(cases, resamples, case_rng, cases):
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


def mean_draws(by_task: Sequence[Draws]) -> Draws:
    """Return one model's measures averaged over one or more tasks with the same numbers of seeds and
    resamples. Seeds with the same number go together, cases do not."""
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


def ends(drawn: ArrayLike, level: float = 0.95) -> FloatArray:
    """Return both ends of the percentile interval of draws, shape (2, ...) for draws of shape (resamples,
    ...).

    It stays within what is possible, and needs no acceleration, which BCa would have to estimate by leaving
    out one case at a time, and which is unstable if cases are few. Undefined draws are left out.
    """
    return np.nanquantile(np.asarray(drawn, dtype=np.float64), (0.5 - level / 2, 0.5 + level / 2), axis=0)


def frame_estimates(drawn: pd.DataFrame) -> pd.DataFrame:
    """Return ``value``, ``low`` and ``high`` (95 %, percentile) of each column; row 0 has its value, each
    further row that of one resample."""
    low, high = ends(drawn.iloc[1:])
    return pd.DataFrame({"value": drawn.iloc[0], "low": low, "high": high})


def widened_level(cases: int) -> float:
    """Return the level at which the percentile interval of a mean of so few cases covers 95 %.

    The bootstrap's variance is (n - 1)/n of the unbiased one, and its quantiles are not those of t: the
    expanded percentile interval corrects both (Hesterberg 2015, section 4.2). It needs two cases or more.
    """
    t = student.ppf(0.975, cases - 1)
    return float(1 - 2 * ndtr(-math.sqrt(cases / (cases - 1)) * t))


def estimate(value: float, drawn: ArrayLike, level: float = 0.95) -> Estimate:
    """Return an estimate from a number and its resampled values, shape (resamples,), with
    :func:`~radeval_lib.stats.inference.inversion_p`. Undefined draws are left out; if all are undefined, the
    ends are NaN and p is 1."""
    array = np.asarray(drawn, dtype=np.float64)
    defined = array[np.isfinite(array)]
    if len(array) and not len(defined):
        return Estimate(float(value), math.nan, math.nan, 1.0)
    low, high = ends(array, level)
    return Estimate(float(value), float(low), float(high), inversion_p(defined))


def mean_of_sums(sums: FloatArray) -> FloatArray:
    """Return means from sums of each case's values and 1: shape (..., values + 1) gives (..., values)."""
    return sums[..., :-1] / sums[..., -1:]


def sum_estimates(
    table: FloatArray, values: OfSums, *, resamples: int, rng: np.random.Generator
) -> list[Estimate]:
    """Return each measure of summed statistics with resampled groups; ``table`` has shape (groups,
    statistics)."""
    drawn = sum_draws(table, values, resamples=resamples, rng=rng)
    return [estimate(*pair) for pair in zip(values(table.sum(axis=0)), drawn.T, strict=True)]


def mean_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    resamples: int,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Estimate:
    """Return the mean of ``first`` minus the mean of ``second``, of shape (cases,) or (seeds, cases), on the
    same cases, with its percentile interval of this ``level``.

    Cases are drawn together for both, seeds for each apart.
    """
    tables = [np.atleast_2d(np.asarray(scores, dtype=np.float64))[..., None] for scores in (first, second)]
    cases = tables[0].shape[1]
    ours, theirs = draws(tables, lambda sums: sums / cases, resamples=resamples, rng=rng)
    return estimate(float(tables[0].mean() - tables[1].mean()), (ours - theirs).total()[:, 0], level)


def share_interval(
    hits: ArrayLike, groups: Sequence[object], *, resamples: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return a share, or another mean, with its 95 % percentile interval from drawing whole groups with
    replacement."""
    hit = finite("hits", hits, None)
    numbers = group_numbers("groups", groups, len(hit), sort=True)
    table = pd.Series(hit).groupby(numbers).agg(["sum", "count"])
    (share,) = sum_estimates(table.to_numpy(np.float64), mean_of_sums, resamples=resamples, rng=rng)
    return float(hit.mean()), share.low, share.high
