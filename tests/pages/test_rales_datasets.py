"""Sources and body parts against the prose, and what the printed tables of procedure selection imply."""

import numpy as np
import pandas as pd
import pytest

from notebooks.rales import datasets


def test_names_in_italics_are_split_at_commas() -> None:
    assert datasets.find_italics("*Located at, modify* and *hedge*") == ["located at", "modify", "hedge"]


def test_predictions_follow_from_precision_recall_and_reports() -> None:
    rows = pd.DataFrame(
        {"precision": [50.0, 1.0, 0.0, 33.7], "recall": [40.0, 50.0, 0.0, 50.0], "N": [10, 4, 3, 2]},
        index=["head", "chest", "never right", "impossible"],
    )
    counts = datasets.bound_predictions(rows)
    assert counts.index.tolist() == ["head", "chest", "impossible"]
    assert counts.loc["head"].tolist() == [8, 8]  # 4 of 10 right, one half of the predictions
    assert counts.loc["chest"].tolist() == [2, 2]  # a printed 1 is 100%
    assert counts.loc["impossible"].isna().all()


def test_shares_of_whole_reports_by_hand() -> None:
    rows = pd.DataFrame(
        {"precision": [50.0, 50.0, 50.0, 0.0], "recall": [50.0, 50.0, 33.7, 0.0], "N": [4, 2000, 4, 9]},
        index=["few", "many", "impossible", "never right"],
    )
    shares = datasets.assess_integer_fit(rows)
    assert shares["recall"].tolist() == [True, True, False, True]
    # 25, 50, 75 and 100% of four; all percents with one decimal of 2,000; of none at all any share.
    assert shares["recall_accepts"].tolist()[:3] == [0.004, 1, 0.004]
    # Two right answers: 100% of two predictions, 66.7 of three, ... down to where every percent follows.
    possible = {round(2000 / predictions) for predictions in range(2, 5000)} - {0}
    # A half digit, as 2 of 16 (12.5%), 2 of 32 (6.25%), is rounded either way.
    assert shares["precision_accepts"]["few"] == pytest.approx(len(possible) / 1000, abs=0.003)
    assert np.isnan(shares.loc["never right", ["recall_accepts", "precision_accepts"]].astype(float)).all()


def test_a_dot_is_a_row_where_both_numbers_are_near() -> None:
    rows = pd.DataFrame({"N": [100.0, 100.0], "F1": [50.0, 60.0]}, index=["head", "chest"])
    dots = pd.DataFrame({"reports": [95.0, 120.0], "f1": [50.05, 60.0]})
    assert [near.tolist() for near in datasets.find_nearby_classes(dots, rows)] == [["head"], []]


def test_classes_of_a_stratified_split_have_whole_reports_in_the_test_set() -> None:
    assert datasets.bound_class_size(19, 0.2) == (91, 99)  # of 90 it has 18, of 100 it has 20
    assert datasets.bound_class_size(22, 0.2) == (106, 114)
