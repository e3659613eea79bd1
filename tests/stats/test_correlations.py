"""Correlations with ratings: scipy on data with every draw written out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from radeval_lib.stats import correlations
from radeval_lib.stats.correlations import coefficient, resample
from radeval_lib.stats.inference import inversion_p
from radeval_lib.stats.resampling import draw_counts

KINDS = ["pearson", "spearman", "kendall"]
SMALL = arrays(np.int64, 12, elements=st.integers(0, 4))


def _by_scipy(x: np.ndarray, y: np.ndarray, kind: str) -> float:
    if len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    test = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind]
    return float(test(x, y).statistic)


def _data(pairs: int = 60, seed: int = 2) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Return three metrics, ratings with ties, and cases of one to several pairs."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(0, 6, pairs).astype(float)
    scores = {
        name: ratings + rng.normal(0, noise, pairs) for name, noise in zip("abc", (1, 3, 5), strict=True)
    }
    scores["c"] = np.round(scores["c"])
    return scores, ratings, rng.integers(0, 20, pairs)


def _draws(scores, ratings, groups, kind: str, resamples: int, seed: int) -> np.ndarray:
    table, ratings = np.array([*scores.values()], dtype=float), np.asarray(ratings, dtype=float)
    numbers = np.arange(len(ratings)) if groups is None else pd.factorize(groups, sort=True)[0]
    rng = np.random.default_rng(seed)
    return correlations._resample_coefficients(table, ratings, numbers, kind, resamples, rng)


@pytest.mark.parametrize("kind", KINDS)
@given(x=SMALL, y=SMALL, seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_every_resample_is_scipys_on_repeated_data(kind, x, y, seed) -> None:
    groups = np.arange(12) // 2
    coefficients = _draws({"x": x}, y, groups, kind, 6, seed)[0]
    drawn = next(draw_counts(6, 6, np.random.default_rng(seed), 1)).astype(int)
    for value, counts in zip(coefficients, drawn, strict=True):
        times = counts[groups]
        expected = _by_scipy(np.repeat(x, times), np.repeat(y, times), kind)
        assert value == pytest.approx(expected, abs=1e-10, nan_ok=True)


@pytest.mark.parametrize("kind", KINDS)
def test_repeating_pairs_within_their_case_adds_nothing(kind) -> None:
    scores, ratings, _ = _data(40)
    rows = np.repeat(np.arange(40), 3)
    thrice = {name: values[rows] for name, values in scores.items()}

    def of(x, y, groups) -> pd.DataFrame:
        rng = np.random.default_rng(0)
        frame = resample(x, y, groups=groups, kind=kind, resamples=1_000, rng=rng).intervals()
        return frame[["value", "low", "high"]]

    once = of(scores, ratings, np.arange(40))
    pd.testing.assert_frame_equal(of(thrice, ratings[rows], rows), once)
    unclustered = of(thrice, ratings[rows], None)
    ratio = (unclustered["high"] - unclustered["low"]) / (once["high"] - once["low"])
    assert ((ratio > 0.45) & (ratio < 0.7)).all()  # about 1 / sqrt(3)


@pytest.mark.parametrize("kind", KINDS)
def test_comparison_by_hand(kind) -> None:
    scores, ratings, groups = _data()
    rng = np.random.default_rng(0)
    frame = resample(scores, ratings, groups=groups, kind=kind, resamples=800, rng=rng).compare("a")
    assert frame["rival"].tolist() == ["b", "c"]
    draws = _draws(scores, ratings, groups, kind, 800, 0)
    for row, rival in enumerate("bc", start=1):
        comparison = frame.iloc[row - 1]
        gaps = draws[0] - draws[row]
        values = [_by_scipy(scores[name], ratings, kind) for name in ("a", rival)]
        assert comparison["difference"] == pytest.approx(values[0] - values[1])
        np.testing.assert_allclose([comparison["low"], comparison["high"]], np.quantile(gaps, [0.025, 0.975]))
        assert comparison["p"] == min(1, 2 * (1 + min((gaps <= 0).sum(), (gaps >= 0).sum())) / 801)
    least, most = sorted(frame["p"])
    holm = sorted(frame["p_holm"])
    assert holm == pytest.approx([min(1, 2 * least), min(1, max(2 * least, most))])


def test_inversion_p_by_hand() -> None:
    assert inversion_p([1, 2, 3]) == 2 * 1 / 4  # never 0
    assert inversion_p([-1, 1, 2, 3, 4, 5, 6]) == 2 * 2 / 8
    assert inversion_p([0, 1e-15, 0]) == 1
    assert inversion_p([-1, 1]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_side_that_does_not_vary(kind) -> None:
    assert math.isnan(coefficient([1, 1, 1], [1, 2, 3], kind))
    assert math.isnan(coefficient([1, 2, 3], [0.1, 0.1, 0.1], kind))
    rng = np.random.default_rng(0)
    ratings = np.arange(10.0)
    rare = np.where(ratings == 9, 1.3, 0.1)  # about a third of the resamples lack the only other value
    with pytest.raises(ValueError, match="rare"):
        resample({"fine": ratings, "rare": rare}, ratings, kind=kind, resamples=200, rng=rng)
    some = np.where(ratings >= 6, 1.3, 0.1)  # about 0.6^10 + 0.4^10 do
    frame = resample({"some": some}, ratings, kind=kind, resamples=2_000, rng=rng).intervals()
    assert np.isfinite(frame[["low", "high"]]).all(axis=None)
    assert np.isnan(_draws({"some": some}, ratings, None, kind, 2_000, 0)).any()
