"""The bootstrap's sums against the measures computed again on each resample."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from radeval_lib.stats import calibration
from radeval_lib.stats.calibration_draws import DRAWN, resample
from radeval_lib.stats.resampling import drawn_counts


def sample(seed: int = 1, size: int = 40, classes: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(classes, 0.5), size=size)
    p[0], p[1] = np.eye(classes)[0], np.eye(classes)[1]  # exact 0s and 1s
    return p, rng.integers(0, classes, size=size), rng.integers(0, 12, size=size)


def test_equals_the_measures_of_each_resample() -> None:
    p, labels, documents = sample()
    (found,) = resample([p], labels, documents, resamples=25, rng=np.random.default_rng(3))
    codes, names = pd.factorize(documents)
    counts = np.concatenate(list(drawn_counts(len(names), 25, np.random.default_rng(3), 1)))
    for number, row in enumerate(counts):
        again = np.repeat(np.arange(len(p)), row[codes].astype(int))
        wanted = calibration.measures(p[again], labels[again])[list(DRAWN)]
        for name, value in wanted.items():
            assert found.values[str(name)][number] == pytest.approx(value, abs=1e-12), name


def test_observed_is_the_sample_itself() -> None:
    p, labels, documents = sample()
    (found,) = resample([p], labels, documents, resamples=2, rng=np.random.default_rng(3))
    pd.testing.assert_series_equal(found.observed, calibration.measures(p, labels)[list(DRAWN)])


def test_an_infinite_term_is_infinite_only_where_its_document_is_drawn() -> None:
    p, labels = np.array([[1.0, 0.0], [0.6, 0.4]]), np.array([1, 0])
    (found,) = resample([p], labels, ["a", "b"], resamples=200, rng=np.random.default_rng(0))
    losses = found.values["NLL"]
    assert set(np.round(losses[np.isfinite(losses)], 12)) == {round(-math.log(0.6), 12)}
    assert np.isinf(losses).mean() == pytest.approx(0.75, abs=0.1)


def test_every_label_needs_a_document() -> None:
    p, labels, documents = sample()
    for wrong, message in (
        (documents[:-1], "39 values for 40 items"),
        ([None, *documents[1:]], "documents holds a missing value"),
    ):
        with pytest.raises(ValueError, match=message):
            resample([p], labels, wrong, resamples=5, rng=np.random.default_rng(0))
