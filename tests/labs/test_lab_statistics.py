"""What labs teach about chance holds at their own sizes: tests keep their level, and intervals cover."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from radeval_lib.data.fact_raters import count_facts, draw_descriptions
from radeval_lib.stats import calibration
from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.printed import correlation_interval, two_sided_p
from tests.labs.marks import solved

RUNS = [pytest.param(2000, marks=pytest.mark.nightly), 100]
LAB_4 = "how_sure_is_a_correlation"


def reaches(hits: NDArray[np.bool_], low: float, high: float) -> None:
    """Fail if a rate's 95 % Monte Carlo interval lies outside low to high."""
    interval = stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(0.95, "wilson")
    assert interval.low <= high, f"{hits.mean():.3f} of {len(hits)} runs"
    assert interval.high >= low, f"{hits.mean():.3f} of {len(hits)} runs"


def rng(name: str) -> np.random.Generator:
    return np.random.default_rng([2026, *name.encode()])


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(("between", "errors"), [(0.4, 0.32), (0.6, 0.64), (0.8, 0.89)])
def test_a_lead_of_tau_is_tested_at_its_level(between: float, errors: float, runs: int) -> None:
    """At the correlation of errors that the lab states for metrics that correlate so with each other."""
    taus = solved(LAB_4)["equal_metrics"](rng(f"studies {between}"), between, runs)
    simulated = np.corrcoef(np.arctanh(taus), rowvar=False)[0, 1]
    assert abs(simulated - errors) < 4 * (1 - errors**2) / np.sqrt(runs) + 0.005  # two digits are stated
    error = np.sqrt(0.437 / (200 - 4))
    p = two_sided_p(np.arctanh(taus[:, 0]) - np.arctanh(taus[:, 1]), error, error, errors)
    reaches(p <= 0.05, 0.03, 0.07)


@pytest.mark.parametrize("runs", RUNS)
def test_the_interval_of_one_tau_covers(runs: int) -> None:
    taus = solved(LAB_4)["equal_metrics"](rng("one tau"), 0.6, runs)[:, 0]
    ends = np.array([correlation_interval(tau, 200, "kendall") for tau in taus])
    reaches((ends[:, 0] <= 0.5) & (ends[:, 1] >= 0.5), 0.92, 0.97)


def test_alpha_of_a_rate_depends_on_the_texts() -> None:
    def counted(overlaps: list[float]) -> dict[str, NDArray[np.float64]]:
        draw = rng("alpha")
        raters = count_facts(draw, draw_descriptions(draw, 3000, overlaps), [0.95, 0.8, 0.6, 0.4])
        return {
            quantity: np.array([[getattr(count, quantity) for count in rater] for rater in raters], float)
            for quantity in ("reference", "recall")
        }

    spread, alike = counted([0.3, 0.6, 0.9]), counted([0.6, 0.6, 0.6])
    assert float(interval_alpha(spread["recall"])) == pytest.approx(0.82, abs=0.015)
    assert float(interval_alpha(alike["recall"])) == pytest.approx(0.61, abs=0.02)
    assert float(interval_alpha(spread["reference"])) == pytest.approx(
        float(interval_alpha(alike["reference"])), abs=0.03
    )


def test_the_ece_of_a_perfect_model_is_above_zero_and_falls_with_documents() -> None:
    draw = rng("perfect")
    eces: dict[tuple[int, int], list[float]] = {}
    for _ in range(10):
        shares = draw.dirichlet(np.full(46, 0.1), size=1000)
        truth = np.array([draw.choice(46, p=row) for row in shares])
        for n in (100, 1000):
            for bins in (10, 100):
                ece = calibration.expected_calibration_error(shares[:n], truth[:n], bins=bins)
                eces.setdefault((n, bins), []).append(ece)
    mean = {key: np.mean(values) for key, values in eces.items()}
    assert 0 < mean[1000, 10] < mean[100, 10] < mean[100, 100]
    assert mean[1000, 10] < mean[1000, 100] < mean[100, 100]
