"""Numbers are the same only in the same shape, and values go with right ones only of the same resamples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from radeval_lib.labs.comparing import goes_with, same_numbers


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
        (["1"], [1], False),
        ("0.5", 0.5, False),
        ([float("inf")], [float("inf")], False),
        ([], [], True),
        (None, [1], False),
    ],
)
def test_same_numbers_have_the_same_shape(found: Any, wanted: Any, same: bool) -> None:
    assert same_numbers(found, wanted) == same


def test_mistaken_statistics_go_with_right_ones_and_made_up_numbers_do_not() -> None:
    draw = np.random.default_rng(0)
    rows, values = draw.integers(40, size=(300, 40)), draw.normal(size=40)
    right = np.array([values[row].mean() for row in rows])
    other = [draw.normal(size=300), right]
    assert goes_with(-right, other)
    assert goes_with([np.median(values[row]) for row in rows], other)
    noise = [row.mean() for row in rows]
    for made in (noise, draw.random(300), [1] * 300, right[::-1], right[:-1], ["a"] * 300, [right], []):
        assert not goes_with(made, [right])
