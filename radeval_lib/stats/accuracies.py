"""How often metrics are right, and whether one is right more often than another on the same items."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pingouin as pg
from numpy.typing import ArrayLike, NDArray
from scipy import stats


def accuracies(correct: Mapping[str, ArrayLike], level: float = 0.95) -> pd.DataFrame:
    """Share of items on which each metric is right, with Wilson's interval.

    Parameters
    ----------
    correct : of each metric, shape (items,): 1 or True where it is right, 0 or False where not, 0.5 for a
        tie, which counts as wrong. Items are taken as independent.
    level : coverage, strictly between 0 and 1.

    Returns
    -------
    DataFrame
        One row a metric: ``metric``, ``value``, ``low``, ``high`` (Wilson 1927), ``right``, ``tied`` (numbers
        of items) and ``n``.

    Raises
    ------
    ValueError
        Where lengths differ, there is no item, a value is another, or ``level`` is out of range.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be strictly between 0 and 1, not {level}")
    rows = []
    for name, values in _checked(correct).items():
        right = int((values == 1).sum())
        interval = stats.binomtest(right, len(values)).proportion_ci(level, method="wilson")
        rows.append(
            {
                "metric": name,
                "value": right / len(values),
                "low": float(interval.low),
                "high": float(interval.high),
                "right": right,
                "tied": int((values == 0.5).sum()),
                "n": len(values),
            }
        )
    return pd.DataFrame(rows)


def compare_accuracies(correct: Mapping[str, ArrayLike], *, first: str) -> pd.DataFrame:
    """Exact McNemar test of one metric against every other on the same items.

    Parameters
    ----------
    correct : as for :func:`accuracies`; a tie counts as wrong.
    first : name of the metric that the others are compared with.

    Returns
    -------
    DataFrame
        One row for every other metric: ``rival``; ``only_first``, ``only_rival`` (items on which only this
        one is right); ``difference`` (accuracy of first minus that of rival); ``p``, two-sided and exact: the
        binomial test that ``only_first`` is half of both numbers, 1 where both are 0; ``p_holm``, corrected
        over the rivals (Holm 1979).

    Raises
    ------
    ValueError
        As for :func:`accuracies`, and where ``first`` is unknown or has no rival.
    """
    right = {name: values == 1 for name, values in _checked(correct).items()}
    if first not in right:
        raise ValueError(f"no metric {first!r}; there are {', '.join(right)}")
    if len(right) == 1:
        raise ValueError(f"{first!r} is the only metric; give another to compare it with")
    mine = right.pop(first)
    rows = []
    for name, theirs in right.items():
        ours, others = int((mine & ~theirs).sum()), int((theirs & ~mine).sum())
        rows.append(
            {
                "rival": name,
                "only_first": ours,
                "only_rival": others,
                "difference": (ours - others) / len(mine),
                "p": float(stats.binomtest(ours, ours + others).pvalue) if ours + others else 1.0,
            }
        )
    result = pd.DataFrame(rows)
    result["p_holm"] = pg.multicomp(result["p"].to_numpy(), method="holm")[1]
    return result


def _checked(correct: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
    if not correct:
        raise ValueError("correct holds no metric")
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in correct.items()}
    shape = next(iter(arrays.values())).shape
    for name, array in arrays.items():
        if array.ndim != 1 or array.shape != shape or not array.size:
            raise ValueError(
                f"{name} has shape {array.shape}; give one value an item, of every metric as many"
            )
        if not np.isin(array, (0, 0.5, 1)).all():
            raise ValueError(f"{name} holds a value other than 0, 0.5 and 1")
    return arrays
