"""What follows from rounded numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from radeval_lib.papers.printed_numbers import correlation_range
from radeval_lib.study import f1, rounding_range

UNIT = st.floats(0.05, 0.95)


def test_sums_and_means_have_exact_ranges() -> None:
    # 0.1 ± 0.05 and 0.3 ± 0.05: their sum lies in 0.3 .. 0.5, their mean in 0.15 .. 0.25.
    total = rounding_range(np.sum, _cells([0.1, 0.3], 0.05))
    assert (total.value, total.low, total.high) == pytest.approx((0.4, 0.3, 0.5))
    mean = rounding_range(np.mean, _cells([0.1, 0.3], 0.05))
    assert (mean.low, mean.high) == pytest.approx((0.15, 0.25))


def test_f1_by_hand() -> None:
    # RaTEScore Table 7, R.+M.: 2 * 0.567 * 0.575 / (0.567 + 0.575) = 0.57097
    assert f1(0.567, 0.575) == pytest.approx(0.570972, abs=1e-6)
    assert f1(0.0, 0.0) == 0.0


@given(UNIT, UNIT)
def test_the_range_holds_every_input_that_rounds_to_the_printed_one(precision: float, recall: float) -> None:
    printed = [round(precision, 2), round(recall, 2)]
    followed = rounding_range(lambda pair: f1(*pair), _cells(printed, 0.005))
    truth = f1(precision, recall)
    assert followed.low - 1e-12 <= truth <= followed.high + 1e-12


@given(st.lists(UNIT, min_size=1, max_size=7))
def test_the_mean_of_unrounded_values_lies_in_the_range(values: list[float]) -> None:
    followed = rounding_range(np.mean, _cells([round(value, 1) for value in values], 0.05))
    assert followed.low - 1e-12 <= np.mean(values) <= followed.high + 1e-12


def _cells(values: list[float], half_width: float) -> pd.DataFrame:
    return pd.DataFrame({"value": values, "half_width": half_width})


def test_correlation_of_three_points_by_hand() -> None:
    # x = 0, 1, 2 and y = 0, b, 2: r = 2 / sqrt(2 (b² + 4 - (b + 2)² / 3)), which is 1 for b = 1, and
    # 2 / sqrt(7) = 0.7559 for b = 2.5, further down than 0.9608 for b = 0.5.
    y = pd.DataFrame({"value": [0.0, 1.5, 2.0], "half_width": [0.0, 1.0, 0.0]})
    range_of_r = correlation_range(_cells([0.0, 1.0, 2.0], 0.0), y)
    assert (range_of_r.low, range_of_r.high) == pytest.approx((0.755929, 1.0))
    on_a_line = correlation_range(_cells([0.0, 1.0, 2.0], 0.0), y.assign(value=[0.0, 1.0, 2.0]))
    assert (on_a_line.value, on_a_line.low) == pytest.approx((1.0, np.sqrt(3) / 2))  # b = 0 or 2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=12, max_size=12), st.integers(0, 2**32 - 1))
def test_no_columns_that_round_to_the_printed_ones_correlate_outside_the_range(
    printed: list[float], seed: int
) -> None:
    columns = np.round(np.array(printed).reshape(2, 6), 2)
    assume((columns.std(axis=1) > 0.01).all())
    first, second = (_cells(list(column), 0.005) for column in columns)
    range_of_r = correlation_range(first, second)
    assert range_of_r.value == pytest.approx(np.corrcoef(columns)[0, 1])
    drawn = columns + np.random.default_rng(seed).uniform(-0.005, 0.005, (200, 2, 6))
    values = [np.corrcoef(pair)[0, 1] for pair in drawn]
    assert range_of_r.low - 1e-6 <= min(values)
    assert max(values) <= range_of_r.high + 1e-6
