"""Tables of ratings behind printed means: every one that a paper's digits allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations, product

import numpy as np
from numpy.typing import NDArray

Losses = tuple[float, ...]  # points lost on one unit, one per rater
Placement = tuple[Losses, ...]  # the units of a group on which some rater takes points off


def losses_of(mean: float, units: int, steps: Sequence[float]) -> list[Losses]:
    """Return the sets of points lost, sorted, that leave ``units`` ratings of at most 1 with this exact mean;
    ``steps``: what a rating can lose, positive and in rising order. Empty where no set does."""
    if not steps or steps[0] <= 0 or any(low >= high for low, high in pairwise(steps)):
        raise ValueError(f"steps are {list(steps)}; give positive numbers in rising order")
    goal = round((1 - mean) * units, 6)

    def fill(rest: float, allowed: Sequence[float], room: int) -> list[Losses]:
        if abs(rest) < 1e-6:
            return [()]
        if rest < 0 or not room or not allowed:
            return []
        with_largest = fill(rest - allowed[-1], allowed, room - 1)
        return [(*tail, allowed[-1]) for tail in with_largest] + fill(rest, allowed[:-1], room)

    return fill(goal, tuple(steps), units)


def placements(losses: Sequence[Losses], units: int) -> set[Placement]:
    """Return all ways to assign each rater's losses to ``units`` units, where the order of units does not
    matter."""
    slots = min(units, sum(map(len, losses)))
    placed = {tuple((0.0,) * len(losses) for _ in range(slots))}
    for rater, lost in enumerate(losses):
        with_rater = set()
        for units_so_far in placed:
            for chosen in set(permutations(range(slots), len(lost))):
                rows = [list(unit) for unit in units_so_far]
                for slot, loss in zip(chosen, lost, strict=True):
                    rows[slot][rater] = loss
                with_rater.add(tuple(sorted(map(tuple, rows))))
        placed = with_rater
    return {tuple(unit for unit in placement if any(unit)) for placement in placed}


def tables_with(
    means: Sequence[Sequence[float]], units: int, shares: Mapping[float, int], touched: int
) -> list[NDArray[np.float64]]:
    """Return every table of ratings (1 minus a loss) with the given means (groups x raters, exact), number of
    each loss, and units on which a rater takes points off; shape (raters, groups x units), distinct up to the
    units' order. A ValueError where the means are no table, or a loss is not positive."""
    if not means or len({len(row) for row in means}) != 1:
        raise ValueError("means must be a table, one row per group, with one mean per rater")
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
