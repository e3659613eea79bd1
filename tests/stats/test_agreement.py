"""Agreement of raters: hand-computed values, and scipy and pingouin as references."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pingouin as pg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from radeval_lib.stats import agreement

COUNTS = arrays(np.int64, st.tuples(st.integers(8, 20), st.integers(2, 5)), elements=st.integers(0, 4))


def test_mean_absolute_differences_by_hand() -> None:
    counts = [[0, 1, 3], [2, 2, 0]]
    # |0-1|, |2-2| -> 0.5; |0-3|, |2-0| -> 2.5; |1-3|, |2-0| -> 2
    expected = [[0, 0.5, 2.5], [0.5, 0, 2], [2.5, 2, 0]]
    matrix = agreement.mean_absolute_differences(counts)
    np.testing.assert_allclose(matrix, expected)
    np.testing.assert_allclose(agreement.upper_triangle(matrix), [0.5, 2.5, 2])
    np.testing.assert_allclose(agreement.means_of_pairs(matrix), [1.5, 1.25, 2.25])


def test_four_experts_by_hand() -> None:
    counts = np.array([[0, 1, 3, 0], [2, 2, 0, 2], [1, 0, 2, 2]])  # a row per item
    apart = agreement.mean_absolute_differences(counts)
    np.testing.assert_allclose(agreement.upper_triangle(apart), [2 / 3, 2, 1 / 3, 2, 1, 5 / 3])
    # Of three pairs of items two, none and one are in the same order for the first three experts. The fourth
    # ties one pair, which leaves it two: tau-b divides by the root of 3 times 2.
    with_fourth = 2 / np.sqrt(6)
    tau = agreement.kendall_matrix(counts)
    wanted = [1 / 3, -1, with_fourth, -1 / 3, 0, -with_fourth]
    np.testing.assert_allclose(agreement.upper_triangle(tau), wanted, atol=1e-12)
    found = agreement.kendall_with(counts, counts[:, 3])
    np.testing.assert_allclose(found, [with_fourth, 0, -with_fourth, 1], atol=1e-12)
    others = np.array([[4, 3, 1, 4], [4, 4, 6, 4], [4, 5, 3, 3]]) / 3
    np.testing.assert_allclose(agreement.mean_of_others(counts), others)


@given(COUNTS)
def test_mean_of_all_pairs_is_the_mean_of_the_raters_means(counts) -> None:
    matrix = agreement.mean_absolute_differences(counts)
    assert agreement.upper_triangle(matrix).mean() == pytest.approx(agreement.means_of_pairs(matrix).mean())


@given(COUNTS)
def test_mean_of_others_leaves_one_out(counts) -> None:
    others = agreement.mean_of_others(counts)
    for rater in range(counts.shape[1]):
        np.testing.assert_allclose(others[:, rater], np.delete(counts, rater, axis=1).mean(axis=1))


def test_kendall_matches_pingouin() -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(2, (60, 3))
    matrix = agreement.kendall_matrix(counts)
    expected = pd.DataFrame(counts).corr(method="kendall").to_numpy()
    np.testing.assert_allclose(matrix, expected)
    first = pg.corr(counts[:, 0], counts[:, 1], method="kendall")["r"].iloc[0]
    assert agreement.kendall_with(counts, counts[:, 0])[1] == pytest.approx(first, abs=5e-6)
    loo = agreement.kendall_with(counts, agreement.mean_of_others(counts))
    assert loo[2] == pytest.approx(stats.kendalltau(counts[:, 2], counts[:, :2].mean(axis=1)).statistic)


def test_limits_of_agreement_by_hand_and_as_pingouin_draws_them():
    first, second = np.array([1.0, 3.0, 5.0]), np.array([1.0, 2.0, 3.0])
    limits = agreement.limits_of_agreement(first, second)  # differences 0, 1 and 2
    assert (limits.value, limits.low, limits.high) == pytest.approx((1, 1 - 1.96, 1 + 1.96))
    drawn = pg.plot_blandaltman(first, second, ax=plt.figure().add_subplot())
    lines = [line.get_ydata()[0] for line in drawn.lines]
    assert lines[1:] == pytest.approx([limits.value, limits.high, limits.low])


def test_kendall_of_a_constant_rater_is_nan() -> None:
    assert np.isnan(agreement.kendall_matrix([[1, 0], [1, 2], [1, 3]])[0, 1])


def test_adding_up_sixths_moves_w() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.poisson(1.2, (200, 6)), rng.poisson(0.4, (200, 6))
    found = agreement.wilcoxon_by_order([first, second], orders=50)
    assert found.shape == (50, 6)
    assert (found.min(axis=0) < found.max(axis=0)).all()
    halves = agreement.wilcoxon_by_order([first[:, :2], second[:, :2]])  # halves are exact in binary
    counts = (first + second)[:, :2]
    exact = [_w(column) for column in (2 * counts - counts.sum(axis=1, keepdims=True)).T]
    np.testing.assert_allclose(halves, np.vstack([exact, exact]))


def _w(differences: np.ndarray) -> float:
    ranks = stats.rankdata(np.abs(differences[differences != 0])) * np.sign(differences[differences != 0])
    return float(min(ranks[ranks > 0].sum(), -ranks[ranks < 0].sum()))


@pytest.mark.parametrize(
    ("counts", "message"),
    [([1, 2], r"shape \(2,\)"), ([[1], [2]], "at least two raters"), ([[1, np.nan]], "missing")],
)
@pytest.mark.parametrize(
    "function", [agreement.mean_absolute_differences, agreement.kendall_matrix, agreement.mean_of_others]
)
def test_bad_counts(function, counts, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(counts)


@pytest.mark.parametrize(("reference", "message"), [([1, 2], "shape"), ([1, 2, np.nan], "missing")])
def test_a_bad_reference(reference, message: str) -> None:
    with pytest.raises(ValueError, match=f"reference .*{message}"):
        agreement.kendall_with([[1, 2], [2, 3], [3, 5]], reference)
