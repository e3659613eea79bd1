"""Numbers are the same only in the same shape, and values follow what was drawn only where something was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radeval_lib.labs.comparing import follows, same_numbers


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ([1, 2.0000001], [1, 2], True),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]], True),
        (0.5, 0.5, True),
        ([1, 2.1], [1, 2], False),
        ([], [1, 2], False),
        ([[]], [1, 2], False),
        ([1], [1, 1], False),
        (1, [1, 1], False),
        ([[1], [1]], [1, 1], False),
        (np.empty((0, 1)), [1, 2], False),
        ([float("nan")], [1], False),
        ([float("inf")], [1], False),
        ([[1], [1, 2]], [[1], [1]], False),
        (["a"], [1], False),
        (None, [1], False),
    ],
)
def test_same_numbers_have_the_same_shape(found: Any, wanted: Any, same: bool) -> None:
    assert same_numbers(found, wanted) == same


def test_statistics_of_the_drawn_rows_follow_them_and_made_up_numbers_do_not() -> None:
    draw = np.random.default_rng(0)
    rows, values = draw.integers(40, size=(1000, 40)), draw.normal(size=(2, 40))
    right = [values[0][row].mean() - np.median(values[1][row]) for row in rows]
    assert follows(right, rows)
    assert follows([values[0][row].std() for row in rows], rows)
    noise = draw.normal(size=1000)
    for made in (noise, draw.random(1000), [1] * 1000, right[::-1], right[:-1], ["a"] * 1000):
        assert not follows(made, rows)
