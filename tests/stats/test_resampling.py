"""The bootstrap: by hand, and under a null."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pingouin as pg
import pytest
import scipy.stats

from radeval_lib.stats import resampling
from radeval_lib.stats.inference import holm
from radeval_lib.stats.measures import TAGGING, intervals, paired_difference, values_by_seed

COLUMNS = ["seed", "case", "source", "matched", "predicted", "gold", "correct_words", "words"]
BY_HAND = pd.DataFrame(
    [
        (0, "r1", "x", 1, 2, 4, 8, 10),
        (0, "r2", "y", 3, 3, 4, 9, 10),
        (1, "r2", "y", 4, 4, 4, 10, 10),
        (1, "r1", "x", 2, 4, 4, 5, 10),
    ],
    columns=COLUMNS,
)


def test_measures_by_hand() -> None:
    frame = values_by_seed(BY_HAND, TAGGING)
    assert frame.index.tolist() == [0, 1]
    np.testing.assert_allclose(frame.loc[0], [4 / 5, 4 / 8, 8 / 13, 17 / 20])
    np.testing.assert_allclose(frame.loc[1], [6 / 8, 6 / 8, 12 / 16, 15 / 20])


def test_intervals_of_one_seed_by_hand() -> None:
    alone = BY_HAND[BY_HAND["seed"] == 0]
    frame = intervals(alone, TAGGING, resamples=2_000, rng=np.random.default_rng(0))
    np.testing.assert_allclose(frame["value"], [0.8, 0.5, 8 / 13, 0.85])
    # The extreme resamples hold one case twice, with chance 1/4 each.
    np.testing.assert_allclose(frame.loc["recall", ["low", "high"]].astype(float), [0.25, 0.75])
    both = intervals(BY_HAND, TAGGING, resamples=2_000, rng=np.random.default_rng(0))
    np.testing.assert_allclose(both["value"], [0.775, 0.625, (8 / 13 + 0.75) / 2, 0.8])
    np.testing.assert_allclose(both["least"], [0.75, 0.5, 8 / 13, 0.75])
    np.testing.assert_allclose(both["most"], [0.8, 0.75, 0.75, 0.85])
    assert both.loc["recall", ["low", "high"]].tolist() == [0, 1]  # two seeds hardly tell of others


def test_seeds_widen_an_interval_as_welch_and_satterthwaite_say() -> None:
    """Where cases are all alike, the interval of a difference is that of Welch's t test of the seeds."""
    first, second = (np.random.default_rng(n).normal(0.5, 0.1, seeds) for n, seeds in ((0, 3), (1, 5)))
    tables = [np.repeat(of_seeds[:, None, None], 20, axis=1) for of_seeds in (first, second)]
    mine, other = resampling.resample_models(
        tables, lambda sums: sums / 20, resamples=100_000, rng=np.random.default_rng(0)
    )
    gap = mine - other
    welch = scipy.stats.ttest_ind(first, second, equal_var=False)
    assert gap.degrees == pytest.approx(welch.df)
    assert gap.standard_error == pytest.approx(gap.value[0] / welch.statistic)
    interval = resampling.estimate(gap.value[0], gap.total()[:, 0])
    wide = gap.standard_error[0]
    assert (interval.low, interval.high) == pytest.approx(tuple(welch.confidence_interval()), abs=0.03 * wide)
    assert interval.p == pytest.approx(welch.pvalue, abs=0.01)
    # Of differences as large as can be detected, Student's t excludes 0 in 80 of 100, by its definition.
    free = welch.df
    expected = (scipy.stats.t.ppf(0.975, free) + scipy.stats.t.ppf(0.8, free)) * wide
    assert gap.detectable() == pytest.approx(expected)


@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0], ids=["cases vary", "both vary", "seeds vary"])
def test_a_true_null_is_seldom_called_a_lead(seeds: int, spread: float) -> None:
    """Two models of one quality: false leads in 5 of 100, whether seeds or cases vary more."""
    rng, cases, trials, false = np.random.default_rng(seeds), 40, 300, 0
    for _ in range(trials):
        shared = rng.normal(0, 1, cases)
        first, second = (
            shared + rng.normal(0, 1, (seeds, cases)) + rng.normal(0, spread, (seeds, 1)) for _ in range(2)
        )
        lead = resampling.mean_difference(first, second, resamples=250, rng=rng)
        false += lead.low > 0 or lead.high < 0
    assert false / trials <= 0.09  # 5 %, and three standard errors of 300 trials


def test_a_difference_is_paired_over_cases() -> None:
    counts = BY_HAND[BY_HAND["seed"] == 0]
    frame = paired_difference(counts, counts, TAGGING, resamples=300, rng=np.random.default_rng(0))
    assert (frame[["value", "low", "high"]] == 0).all(axis=None)
    assert (frame["p"] == 1).all()
    other = counts.assign(seed=7)
    pd.testing.assert_frame_equal(
        paired_difference(counts, other, TAGGING, resamples=300, rng=np.random.default_rng(0)), frame
    )
    other = counts.assign(case=[f"other {case}" for case in counts["case"]])
    with pytest.raises(ValueError, match="same cases"):
        paired_difference(counts, other, TAGGING, resamples=300, rng=np.random.default_rng(0))


def test_a_difference_of_means_by_hand_and_its_interval() -> None:
    rng = np.random.default_rng(0)
    first, second = np.array([[0.0, 1, 0, 1]]), np.array([[1.0, 3, 1, 3]])
    difference = resampling.mean_difference(second, first, resamples=400, rng=rng)
    assert difference.value == pytest.approx(1.5)
    assert (difference.low, difference.high) == (1, 2)
    same = resampling.mean_difference(first, first, resamples=50, rng=rng)
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_holm_is_that_of_pingouin() -> None:
    for seed in range(20):
        ps = np.random.default_rng(seed).random(7) ** 3
        np.testing.assert_allclose(holm(ps), pg.multicomp(ps, method="holm")[1])


def test_rows_and_sums_of_groups_are_of_the_same_draws() -> None:
    groups, values = np.repeat(np.arange(6), 3), np.random.default_rng(1).random(18)
    by_rows = [values[rows].sum() for rows in resampling.draw_rows(groups, 20, np.random.default_rng(4))]
    table = pd.DataFrame({"sum": values}).groupby(groups).sum().to_numpy()
    sums = resampling.resample_sums(table, lambda of: of, resamples=20, rng=np.random.default_rng(4))
    np.testing.assert_allclose(sums[:, 0], by_rows)


def test_a_frame_of_resamples_has_its_value_in_row_0() -> None:
    drawn = pd.DataFrame({"a": [0.5, *np.arange(101) / 100], "b": [2.0] * 102})
    frame_estimates = resampling.frame_estimates(drawn)
    assert frame_estimates.loc["a"].tolist() == pytest.approx([0.5, 0.025, 0.975])
    assert frame_estimates.loc["b"].tolist() == [2, 2, 2]
