"""Calibration and temperature scaling: by hand, and against netcal."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from radeval_lib.stats import calibration
from radeval_lib.stats.calibration import at_temperature, fit_temperature, resample_measures
from radeval_lib.stats.resampling import draw_counts

NETCAL = Path(__file__).resolve().parents[1] / "reference" / "netcal" / "package.json"

# Four samples, three classes. Confidences .8, .7, .55, .9 (bins 8, 7, 6, 9); right, wrong, right, right.
HAND = np.array([[0.80, 0.15, 0.05], [0.70, 0.20, 0.10], [0.25, 0.55, 0.20], [0.05, 0.05, 0.90]])
HAND_LABELS = np.array([0, 1, 1, 2])


def test_ece_by_hand() -> None:
    # Bin (.6, .7]: .62 right, .66 wrong: |1 - 1.28|. Bin (.7, .8]: .72 and .78 right: |2 - 1.5|.
    # Bin (.8, .9]: .82 and .84 wrong, .88 right: |1 - 2.54|. One bin, 5, 15 or 20, bins of equal weight, gaps
    # with their signs, or another confidence than the largest probability would give something else.
    confident = np.array([0.62, 0.66, 0.72, 0.78, 0.82, 0.84, 0.88])
    p = np.column_stack([confident, 0.7 * (1 - confident), 0.3 * (1 - confident)])
    labels = [0, 1, 0, 0, 1, 2, 0]
    assert calibration.expected_calibration_error(p, labels) == pytest.approx((0.28 + 0.5 + 1.54) / 7)


def test_wmc_by_hand() -> None:
    confidence = calibration.weighted_model_confidence(HAND, HAND_LABELS)
    assert confidence == pytest.approx((0.8 - 0.7 + 0.55 + 0.9) / 4)
    assert calibration.maximum_calibration_error(HAND, HAND_LABELS) == pytest.approx(0.7)
    assert calibration.largest_weighted_gap(HAND, HAND_LABELS) == pytest.approx(0.7 / 4)


def test_sce_by_hand() -> None:
    # Ten bins. Class 0 has .22 (true) and .28 in one bin, .62 (true) and .15 alone in theirs. Class 1 has
    # .29, .66, .72 (true) and .05 alone. Class 2 has .12 and .13 in one bin, .09 and .67 (true) alone.
    # No class has the gaps of another, and ECE is another number.
    p = [[0.62, 0.29, 0.09], [0.22, 0.66, 0.12], [0.15, 0.72, 0.13], [0.28, 0.05, 0.67]]
    labels = [0, 0, 1, 2]
    by_class = (0.50 + 0.38 + 0.15, 0.29 + 0.66 + 0.28 + 0.05, 0.25 + 0.09 + 0.33)
    assert calibration.static_calibration_error(p, labels) == pytest.approx(sum(by_class) / (4 * 3))
    assert calibration.expected_calibration_error(p, labels) == pytest.approx((0.05 + 0.28) / 4)


def test_entropy_by_hand() -> None:
    # a certain prediction has entropy 0, a fair coin log 2
    assert calibration.average_predictive_entropy([[1.0, 0.0], [0.5, 0.5]]) == pytest.approx(math.log(2) / 2)
    uneven = -(0.7 * math.log(0.7) + 0.2 * math.log(0.2) + 0.1 * math.log(0.1))
    assert calibration.average_predictive_entropy([[0.7, 0.2, 0.1]]) == pytest.approx(uneven)


def test_two_directions_of_kl_by_hand() -> None:
    p = [[0.8, 0.2]]
    assert calibration.average_kl_to_uniform(p) == pytest.approx(0.8 * math.log(1.6) + 0.2 * math.log(0.4))
    assert calibration.average_kl_from_uniform(p) == pytest.approx(
        0.5 * math.log(0.5 / 0.8) + 0.5 * math.log(0.5 / 0.2)
    )
    assert calibration.average_kl_to_uniform([[1.0, 0.0]]) == pytest.approx(math.log(2))
    assert calibration.average_kl_from_uniform([[1.0, 0.0]]) == math.inf


@pytest.mark.parametrize(
    ("confidence", "row"),
    [(0.6, 5), (0.61, 6), (1.0, 9), (0.5, 4)],  # bins are (lo, hi]: an edge belongs to the bin below
)
def test_bins_are_half_open(confidence: float, row: int) -> None:
    frame = calibration.reliability([[confidence, 1 - confidence]], [0])
    assert frame["count"].to_numpy().nonzero()[0].tolist() == [row]


def test_an_exact_zero_goes_to_the_first_bin_or_is_dropped() -> None:
    # class 1 has probability 0 and is the truth: a gap of 1 in the first bin, or nothing
    p, labels = [[1.0, 0.0]], [1]
    assert calibration.static_calibration_error(p, labels) == pytest.approx((1 + 1) / 2)
    assert calibration.static_calibration_error(p, labels, zeros="dropped") == pytest.approx(1 / 2)


def sure_in_turns(classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities of shape (5000, classes), too sure in every second bin, so that it matters where
    bins end; and labels. No confidence is an edge."""
    rng = np.random.default_rng(classes)
    p = rng.dirichlet(np.full(classes, 0.2), size=5000)
    sure = p.max(axis=1)
    right = rng.random(5000) < np.clip(sure + 0.2 * np.where(np.floor(10 * sure) % 2, 1, -1), 0, 1)
    return p, np.where(right, p.argmax(axis=1), p.argmin(axis=1))


@pytest.mark.parametrize("classes", [2, 7, 46])
def test_equal_netcal_on_many_random_samples(classes: int) -> None:
    netcal = json.loads(NETCAL.read_text(encoding="utf-8"))["errors"][str(classes)]
    p, labels = sure_in_turns(classes)
    ece = calibration.expected_calibration_error(p, labels)
    assert ece == pytest.approx(netcal["ece"]["10"], abs=1e-9)
    assert all(abs(ece - netcal["ece"][bins]) > 0.001 for bins in ("1", "5", "15"))
    assert calibration.maximum_calibration_error(p, labels) == pytest.approx(netcal["mce"], abs=1e-9)


def test_nll_and_brier_by_hand() -> None:
    losses = [-math.log(0.8), -math.log(0.2), -math.log(0.55), -math.log(0.9)]
    assert calibration.negative_log_likelihood(HAND, HAND_LABELS) == pytest.approx(sum(losses) / 4)
    squares = [0.04 + 0.0225 + 0.0025, 0.49 + 0.64 + 0.01, 0.0625 + 0.2025 + 0.04, 0.0025 + 0.0025 + 0.01]
    assert calibration.brier_score(HAND, HAND_LABELS) == pytest.approx(sum(squares) / 4)
    assert calibration.negative_log_likelihood([[1.0, 0.0]], [1]) == math.inf
    assert calibration.brier_score([[1.0, 0.0]], [1]) == 2


def sample(seed: int = 1, size: int = 40, classes: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(classes, 0.5), size=size)
    p[0], p[1] = np.eye(classes)[0], np.eye(classes)[1]  # exact 0s and 1s
    return p, rng.integers(0, classes, size=size), rng.integers(0, 12, size=size)


def test_equals_the_measures_of_each_resample() -> None:
    p, labels, documents = sample()
    (draws,) = resample_measures([p], labels, documents, resamples=25, rng=np.random.default_rng(3))
    codes, names = pd.factorize(documents)
    counts = np.concatenate(list(draw_counts(len(names), 25, np.random.default_rng(3), 1)))
    for number, row in enumerate(counts):
        again = np.repeat(np.arange(len(p)), row[codes].astype(int))
        wanted = calibration.compute_measures(p[again], labels[again])[list(calibration.RESAMPLED_MEASURES)]
        for name, value in wanted.items():
            assert draws.values[str(name)][number] == pytest.approx(value, abs=1e-12), name


def test_an_infinite_term_is_infinite_only_where_its_document_is_drawn() -> None:
    p, labels = np.array([[1.0, 0.0], [0.6, 0.4]]), np.array([1, 0])
    (draws,) = resample_measures([p], labels, ["a", "b"], resamples=200, rng=np.random.default_rng(0))
    losses = draws.values["NLL"]
    assert set(np.round(losses[np.isfinite(losses)], 12)) == {round(-math.log(0.6), 12)}
    assert np.isinf(losses).mean() == pytest.approx(0.75, abs=0.1)


def drawn(factor: float, samples: int = 20_000, classes: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return logits that are ``factor`` times those that the labels were drawn from."""
    rng = np.random.default_rng(7)
    logits = rng.normal(0, 1.5, size=(samples, classes))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(classes, p=row) for row in p])
    return factor * logits, labels


@pytest.mark.parametrize("factor", [0.4, 1.0, 3.0])
def test_finds_the_temperature_that_the_labels_were_drawn_with(factor: float) -> None:
    logits, labels = drawn(factor)
    # standard error of the fit with 20,000 samples is about 0.01 of it
    assert fit_temperature(logits, labels) == pytest.approx(factor, rel=0.04)


def test_agrees_with_netcal() -> None:
    # netcal fits the inverse by another optimizer, which stops at 1e-3 or so; ours must be as likely.
    logits, labels = drawn(2.0, samples=1500)
    netcal = json.loads(NETCAL.read_text(encoding="utf-8"))["temperature"]
    theirs = at_temperature(logits, netcal)
    ours = at_temperature(logits, fit_temperature(logits, labels))
    assert ours == pytest.approx(theirs, abs=5e-3)
    nll = calibration.negative_log_likelihood
    assert nll(ours, labels) <= nll(theirs, labels) + 1e-9


def test_logits_may_be_shifted_and_may_be_logarithms_of_probabilities() -> None:
    logits, labels = drawn(2.0, samples=500)
    fitted = fit_temperature(logits, labels)
    assert fit_temperature(logits + 100, labels) == pytest.approx(fitted, rel=1e-5)
    logarithms = np.log(at_temperature(logits, 1))
    assert fit_temperature(logarithms, labels) == pytest.approx(fitted, rel=1e-5)


@pytest.mark.parametrize("margin", [1e-3, 1.0, 200.0, 3000.0])
def test_where_all_are_right_the_lowest_temperature_is_best(margin: float) -> None:
    assert fit_temperature([[margin, 0.0], [0.0, margin]], [0, 1]) == calibration.LOWEST


def test_a_class_of_probability_zero_is_set_apart_and_stays_at_zero() -> None:
    logits, labels = drawn(2.0, samples=400)
    unseen = np.c_[logits, np.full(len(logits), -math.inf)]
    truth = np.where(np.arange(len(labels)) % 40 == 0, 5, labels)
    explained = calibration.has_finite_truth(unseen, truth)
    assert (explained == (truth != 5)).all()
    fitted = fit_temperature(unseen[explained], truth[explained])
    assert fitted == pytest.approx(fit_temperature(logits[explained], labels[explained]))
    probabilities = at_temperature(unseen, calibration.HIGHEST)
    assert (probabilities[:, 5] == 0).all()
    assert math.isinf(calibration.negative_log_likelihood(probabilities, truth))
