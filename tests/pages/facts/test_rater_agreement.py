"""Agreement tables from records: shapes, cases, ratios that are not defined, and alpha's limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from notebooks.facts import rater_agreement
from notebooks.facts.rater_agreement import make_rating_matrix, resample_alphas, subtract_alphas
from radeval_lib.data.records import RatedPair
from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.resampling import draw_counts
from radeval_lib.study import begin


def _pair(name: str, reference: str, rater: str, rating: float) -> RatedPair:
    return RatedPair(id=name, reference=reference, candidate="c", rating=rating, rater=rater)


def test_rating_matrix_knows_cases_and_leaves_out_gaps() -> None:
    records = [_pair(name, name[0], rater, 1.0) for name in ("a1", "a2", "b1") for rater in "xy"]
    matrix = make_rating_matrix([*records, _pair("b2", "b", "x", 2.0)])
    assert list(matrix.index) == [("a1", 0), ("a2", 0), ("b1", 1)]


def test_alphas_limits_and_intervals() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=40)
    cases = pd.Index(np.arange(40) // 2, name="case")
    result = resample_alphas(
        {
            "same": pd.DataFrame({"x": truth, "y": truth}, index=cases),
            "noise": pd.DataFrame({"x": rng.normal(size=40), "y": rng.normal(size=40)}, index=cases),
        },
        resamples=200,
        rng=rng,
    )
    assert result.loc["same", ["alpha", "low", "high"]].tolist() == [1.0, 1.0, 1.0]
    assert result.loc["noise", "low"] < 0 < result.loc["noise", "high"]
    assert result.loc["noise", ["units", "cases", "raters"]].tolist() == [40, 20, 2]


def _noisy(seed: int, noise: float) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=60)
    cases = pd.Index(np.arange(60) // 2, name="case")
    return pd.DataFrame({rater: truth + noise * rng.normal(size=60) for rater in "xyz"}, index=cases)


@pytest.mark.parametrize(("first", "second", "sign"), [(0.2, 1.0, 1), (1.0, 0.2, -1)])
def test_less_noise_gains_agreement(first: float, second: float, sign: int) -> None:
    result = subtract_alphas(_noisy(0, first), _noisy(1, second), 200, lambda: np.random.default_rng(0))
    assert sign * result.value > 0
    assert min(sign * result.low, sign * result.high) > 0


def test_ratings_of_the_same_cases_are_resampled_together() -> None:
    ratings = _noisy(0, 0.5)
    result = subtract_alphas(ratings, ratings, 50, lambda: np.random.default_rng(0))
    assert (result.value, result.low, result.high) == (0, 0, 0)


def test_resamples_equal_alpha_of_the_units_repeated() -> None:
    matrix = _noisy(0, 0.7)
    values, position = matrix.to_numpy().T, matrix.index.to_numpy()
    _, draws = rater_agreement._resample_alpha(matrix, 20, np.random.default_rng(3))
    (counts,) = draw_counts(30, 20, np.random.default_rng(3), 60)
    for drawn, result in zip(counts.astype(int), draws, strict=True):
        repeated = np.repeat(values, drawn[position], axis=1)
        assert result == pytest.approx(float(interval_alpha(repeated)))


def test_what_counting_gains_depends_on_which_errors_count(tmp_path: Path) -> None:
    """Every marked error gains agreement over grades; significant ones alone are not shown to."""
    parameters = {"profile": "smoke", "seed": 0, "output_dir": str(tmp_path), "data_root": ""}
    _, gaps = rater_agreement.compare_counts_with_grades(begin("facts/agreement", **parameters))
    every, by_findings, significant = gaps.values()
    assert every.value == pytest.approx(0.107, abs=0.0005)
    assert significant.value == pytest.approx(0.018, abs=0.0005)
    assert min(every.low, by_findings.low) > 0 > significant.low
