"""Ratings that published summaries allow: every table of ratings that has the printed means and shares.

Small rating studies print means, shares and agreement, but not the ratings. Where few units deviate from the
top rating, all tables that fit can be listed, and the agreement of each compared with what is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

Losses = tuple[float, ...]  # points lost on one unit, a rater each
Placement = tuple[Losses, ...]  # the units of a group on which some rater takes points off


def interval_alpha(ratings: ArrayLike) -> NDArray[np.float64]:
    """Krippendorff's alpha at the interval level, for many complete rating tables at once.

    Parameters
    ----------
    ratings : float, shape (..., raters, units), at least two raters, no missing rating.

    Returns
    -------
    ndarray
        float64 of shape (...): 1 - observed over expected disagreement; NaN where all ratings are equal.

    Notes
    -----
    Hayes and Krippendorff 2007. For one table, or with missing ratings, use the package ``krippendorff``,
    against which this is tested.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim < 2 or table.shape[-2] < 2:
        raise ValueError(
            f"ratings has shape {table.shape}; give (..., raters, units) with at least two raters"
        )
    if np.isnan(table).any():
        raise ValueError("a rating is missing; use krippendorff.alpha for tables with missing ratings")
    raters, units = table.shape[-2:]
    values = table.reshape(*table.shape[:-2], raters * units)
    # Mean squared difference of two ratings is twice their variance: within units, and over all.
    observed = 2 * table.var(axis=-2, ddof=1).mean(axis=-1)
    expected = 2 * values.var(axis=-1, ddof=1)
    with np.errstate(invalid="ignore"):
        return np.asarray(1 - observed / expected)


def losses_of(mean: float, units: int, steps: Sequence[float] = (0.5, 1.0)) -> list[Losses]:
    """The sets of points lost, sorted, that leave ``units`` ratings of at most 1 with this mean.

    Parameters
    ----------
    mean : mean rating, exact.
    steps : what a rating can lose, ascending.
    """
    goal = round((1 - mean) * units, 6)

    def fill(rest: float, allowed: Sequence[float], room: int) -> list[Losses]:
        if abs(rest) < 1e-6:
            return [()]
        if rest < 0 or not room or not allowed:
            return []
        return [(*tail, allowed[-1]) for tail in fill(rest - allowed[-1], allowed, room - 1)] + fill(
            rest, allowed[:-1], room
        )

    return fill(goal, tuple(steps), units)


def placements(losses: Sequence[Losses], units: int) -> set[Placement]:
    """All ways to lay each rater's losses on ``units`` units, where the order of units does not matter."""
    slots = min(units, sum(map(len, losses)))
    found = {tuple((0.0,) * len(losses) for _ in range(slots))}
    for rater, lost in enumerate(losses):
        laid = set()
        for placed in found:
            for chosen in set(permutations(range(slots), len(lost))):
                rows = [list(unit) for unit in placed]
                for slot, loss in zip(chosen, lost, strict=True):
                    rows[slot][rater] = loss
                laid.add(tuple(sorted(map(tuple, rows))))
        found = laid
    return {tuple(unit for unit in placed if any(unit)) for placed in found}


def tables_with(
    means: Sequence[Sequence[float]], units: int, shares: dict[float, int], touched: int
) -> list[NDArray[np.float64]]:
    """Every table of ratings (1 minus a loss) with the given means, numbers of each loss, and units touched.

    Parameters
    ----------
    means : mean rating by group (rows) and rater (columns), exact.
    units : units in each group.
    shares : loss -> how many ratings have it, over all groups and raters.
    touched : units on which at least one rater takes points off.

    Returns
    -------
    list of ndarray
        float64, shape (raters, groups x units), distinct up to the order of units within the whole table.
    """
    steps = sorted(shares)
    choices = [[losses_of(mean, units, steps) for mean in row] for row in means]
    seen: dict[Placement, None] = {}
    for picked in product(*(product(*row) for row in choices)):
        every = [loss for group in picked for lost in group for loss in lost]
        if any(every.count(loss) != number for loss, number in shares.items()):
            continue
        for parts in product(*(sorted(placements(group, units)) for group in picked)):
            rows = tuple(sorted(unit for part in parts for unit in part))
            if len(rows) == touched:
                seen.setdefault(rows)
    raters, total = len(means[0]), len(means) * units
    return [
        np.pad(
            1 - np.array(rows).reshape(-1, raters).T, ((0, 0), (0, total - len(rows))), constant_values=1.0
        )
        for rows in seen
    ]
