"""Uncertainty over test cases and training seeds of any measure that follows from summed counts.

Every function takes ``counts``, a DataFrame with one row a seed and case: ``seed``, ``case`` (a report, a
document) and the statistics that the measure needs, whose sums over cases decide it. Every seed has the same
cases. To judge one group of cases alone, keep its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.stats.resampling import drawn_counts, inversion_p

FloatArray = NDArray[np.float64]

_ENDS = (0.025, 0.975)


@dataclass(frozen=True)
class Measure:
    """Measures that follow from sums of statistics over cases.

    Attributes
    ----------
    statistics : the columns of ``counts`` that are summed, each finite and not negative.
    names : what the measures are called, in the order in which ``of`` gives them.
    of : takes the sums by name, float64 arrays of one shape, and gives each measure in that shape.
    gold : those statistics that the test cases alone decide, so that they are the same for every model.
    """

    statistics: tuple[str, ...]
    names: tuple[str, ...]
    of: Callable[[Mapping[str, FloatArray]], Sequence[FloatArray]]
    gold: tuple[str, ...] = ()

    def values(self, sums: FloatArray) -> FloatArray:
        """The measures from summed statistics; shape (..., statistics) to (..., measures)."""
        named = dict(zip(self.statistics, np.moveaxis(sums, -1, 0), strict=True))
        return np.stack(self.of(named), axis=-1)


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """``above / below``, and 0 where there is nothing below."""
    result: FloatArray = np.divide(above, below, where=below > 0, out=np.zeros_like(above))
    return result


def micro(prefix: str = "") -> Measure:
    """Micro precision, recall and F1 of what was ``matched``, ``predicted`` and ``gold``.

    Parameters
    ----------
    prefix : before the names of the statistics and of the measures.
    """
    statistics = tuple(prefix + name for name in ("matched", "predicted", "gold"))

    def of(sums: Mapping[str, FloatArray]) -> list[FloatArray]:
        matched, predicted, gold = (sums[name] for name in statistics)
        return [ratio(matched, predicted), ratio(matched, gold), ratio(2 * matched, predicted + gold)]

    names = tuple(prefix + name for name in ("precision", "recall", "f1"))
    return Measure(statistics, names, of, gold=statistics[2:])


def _tagging(sums: Mapping[str, FloatArray]) -> list[FloatArray]:
    return [*micro().of(sums), ratio(sums["correct_words"], sums["words"])]


TAGGING = Measure(
    (*micro().statistics, "correct_words", "words"),
    (*micro().names, "accuracy"),
    _tagging,
    gold=("gold", "words"),
)
"""Strict spans of a tagger, and the accuracy of its words' labels."""


def measures(counts: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """Measures of each seed, over all its cases.

    Returns
    -------
    DataFrame
        One row a seed (the index), one column a measure.

    Raises
    ------
    ValueError
        Where a column or a case of a seed is missing, a seed has a case twice, or a count is missing or
        negative.
    """
    seeds, _, table = _table(counts, measure)
    values = measure.values(table.sum(axis=1))
    return pd.DataFrame(values, index=pd.Index(seeds, name="seed"), columns=list(measure.names))


def intervals(
    counts: pd.DataFrame, measure: Measure, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Mean of the measures over seeds, with a 95 % interval.

    The bootstrap draws cases with replacement, the same for every seed, and seeds with replacement. The
    interval is the percentile one, for the same reasons as in
    :meth:`radeval_lib.stats.correlations.Resampled.intervals`. With few seeds it understates what another
    seed could change: of three seeds, a resample holds two different ones on average. With one seed it says
    nothing of seeds.

    Parameters
    ----------
    resamples : how often cases and seeds are drawn.
    rng : source of the draws.

    Returns
    -------
    DataFrame
        Index ``measure`` (its names): ``value``, ``low``, ``high``, and ``least`` and ``most``, the smallest
        and largest over the seeds.

    Raises
    ------
    ValueError
        As for :func:`measures`.
    """
    by_seed = measures(counts, measure)
    _, _, table = _table(counts, measure)
    (drawn,) = draws([table], measure.values, resamples=resamples, rng=rng)
    low, high = np.quantile(drawn, _ENDS, axis=0)
    columns = {
        "value": by_seed.mean().to_numpy(),
        "low": low,
        "high": high,
        "least": by_seed.min().to_numpy(),
        "most": by_seed.max().to_numpy(),
    }
    return pd.DataFrame(columns, index=pd.Index(measure.names, name="measure"))


def paired_difference(
    first: pd.DataFrame,
    second: pd.DataFrame,
    measure: Measure,
    *,
    resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Mean measures of one model minus those of another, on the same test cases.

    Each resample draws the same cases for both; seeds are drawn for each apart, since a seed of one has
    nothing to do with the same number in the other.

    Parameters
    ----------
    first, second : counts of the two; the seeds may differ in number.
    resamples, rng : as for :func:`intervals`.

    Returns
    -------
    DataFrame
        Index ``measure``: ``value``, ``low``, ``high`` (95 %, percentile) and two-sided ``p``
        (:func:`radeval_lib.stats.correlations.inversion_p`).

    Raises
    ------
    ValueError
        As for :func:`measures`, and where the two have other cases, or a gold statistic of a case is not the
        same with every seed of both.
    """
    _, cases, ours = _table(first, measure)
    _, others, theirs = _table(second, measure)
    if cases != others:
        odd = sorted(set(map(str, cases)) ^ set(map(str, others)))
        raise ValueError(f"{len(odd)} cases are not in both, such as {odd[:1]}; compare on the same ones")
    same = [measure.statistics.index(name) for name in measure.gold]
    if np.ptp(np.concatenate([ours, theirs])[:, :, same], axis=0).any():
        raise ValueError(
            f"{', '.join(measure.gold)} of a case differ between models; compare on the same gold"
        )
    mine, other = draws([ours, theirs], measure.values, resamples=resamples, rng=rng)
    gaps = mine - other
    low, high = np.quantile(gaps, _ENDS, axis=0)
    columns = {
        "value": (measures(first, measure).mean() - measures(second, measure).mean()).to_numpy(),
        "low": low,
        "high": high,
        "p": [inversion_p(column) for column in gaps.T],
    }
    return pd.DataFrame(columns, index=pd.Index(measure.names, name="measure"))


def _table(counts: pd.DataFrame, measure: Measure) -> tuple[list[object], list[object], FloatArray]:
    """Seeds and cases, sorted, and the statistics; shape (seeds, cases, statistics)."""
    statistics = list(measure.statistics)
    if missing := [name for name in ("seed", "case", *statistics) if name not in counts]:
        raise ValueError(f"counts lacks the columns {', '.join(missing)}")
    if counts.empty:
        raise ValueError("counts has no row")
    if counts.duplicated(["seed", "case"]).any():
        raise ValueError("counts has two rows of one seed and case; give one, or name cases apart")
    ordered = counts.sort_values(["seed", "case"])
    seeds, cases = ordered["seed"].unique().tolist(), ordered["case"].drop_duplicates().sort_values().tolist()
    if len(ordered) != len(seeds) * len(cases):
        raise ValueError(
            f"{len(ordered)} rows for {len(seeds)} seeds and {len(cases)} cases; each seed needs all"
        )
    table = ordered[statistics].to_numpy(dtype=np.float64).reshape(len(seeds), len(cases), -1)
    if not (np.isfinite(table) & (table >= 0)).all():
        raise ValueError("counts holds a count that is missing or negative")
    return seeds, cases, table


def draws(
    tables: Sequence[FloatArray],
    values: Callable[[FloatArray], FloatArray],
    *,
    resamples: int,
    rng: np.random.Generator,
) -> list[FloatArray]:
    """Of each table the measures in each resample, mean over its seeds; shape (resamples, measures).

    Cases are drawn for all tables at once, seeds for each apart.

    Parameters
    ----------
    tables : statistics of the same cases, shape (seeds, cases, statistics); the seeds may differ in number.
    values : the measures from statistics summed over cases; shape (..., statistics) to (..., measures).
    """
    cases = tables[0].shape[1]
    # Apart, so that what is drawn does not depend on how many resamples are computed at a time.
    case_rng, *seed_rngs = rng.spawn(1 + len(tables))
    found: list[list[FloatArray]] = [[] for _ in tables]
    for counts in drawn_counts(cases, resamples, case_rng, cases):
        for kept, table, seed_rng in zip(found, tables, seed_rngs, strict=True):
            seeds = len(table)
            sums = np.einsum("bc,sck->bsk", counts, table, optimize=True)
            times = seed_rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=len(counts))
            kept.append(np.einsum("bs,bsm->bm", times, values(sums)) / seeds)
    return [np.concatenate(chunks) for chunks in found]
