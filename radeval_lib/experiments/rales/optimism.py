"""What choosing by the test set is worth, and how that grows with the number of trials.

The released code of RaLEs keeps the trial that is best on the test set and reports its score there. Two
numbers tell what that does. The *advantage* is how much higher the reported score is than that of the trial
which validation would have chosen. The *optimism* is the part of it that is luck: the trial that is best on
one half of the test documents, its score there less its score on the other half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.experiments.rales.leaderboard import micro_f1

FloatArray = NDArray[np.float64]
_ENDS = (0.025, 0.975)


def growth(
    trials: pd.DataFrame, sizes: Sequence[int], *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Advantage and optimism with so many trials.

    Parameters
    ----------
    trials : one row a search, trial and case: ``search``, ``trial``, ``case``, ``matched``, ``predicted``,
        ``gold`` on test, and ``value``, the trial's measure on validation.
    sizes : numbers of trials, each at most those of a search.
    resamples : how often searches, trials and halves of the test documents are drawn.

    Returns
    -------
    DataFrame
        One row a size: ``trials``; ``advantage`` and ``optimism`` in points of F1, means over resamples, each
        with ``_low`` and ``_high`` (95 % of resamples).

    Raises
    ------
    ValueError
        Where searches differ in their trials or cases, a size is too large, or there are fewer than two
        cases.
    """
    table, values = _arrays(trials)
    searches, most, cases, _ = table.shape
    if cases < 2:
        raise ValueError("optimism needs at least two test cases")
    if max(sizes) > most:
        raise ValueError(f"{max(sizes)} trials are asked for, a search has {most}")
    whole = micro_f1(table.sum(axis=2))
    found: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
    for _ in range(resamples):
        drawn: list[int] = list(rng.integers(0, searches, size=(searches,)))
        order = np.stack([rng.permutation(most) for _ in drawn])
        half = rng.permutation(cases)[: cases // 2]
        inside = np.zeros(cases, dtype=bool)
        inside[half] = True
        here, there = (micro_f1(table[:, :, mask].sum(axis=2)) for mask in (inside, ~inside))
        for size in sizes:
            rows = [(search, order[place, :size]) for place, search in enumerate(drawn)]
            gains = [whole[s, k].max() - whole[s, k[values[s, k].argmax()]] for s, k in rows]
            luck = [here[s, k].max() - there[s, k[here[s, k].argmax()]] for s, k in rows]
            found[size].append((float(np.mean(gains)), float(np.mean(luck))))
    rows_ = []
    for size, draws in found.items():
        array = np.array(draws)
        low, high = np.quantile(array, _ENDS, axis=0)
        row: dict[str, float] = {"trials": size}
        for place, name in enumerate(("advantage", "optimism")):
            row |= {name: array[:, place].mean(), f"{name}_low": low[place], f"{name}_high": high[place]}
        rows_.append(row)
    return pd.DataFrame(rows_).astype({"trials": int})


def _arrays(trials: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Counts, shape (searches, trials, cases, 3), and the measure on validation, shape (searches, trials)."""
    ordered = trials.sort_values(["search", "trial", "case"])
    shape = tuple(ordered[name].nunique() for name in ("search", "trial", "case"))
    if len(ordered) != np.prod(shape):
        raise ValueError("searches differ in their trials or in their test cases")
    counts = ordered[["matched", "predicted", "gold"]].to_numpy(np.float64).reshape(*shape, 3)
    return counts, ordered["value"].to_numpy(np.float64).reshape(shape)[:, :, 0]
