"""What a design could tell, against its own definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebooks.across import how_many_pairs

ERROR = 1 / math.sqrt(197)  # Pearson, 200 pairs


def test_two_independent_correlations_by_hand() -> None:
    design = how_many_pairs.compute_power((0.6, ERROR), (0.5, ERROR), 200, 0.0)
    gap, error = math.atanh(0.6) - math.atanh(0.5), ERROR * math.sqrt(2)
    assert design["needed"] == pytest.approx(200 * ((1.959964 + 0.841621) * error / gap) ** 2, rel=1e-5)
    assert design["power"] == pytest.approx(
        0.2976, abs=5e-4
    )  # 1.428 errors: 29.72% above 1.96, 0.04% below -1.96


@given(
    low=st.floats(-0.8, 0.8), error=st.floats(0.01, 0.2), between=st.floats(0, 0.95), n=st.integers(10, 5000)
)
def test_the_least_lead_has_the_power_that_it_is_named_for(
    low: float, error: float, between: float, n: int
) -> None:
    least = how_many_pairs.compute_power((low + 0.1, error), (low, error), n, between)["least"]
    design = how_many_pairs.compute_power((low + least, error), (low, error), n, between)
    assert design["power"] == pytest.approx(how_many_pairs.POWER, abs=1e-3)
    assert design["needed"] == pytest.approx(n, rel=1e-6)


def test_no_number_of_pairs_shows_a_lead_that_is_none() -> None:
    design = how_many_pairs.compute_power((0.5, ERROR), (0.5, ERROR), 200, 0.5)
    assert design["needed"] == np.inf
    assert design["power"] == pytest.approx(how_many_pairs.ALPHA)
