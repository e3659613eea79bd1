"""What the page on calibration makes of Table 7, and its classifier of known calibration."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from radeval_lib import study
from radeval_lib.pages.rales.calibration import (
    ARROWS,
    alike,
    alike_by_chance,
    at_three_temperatures,
    average_ranks,
    directions,
    known_classifier,
    places,
)
from radeval_lib.stats import calibration


def test_the_known_classifier_is_calibrated() -> None:
    logits, labels = known_classifier(np.random.default_rng(0), documents=4000, classes=5)
    probabilities = softmax(logits, axis=1)
    assert calibration.expected_calibration_error(probabilities, labels) < 0.03


def test_confidence_of_any_kind_raises_wmc_where_most_choices_are_right() -> None:
    measured, curves = at_three_temperatures(np.random.default_rng(0))
    assert measured["accuracy"].nunique() == 1
    assert measured["accuracy"].iloc[0] > 0.5
    assert (measured["WMC"].idxmax(), measured["ECE"].idxmin()) == ("too sure", "calibrated")
    assert set(curves["model"]) == set(measured.index)


def test_rows_that_are_the_same_are_found_and_are_rare() -> None:
    rows = pd.DataFrame({"ECE": [1, 2, 1, 3], "SCE": [1, 1, 1, 1]}, index=list("abcd"))
    assert alike(rows) == [("a", "c")]
    # Of the pair b and d none agrees in ECE and one in SCE; with one pair added, shares of 1/2 and 1.
    assert alike_by_chance(rows) == pytest.approx(6 * 1 / 2 * 1)


def test_the_printed_averages_follow_with_one_arrow_turned() -> None:
    table7 = study.printed("rales.table7")
    assert average_ranks(table7, {**ARROWS, "aKLU": "lower"})["fits"].all()
    tried = directions(table7)
    assert len(tried) == 32
    assert tried.iloc[0].to_dict() == {**ARROWS, "aKLU": "lower", "averages that fit": 16}


def test_a_tie_for_the_place_holds() -> None:
    models = ["GatorTron", "ELECTRA_small", "other"]
    values = pd.DataFrame({name: [2.0, 1.0, 1.0] for name in ("accuracy", *ARROWS)}, index=models)
    found = {check.name: check.outcome for check in places(values)}
    assert found["ECE of ELECTRA_small"] == "holds"
    assert found["aKLU of ELECTRA_small"] == "fails"
    assert found["accuracy of GatorTron"] == "holds"
