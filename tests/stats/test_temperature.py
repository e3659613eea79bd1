"""Temperature scaling recovers a known temperature and changes no decision."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radeval_lib.stats import calibration, temperature

NETCAL = Path(__file__).resolve().parents[1] / "reference" / "netcal" / "package.json"


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
    assert temperature.fit(logits, labels) == pytest.approx(factor, rel=0.04)


def test_lowers_ece_on_samples_that_it_was_not_fitted_on() -> None:
    logits, labels = drawn(3.0)
    found = temperature.fit(logits[:2000], labels[:2000])
    before = calibration.expected_calibration_error(temperature.scale(logits[2000:], 1.0), labels[2000:])
    after = calibration.expected_calibration_error(temperature.scale(logits[2000:], found), labels[2000:])
    assert after < before / 5


def test_agrees_with_netcal() -> None:
    # netcal fits the inverse by another optimizer, which stops at 1e-3 or so; ours must be as likely.
    logits, labels = drawn(2.0, samples=1500)
    netcal = json.loads(NETCAL.read_text(encoding="utf-8"))["temperature"]
    theirs = temperature.scale(logits, netcal)
    ours = temperature.scale(logits, temperature.fit(logits, labels))
    assert ours == pytest.approx(theirs, abs=5e-3)
    nll = calibration.negative_log_likelihood
    assert nll(ours, labels) <= nll(theirs, labels) + 1e-9


@settings(deadline=None, max_examples=40)
@given(st.floats(0.05, 20), st.integers(0, 1000))
def test_no_decision_changes(value: float, seed: int) -> None:
    logits = np.random.default_rng(seed).normal(0, 3, size=(20, 4))
    assert (temperature.scale(logits, value).argmax(axis=1) == logits.argmax(axis=1)).all()


def test_logits_may_be_shifted_and_may_be_logarithms_of_probabilities() -> None:
    logits, labels = drawn(2.0, samples=500)
    found = temperature.fit(logits, labels)
    assert temperature.fit(logits + 100, labels) == pytest.approx(found, rel=1e-5)
    assert temperature.fit(np.log(temperature.scale(logits, 1)), labels) == pytest.approx(found, rel=1e-5)


@pytest.mark.parametrize("margin", [1e-3, 1.0, 200.0, 3000.0])
def test_where_all_are_right_the_lowest_temperature_is_best(margin: float) -> None:
    assert temperature.fit([[margin, 0.0], [0.0, margin]], [0, 1]) == temperature.LOWEST


def test_a_row_without_a_possible_class_is_refused() -> None:
    with pytest.raises(ValueError, match="-inf for every class"):
        temperature.scale([[0.0, 1.0], [-math.inf, -math.inf]], 1.0)


def test_a_class_of_probability_zero_is_set_apart_and_stays_at_zero() -> None:
    logits, labels = drawn(2.0, samples=400)
    unseen = np.c_[logits, np.full(len(logits), -math.inf)]
    truth = np.where(np.arange(len(labels)) % 40 == 0, 5, labels)
    known = temperature.explained(unseen, truth)
    assert (known == (truth != 5)).all()
    found = temperature.fit(unseen[known], truth[known])
    assert found == pytest.approx(temperature.fit(logits[known], labels[known]))
    probabilities = temperature.scale(unseen, temperature.HIGHEST)
    assert (probabilities[:, 5] == 0).all()
    assert math.isinf(calibration.negative_log_likelihood(probabilities, truth))


@pytest.mark.parametrize(
    ("logits", "labels", "message"),
    [
        ([1.0, 2.0], [0], "shape"),
        ([[1.0, math.nan]], [0], "NaN"),
        ([[-math.inf, 2.0]], [0], "probability 0"),
        ([[1.0, 2.0], [2.0, 1.0]], [0], "2 whole numbers from 0 to 1, one per sample"),
        ([[1.0, 2.0]], [2], "labels must be"),
        ([[1.0, 2.0]], [-1], "labels must be"),
    ],
)
def test_bad_input_is_named(logits: object, labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        temperature.fit(logits, labels)  # type: ignore[arg-type]


def test_a_temperature_is_above_zero() -> None:
    with pytest.raises(ValueError, match="above 0"):
        temperature.scale([[1.0, 2.0]], 0)
