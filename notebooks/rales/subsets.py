"""Fewer labels: nested subsets in which every stratum keeps its share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np


def stratified_order(strata: Sequence[Hashable], rng: np.random.Generator) -> list[int]:
    """Positions in an order of which every beginning holds each stratum in its share.

    The members of a stratum are shuffled and spaced evenly over the order, from a random start. So the
    first k hold, of a stratum with a share p, less than two more or fewer than p k; and because a smaller
    subset is a shorter beginning, subsets are nested.
    """
    places: dict[Hashable, list[int]] = {}
    for position, stratum in enumerate(strata):
        places.setdefault(stratum, []).append(position)
    keys = np.empty(len(strata))
    for members in places.values():
        shuffled = rng.permutation(members)
        keys[shuffled] = (np.arange(len(members)) + rng.random()) / len(members)
    return [int(position) for position in np.argsort(keys, kind="stable")]


def first_share(order: Sequence[int], share: float) -> list[int]:
    """The beginning of an order that holds ``share`` of it, from 0 to 1, rounded up; sorted."""
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; it must be from 0 to 1")
    # 0.07 * 100 is 7.000000000000001 in binary: what is whole but for rounding is not rounded up.
    return sorted(order[: int(np.ceil(round(share * len(order), 9)))])
