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
    average_ranks,
    check_place,
    directions,
    known_classifier,
    signed_confidence,
)
from radeval_lib.stats import calibration


def test_the_known_classifier_is_calibrated() -> None:
    logits, labels = known_classifier(np.random.default_rng(0), documents=4000, classes=5)
    probabilities = softmax(logits, axis=1)
    assert calibration.expected_calibration_error(probabilities, labels) < 0.03
    signed = signed_confidence(probabilities, labels)
    assert signed["all (WMC)"] == pytest.approx(calibration.weighted_model_confidence(probabilities, labels))
    assert signed["right"] > 0 > signed["wrong"]


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


@pytest.mark.parametrize(("place", "outcome"), [("lowest", "holds"), ("highest", "fails")])
def test_a_tie_for_the_place_holds(place: str, outcome: str) -> None:
    check = check_place("ECE", "a", place, "best", pd.Series({"a": 1.0, "b": 1.0, "c": 2.0}))
    assert (check.name, check.outcome) == ("ECE of a", outcome)
