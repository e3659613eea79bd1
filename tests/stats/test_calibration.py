"""Calibration statistics against hand-computed values, known bounds and a loop written from the formulas."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from radeval_lib.stats import calibration

NETCAL = Path(__file__).resolve().parents[1] / "reference" / "netcal" / "package.json"

# Four samples, three classes. Confidences .8, .7, .55, .9 (bins 8, 7, 6, 9); right, wrong, right, right.
HAND = np.array([[0.80, 0.15, 0.05], [0.70, 0.20, 0.10], [0.25, 0.55, 0.20], [0.05, 0.05, 0.90]])
HAND_LABELS = np.array([0, 1, 1, 2])

METRICS = [
    calibration.expected_calibration_error,
    calibration.maximum_calibration_error,
    calibration.largest_weighted_gap,
    calibration.static_calibration_error,
    calibration.weighted_model_confidence,
]


@st.composite
def classified(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities with some exact zeros, and labels."""
    samples, classes = draw(st.integers(1, 12)), draw(st.integers(2, 6))
    weights = draw(arrays(np.int64, (samples, classes), elements=st.integers(0, 9)))
    weights[:, draw(st.integers(0, classes - 1))] += 1  # no row is all zero
    labels = draw(arrays(np.int64, samples, elements=st.integers(0, classes - 1)))
    return weights / weights.sum(axis=1, keepdims=True), labels


def test_ece_by_hand() -> None:
    # Bin (.6, .7]: .62 right, .66 wrong: |1 - 1.28|. Bin (.7, .8]: .72 and .78 right: |2 - 1.5|.
    # Bin (.8, .9]: .82 and .84 wrong, .88 right: |1 - 2.54|. One bin, 5, 15 or 20, bins of equal weight, gaps
    # with their signs, or another confidence than the largest probability would give something else.
    confident = np.array([0.62, 0.66, 0.72, 0.78, 0.82, 0.84, 0.88])
    p = np.column_stack([confident, 0.7 * (1 - confident), 0.3 * (1 - confident)])
    labels = [0, 1, 0, 0, 1, 2, 0]
    found = calibration.expected_calibration_error(p, labels)
    assert found == pytest.approx((0.28 + 0.5 + 1.54) / 7)
    for bins in (1, 5, 15, 20):
        assert calibration.expected_calibration_error(p, labels, bins=bins) != pytest.approx(found)


def test_ece_by_hand_where_each_sample_is_alone_in_its_bin() -> None:
    # |1 - .8| + |0 - .7| + |1 - .55| + |1 - .9|
    assert calibration.expected_calibration_error(HAND, HAND_LABELS) == pytest.approx(
        (0.2 + 0.7 + 0.45 + 0.1) / 4
    )


def test_mce_and_weighted_gap_by_hand() -> None:
    assert calibration.maximum_calibration_error(HAND, HAND_LABELS) == pytest.approx(0.7)
    assert calibration.largest_weighted_gap(HAND, HAND_LABELS) == pytest.approx(0.7 / 4)


def test_wmc_by_hand() -> None:
    assert calibration.weighted_model_confidence(HAND, HAND_LABELS) == pytest.approx(
        (0.8 - 0.7 + 0.55 + 0.9) / 4
    )


def test_sce_by_hand() -> None:
    # Ten bins. Class 0 has .22 (true) and .28 in one bin, .62 (true) and .15 alone in theirs. Class 1 has
    # .29, .66, .72 (true) and .05 alone. Class 2 has .12 and .13 in one bin, .09 and .67 (true) alone.
    # No class has the gaps of another, and ECE is another number.
    p = [[0.62, 0.29, 0.09], [0.22, 0.66, 0.12], [0.15, 0.72, 0.13], [0.28, 0.05, 0.67]]
    labels = [0, 0, 1, 2]
    by_class = (0.50 + 0.38 + 0.15, 0.29 + 0.66 + 0.28 + 0.05, 0.25 + 0.09 + 0.33)
    found = calibration.static_calibration_error(p, labels)
    assert found == pytest.approx(sum(by_class) / (4 * 3))
    assert calibration.expected_calibration_error(p, labels) == pytest.approx((0.05 + 0.28) / 4)
    for bins in (1, 5, 15, 20):
        assert calibration.static_calibration_error(p, labels, bins=bins) != pytest.approx(found)


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


def test_a_zero_probability_makes_only_one_direction_infinite() -> None:
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


def test_perfect_calibration_is_zero() -> None:
    # ten samples at confidence .8, eight of them right
    p = np.tile([0.8, 0.2], (10, 1))
    labels = np.array([0] * 8 + [1] * 2)
    for metric in METRICS[:4]:
        assert metric(p, labels) == pytest.approx(0, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(classified())
def test_ranges(sample: tuple[np.ndarray, np.ndarray]) -> None:
    p, labels = sample
    ece, mce, share, sce, wmc = (metric(p, labels) for metric in METRICS)
    for value in (ece, mce, share, sce):
        assert -1e-12 <= value <= 1 + 1e-12
    assert share <= ece + 1e-12
    assert ece <= mce + 1e-12
    assert -1 <= wmc <= 1


@settings(deadline=None, max_examples=60)
@given(classified())
def test_kl_to_uniform_is_log_k_minus_entropy(sample: tuple[np.ndarray, np.ndarray]) -> None:
    p, _ = sample
    log_k = math.log(p.shape[1])
    assert calibration.average_kl_to_uniform(p) == pytest.approx(
        log_k - calibration.average_predictive_entropy(p)
    )
    assert -1e-12 <= calibration.average_kl_to_uniform(p) <= log_k + 1e-12
    assert calibration.average_kl_from_uniform(p) >= -1e-12


@settings(deadline=None, max_examples=60)
@given(classified())
def test_order_of_samples_does_not_matter(sample: tuple[np.ndarray, np.ndarray]) -> None:
    p, labels = sample
    for metric in METRICS:
        assert metric(p[::-1], labels[::-1]) == pytest.approx(metric(p, labels))


@settings(deadline=None, max_examples=60)
@given(classified(), st.integers(1, 12))
def test_against_loops_written_from_the_formulas(sample: tuple[np.ndarray, np.ndarray], bins: int) -> None:
    p, labels = sample
    samples, classes = p.shape
    edges = np.linspace(0, 1, bins + 1)

    def gaps(values: np.ndarray, hits: np.ndarray) -> float:
        total = 0.0
        for number in range(bins):
            inside = (values > edges[number]) & (values <= edges[number + 1])
            if number == 0:
                inside |= values == 0
            if inside.any():
                total += inside.sum() * abs(hits[inside].mean() - values[inside].mean())
        return total

    correct = p.argmax(axis=1) == labels
    assert calibration.expected_calibration_error(p, labels, bins=bins) == pytest.approx(
        gaps(p.max(axis=1), correct) / samples, abs=1e-12
    )
    by_class = sum(gaps(p[:, k], labels == k) for k in range(classes))
    assert calibration.static_calibration_error(p, labels, bins=bins) == pytest.approx(
        by_class / (samples * classes), abs=1e-12
    )


@pytest.mark.parametrize(
    ("probabilities", "labels", "message"),
    [
        ([0.5, 0.5], [0], "shape"),
        (np.empty((0, 2)), [], "non-empty"),
        ([[2.0, -1.0]], [0], "softmax"),
        ([[math.nan, 1.0]], [0], "softmax"),
        ([[0.5, 0.4]], [0], "row 0"),
        ([[0.5, 0.5]], [0, 1], "labels must be 1 whole"),
        ([[0.5, 0.5]], [2], "from 0 to 1, one per sample"),
        ([[0.5, 0.5]], [0.0], "whole numbers"),
    ],
)
def test_bad_input_is_named(probabilities: object, labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calibration.expected_calibration_error(probabilities, labels)  # type: ignore[arg-type]


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


def test_an_edge_belongs_to_the_bin_below() -> None:
    p, labels = [[0.5, 0.5], [0.55, 0.45]], [1, 0]  # argmax takes the first of equals: wrong, right
    assert calibration.expected_calibration_error(p, labels) == pytest.approx((0.5 + 0.45) / 2)


@settings(deadline=None, max_examples=60)
@given(classified())
def test_entropies_and_divergences_equal_scipys(sample: tuple[np.ndarray, np.ndarray]) -> None:
    p, _ = sample
    uniform = np.full(p.shape[1], 1 / p.shape[1])
    assert calibration.average_predictive_entropy(p) == pytest.approx(
        np.mean([scipy.stats.entropy(row) for row in p]), abs=1e-9
    )
    assert calibration.average_kl_to_uniform(p) == pytest.approx(
        np.mean([scipy.stats.entropy(row, uniform) for row in p]), abs=1e-9
    )
    theirs = np.mean([scipy.stats.entropy(uniform, row) for row in p])
    assert calibration.average_kl_from_uniform(p) == pytest.approx(theirs, abs=1e-9)


def test_one_class_is_certain_and_right() -> None:
    p, labels = np.ones((3, 1)), [0, 0, 0]
    found = calibration.measures(p, labels)
    assert found[["accuracy", "WMC"]].tolist() == [1, 1]
    assert found.drop(["accuracy", "WMC"]).abs().max() == 0


def test_nll_and_brier_by_hand() -> None:
    losses = [-math.log(0.8), -math.log(0.2), -math.log(0.55), -math.log(0.9)]
    assert calibration.negative_log_likelihood(HAND, HAND_LABELS) == pytest.approx(sum(losses) / 4)
    squares = [0.04 + 0.0225 + 0.0025, 0.49 + 0.64 + 0.01, 0.0625 + 0.2025 + 0.04, 0.0025 + 0.0025 + 0.01]
    assert calibration.brier_score(HAND, HAND_LABELS) == pytest.approx(sum(squares) / 4)


def test_a_true_class_with_probability_zero_is_infinitely_unlikely() -> None:
    assert calibration.negative_log_likelihood([[1.0, 0.0]], [1]) == math.inf
    assert calibration.brier_score([[1.0, 0.0]], [1]) == 2


@settings(deadline=None, max_examples=30)
@given(classified())
def test_sce_is_the_mean_of_the_classes_own_gaps(sample: tuple[np.ndarray, np.ndarray]) -> None:
    p, labels = sample
    place, gaps = calibration.bin_of(p, 10), 0.0
    for number, rows in ((k, p[:, k]) for k in range(p.shape[1])):
        for one in set(place[:, number]):
            inside = place[:, number] == one
            gaps += abs((labels[inside] == number).sum() - rows[inside].sum())
    assert calibration.static_calibration_error(p, labels) == pytest.approx(gaps / p.size, abs=1e-12)


def test_at_least_one_bin() -> None:
    with pytest.raises(ValueError, match="bins is 0"):
        calibration.expected_calibration_error(HAND, HAND_LABELS, bins=0)
