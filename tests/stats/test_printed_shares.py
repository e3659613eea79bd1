"""Numbers of cases behind printed shares; interval values from Brown, Cai and DasGupta's formulas by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from radeval_lib.papers.printed_numbers import printed, wide
from radeval_lib.stats import printed_counts as ps


def test_counts_that_print() -> None:
    assert ps.counts_that_print(0.23, 0.005, 53) == [12]  # 12/53 = 0.2264
    assert ps.counts_that_print(0.57, 0.005, 10) == []
    assert ps.counts_that_print(0.5, 0.05, 20) == [9, 10, 11]
    assert ps.counts_that_print(1.0, 0.005, 4) == [4]


def test_means_that_no_counts_have() -> None:
    # Brown and Heathers's example: 28 whole numbers, mean 5.19; 145/28 = 5.18, 146/28 = 5.21.
    assert ps.sums_that_print(5.19, 0.005, 28) == []
    assert ps.sums_that_print(5.18, 0.005, 28) == [145]
    assert ps.sums_that_print(0.0, 0.005, 28) == [0]


def test_intervals_by_hand() -> None:
    # 5 of 10. Wald: 0.5 ± 1.96 sqrt(0.025). Wilson: (k + z²/2 ± z sqrt(n p q + z²/4)) / (n + z²).
    # Exact: quantiles of Beta(5, 6) and Beta(6, 5). Bootstrap: binomial quantiles 2 and 8 of 10.
    assert ps.interval(5, 10, "Wald") == pytest.approx((0.1901, 0.8099), abs=1e-4)
    assert ps.interval(5, 10, "Wilson") == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert ps.interval(5, 10, "exact") == pytest.approx((0.1871, 0.8129), abs=1e-4)
    assert ps.interval(5, 10, "bootstrap percentile") == pytest.approx((0.2, 0.8))


def test_the_bca_interval_is_scipys() -> None:
    right = np.repeat([1.0, 0.0], [12, 41])
    found = stats.bootstrap((right,), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(0))
    assert ps.interval(12, 53, "bootstrap BCa") == pytest.approx(found.confidence_interval, abs=1e-9)
    assert ps.interval(0, 5, "bootstrap BCa") == (0.0, 0.0)


def test_greens_table_7_is_53_cases_and_bca() -> None:
    table = wide(printed("green.table7"), "method", "statistic")
    among = wide(printed("green.table1"), "rater", "other", "printed")
    assert list(among.columns) == list(among.index)
    found = ps.possible_samples(
        list(table[["estimate", "ci_low", "ci_high"]].itertuples(index=False)), 0.005, 100
    )
    best = found[found["shares"] == 5].sort_values("ends", ascending=False)
    assert best.iloc[0].to_dict() == {"n": 53, "method": "bootstrap BCa", "shares": 5, "ends": 10}
    assert best[best["n"] != 53]["ends"].max() == 5
    low, _ = ps.interval(12, 53, "exact")
    assert round(low, 3) == 0.123  # prints as 0.12, not as the table's 0.13


@settings(deadline=None)
@given(st.sampled_from(ps.METHODS), st.integers(20, 40), st.lists(st.integers(3, 17), min_size=2, max_size=3))
def test_the_true_sample_is_among_the_possible_ones(method, n, ks) -> None:
    shares = [tuple(round(x, 2) for x in (k / n, *ps.interval(k, n, method))) for k in ks]
    found = ps.possible_samples(shares, 0.005, 40)
    row = found[(found["n"] == n) & (found["method"] == method)].iloc[0]
    assert (row["shares"], row["ends"]) == (len(ks), 2 * len(ks))


def test_mcnemar_by_hand() -> None:
    # 3 v 1 of 4: at best 2 discordant cases, both for one method: 2 * (1/2)² = 0.5;
    # at worst 1 against 3: 2 * (1 + 4) / 16 = 0.625.
    assert ps.mcnemar_range(3, 1, 4) == pytest.approx((0.5, 0.625))
    assert ps.mcnemar_range(2, 2, 2) == (1.0, 1.0)
    assert ps.mcnemar_range(10, 0, 10) == pytest.approx((2 / 1024, 2 / 1024))


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="methods: exact"):
        ps.interval(1, 2, "Jeffreys")
    with pytest.raises(ValueError, match="3 of 2"):
        ps.interval(3, 2, "bootstrap BCa")
    with pytest.raises(ValueError, match="3 and 1 of 2"):
        ps.mcnemar_range(3, 1, 2)
