"""Groups of models, compared by their printed scores."""

import pandas as pd
import pytest

from radeval_lib.pages.rales import printed_scores
from radeval_lib.pages.rales.domain_and_size import (
    behind_smaller,
    check_lead,
    check_one_call,
    lead,
    rank_tests,
)


@pytest.fixture
def scores() -> pd.DataFrame:
    rows = [("English", value) for value in (80.0, 80.2, 80.4, 80.6)]
    rows += [("Clinical", value) for value in (82.0, 82.2, 82.4, 82.6)]
    return pd.DataFrame(rows, columns=["domain", "value"]).assign(half_width=0.05, labels="100%")


def test_a_lead_is_the_difference_of_means_within_rounding(scores: pd.DataFrame) -> None:
    found = lead(scores, ["Clinical"], ["English"])
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 1.9, 2.1))


def test_groups_that_do_not_overlap_differ_by_rank(scores: pd.DataFrame) -> None:
    checks = check_lead("by domain", "a lead", scores, ["Clinical"], [["English"]])
    assert [check.outcome for check in checks] == ["holds", "holds"]
    other_way = check_lead("by domain", "a lead", scores, ["English"], [["Clinical"]])
    assert [check.outcome for check in other_way] == ["fails", "fails"]


def test_a_general_model_is_held_against_smaller_special_ones() -> None:
    rows = [("English", "big", 300, 82.0), ("English", "small", 100, 83.0)]
    rows += [("Clinical", "clinical", 110, 82.5), ("Radiology", "larger", 345, 84.0)]
    scores = pd.DataFrame(rows, columns=["domain", "model", "million parameters", "value"])
    assert behind_smaller(scores).to_dict() == {"big": 0.5}


def test_a_call_corrects_for_all_its_tests() -> None:
    found = rank_tests(printed_scores.by_share())
    assert len(found) == 18
    check = check_one_call(found, "Tables")
    corrected, least = min(1.0, 18 * found["p"].min()), 3 * found["least_p"].min()
    assert check.computed.endswith(f": corrected p = {corrected:.3f}; least possible {least:.3f}")
    assert check.outcome == ("holds" if least < 0.05 else "cannot tell")
