"""What choosing a trial by the test set is worth: its advantage and its optimism.

The released code of RaLEs keeps the trial that is best on the test set and reports its score there. Two
numbers show what that does. The *advantage* is how much higher the reported score is than that of the trial
which validation would have chosen. The *optimism* is the part of the reported score that is luck: the score
less what the same choice yields on documents that had no part in it. It is estimated by cross-validation:
each tenth of the test documents is scored with the trial that is best on the other nine tenths. Halves
instead of tenths would measure the luck of a choice on half as many documents, which is larger.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from notebooks.rales.leaderboard import micro_f1
from radeval_lib.stats.inputs import FloatArray, finite
from radeval_lib.stats.resampling import drawn_rows

GAINS = ["advantage", "optimism"]
_FOLDS = 10


def optimism_by_trials(
    trials: pd.DataFrame, sizes: Sequence[int], *, resamples: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Advantage and optimism with each of so many ``trials``, in points of F1: means over resamples of
    searches, trials and folds, each with ``_low`` and ``_high`` (95 % of resamples). The test documents are
    the same in all of them, so these ends say nothing about what other documents could change.

    Parameters
    ----------
    trials : one row per ``search``, ``trial`` and ``case``: ``matched``, ``predicted`` and ``gold`` on test,
        and ``value``, the trial's measure on validation. Every search has equally many trials, each tested on
        the same cases.
    sizes : numbers of trials, from 1 to those that a search has.

    Raises
    ------
    ValueError
        Where a row is missing or there twice, a value is missing, or a size is not possible.
    """
    keys = ["search", "trial", "case"]
    ordered = trials.sort_values(keys)
    searches, most, cases = (ordered[name].nunique() for name in keys)
    if len(ordered) != searches * most * cases or ordered.duplicated(keys).any():
        raise ValueError("every search needs each trial once on each case")
    if not all(1 <= size <= most for size in sizes):
        raise ValueError(f"sizes are {list(sizes)}; a search has {most} trials")
    finite("value", ordered["value"], None)
    table = ordered[["matched", "predicted", "gold"]].to_numpy(np.float64).reshape(searches, most, cases, 3)
    values = ordered["value"].to_numpy(np.float64).reshape(searches, most, cases)[:, :, 0]
    totals = table.sum(axis=2)
    whole = micro_f1(totals)
    folds = min(_FOLDS, cases)
    by_size: dict[int, list[tuple[float, float]]] = {size: [] for size in sizes}
    for drawn in drawn_rows(np.arange(searches), resamples, rng.spawn(1)[0]):
        order = np.stack([rng.permutation(most) for _ in drawn])
        fold = rng.permutation(np.arange(cases) % folds)
        # shape (searches, trials, folds, 3): counts in each fold, and in all others
        inside = np.stack([table[:, :, fold == k].sum(axis=2) for k in range(folds)], axis=2)
        others = micro_f1(totals[:, :, None] - inside)
        for size in sizes:
            rows = [(search, order[place, :size]) for place, search in enumerate(drawn)]
            gains = [whole[s, k].max() - whole[s, k[values[s, k].argmax()]] for s, k in rows]
            luck = [whole[s, k].max() - _unseen(inside[s, k], others[s, k]) for s, k in rows]
            by_size[size].append((float(np.mean(gains)), float(np.mean(luck))))
    result = []
    for size, draws in by_size.items():
        (low, high), mean = np.quantile(draws, (0.025, 0.975), axis=0), np.mean(draws, axis=0)
        result.append((size, *mean, *low, *high))
    ends = [f"{name}_{end}" for end in ("low", "high") for name in GAINS]
    return pd.DataFrame(result, columns=["trials", *GAINS, *ends])


def _unseen(inside: FloatArray, others: FloatArray) -> float:
    """F1 of all folds together, each scored with the trial that is best on the others."""
    best = others.argmax(axis=0)
    return float(micro_f1(inside[best, np.arange(len(best))].sum(axis=0)))
