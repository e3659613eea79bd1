"""Systems compared, p values, preferences and shares: by hand, SciPy, statsmodels, and under a null."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest
from statsmodels.stats.power import TTestPower

from radeval_lib.stats.inference import preference_shares, randomization_p, wilson_interval
from radeval_lib.stats.resampling import ratio_of_sums, widened_level
from radeval_lib.stats.system_comparison import cases_needed, compare_systems, significance_clusters

SCORES = st.lists(st.tuples(*[st.integers(0, 8)] * 2), min_size=2, max_size=7)


def _table(values) -> np.ndarray:
    return np.column_stack([values, np.ones(len(values))]).astype(np.float64)


def _p(first, second, resamples: int, seed: int = 0) -> float:
    rng = np.random.default_rng(seed)
    return randomization_p(_table(first), _table(second), ratio_of_sums, resamples=resamples, rng=rng).item()


def test_p_by_hand() -> None:
    assert _p([3, 4, 5], [1, 2, 3], 100) == 2 / 8  # all eight ways; only none and all exchanged reach it
    assert _p([3, 4, 5], [1, 2, 3], 7) > 2 / 8  # eight are too many: seven at random, and what was observed
    assert _p(np.arange(60) + 1, np.arange(60), 199) == 1 / 200  # never 0
    assert _p(np.arange(2000) % 7, np.arange(2000) % 5, 128) == 1 / 129  # more ways than a float can count
    assert _p([1, 2], [1, 2], 100) == 1


@settings(max_examples=30, deadline=None)
@given(SCORES)
def test_exact_p_is_that_of_scipy(scores) -> None:
    first, second = np.array(scores, dtype=np.float64).T

    def gap(x, y, axis) -> np.ndarray:
        return np.abs(x.mean(axis=axis) - y.mean(axis=axis))

    expected = stats.permutation_test(
        (first, second), gap, permutation_type="samples", alternative="greater", n_resamples=np.inf
    )
    assert _p(first, second, 1000) == pytest.approx(expected.pvalue)


def test_p_is_uniform_under_the_null() -> None:
    rng = np.random.default_rng(1)
    pairs = rng.gamma(1.0, size=(1000, 2, 20))  # skewed, exchangeable
    ps = np.array([_p(*pair, 99, seed) for seed, pair in enumerate(pairs)])
    assert stats.kstest(ps - rng.random(1000) / 100, "uniform").pvalue > 0.01  # without steps of 1/100
    biased = np.array([_p(first + 0.5, second, 99) for first, second in pairs])
    assert stats.kstest(biased - rng.random(1000) / 100, "uniform").pvalue < 1e-6


def test_few_cases_widen_the_interval() -> None:
    # For 5: t = 2.776 times sqrt(5 / 4) is 3.104 standard deviations of the normal law.
    assert widened_level(5) == pytest.approx(1 - 2 * stats.norm.sf(2.776445 * sqrt(1.25)), abs=1e-6)
    assert widened_level(10**7) == pytest.approx(0.95, abs=1e-6)


@pytest.mark.parametrize("effect", [0.05, 0.3, -0.8])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 9])
def test_cases_needed_are_those_of_statsmodels(effect, alpha) -> None:
    expected = TTestPower().solve_power(abs(effect), alpha=alpha, power=0.8, alternative="two-sided")
    assert cases_needed(effect, alpha) == pytest.approx(np.ceil(expected))


def test_no_number_of_cases_where_there_is_no_effect() -> None:
    assert np.isnan([cases_needed(effect, 0.05) for effect in (0.0, float("nan"), 1e-7)]).all()
    assert cases_needed(50.0, 0.05) == 6  # of five cases the smallest p is 2/32


def test_values_differences_and_effects_by_hand() -> None:
    first, second, third = [4.0, 2.0, 6.0, 8.0], [3.0, 2.0, 4.0, 7.0], [1.0, 2.0, 3.0, 4.0]
    tables = {"m": dict(zip("abc", map(_table, (first, second, third)), strict=True))}
    systems, pairs = compare_systems(tables, {"m": ratio_of_sums}, resamples=200, seed=0)
    assert systems["value"].tolist() == [5.0, 4.0, 2.5]
    assert ((systems["low"] <= systems["value"]) & (systems["value"] <= systems["high"])).all()
    assert pairs[["first", "second"]].agg("".join, axis=1).tolist() == ["ab", "ac", "bc"]
    assert pairs["difference"].tolist() == [1.0, 2.5, 1.5]
    assert pairs["p"].tolist() == [0.25] * 3  # 4 of 16 ways: all or none, and the second case is a tie
    assert pairs["p_holm"].tolist() == [0.75, 0.75, 0.75]
    gaps = np.subtract(first, second)
    assert pairs["standardised"][0] == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    assert pairs["more_cases"][0] == cases_needed(pairs["standardised"][0], 0.05 / 3) - 4


def test_a_ratio_of_sums_is_no_mean_and_its_effect_is_that_of_pseudo_values() -> None:
    rng = np.random.default_rng(0)
    tables = {"m": {name: rng.integers(1, 20, size=(30, 2)).astype(np.float64) for name in "ab"}}
    systems, pairs = compare_systems(tables, {"m": ratio_of_sums}, resamples=100, seed=0)
    pseudo = []
    for table, value in zip(tables["m"].values(), systems["value"], strict=True):
        assert value == table[:, 0].sum() / table[:, 1].sum()
        kept = np.array([np.delete(table, case, axis=0).sum(axis=0) for case in range(30)])
        pseudo.append(30 * value - 29 * kept[:, 0] / kept[:, 1])
    gaps = pseudo[0] - pseudo[1]
    assert pairs["standardised"][0] == pytest.approx(pairs["difference"][0] / gaps.std(ddof=1))


def test_scores_that_do_not_vary_have_no_effect_and_need_no_number() -> None:
    tables = {"m": {"a": _table([2.0] * 9), "b": _table([1.0] * 9), "c": _table([1.0] * 9)}}
    _, pairs = compare_systems(tables, {"m": ratio_of_sums}, resamples=1000, seed=0)
    assert pairs["standardised"].isna().all()
    assert pairs["more_cases"].isna().all()
    assert pairs["p"].tolist() == [2 / 512, 2 / 512, 1]


def test_a_cluster_begins_where_all_above_differ_from_all_below() -> None:
    alike = {("a", "b"), ("b", "c"), ("d", "e")}

    def differ(above: str, below: str) -> bool:
        return (above, below) not in alike

    assert significance_clusters("abcdef", differ) == [1, 1, 1, 2, 2, 3]
    assert significance_clusters("", differ) == []


@given(st.integers(1, 500).flatmap(lambda cases: st.tuples(st.integers(0, cases), st.just(cases))))
def test_wilson_is_that_of_scipy(counts) -> None:
    expected = binomtest(*counts).proportion_ci(0.95, "wilson")
    assert wilson_interval(*counts) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_tie_counts_as_half() -> None:
    # By hand: z² = 3.8415, (4.5 + 1.9207 ± 1.96 sqrt(10 * 0.45 * 0.55 + 0.9604)) / 13.8415.
    assert wilson_interval(4.5, 10) == pytest.approx((0.2014, 0.7263), abs=1e-4)
    assert wilson_interval(4, 10) < wilson_interval(4.5, 10) < wilson_interval(5, 10)


def test_preferences() -> None:
    better = pd.DataFrame({"x": [1.0, 1.0, 0.5, 0.2], "blind": [0.5] * 4})
    worse = pd.DataFrame(
        {"x": [0.9, 0.2, 0.5, 0.3], "blind": [0.5, 0.5, 0.5 + 1e-12, 0.5]}, index=list("abcd")
    )
    table = preference_shares(better, worse)
    assert table["value"].to_dict() == {"x": 0.625, "blind": 0.5}  # two right, a tie, one wrong
    assert table["tied"].to_dict() == {"x": 0.25, "blind": 1.0}
    assert table["n"].tolist() == [4, 4]
