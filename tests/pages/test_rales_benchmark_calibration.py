"""Classifiers before and after temperature scaling."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from notebooks.rales.benchmark_calibration import (
    Scaled,
    by_effect,
    by_temperature,
    changes,
    most_changed,
    scaled,
    unlearned_words,
    whole_fits,
)
from radeval_lib.stats.estimates import Estimate


@pytest.fixture
def found() -> Scaled:
    """A classifier whose logits are three times what they ought to be."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(600, 3))
    labels = (softmax(logits, axis=1).cumsum(axis=1) < rng.random((600, 1))).sum(axis=1)
    outputs = pd.DataFrame(3 * logits, columns=["c0", "c1", "c2"]).assign(
        split=np.repeat(["dev", "test"], 300), case=[str(case) for case in range(600)], label=labels
    )
    return scaled(outputs, resamples=200, documents=rng, refits=np.random.default_rng(1))


def test_the_temperature_undoes_what_was_done_to_the_logits(found: Scaled) -> None:
    assert found.temperature == pytest.approx(3, rel=0.3)
    assert (found.left_out, found.validation, found.infinite) == (0, 300, False)
    assert found.probabilities(after=True).max() < found.probabilities(after=False).max()


def test_scaling_lowers_what_it_ought_to(found: Scaled) -> None:
    table = changes({"classifier": found})
    assert table.index.tolist() == [("classifier", measure) for measure in ("ECE", "NLL", "Brier")]
    assert (table["after"] < table["before"]).all()
    assert (table["high"] < 0).all()


def test_a_constant_classifier_is_set_apart(found: Scaled) -> None:
    flat = replace(found, logits=np.tile([2.0, 1.0, 0.0], (300, 1)))
    assert by_effect({"learned": found, "flat": flat}) == {
        "lowers": ["learned"],
        "raises": [],
        "open": [],
        "constant": ["flat"],
    }


def test_few_validation_documents_widen_the_interval() -> None:
    rng = np.random.default_rng(3)
    logits = rng.normal(size=(620, 3))
    labels = (softmax(logits, axis=1).cumsum(axis=1) < rng.random((620, 1))).sum(axis=1)
    outputs = pd.DataFrame(logits, columns=["c0", "c1", "c2"]).assign(
        split=["dev"] * 320 + ["test"] * 300, case=[str(case) for case in range(620)], label=labels
    )
    wide, narrow = (
        scaled(rows, resamples=200, documents=np.random.default_rng(0), refits=np.random.default_rng(1))
        for rows in (outputs.iloc[300:], outputs)
    )
    width = [one.changes["NLL"].high - one.changes["NLL"].low for one in (wide, narrow)]
    assert width[0] > 2 * width[1]


def test_what_unlearned_classes_do_is_said_where_there_are_any(found: Scaled) -> None:
    assert unlearned_words({"a": found}) == ""
    assert unlearned_words({"a": found, "b": replace(found, left_out=2)}).endswith("fitted: b (2 of 300).")


def test_draws_stand_as_one_where_all_are_there() -> None:
    every = ["a, draw 1", "a, draw 2", "b, draw 1", "b, draw 2", "c"]
    found = whole_fits(["a, draw 1", "a, draw 2", "b, draw 2", "c"], every)
    assert found == ["a, every draw", "b, draw 2", "c"]


def test_a_slider_of_temperatures_starts_at_the_fitted_one(found: Scaled) -> None:
    diagrams, start = by_temperature(found)
    assert start == f"{found.temperature:.3f}"
    assert f"ECE {found.after['ECE']:.3f}" in diagrams[start]
    assert diagrams["1.000"].startswith(
        f"<p>ECE {found.before['ECE']:.3f}, Brier score {found.before['Brier']:.3f}"
    )
    flat = replace(found, logits=np.tile([2.0, 1.0, 0.0], (300, 1)))
    assert most_changed({"flat": flat, "learned": found}) == "learned"


def test_a_change_without_p_is_open_and_without_a_learned_one_nothing_is(found: Scaled) -> None:
    unknown = replace(found, changes={**found.changes, "ECE": Estimate(-0.1, np.nan, np.nan)})
    assert by_effect({"learned": found, "unknown": unknown})["open"] == ["unknown"]
    flat = replace(found, logits=np.tile([2.0, 1.0, 0.0], (300, 1)))
    assert by_effect({"flat": flat}) == {"lowers": [], "raises": [], "open": [], "constant": ["flat"]}
