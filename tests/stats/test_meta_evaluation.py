"""Judging metrics against people: by hand, against mt-metrics-eval's code, under a null."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from radeval_lib.stats import meta_evaluation

# mt_metrics_eval.tau_optimization (commit 68a481a) with TauSufficientStats.acc_23 on the same draws.
THEIRS = [(0, 1.01, 0.541667), (1, 0.93, 0.638889), (2, 0.12, 0.472222), (3, 0.16, 0.5)]


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return gaps of scores, what people prefer, and cases, of twelve cases with four items each."""
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 4, (12, 4)).astype(float)
    scores = np.round(people + rng.normal(0, 1.5, (12, 4)), 2)
    cases = [case for case in range(12) for _ in range(4)]
    places = meta_evaluation.pairs_within(cases)
    one, other = people.ravel()[places].T
    first, second = scores.ravel()[places].T
    return first - second, np.sign(one - other), [cases[place] for place in places[:, 0]]


def tie_threshold(gaps: np.ndarray, wanted: np.ndarray) -> float:
    """Return the threshold by its definition (Deutsch et al. 2023, section 5), which ``agrees`` finds for all
    cases at once."""
    tried = np.unique([0.0, *np.abs(gaps)])
    agree = [(np.where(np.abs(gaps) > one, np.sign(gaps), 0) == wanted).mean() for one in tried]
    return float(tried[int(np.argmax(agree))])


def test_pairs_are_of_one_case() -> None:
    assert meta_evaluation.pairs_within(["a", "b", "a", "a"]).tolist() == [[0, 2], [0, 3], [2, 3]]
    assert meta_evaluation.pairs_within([1, 2]).shape == (0, 2)


def test_threshold_by_hand() -> None:
    # Gaps 0.7, 0.4, -0.02, 0.3; people: first, first, tie, tie. Calling all up to 0.3 a tie gets all four.
    assert tie_threshold(np.array([0.7, 0.4, -0.02, 0.3]), np.array([1, 1, 0, 0])) == 0.3
    assert tie_threshold(np.array([0.7, -0.4]), np.array([1, -1])) == 0.0  # no ties, so none is called


@pytest.mark.parametrize(("seed", "threshold", "accuracy"), THEIRS)
def test_threshold_is_that_of_mt_metrics_eval(seed: int, threshold: float, accuracy: float) -> None:
    gaps, wanted, _ = drawn(seed)
    found = tie_threshold(gaps, wanted)
    right = np.where(np.abs(gaps) > found, np.sign(gaps), 0) == wanted
    assert right.mean() == pytest.approx(accuracy, abs=1e-6)
    assert found == pytest.approx(threshold, abs=1e-6)


def test_no_pair_chooses_its_own_threshold() -> None:
    gaps, wanted, cases = drawn(0)
    hits = meta_evaluation.agrees(gaps, wanted, cases)
    fitted = np.where(np.abs(gaps) > tie_threshold(gaps, wanted), np.sign(gaps), 0) == wanted
    assert hits.shape == gaps.shape
    assert hits.mean() <= fitted.mean()
    # Each case by the threshold of all others, one after the other.
    of = np.array(cases)
    for case in range(12):
        threshold = tie_threshold(gaps[of != case], wanted[of != case])
        said = np.where(np.abs(gaps) > threshold, np.sign(gaps), 0)
        assert (hits[of == case] == (said == wanted)[of == case]).all()


def test_means_of_decimal_grades_that_are_equal_prefer_neither() -> None:
    grades = np.array([[0.1, 0.2, 0.3, 1.0], [0.3, 0.2, 0.1, 1.0]])
    for scale in (1, 10):
        chosen = meta_evaluation.choices_of_others(grades * scale, np.array([[0, 1]]))
        assert chosen[:, 0].tolist() == [1, 0, -1, 0]


def test_metrics_and_raters_are_held_against_the_same_people() -> None:
    # Two items a set. Set 1: raters 1 and 2 prefer the first, rater 3 the second; set 2: all the second.
    grades = [[3, 4, 1], [1, 2, 2], [2, 2, 2], [5, 4, 4]]
    pairs = np.array([[0, 1], [2, 3]])
    # Without rater 1: 2.5 v 2 the first; without 2: 2 v 1.5 the first; without 3: 3.5 v 1.5 the first.
    assert meta_evaluation.choices_of_others(grades, pairs).tolist() == [[1, -1]] * 3
    assert meta_evaluation.choices_of_raters(grades, pairs) == pytest.approx([2 / 3, 1])
    found = meta_evaluation.choices_of_metric([2.0, 1.0, 1.0, 2.0], grades, pairs, ["a", "b"])
    assert found.tolist() == [1, 1]
    # Without rater 1, the others call set 1 a tie: a metric that prefers the first is right twice in three,
    # and learns there that its gap of 1 is a tie, which is wrong of set 2.
    tied = [[3, 1, 2], [1, 2, 1], [2, 2, 2], [5, 4, 4]]
    assert meta_evaluation.choices_of_others(tied, pairs)[:, 0].tolist() == [0, 1, 1]
    one = meta_evaluation.choices_of_metric([2.0, 1.0, 1.0, 2.0], tied, pairs, ["a", "b"])
    assert one == pytest.approx([2 / 3, 2 / 3])


def test_superiority_p_is_the_exact_permutation_test() -> None:
    first, second = [3.0, 4.0, 5.0], [1.0, 2.0, 3.5]
    exact = stats.permutation_test(
        (first, second), lambda x, y: np.mean(x) - np.mean(y), alternative="greater", n_resamples=np.inf
    ).pvalue
    found = meta_evaluation.superiority_p(first, second, resamples=20_000, rng=np.random.default_rng(0))
    assert found == pytest.approx(exact, abs=0.01)


def test_soft_pairwise_accuracy_by_hand() -> None:
    assert meta_evaluation.soft_pairwise_accuracy([0.1, 0.9, 0.5], [0.1, 0.9, 0.5]) == 1
    assert meta_evaluation.soft_pairwise_accuracy([0.0, 1.0], [0.5, 0.25]) == pytest.approx(1 - 1.25 / 2)


def test_one_case_is_too_few() -> None:
    with pytest.raises(ValueError, match="one case leaves no other"):
        meta_evaluation.agrees([1.0, 2.0], [1, 1], ["a", "a"])


def test_missing_scores_are_refused() -> None:
    rng, bad, good = np.random.default_rng(0), [1.0, np.nan, 3.0], [1.0, 2.0, 3.0]
    for refused in (
        lambda: meta_evaluation.agrees(bad, [1, 1, 1], "abc"),
        lambda: meta_evaluation.superiority_p(bad, good, resamples=9, rng=rng),
        lambda: meta_evaluation.soft_pairwise_accuracy(bad, good),
    ):
        with pytest.raises(ValueError, match="missing or not finite"):
            refused()
