"""Bootstrap over whole groups: how often each is drawn, and what follows for shares and p-values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

_CELLS = 2_000_000  # counts held at a time: 16 MB an array


def drawn_counts(groups: int, resamples: int, rng: np.random.Generator, width: int) -> Iterator[FloatArray]:
    """How often each of ``groups`` is drawn when so many are drawn with replacement.

    Parameters
    ----------
    groups : how many there are.
    resamples : how often they are drawn, in all.
    rng : source of the draws; they do not depend on ``width``.
    width : numbers that the caller holds for each resample; fewer resamples are yielded at a time where it is
        larger.

    Yields
    ------
    ndarray
        float64, shape (some resamples, groups).

    Raises
    ------
    ValueError
        Where ``resamples`` is less than 1.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    step = max(1, _CELLS // max(1, width))
    shares = np.full(groups, 1 / groups)
    for start in range(0, resamples, step):
        yield rng.multinomial(groups, shares, size=min(step, resamples - start)).astype(np.float64)


def inversion_p(draws: ArrayLike) -> float:
    """Two-sided p that a bootstrapped quantity is 0, from the percentile interval that just reaches 0.

    Twice the share of draws on the rarer side of 0, where a draw of 0 is on both sides; the observed data
    count as one more draw (Davison and Hinkley 1997, section 4.2), so p is never 0, and at most 1.

    Parameters
    ----------
    draws : the quantity in each resample, finite, shape (resamples,). What is 0 but for rounding counts as 0.
    """
    array = np.asarray(draws, dtype=np.float64)
    array = np.where(np.abs(array) < 1e-12, 0.0, array)
    rarer = min(int((array <= 0).sum()), int((array >= 0).sum()))
    return min(1.0, 2 * (1 + rarer) / (1 + len(array)))


def share_interval(
    hits: ArrayLike, groups: Sequence[str], *, resamples: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """A share, or another mean, with the ends of its 95 % percentile interval, from drawing whole groups with
    replacement.

    Raises
    ------
    ValueError
        Where there are no hits to count, or the lengths differ.
    """
    values = np.asarray(hits, dtype=np.float64)
    if not len(values) or len(values) != len(groups):
        raise ValueError(f"{len(values)} hits in {len(groups)} groups")
    table = pd.DataFrame({"hit": values, "group": list(groups)}).groupby("group")["hit"]
    right, all_of = table.sum().to_numpy(), table.count().to_numpy()
    draws = np.concatenate(
        [(c @ right) / (c @ all_of) for c in drawn_counts(len(right), resamples, rng, len(right))]
    )
    low, high = np.quantile(draws, (0.025, 0.975))
    return float(values.mean()), float(low), float(high)
