"""Ranks of intervals against hand-ordered cases and against ranks of random numbers inside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from notebooks.rales.average_ranks import rank_range


def _listed(low: list[float], high: list[float]) -> tuple[list[int], list[int]]:
    lowest, highest = rank_range(low, high)
    return lowest.tolist(), highest.tolist()


def test_separate_intervals_have_one_rank_each() -> None:
    assert _listed([0, 4, 2], [1, 5, 3]) == ([1, 3, 2], [1, 3, 2])


def test_overlapping_intervals_share_their_ranks() -> None:
    # printed .003, .003, .002: the first two stand for overlapping intervals
    assert _listed([0.0025, 0.0025, 0.0015], [0.0035, 0.0035, 0.0025]) == ([2, 2, 1], [3, 3, 1])


def test_touching_ends_count_as_apart_whatever_binary_floating_point_makes_of_them() -> None:
    # .046 and .047 touch at .0465
    assert _listed([0.047 - 0.0005, 0.046 - 0.0005], [0.047 + 0.0005, 0.046 + 0.0005]) == ([2, 1], [2, 1])


def test_equal_exact_numbers_are_tied() -> None:
    assert _listed([1, 1, 2], [1, 1, 2]) == ([1, 1, 3], [2, 2, 3])


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=8), st.randoms())
def test_ranks_of_numbers_inside_lie_in_the_range(pairs: list[tuple[int, int]], random: object) -> None:
    low = np.array([start for start, _ in pairs], dtype=float)
    high = low + [width for _, width in pairs]
    inside = np.array([random.uniform(a, b) for a, b in zip(low, high, strict=True)])  # type: ignore[attr-defined]
    lowest, highest = rank_range(low, high)
    assert (rankdata(inside, "max") >= lowest).all()
    assert (rankdata(inside, "min") <= highest).all()


@pytest.mark.parametrize(
    ("low", "high"), [([1.0], [0.0]), ([1.0, 2.0], [1.0]), (0.0, 1.0), ([1.0, np.nan], [1.0, 2.0])]
)
def test_bad_intervals_are_refused(low, high) -> None:
    with pytest.raises(ValueError, match="low <= high"):
        rank_range(low, high)
