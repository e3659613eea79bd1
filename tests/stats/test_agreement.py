"""Agreement of raters, and of metrics with raters: by hand, against SciPy, pingouin and mt-metrics-eval."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pingouin as pg
import pytest
from scipy import stats

from radeval_lib.stats import agreement


def test_mean_absolute_differences_by_hand() -> None:
    counts = [[0, 1, 3], [2, 2, 0]]
    # |0-1|, |2-2| -> 0.5; |0-3|, |2-0| -> 2.5; |1-3|, |2-0| -> 2
    expected = [[0, 0.5, 2.5], [0.5, 0, 2], [2.5, 2, 0]]
    matrix = agreement.mean_absolute_differences(counts)
    np.testing.assert_allclose(matrix, expected)
    np.testing.assert_allclose(agreement.upper_triangle(matrix), [0.5, 2.5, 2])


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
    with_last = agreement.kendall_with_reference(counts, counts[:, 3])
    np.testing.assert_allclose(with_last, [with_fourth, 0, -with_fourth, 1], atol=1e-12)
    others = np.array([[4, 3, 1, 4], [4, 4, 6, 4], [4, 5, 3, 3]]) / 3
    np.testing.assert_allclose(agreement.mean_of_others(counts), others)


def test_limits_of_agreement_by_hand_and_as_pingouin_draws_them():
    first, second = np.array([1.0, 3.0, 5.0]), np.array([1.0, 2.0, 3.0])
    limits = agreement.limits_of_agreement(first, second)  # differences 0, 1 and 2
    assert (limits.value, limits.low, limits.high) == pytest.approx((1, 1 - 1.96, 1 + 1.96))
    drawn = pg.plot_blandaltman(first, second, ax=plt.figure().add_subplot())
    lines = [line.get_ydata()[0] for line in drawn.lines]
    assert lines[1:] == pytest.approx([limits.value, limits.high, limits.low])


def test_adding_up_sixths_moves_w() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.poisson(1.2, (200, 6)), rng.poisson(0.4, (200, 6))
    by_order = agreement.wilcoxon_by_order([first, second])
    assert by_order.shape == (720, 6)
    assert (by_order.min(axis=0) < by_order.max(axis=0)).all()
    halves = agreement.wilcoxon_by_order([first[:, :2], second[:, :2]])  # halves are exact in binary
    counts = (first + second)[:, :2]
    exact = [_w(column) for column in (2 * counts - counts.sum(axis=1, keepdims=True)).T]
    np.testing.assert_allclose(halves, np.vstack([exact, exact]))


def _w(differences: np.ndarray) -> float:
    ranks = stats.rankdata(np.abs(differences[differences != 0])) * np.sign(differences[differences != 0])
    return float(min(ranks[ranks > 0].sum(), -ranks[ranks < 0].sum()))


# mt_metrics_eval.tau_optimization (commit 68a481a) with TauSufficientStats.acc_23 on the same draws.
THEIRS = [(0, 1.01, 0.541667), (1, 0.93, 0.638889), (2, 0.12, 0.472222), (3, 0.16, 0.5)]


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return gaps of scores, what people prefer, and cases, of twelve cases with four items each."""
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 4, (12, 4)).astype(float)
    scores = np.round(people + rng.normal(0, 1.5, (12, 4)), 2)
    cases = [case for case in range(12) for _ in range(4)]
    places = agreement.pairs_within(cases)
    first_grades, second_grades = people.ravel()[places].T
    first, second = scores.ravel()[places].T
    return first - second, np.sign(first_grades - second_grades), [cases[row] for row in places[:, 0]]


def tie_threshold(gaps: np.ndarray, wanted: np.ndarray) -> float:
    """Return one case's threshold by its definition (Deutsch et al. 2023, section 5); ``metric_agrees`` finds
    those of all cases at once."""
    tried = np.unique([0.0, *np.abs(gaps)])
    agree = [(np.where(np.abs(gaps) > threshold, np.sign(gaps), 0) == wanted).mean() for threshold in tried]
    return float(tried[int(np.argmax(agree))])


def test_pairs_are_of_one_case() -> None:
    assert agreement.pairs_within(["a", "b", "a", "a"]).tolist() == [[0, 2], [0, 3], [2, 3]]
    assert agreement.pairs_within([1, 2]).shape == (0, 2)


@pytest.mark.parametrize(("seed", "threshold", "accuracy"), THEIRS)
def test_threshold_is_that_of_mt_metrics_eval(seed: int, threshold: float, accuracy: float) -> None:
    gaps, wanted, _ = drawn(seed)
    ours = tie_threshold(gaps, wanted)
    right = np.where(np.abs(gaps) > ours, np.sign(gaps), 0) == wanted
    assert right.mean() == pytest.approx(accuracy, abs=1e-6)
    assert ours == pytest.approx(threshold, abs=1e-6)


def test_no_pair_chooses_its_own_threshold() -> None:
    gaps, wanted, cases = drawn(0)
    hits = agreement.metric_agrees(gaps, wanted, cases)
    fitted = np.where(np.abs(gaps) > tie_threshold(gaps, wanted), np.sign(gaps), 0) == wanted
    assert hits.shape == gaps.shape
    assert hits.mean() <= fitted.mean()
    # Each case by the threshold of all others, one after the other.
    of = np.array(cases)
    for case in range(12):
        threshold = tie_threshold(gaps[of != case], wanted[of != case])
        answers = np.where(np.abs(gaps) > threshold, np.sign(gaps), 0)
        assert (hits[of == case] == (answers == wanted)[of == case]).all()


def test_means_of_decimal_grades_that_are_equal_prefer_neither() -> None:
    grades = np.array([[0.1, 0.2, 0.3, 1.0], [0.3, 0.2, 0.1, 1.0]])
    for scale in (1, 10):
        chosen = agreement.choices_of_others(grades * scale, np.array([[0, 1]]))
        assert chosen[:, 0].tolist() == [1, 0, -1, 0]


def test_metrics_and_raters_are_held_against_the_same_people() -> None:
    # Two items a set. Set 1: raters 1 and 2 prefer the first, rater 3 the second; set 2: all the second.
    grades = [[3, 4, 1], [1, 2, 2], [2, 2, 2], [5, 4, 4]]
    pairs = np.array([[0, 1], [2, 3]])
    # Without rater 1: 2.5 v 2 the first; without 2: 2 v 1.5 the first; without 3: 3.5 v 1.5 the first.
    assert agreement.choices_of_others(grades, pairs).tolist() == [[1, -1]] * 3
    assert agreement.rater_agreement(grades, pairs) == pytest.approx([2 / 3, 1])
    hits = agreement.metric_agreement([2.0, 1.0, 1.0, 2.0], grades, pairs, ["a", "b"])
    assert hits.tolist() == [1, 1]
    # Without rater 1, the others call set 1 a tie: a metric that prefers the first is right twice in three,
    # and learns there that its gap of 1 is a tie, which is wrong of set 2.
    tied = [[3, 1, 2], [1, 2, 1], [2, 2, 2], [5, 4, 4]]
    assert agreement.choices_of_others(tied, pairs)[:, 0].tolist() == [0, 1, 1]
    hits = agreement.metric_agreement([2.0, 1.0, 1.0, 2.0], tied, pairs, ["a", "b"])
    assert hits == pytest.approx([2 / 3, 2 / 3])
