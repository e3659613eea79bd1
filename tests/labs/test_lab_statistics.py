"""What labs teach about chance holds: tests keep their level and intervals cover, at the lab's own sizes.

Runs are drawn as a lab draws them, with other seeds. A rate passes unless its Monte Carlo interval lies
outside what is claimed. By day a few runs see that nothing is far off; the nightly runs are 2,000 each.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from radeval_lib import metrics
from radeval_lib.data.fact_raters import count_facts, draw_descriptions
from radeval_lib.labs import graded_pairs, tagging
from radeval_lib.stats import calibration
from radeval_lib.stats.agreement import interval_alpha
from radeval_lib.stats.printed import correlation_interval, two_sided_p, williams_test
from tests.labs.marks import solved

LEVEL, COVERAGE = (0.03, 0.07), (0.92, 0.97)
RUNS = [pytest.param(2000, marks=pytest.mark.nightly), 100]
Array = NDArray[np.float64]
LAB_4 = "how_sure_is_a_correlation"


def reaches(hits: NDArray[np.bool_], low: float, high: float) -> None:
    """Fails where a rate's 95 % Monte Carlo interval lies outside low to high."""
    found = stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(0.95, "wilson")
    assert found.low <= high, f"{hits.mean():.3f} of {len(hits)} runs"
    assert found.high >= low, f"{hits.mean():.3f} of {len(hits)} runs"


def rng(name: str) -> np.random.Generator:
    return np.random.default_rng([2026, *name.encode()])


# How sure is a correlation


def lead_p(taus: Array, rho: float) -> Array:
    error = np.sqrt(0.437 / (200 - 4))
    return two_sided_p(np.arctanh(taus[:, 0]) - np.arctanh(taus[:, 1]), error, error, rho)


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(("between", "errors"), [(0.4, 0.32), (0.6, 0.64), (0.8, 0.89)])
def test_a_lead_of_tau_is_tested_at_its_level(between: float, errors: float, runs: int) -> None:
    """At the correlation of errors that the lab states for metrics that correlate so with each other."""
    taus = solved(LAB_4)["equal_metrics"](rng(f"studies {between}"), between, runs)
    found = np.corrcoef(np.arctanh(taus), rowvar=False)[0, 1]
    assert abs(found - errors) < 4 * (1 - errors**2) / np.sqrt(runs) + 0.005  # two digits are stated
    reaches(lead_p(taus, errors) <= 0.05, *LEVEL)


@pytest.mark.parametrize("runs", RUNS)
def test_at_the_metrics_own_correlation_a_lead_is_tested_conservatively(runs: int) -> None:
    taus = solved(LAB_4)["equal_metrics"](rng("conservative"), 0.8, runs)
    reaches(lead_p(taus, 0.8) <= 0.05, 0, 0.02)
    reaches(lead_p(taus, 0.0) <= 0.05, 0, 0.005)
    williams = np.array([williams_test(*pair, 0.8, 200)[1] for pair in taus])
    reaches(williams <= 0.05, 0, 0.005)  # made for Pearson's correlation


@pytest.mark.parametrize("runs", RUNS)
def test_the_interval_of_one_tau_covers(runs: int) -> None:
    taus = solved(LAB_4)["equal_metrics"](rng("one tau"), 0.6, runs)[:, 0]
    ends = np.array([correlation_interval(tau, 200, "kendall") for tau in taus])
    reaches((ends[:, 0] <= 0.5) & (ends[:, 1] >= 0.5), *COVERAGE)


@pytest.mark.nightly
def test_a_study_of_the_needed_size_has_its_power() -> None:
    """Power: with normal variables whose true correlations are those that are printed."""
    wanted, rival, between = np.sin(np.pi / 2 * np.array([0.527, 0.462, 0.6]))
    correlations = np.array([[1, wanted, rival], [wanted, 1, between], [rival, between, 1]])
    gap, wide = np.arctanh(0.527) - np.arctanh(0.462), stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    pairs = int(np.ceil(4 + 2 * (1 - 0.64) * 0.437 * (wide / gap) ** 2))
    drawn = rng("power").multivariate_normal(np.zeros(3), correlations, size=(2000, pairs))
    taus = np.array([[stats.kendalltau(one[:, 0], one[:, k]).statistic for k in (1, 2)] for one in drawn])
    error = np.sqrt(0.437 / (pairs - 4))
    p = two_sided_p(np.arctanh(taus[:, 0]) - np.arctanh(taus[:, 1]), error, error, 0.64)
    reaches(p <= 0.05, 0.76, 0.84)


class Rated(NamedTuple):
    """Many more cases than a lab has, scored once; what a lab draws is a sample of them."""

    quality: Array
    rouge_l: Array
    meteor: Array


@cache
def rated() -> Rated:
    pairs = list(graded_pairs.cases(6000, 7))
    texts = [[getattr(pair, side).findings.text for pair, _ in pairs] for side in ("reference", "candidate")]
    errors = np.array([[len(one) for one in noted] for _, noted in pairs])
    values = [np.asarray(metrics.create(name).score(*texts).values) for name in ("rouge_l", "meteor")]
    return Rated(-errors.mean(axis=1), *values)


def taus_of(weights: Array, signs: Array, others: Array) -> Array:
    """Return Kendall's tau-b of each resample, from signs of differences and, a row per resample, how often
    each case was drawn. The signs are those between pairs of a case, or of single pairs, summed over what is
    drawn together: tau-b is a quotient of quadratic forms in the weights."""
    size = weights.shape[1]
    sums = [
        (one * two).reshape(size, len(signs) // size, size, -1).sum(axis=(1, 3))
        for one, two in ((signs, others), (signs, signs), (others, others))
    ]
    agreeing, first, second = (((weights @ one) * weights).sum(axis=1) for one in sums)
    return np.asarray(agreeing / np.sqrt(first * second))


def test_the_tau_of_a_resample_is_that_of_its_rows() -> None:
    draw = rng("rows")
    one, two = draw.integers(0, 6, size=(2, 40)).astype(float)
    signs = [np.sign(values[:, None] - values[None, :]) for values in (one, two)]
    for size in (10, 40):
        drawn = draw.integers(size, size=(5, size))
        weights = np.array([np.bincount(row, minlength=size) for row in drawn], dtype=float)
        rows = (40 // size * drawn[:, :, None] + np.arange(40 // size)).reshape(5, 40)
        wanted = [stats.kendalltau(one[row], two[row]).statistic for row in rows]
        assert np.allclose(taus_of(weights, *signs), wanted)


@pytest.mark.nightly
def test_intervals_by_cases_cover_and_by_pairs_do_not() -> None:
    """Of 40 cases of four, as in the lab, with 200 resamples a run."""
    whole, draw = rated(), rng("cases")
    columns = (whole.quality, whole.rouge_l, whole.meteor)
    tau, other = (float(stats.kendalltau(one, whole.quality).statistic) for one in columns[1:])
    hits: dict[str, list[bool]] = {"case": [], "pair": [], "lead": []}
    inflation = []
    for _ in range(2000):
        rows = (4 * draw.choice(len(whole.quality) // 4, 40, replace=False)[:, None] + np.arange(4)).ravel()
        signs = [np.sign(one[rows][:, None] - one[rows][None, :]) for one in columns]
        cases, pairs = (
            draw.multinomial(size, np.full(size, 1 / size), size=200).astype(float) for size in (40, 160)
        )
        found = {name: taus_of(drawn, *signs[:2]) for name, drawn in (("case", cases), ("pair", pairs))}
        found["lead"] = found["case"] - taus_of(cases, signs[0], signs[2])
        for name, values in found.items():
            low, high = np.percentile(values, [2.5, 97.5])
            hits[name].append(bool(low <= (tau - other if name == "lead" else tau) <= high))
        inflation.append(np.var(found["case"]) / np.var(found["pair"]))
    reaches(np.array(hits["case"]), *COVERAGE)
    reaches(np.array(hits["lead"]), *COVERAGE)
    reaches(np.array(hits["pair"]), 0.86, 0.90)  # as the lab says: about 88
    assert 1.4 < np.mean(inflation) < 1.8  # of the variance: the lab takes about 1.5


# Count facts together

GRANULARITY = [0.95, 0.8, 0.6, 0.4]


def counted(name: str, reports: int, overlaps: list[float]) -> dict[str, Array]:
    """Return tables of shape (raters, summaries)."""
    draw = rng(name)
    raters = count_facts(draw, draw_descriptions(draw, reports, overlaps), GRANULARITY)
    return {
        quantity: np.array([[getattr(one, quantity) for one in rater] for rater in raters], dtype=float)
        for quantity in ("reference", "recall")
    }


def test_alpha_of_a_rate_depends_on_the_texts() -> None:
    spread, alike = (counted("alpha", 3000, overlaps) for overlaps in ([0.3, 0.6, 0.9], [0.6, 0.6, 0.6]))
    assert float(interval_alpha(spread["recall"])) == pytest.approx(0.82, abs=0.015)
    assert float(interval_alpha(alike["recall"])) == pytest.approx(0.61, abs=0.02)
    assert float(interval_alpha(spread["reference"])) == pytest.approx(
        float(interval_alpha(alike["reference"])), abs=0.03
    )


@pytest.mark.parametrize("runs", [RUNS[0], 30])
def test_the_interval_of_a_difference_of_alphas_covers(runs: int) -> None:
    whole = counted("many", 6000, [0.3, 0.6, 0.9])
    true = float(interval_alpha(whole["recall"]) - interval_alpha(whole["reference"]))
    draw, hits = rng("reports"), []
    for _ in range(runs):
        own = 3 * draw.choice(6000, 30, replace=False)
        places = (own[draw.integers(30, size=(1000, 30))][:, :, None] + np.arange(3)).reshape(1000, 90)
        recall, reference = (whole[name][:, places].swapaxes(0, 1) for name in ("recall", "reference"))
        low, high = np.percentile(interval_alpha(recall) - interval_alpha(reference), [2.5, 97.5])
        hits.append(bool(low <= true <= high))
    reaches(np.array(hits), *COVERAGE)


# Teach a model to see entities


@pytest.mark.nightly
def test_the_interval_over_five_draws_covers() -> None:
    """Of the mean over all draws from one pool, scored on one test set: draws are sampled from 400."""
    style = {"hospital": ("hospital", 250, 5), "encyclopaedia": ("encyclopaedic", 300, 6)}
    drawn = {name: tagging.sentences(*given) for name, given in style.items()}
    pools = {name: sentences[:-300] for name, sentences in drawn.items()}
    words, gold = zip(*drawn["hospital"][-200:], strict=True)
    order, gaps = rng("draws"), []
    for _ in range(400):
        draw = order.permutation(len(pools["hospital"])).tolist()
        other = pools["encyclopaedia"]
        own = [pools["hospital"][place] for place in draw]
        mixed = own[:80] + [other[place % len(other)] for place in draw[:80]]
        one, two = (
            tagging.score(gold, tagging.predict(tagging.train(part), words))["f1"]
            for part in (mixed, own[:160])
        )
        gaps.append(one - two)
    values = np.array(gaps)
    samples = values[np.array([order.choice(400, 5, replace=False) for _ in range(2000)])]
    half = stats.t.ppf(0.975, 4) * samples.std(axis=1, ddof=1) / np.sqrt(5)
    reaches(np.abs(samples.mean(axis=1) - values.mean()) <= half, *COVERAGE)


# Confidence one can trust


@pytest.mark.parametrize("runs", RUNS)
def test_the_ece_of_a_perfect_model_is_above_zero_and_falls_with_documents(runs: int) -> None:
    """Its bias is what the lab's fourth task shows: more documents lower it, more bins raise it."""
    draw = rng("perfect")
    found: dict[tuple[int, int], list[float]] = {}
    for _ in range(runs // 10):
        shares = draw.dirichlet(np.full(46, 0.1), size=1000)
        truth = np.array([draw.choice(46, p=one) for one in shares])
        for n in (100, 1000):
            for bins in (10, 100):
                ece = calibration.expected_calibration_error(shares[:n], truth[:n], bins=bins)
                found.setdefault((n, bins), []).append(ece)
    mean = {key: np.mean(values) for key, values in found.items()}
    assert 0 < mean[1000, 10] < mean[100, 10] < mean[100, 100]
    assert mean[1000, 10] < mean[1000, 100] < mean[100, 100]
