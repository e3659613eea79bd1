"""The one bootstrap: groups are resampled with replacement; what other training seeds would do is added.
Beside it, the randomization test of two systems.

Callers pass per-group sufficient statistics, whose sums decide a measure, or a measure of row numbers; what
comes back are draws, estimates with 95 % percentile intervals, and tests. Seeds are too few to be drawn
again: of three, a resample holds two different ones on average. :class:`Draws` says what is done instead.
pingouin resamples rows and knows neither groups nor seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr
from scipy.stats import chi2
from scipy.stats import t as student

from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.inputs import FloatArray, finite, places

OfSums = Callable[[FloatArray], FloatArray]
"""Measures from summed statistics; shape (..., statistics) to (..., measures)."""

_CELLS = 2_000_000  # counts held at a time: 16 MB an array


def drawn_counts(groups: int, resamples: int, rng: np.random.Generator, width: int) -> Iterator[FloatArray]:
    """How often each group is drawn when ``groups`` are drawn with replacement; arrays of shape (resamples,
    groups), a part of the resamples at a time.

    ``width`` is how many numbers the caller holds for each resample: the larger it is, the fewer resamples
    are yielded at a time. The draws do not depend on it.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    step = max(1, _CELLS // max(1, width))
    shares = np.full(groups, 1 / groups)
    for start in range(0, resamples, step):
        yield rng.multinomial(groups, shares, size=min(step, resamples - start)).astype(np.float64)


def drawn_rows(groups: ArrayLike, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """The numbers of the rows in each resample, each as often as its group (shape (rows,)) was drawn."""
    place = places("groups", groups, len(np.asarray(groups)))
    for counts in drawn_counts(int(place.max()) + 1, resamples, rng, len(place)):
        for times in counts[:, place].astype(np.intp):
            yield np.repeat(np.arange(len(place)), times)


def sum_draws(table: FloatArray, values: OfSums, *, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Measures in each resample of groups, shape (resamples, measures); ``table`` (groups, statistics)."""
    chunks = drawn_counts(len(table), resamples, rng, max(table.shape))
    return np.concatenate([values(counts @ table) for counts in chunks])


@dataclass(frozen=True)
class Draws:
    """Measures, mean over training seeds, in each resample of cases, and what other seeds would do to them.

    Attributes
    ----------
    value : the measures at the data; shape (measures,).
    cases : the measures in each resample of cases, with the seeds as they are; shape (resamples, measures).
    seeds : for each model that was trained with several seeds, standard normal numbers, shape (resamples,
        seeds), and how far each seed's measures are from their mean, shape (seeds, measures), so scaled that
        their squares sum to the variance of that mean. A single seed says nothing about others: the draws
        then are of cases alone.
    chance : uniform numbers in (0, 1), shape (resamples, 1), from which :meth:`total` takes its tails.
    size : number of cases.
    """

    value: FloatArray
    cases: FloatArray
    seeds: tuple[tuple[FloatArray, FloatArray], ...]
    chance: FloatArray
    size: int

    def __sub__(self, other: Draws) -> Draws:
        """The difference on the same resamples; seeds of the two have nothing to do with each other."""
        return replace(
            self,
            value=self.value - other.value,
            cases=self.cases - other.cases,
            seeds=self.seeds + other.seeds,
        )

    @property
    def _variances(self) -> list[tuple[FloatArray, int]]:
        """Variance by cases and by each model's seeds, with degrees of freedom."""
        by_cases = self.cases.var(axis=0), max(1, self.size - 1)
        return [by_cases, *(((away**2).sum(axis=0), len(away) - 1) for _, away in self.seeds)]

    @property
    def error(self) -> FloatArray:
        """Standard error of each measure; shape (measures,)."""
        return np.sqrt(sum(variance for variance, _ in self._variances))

    @property
    def degrees(self) -> FloatArray:
        """Degrees of freedom of :attr:`error` (Satterthwaite 1946); shape (measures,)."""
        below = np.asarray(sum(variance**2 / free for variance, free in self._variances))
        most = np.full(below.shape, float(max(1, self.size - 1)))
        return np.divide(self.error**4, below, out=most, where=below > 0)

    def total(self) -> FloatArray:
        """Draws whose percentiles allow for cases and seeds; shape (resamples, measures).

        Deviations from the value are stretched so that normal ones follow Student's t with :attr:`degrees`.
        """
        if not self.seeds:
            return self.cases
        noise = sum(normal @ away for normal, away in self.seeds)
        stretch = np.sqrt(self.degrees / chi2.ppf(self.chance, self.degrees))
        return self.value + (self.cases + noise - self.value) * stretch

    def detectable(self) -> FloatArray:
        """How large each measure must be for a chance of 80 % that its 95 % interval excludes 0."""
        return (student.ppf(0.975, self.degrees) + student.ppf(0.8, self.degrees)) * self.error


def draws(
    tables: Sequence[FloatArray], values: OfSums, *, resamples: int, rng: np.random.Generator
) -> list[Draws]:
    """The measures in each resample for each table of shape (seeds, cases, statistics), averaged over its
    seeds.

    Cases are drawn for all tables at once, seeds for each table separately, because equal seed numbers of two
    tables have nothing in common.
    """
    cases = tables[0].shape[1]
    # Apart, so that what is drawn does not depend on how many resamples are computed at a time.
    case_rng, chance_rng, *seed_rngs = rng.spawn(2 + len(tables))
    chunks: list[list[FloatArray]] = [[] for _ in tables]
    for counts in drawn_counts(cases, resamples, case_rng, cases):
        for chunk, table in zip(chunks, tables, strict=True):
            chunk.append(values(np.einsum("bc,sck->bsk", counts, table, optimize=True)).mean(axis=1))
    chance, found = chance_rng.uniform(size=(resamples, 1)), []
    for table, chunk, seed_rng in zip(tables, chunks, seed_rngs, strict=True):
        observed, seeds = values(table.sum(axis=1)), len(table)
        away = (observed - observed.mean(axis=0)) / np.sqrt(max(1, seeds * (seeds - 1)))
        others = ((seed_rng.standard_normal((resamples, seeds)), away),) if seeds > 1 else ()
        found.append(Draws(observed.mean(axis=0), np.concatenate(chunk), others, chance, cases))
    return found


def mean_draws(by_task: Sequence[Draws]) -> Draws:
    """The mean of one model's measures on several tasks; seeds of a number go together, cases do not."""
    deviations = [[deviation for _, deviation in task.seeds] for task in by_task]
    return replace(
        by_task[0],
        value=np.mean([task.value for task in by_task], axis=0),
        cases=np.mean([task.cases for task in by_task], axis=0),
        seeds=tuple(
            (normal, np.mean(of_tasks, axis=0))
            for (normal, _), of_tasks in zip(by_task[0].seeds, zip(*deviations, strict=True), strict=True)
        ),
        size=sum(task.size for task in by_task),
    )


def ends(drawn: ArrayLike, level: float = 0.95) -> FloatArray:
    """Both ends of the percentile interval of draws, shape (2, ...) for draws of shape (resamples, ...).

    It stays within what is possible, and needs no acceleration, which BCa would have to estimate by leaving
    out one case at a time, and which is unstable where cases are few. Undefined draws are left out.
    """
    array = np.asarray(drawn, dtype=np.float64)
    return np.nanquantile(array, (0.5 - level / 2, 0.5 + level / 2), axis=0)


def widened(cases: int, level: float = 0.95) -> float:
    """The level at which the percentile interval of a mean of so few cases covers ``level``.

    The bootstrap's variance is (n - 1)/n of the unbiased one, and its quantiles are not those of t: the
    expanded percentile interval corrects both (Hesterberg 2015, section 4.2).
    """
    t = student.ppf(0.5 + level / 2, cases - 1)
    return float(1 - 2 * ndtr(-math.sqrt(cases / (cases - 1)) * t))


def estimate(value: float, drawn: ArrayLike, level: float = 0.95) -> Estimate:
    """A number and what it was in each resample as an estimate, with :func:`inversion_p`."""
    array = np.asarray(drawn, dtype=np.float64)
    low, high = ends(array, level)
    return Estimate(float(value), float(low), float(high), inversion_p(array[np.isfinite(array)]))


def mean_of_sums(sums: FloatArray) -> FloatArray:
    """Means where the statistics of a case are its values and 1; shape (..., values + 1) to (..., values)."""
    return sums[..., :-1] / sums[..., -1:]


def sum_estimates(
    table: FloatArray, values: OfSums, *, resamples: int, rng: np.random.Generator
) -> list[Estimate]:
    """Each measure of summed statistics, groups resampled; ``table`` has shape (groups, statistics)."""
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
    """Mean of ``first`` minus mean of ``second``, of shape (cases,) or (seeds, cases), on the same cases,
    with its percentile interval of this ``level``.

    Cases are drawn together for both, seeds for each apart.
    """
    ours = finite("first", np.atleast_2d(first), None, None)
    cases = ours.shape[1]
    theirs = finite("second", np.atleast_2d(second), None, cases)
    tables = [ours[..., None], theirs[..., None]]
    mine, other = draws(tables, lambda sums: sums / cases, resamples=resamples, rng=rng)
    return estimate(float(ours.mean() - theirs.mean()), (mine - other).total()[:, 0], level)


def share_interval(
    hits: ArrayLike, groups: Sequence[object], *, resamples: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """A share, or another mean, with the ends of its 95 % percentile interval, from drawing whole groups with
    replacement."""
    hit = finite("hits", hits, None)
    place = places("groups", groups, len(hit), sort=True)
    table = pd.Series(hit).groupby(place).agg(["sum", "count"])
    (found,) = sum_estimates(table.to_numpy(np.float64), mean_of_sums, resamples=resamples, rng=rng)
    return float(hit.mean()), found.low, found.high


def inversion_p(drawn: ArrayLike) -> float:
    """Two-sided p that a bootstrapped quantity is 0, from the percentile interval that just reaches 0.

    Twice the share of draws on the rarer side of 0, where a draw of 0 is on both sides; the observed data
    count as one more draw (Davison and Hinkley 1997, section 4.2), so p is never 0."""
    array = np.asarray(drawn, dtype=np.float64)
    array = np.where(np.abs(array) < 1e-12, 0.0, array)
    rarer = min(int((array <= 0).sum()), int((array >= 0).sum()))
    return min(1.0, 2 * (1 + rarer) / (1 + len(array)))


def swaps(cases: int, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """Which cases two systems exchange, shape (ways, cases), a part of the ways at a time: every way if
    there are at most ``resamples``, else ``resamples`` random ones."""
    if is_enumerated(cases, resamples):
        yield (np.arange(2**cases)[:, None] >> np.arange(cases) & 1).astype(bool)
        return
    step = max(1, _CELLS // cases)
    for start in range(0, resamples, step):
        yield rng.integers(2, size=(min(step, resamples - start), cases), dtype=bool)


def is_enumerated(cases: int, resamples: int) -> bool:
    """Whether :func:`swaps` takes every way."""
    return cases <= math.log2(resamples)


def randomization_p(
    first: FloatArray, second: FloatArray, values: OfSums, *, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Two-sided p, shape (measures,), of the hypothesis that each case of two systems could as well be the
    other's, by their statistics on the same cases, shape (cases, statistics).

    With b random exchanges of cases whose difference is at least as large as the observed one, p is
    (b + 1)/(resamples + 1); where every way of exchanging is taken (:func:`swaps`), it is exact, the share of
    these. Source: Riezler and Maxwell 2005, figure 1; Noreen 1989.
    """
    ours, theirs = first.sum(axis=0), second.sum(axis=0)
    mine, other = values(ours), values(theirs)
    # What two orders of summing may differ by is no difference.
    least = np.abs(mine - other) - 1e-12 * (np.abs(mine) + np.abs(other))
    count = 0
    for swapped in swaps(len(first), resamples, rng):
        moved = swapped.astype(np.float64) @ (second - first)
        count = count + (np.abs(values(ours + moved) - values(theirs - moved)) >= least).sum(axis=0)
    if is_enumerated(len(first), resamples):
        return np.asarray(count / 2 ** len(first), dtype=np.float64)
    return np.asarray((count + 1) / (resamples + 1), dtype=np.float64)


def holm(ps: ArrayLike) -> FloatArray:
    """p values of one family, corrected (Holm 1979), in their order: for ``radbook compare``, which a light
    install without pingouin has to run; pages call pingouin's."""
    array = np.asarray(ps, dtype=np.float64)
    order, count = np.argsort(array), len(array)
    result = np.empty(count)
    result[order] = np.maximum.accumulate((count - np.arange(count)) * array[order]).clip(max=1)
    return result


class Measure(NamedTuple):
    """Measures ``names`` that follow from sums of ``statistics`` over cases.

    The functions below take ``counts``, with one row per seed and case: ``seed``, ``case`` (a report, a
    document) and the statistics. Every seed has the same cases.
    """

    statistics: tuple[str, ...]
    names: tuple[str, ...]
    values: OfSums


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """``above / below``, and 0 where there is nothing below."""
    return np.divide(above, below, where=below > 0, out=np.zeros_like(above))


def f1(sums: FloatArray) -> FloatArray:
    """Micro F1 of (matched, predicted, gold) on the last axis; 0 where there is nothing."""
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


def measures(counts: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Measures of each seed (rows), over all its cases."""
    seeds, _, table = _table(counts, measure)
    values = measure.values(table.sum(axis=1))
    return pd.DataFrame(values, index=pd.Index(seeds, name="seed"), columns=list(measure.names))


def intervals(
    counts: pd.DataFrame, measure: Measure, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Mean of the measures, which are shares, over seeds, with a 95 % interval by :class:`Draws`.

    Index ``measure``: ``value``, ``low``, ``high``, and ``least`` and ``most`` over the seeds.
    """
    by_seed = measures(counts, measure)
    (drawn,) = draws([_table(counts, measure)[2]], measure.values, resamples=resamples, rng=rng)
    low, high = ends(drawn.total()).clip(0, 1)
    least, most = by_seed.min(), by_seed.max()
    columns = {"value": by_seed.mean(), "low": low, "high": high, "least": least, "most": most}
    return pd.DataFrame(columns, index=by_seed.columns).rename_axis("measure")


def paired_difference(
    first: pd.DataFrame, second: pd.DataFrame, measure: Measure, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Mean measures of one model minus those of another on the same test cases, by ``counts`` of the two.

    Each resample draws the same cases for both; their seeds may differ in number. Index ``measure``:
    ``value``, ``low``, ``high``, ``p``, and the ``detectable`` difference (:meth:`Draws.detectable`)."""
    (_, cases, ours), (_, others, theirs) = (_table(counts, measure) for counts in (first, second))
    if cases != others:
        raise ValueError("the models have other cases; compare on the same ones")
    mine, other = draws([ours, theirs], measure.values, resamples=resamples, rng=rng)
    gap = mine - other
    found = [vars(estimate(*pair)) for pair in zip(gap.value, gap.total().T, strict=True)]
    table = pd.DataFrame(found, index=pd.Index(measure.names, name="measure"))[["value", "low", "high", "p"]]
    return table.assign(detectable=gap.detectable())


def _table(counts: pd.DataFrame, measure: Measure) -> tuple[list[object], list[object], FloatArray]:
    """Seeds and cases, sorted, and the statistics; shape (seeds, cases, statistics)."""
    ordered = counts.sort_values(["seed", "case"])
    seeds, cases = ordered["seed"].unique().tolist(), ordered["case"].drop_duplicates().sort_values().tolist()
    if ordered["case"].tolist() != cases * len(seeds):
        raise ValueError("every seed needs each case once")
    values = finite("counts", ordered[list(measure.statistics)], None, None)
    if (values < 0).any():
        raise ValueError("counts holds a negative count")
    table = values.reshape(len(seeds), len(cases), -1)
    return seeds, cases, table
