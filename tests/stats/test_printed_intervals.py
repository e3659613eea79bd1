"""Tests of differences between printed estimates, from their intervals."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from radeval_lib.stats import printed as pi


def test_standard_error_of_a_pearson_interval() -> None:
    # Fisher: atanh(r) ± 1.959964 / sqrt(n - 3); n = 103 gives 0.1.
    ends = [math.tanh(math.atanh(0.5) + sign * 1.959964 * 0.1) for sign in (-1, 1)]
    assert pi.standard_error(*ends) == pytest.approx(0.1, abs=1e-6)


def test_two_sided_p_by_hand() -> None:
    # 1.96 standard errors of sqrt(0.3² + 0.4²) = 0.5
    assert pi.two_sided_p(0.979982, 0.3, 0.4) == pytest.approx(0.05, abs=1e-6)
    # errors that move together by 0.5: variance 0.25 - 2 * 0.5 * 0.12 = 0.13
    expected = 2 * stats.norm.sf(0.5 / math.sqrt(0.13))
    assert pi.two_sided_p(0.5, 0.3, 0.4, 0.5) == pytest.approx(expected)


@given(st.floats(0.01, 0.5), st.floats(0.02, 0.2), st.floats(0.02, 0.2))
def test_needed_correlation_is_where_p_reaches_the_level(gap, first, second) -> None:
    needed = pi.needed_correlation(gap, first, second)
    if math.isnan(needed):
        assert pi.two_sided_p(gap, first, second, 0.999) > 0.05
    elif needed > -1:
        assert pi.two_sided_p(gap, first, second, needed) == pytest.approx(0.05)
    else:
        assert pi.two_sided_p(gap, first, second, -1) <= 0.05


def test_no_correlation_makes_a_tie_significant() -> None:
    assert math.isnan(pi.needed_correlation(0.0, 0.1, 0.1))
    assert math.isnan(pi.needed_correlation(0.0, 0.1, 0.2))


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.4), (-1, 0.5), (0.2, 1.0)])
def test_impossible_intervals(low, high) -> None:
    with pytest.raises(ValueError, match="in order"):
        pi.standard_error(low, high)
