"""Tables of ratings that printed summaries allow, by hand, and alpha against the package krippendorff."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.reconstruction import losses_of, placements, tables_with


@given(
    arrays(np.float64, st.tuples(st.integers(2, 4), st.integers(2, 8)), elements=st.sampled_from([0, 0.5, 1]))
)
def test_alpha_is_the_packages(ratings: np.ndarray) -> None:
    if len(np.unique(ratings)) > 1:
        expected = krippendorff.alpha(ratings, level_of_measurement="interval")
        assert float(interval_alpha(ratings)) == pytest.approx(expected)


def test_alpha_by_hand_and_in_bulk() -> None:
    # Two raters, two units: (0, 1) and (0, 0). Observed: mean of 0 and 1. Expected: twice the variance of
    # 0, 1, 0, 0, which is .5.
    table = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert float(interval_alpha(table)) == pytest.approx(1 - 0.5 / 0.5)
    assert interval_alpha(np.stack([table, np.eye(2) * 0 + [0.0, 1.0]])) == pytest.approx([0, 1])
    assert np.isnan(interval_alpha(np.ones((2, 3))))


def test_losses() -> None:
    # A mean of .75 over ten units loses 2.5 points: 2 x 1 + .5, 1 + 3 x .5, 5 x .5.
    halves = (0.5, 1.0)
    found = sorted(losses_of(0.75, 10, halves))
    assert found == [(0.5, 0.5, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 1.0), (0.5, 1.0, 1.0)]
    assert losses_of(1.0, 10, halves) == [()]
    assert losses_of(0.5, 2, halves) == [(1.0,), (0.5, 0.5)]
    assert losses_of(0.97, 10, halves) == []  # .3 points cannot be lost in halves


def test_placements_ignore_the_order_of_units() -> None:
    # One loss each: on the same unit or on two.
    assert placements([(0.5,), (0.5,)], 10) == {((0.5, 0.5),), ((0.0, 0.5), (0.5, 0.0))}
    assert placements([(0.5,), (0.5,)], 1) == {((0.5, 0.5),)}
    assert placements([(), ()], 3) == {()}


def test_tables_have_the_means_shares_and_touched_units() -> None:
    means = [[0.95, 0.95, 0.90], [1, 0.95, 1], [1, 1, 0.95], [1, 0.75, 0.95]]
    tables = tables_with(means, 10, {0.5: 8, 1.0: 2}, touched=7)
    assert len({table.tobytes() for table in tables}) == len(tables) > 0
    for table in tables:
        assert table.shape == (3, 40)
        assert (table.sum(), (table == 0.5).sum(), (table == 0).sum()) == (114, 8, 2)
        assert (table.min(axis=0) < 1).sum() == 7
        assert table.mean(axis=1) == pytest.approx(np.mean(means, axis=0))
    assert tables_with(means, 10, {0.5: 9, 1.0: 2}, touched=7) == []


def test_alpha_refuses_one_rater_and_missing_ratings() -> None:
    with pytest.raises(ValueError, match="two raters or more"):
        interval_alpha(np.ones((1, 3)))
    with pytest.raises(ValueError, match="a rating is missing"):
        interval_alpha([[1.0, np.nan], [1.0, 0.0]])
