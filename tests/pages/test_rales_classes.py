"""What the printed tables of procedure selection imply."""

import pandas as pd

from radeval_lib.pages.rales.procedure_selection import (
    check_examples,
    predicted_counts,
    rows_near,
)


def test_predictions_follow_from_precision_recall_and_reports() -> None:
    rows = pd.DataFrame(
        {"precision": [50.0, 1.0, 0.0, 33.7], "recall": [40.0, 50.0, 0.0, 50.0], "N": [10, 4, 3, 2]},
        index=["head", "chest", "never right", "impossible"],
    )
    found = predicted_counts(rows)
    assert found.index.tolist() == ["head", "chest", "impossible"]
    assert found.loc["head"].tolist() == [8, 8]  # 4 of 10 right, one half of the predictions
    assert found.loc["chest"].tolist() == [2, 2]  # a printed 1 is 100%
    assert found.loc["impossible"].isna().all()


def test_a_dot_is_a_row_where_both_numbers_are_near() -> None:
    rows = pd.DataFrame({"N": [100.0, 100.0], "F1": [50.0, 60.0]}, index=["head", "chest"])
    dots = pd.DataFrame({"reports": [95.0, 120.0], "f1": [50.05, 60.0]})
    assert [near.tolist() for near in rows_near(dots, rows)] == [["head"], []]


def test_examples_that_contradict_themselves_fail() -> None:
    marked = pd.DataFrame(
        {
            "reference": ["head", "head"],
            "predicted": ["head", "chest"],
            "P(reference)": [0.95, 0.04],
            "P(predicted)": [0.95, 0.96],
            "correct": ["yes", "no"],
        }
    )
    assert [check.outcome for check in check_examples(marked, ["head", "chest"])] == ["holds"] * 4
    wrong = marked.assign(correct="yes", **{"P(predicted)": [0.95, 0.03]})
    assert [check.outcome for check in check_examples(wrong, ["head"])] == ["fails"] * 4


def test_one_confident_error_shows_that_there_may_be_one() -> None:
    cases = pd.DataFrame(
        {
            "reference": ["head", "head", "head"],
            "predicted": ["head", "chest", "chest"],
            "P(reference)": [0.95, 0.04, 0.3],
            "P(predicted)": [0.95, 0.96, 0.5],
            "correct": ["yes", "no", "no"],
        }
    )
    found = check_examples(cases, ["head", "chest"])[2]
    assert (found.outcome, found.computed) == ("holds", "right 0.95, wrong 0.96")
    hesitant = cases.assign(**{"P(predicted)": [0.95, 0.8, 0.5]})
    assert check_examples(hesitant, ["head", "chest"])[2].outcome == "fails"
