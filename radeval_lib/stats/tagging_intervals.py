"""Uncertainty of strict span agreement over test cases and training seeds.

Every function takes ``counts``, a DataFrame with one row a seed and case: ``seed``, ``case`` (a report),
``source``, and the sufficient statistics ``matched``, ``predicted``, ``gold`` (entities), ``correct_words``
and ``words``. Every seed has the same cases. To judge one source alone, keep its rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.stats.resampling import drawn_counts, inversion_p

FloatArray = NDArray[np.float64]

MEASURES = ("precision", "recall", "f1", "accuracy")
_STATISTICS = ["matched", "predicted", "gold", "correct_words", "words"]
_ENDS = (0.025, 0.975)


def measures(counts: pd.DataFrame) -> pd.DataFrame:
    """Micro measures of each seed, over all its cases.

    Returns
    -------
    DataFrame
        One row a seed (the index), columns ``precision``, ``recall``, ``f1`` of entities and ``accuracy`` of
        words; 0 where nothing was predicted, or there is nothing to find.

    Raises
    ------
    ValueError
        Where a column or a case of a seed is missing, a seed has a case twice, or a count is missing or
        negative.
    """
    seeds, _, table = _table(counts)
    return pd.DataFrame(_micro(table.sum(axis=1)), index=pd.Index(seeds, name="seed"), columns=list(MEASURES))


def intervals(counts: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Mean of the micro measures over seeds, with a 95 % interval.

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
        Index ``measure`` (precision, recall, f1, accuracy): ``value``, ``low``, ``high``, and ``least`` and
        ``most``, the smallest and largest over the seeds.

    Raises
    ------
    ValueError
        As for :func:`measures`.
    """
    by_seed = measures(counts)
    _, _, table = _table(counts)
    (draws,) = _draws([table], resamples, rng)
    low, high = np.quantile(draws, _ENDS, axis=0)
    columns = {
        "value": by_seed.mean().to_numpy(),
        "low": low,
        "high": high,
        "least": by_seed.min().to_numpy(),
        "most": by_seed.max().to_numpy(),
    }
    return pd.DataFrame(columns, index=pd.Index(MEASURES, name="measure"))


def difference(
    first: pd.DataFrame, second: pd.DataFrame, *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Mean measures of one tagger minus those of another, on the same test cases.

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
        As for :func:`measures`, and where the two have other cases, or a case has not as many gold entities
        and words with every seed of both.
    """
    _, cases, ours = _table(first)
    _, others, theirs = _table(second)
    if cases != others:
        odd = sorted(set(map(str, cases)) ^ set(map(str, others)))
        raise ValueError(f"{len(odd)} cases are not in both, such as {odd[:1]}; compare on the same ones")
    same = [_STATISTICS.index(name) for name in ("gold", "words")]
    if np.ptp(np.concatenate([ours, theirs])[:, :, same], axis=0).any():
        raise ValueError("a case has not always as many gold entities and words; compare on the same gold")
    draws = _draws([ours, theirs], resamples, rng)
    gaps = draws[0] - draws[1]
    low, high = np.quantile(gaps, _ENDS, axis=0)
    columns = {
        "value": (measures(first).mean() - measures(second).mean()).to_numpy(),
        "low": low,
        "high": high,
        "p": [inversion_p(column) for column in gaps.T],
    }
    return pd.DataFrame(columns, index=pd.Index(MEASURES, name="measure"))


def _table(counts: pd.DataFrame) -> tuple[list[object], list[object], FloatArray]:
    """Seeds and cases, sorted, and the statistics; shape (seeds, cases, 5)."""
    if missing := [name for name in ("seed", "case", *_STATISTICS) if name not in counts]:
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
    table = ordered[_STATISTICS].to_numpy(dtype=np.float64).reshape(len(seeds), len(cases), -1)
    if not (np.isfinite(table) & (table >= 0)).all():
        raise ValueError("counts holds a count that is missing or negative")
    return seeds, cases, table


def _micro(sums: FloatArray) -> FloatArray:
    """The four measures from summed statistics; (..., 5) to (..., 4)."""
    matched, predicted, gold, correct, words = np.moveaxis(sums, -1, 0)
    above = np.stack([matched, matched, 2 * matched, correct], axis=-1)
    below = np.stack([predicted, gold, predicted + gold, words], axis=-1)
    result: FloatArray = np.divide(above, below, where=below > 0, out=np.zeros_like(above))
    return result


def _draws(tables: Sequence[FloatArray], resamples: int, rng: np.random.Generator) -> list[FloatArray]:
    """Of each table the mean measures in each resample, shape (resamples, 4); cases are drawn for all at
    once."""
    cases = tables[0].shape[1]
    # Apart, so that what is drawn does not depend on how many resamples are computed at a time.
    case_rng, *seed_rngs = rng.spawn(1 + len(tables))
    found: list[list[FloatArray]] = [[] for _ in tables]
    for counts in drawn_counts(cases, resamples, case_rng, cases):
        for kept, table, seed_rng in zip(found, tables, seed_rngs, strict=True):
            seeds = len(table)
            sums = np.einsum("bc,sck->bsk", counts, table, optimize=True)
            times = seed_rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=len(counts))
            kept.append(np.einsum("bs,bsm->bm", times, _micro(sums)) / seeds)
    return [np.concatenate(chunks) for chunks in found]
