"""What follows from rounded numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
