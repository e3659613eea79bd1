"""Intervals of shares against SciPy's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from radeval_lib.stats.proportions import rule_of_three, wilson


@given(st.integers(1, 500).flatmap(lambda cases: st.tuples(st.integers(0, cases), st.just(cases))))
def test_wilson_is_that_of_scipy(counts) -> None:
    expected = binomtest(*counts).proportion_ci(0.95, "wilson")
    assert wilson(*counts) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_tie_counts_as_half() -> None:
    # By hand: z² = 3.8415, (4.5 + 1.9207 ± 1.96 sqrt(10 * 0.45 * 0.55 + 0.9604)) / 13.8415.
    assert wilson(4.5, 10) == pytest.approx((0.2014, 0.7263), abs=1e-4)
    assert wilson(4, 10) < wilson(4.5, 10) < wilson(5, 10)


@pytest.mark.parametrize(("count", "cases"), [(-0.5, 3), (4, 3), (0, 0)])
def test_what_is_no_share_is_refused(count: float, cases: int) -> None:
    with pytest.raises(ValueError, match="not a share of cases"):
        wilson(count, cases)


def test_rule_of_three() -> None:
    assert rule_of_three(100) == 0.03
    assert rule_of_three(2) == 1.0
