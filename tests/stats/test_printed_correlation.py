"""Inference from printed correlations, against published and independently computed values."""

import math

import numpy as np
import pingouin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from radeval_lib.stats.printed import correlation_interval, needed_between, williams_test


def test_williams_test_of_steigers_example() -> None:
    # R psych 2.4, help of r.test: r.test(n = 103, r12 = .4, r13 = .5, r23 = .1), "t = -0.89", "p = 0.37"
    t, p = williams_test(0.4, 0.5, 0.1, 103)
    assert t == pytest.approx(-0.89, abs=0.005)
    assert p == pytest.approx(0.37, abs=0.005)


@given(st.floats(-0.95, 0.95), st.integers(10, 3000))
def test_pearson_interval_is_pingouins(value: float, n: int) -> None:
    expected = pingouin.compute_esci(value, n, n, eftype="r", decimals=10)
    assert correlation_interval(value, n, "pearson") == pytest.approx(tuple(expected), abs=1e-8)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        # By hand at 0.5 and n = 103: atanh(0.5) = 0.549306; se = sqrt(1.125/100), sqrt(0.437/99)
        ("spearman", math.tanh(0.549306 - 1.959964 * 0.106066), math.tanh(0.549306 + 1.959964 * 0.106066)),
        ("kendall", math.tanh(0.549306 - 1.959964 * 0.066439), math.tanh(0.549306 + 1.959964 * 0.066439)),
    ],
)
def test_rank_intervals_by_hand(kind: str, low: float, high: float) -> None:
    assert correlation_interval(0.5, 103, kind) == pytest.approx((low, high), abs=1e-5)  # type: ignore[arg-type]


def test_spearman_and_kendall_intervals_cover() -> None:
    # Simulated bivariate normal pairs, rho = 0.6: Kendall is 2/pi asin(rho), Spearman 6/pi asin(rho/2).
    rng = np.random.default_rng(0)
    truth = {"kendall": 2 / math.pi * math.asin(0.6), "spearman": 6 / math.pi * math.asin(0.3)}
    hits = dict.fromkeys(truth, 0)
    for _ in range(400):
        x, y = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 120).T
        for kind, found in (("kendall", stats.kendalltau(x, y)), ("spearman", stats.spearmanr(x, y))):
            low, high = correlation_interval(float(found.statistic), 120, kind)  # type: ignore[arg-type]
            hits[kind] += low <= truth[kind] <= high
    assert all(0.92 <= count / 400 <= 0.98 for count in hits.values()), hits


def test_needed_between_is_the_edge_of_significance() -> None:
    edge = needed_between(0.653, 0.624, 371)
    assert williams_test(0.653, 0.624, edge, 371)[1] == pytest.approx(0.05, abs=1e-6)
    assert (
        williams_test(0.653, 0.624, edge + 0.02, 371)[1]
        < 0.05
        < williams_test(0.653, 0.624, edge - 0.02, 371)[1]
    )


def test_needed_between_at_the_ends() -> None:
    assert math.isnan(needed_between(0.5, 0.5, 400))
    assert needed_between(0.9, 0.1, 1000) == pytest.approx(0.09 - math.sqrt(0.19 * 0.99))


@pytest.mark.parametrize(("value", "n"), [(1.0, 50), (0.5, 4), (math.nan, 50)])
def test_interval_rejects_what_has_none(value: float, n: int) -> None:
    with pytest.raises(ValueError, match=r"needs \|value\| < 1"):
        correlation_interval(value, n, "pearson")


def test_impossible_correlations_are_refused() -> None:
    with pytest.raises(ValueError, match="impossible together"):
        williams_test(0.9, 0.9, -0.9, 50)
