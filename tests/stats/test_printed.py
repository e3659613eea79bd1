"""What printed digits allow, against published, hand-computed and independently computed values."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pingouin
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from radeval_lib.papers.printed_numbers import printed as printed_table
from radeval_lib.papers.printed_numbers import wide
from radeval_lib.stats import printed
from radeval_lib.stats.agreement import interval_alpha


def test_williams_test_of_steigers_example() -> None:
    # R psych 2.4, help of r.test: r.test(n = 103, r12 = .4, r13 = .5, r23 = .1), "t = -0.89", "p = 0.37"
    assert printed.williams_test(0.4, 0.5, 0.1, 103) == pytest.approx((-0.89, 0.37), abs=0.005)


@given(st.floats(-0.95, 0.95), st.integers(10, 3000))
def test_pearson_interval_is_pingouins(value: float, n: int) -> None:
    expected = pingouin.compute_esci(value, n, n, eftype="r", decimals=10)
    assert printed.correlation_interval(value, n, "pearson") == pytest.approx(tuple(expected), abs=1e-8)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        # By hand at 0.5 and n = 103: atanh(0.5) = 0.549306; se = sqrt(1.125/100), sqrt(0.437/99)
        ("spearman", math.tanh(0.549306 - 1.959964 * 0.106066), math.tanh(0.549306 + 1.959964 * 0.106066)),
        ("kendall", math.tanh(0.549306 - 1.959964 * 0.066439), math.tanh(0.549306 + 1.959964 * 0.066439)),
    ],
)
def test_rank_intervals_by_hand(kind: str, low: float, high: float) -> None:
    assert printed.correlation_interval(0.5, 103, kind) == pytest.approx((low, high), abs=1e-5)  # type: ignore[arg-type]


def test_needed_rho_is_the_edge_of_significance() -> None:
    edge = printed.needed_rho(0.653, 0.624, 371)
    assert printed.williams_test(0.653, 0.624, edge, 371)[1] == pytest.approx(0.05, abs=1e-6)
    above, below = (printed.williams_test(0.653, 0.624, edge + step, 371)[1] for step in (0.02, -0.02))
    assert above < 0.05 < below
    with pytest.raises(ValueError):  # impossible together
        printed.williams_test(0.9, 0.9, -0.9, 50)


def test_standard_error_of_a_pearson_interval() -> None:
    # Fisher: atanh(r) ± 1.959964 / sqrt(n - 3); n = 103 gives 0.1.
    ends = [math.tanh(math.atanh(0.5) + sign * 1.959964 * 0.1) for sign in (-1, 1)]
    assert printed.standard_error(*ends) == pytest.approx(0.1, abs=1e-6)


def test_two_sided_p_by_hand() -> None:
    # 1.96 standard errors of sqrt(0.3² + 0.4²) = 0.5
    assert printed.two_sided_p(0.979982, 0.3, 0.4) == pytest.approx(0.05, abs=1e-6)
    # errors that move together by 0.5: variance 0.25 - 2 * 0.5 * 0.12 = 0.13
    assert printed.two_sided_p(0.5, 0.3, 0.4, 0.5) == pytest.approx(2 * stats.norm.sf(0.5 / math.sqrt(0.13)))


@pytest.mark.filterwarnings("error")
def test_two_sided_p_is_nan_without_a_valid_variance() -> None:
    # nothing differs or varies; an impossible correlation; a difference without variance
    ps = printed.two_sided_p([0, 0.1, 0.1], 0.2, 0.2, [1, 1.5, 1])
    np.testing.assert_array_equal(ps, [np.nan, np.nan, 0])
    assert printed.p_of_intervals((0.5, 0.4, 0.6), (0.5, 0.4, 0.6), error_correlation=1) == (1, 1, 1)
    with pytest.raises(ValueError):
        printed.p_of_intervals((0.98, 0.97, 1.0), (0.5, 0.4, 0.6))


@given(st.floats(0.01, 0.5), st.floats(0.02, 0.2), st.floats(0.02, 0.2))
def test_needed_correlation_is_where_p_reaches_the_level(gap, first, second) -> None:
    needed = printed.needed_correlation(gap, first, second)
    if math.isnan(needed):
        assert printed.two_sided_p(gap, first, second, 0.999) > 0.05
    elif needed > -1:
        assert printed.two_sided_p(gap, first, second, needed) == pytest.approx(0.05)
    else:
        assert printed.two_sided_p(gap, first, second, -1) <= 0.05


def test_counts_that_print() -> None:
    assert printed.counts_that_print(0.23, 0.005, 53) == [12]  # 12/53 = 0.2264
    assert printed.counts_that_print(0.57, 0.005, 10) == []
    assert printed.counts_that_print(0.5, 0.05, 20) == [9, 10, 11]
    assert printed.counts_that_print(1.0, 0.005, 4) == [4]


def test_means_that_no_counts_have() -> None:
    # Brown and Heathers's example: 28 whole numbers, mean 5.19; 145/28 = 5.18, 146/28 = 5.21.
    assert printed.sums_that_print(5.19, 0.005, 28) == []
    assert printed.sums_that_print(5.18, 0.005, 28) == [145]
    assert printed.sums_that_print(0.0, 0.005, 28) == [0]


def test_intervals_by_hand() -> None:
    # 5 of 10. Wald: 0.5 ± 1.96 sqrt(0.025). Wilson: (k + z²/2 ± z sqrt(n p q + z²/4)) / (n + z²).
    # Exact: quantiles of Beta(5, 6) and Beta(6, 5). Bootstrap: binomial quantiles 2 and 8 of 10.
    assert printed.interval_of_share(5, 10, "Wald") == pytest.approx((0.1901, 0.8099), abs=1e-4)
    assert printed.interval_of_share(5, 10, "Wilson") == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert printed.interval_of_share(5, 10, "exact") == pytest.approx((0.1871, 0.8129), abs=1e-4)
    assert printed.interval_of_share(5, 10, "bootstrap percentile") == pytest.approx((0.2, 0.8))


def test_the_bca_interval_is_scipys() -> None:
    right = np.repeat([1.0, 0.0], [12, 41])
    scipys = stats.bootstrap((right,), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(0))
    assert printed.interval_of_share(12, 53, "bootstrap BCa") == pytest.approx(scipys.confidence_interval)
    assert printed.interval_of_share(0, 5, "bootstrap BCa") == (0.0, 0.0)
    with pytest.raises(ValueError):
        printed.interval_of_share(12, 53, "bca")


def test_greens_table_7_is_53_cases_and_bca() -> None:
    table = wide(printed_table("green.table7"), "method", "statistic")
    samples = printed.possible_samples(
        list(table[["estimate", "ci_low", "ci_high"]].itertuples(index=False)), 0.005, 100
    )
    best = samples[samples["shares"] == 5].sort_values("ends", ascending=False)
    assert best.iloc[0].to_dict() == {"n": 53, "method": "bootstrap BCa", "shares": 5, "ends": 10}
    assert best[best["n"] != 53]["ends"].max() == 5
    low, _ = printed.interval_of_share(12, 53, "exact")
    assert round(low, 3) == 0.123  # prints as 0.12, not as the table's 0.13


def test_mcnemar_by_hand() -> None:
    # 3 v 1 of 4: at best 2 discordant cases, both for one method: 2 * (1/2)² = 0.5;
    # at worst 1 against 3: 2 * (1 + 4) / 16 = 0.625.
    assert printed.mcnemar_range(3, 1, 4) == pytest.approx((0.5, 0.625))
    assert printed.mcnemar_range(2, 2, 2) == (1.0, 1.0)
    assert printed.mcnemar_range(10, 0, 10) == pytest.approx((2 / 1024, 2 / 1024))


def test_predictions_by_hand() -> None:
    # RaLEs, Table 15, CT UE WO contr: recall 55.9% of 34 is 19 hits; precision 55.9% is 19 of 34
    assert printed.predictions_that_print(0.559, 0.559, 34, 0.0005) == (34, 34)
    # CT Pelvis W contr IV: recall 7.4% of 27 is 2 hits, precision 100%
    assert printed.predictions_that_print(1.0, 0.074, 27, 0.0005) == (2, 2)
    assert printed.predictions_that_print(0.0, 0.5, 100, 0.005) is None


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 200))
def test_the_true_number_is_in_the_range(hits: int, missed: int, false_alarms: int) -> None:
    n, predictions = hits + missed, hits + false_alarms
    precision, recall = round(hits / predictions, 3), round(hits / n, 3)
    assume(precision > 0.01)
    possible = printed.predictions_that_print(precision, recall, n, 0.0005)
    assert possible is not None
    assert possible[0] <= predictions <= possible[1]


@given(
    arrays(np.float64, st.tuples(st.integers(2, 4), st.integers(2, 8)), elements=st.sampled_from([0, 0.5, 1]))
)
def test_alpha_is_the_packages(ratings: np.ndarray) -> None:
    if len(np.unique(ratings)) > 1:
        expected = krippendorff.alpha(ratings, level_of_measurement="interval")
        assert float(interval_alpha(ratings)) == pytest.approx(expected)
