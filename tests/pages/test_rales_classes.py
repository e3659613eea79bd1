"""What the printed tables of procedure selection imply."""

import pandas as pd
import pytest

from notebooks.rales.procedure_selection import (
    check_examples,
    check_whole_shares,
    class_sizes,
    figure6,
    mean_accuracy,
    predicted_counts,
    rows_near,
    smallest_class,
    whole_shares,
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


def test_every_bar_of_figure6_has_its_mean_in_the_tables() -> None:
    bars, means = figure6(), mean_accuracy()
    assert set(bars.index) == set(means.index)
    apart = (bars["all"] - means).abs()
    assert apart.max() < 0.3
    assert means["1%", "General"] == pytest.approx(40.17, abs=0.005)


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


def test_one_class_has_one_probability() -> None:
    cases = pd.DataFrame(
        {
            "reference": ["head", "head"],
            "predicted": ["head", "chest"],
            "P(reference)": [0.9, 0.45],
            "P(predicted)": [0.95, 0.45],
            "correct": ["yes", "no"],
        }
    )
    found = check_examples(cases, ["head", "chest"])[1]
    assert (found.outcome, found.computed[:6]) == ("fails", "1 of 2")


def test_shares_of_whole_reports_by_hand() -> None:
    rows = pd.DataFrame(
        {"precision": [50.0, 50.0, 50.0, 0.0], "recall": [50.0, 50.0, 33.7, 0.0], "N": [4, 2000, 4, 9]},
        index=["few", "many", "impossible", "never right"],
    )
    found = whole_shares(rows)
    assert found["recall"].tolist() == [True, True, False, True]
    # 25, 50, 75 and 100% of four; all percents with one decimal of 2,000; of none at all any share.
    assert found["recall_accepts"].tolist()[:3] == [0.004, 1, 0.004]
    # Two right answers: 100% of two predictions, 66.7 of three, ... down to where every percent follows.
    shares = {round(2000 / predictions) for predictions in range(2, 5000)} - {0}
    # A half digit, as 2 of 16 (12.5%), 2 of 32 (6.25%), is rounded either way.
    assert found["precision_accepts"]["few"] == pytest.approx(len(shares) / 1000, abs=0.003)
    assert found.loc["never right"].isna().tolist() == [False, True, False, True]
    assert [check.outcome for check in check_whole_shares(rows)] == ["fails", "fails"]
    assert [check.outcome for check in check_whole_shares(rows.iloc[[0, 1, 3]])] == ["holds", "holds"]
    assert [check.outcome for check in check_whole_shares(rows.iloc[[1, 3]])] == []  # any value is possible


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


def test_classes_of_a_stratified_split_have_whole_reports_in_the_test_set() -> None:
    assert class_sizes(19, 0.2) == (91, 99)  # of 90 it has 18, of 100 it has 20
    assert class_sizes(22, 0.2) == (106, 114)


def test_the_smallest_class_is_decided_only_where_kept_and_selected_agree() -> None:
    counts = pd.Series({"head": 400, "chest": 40, "rare": 19})
    words, outcome = smallest_class(counts, 0.2, 100, 485)
    assert words == "rare: 19 test reports, so 91 to 99 kept, up to 485 more selected"
    assert outcome is None
    assert smallest_class(counts, 0.2, 100, 0)[1] is False
    assert smallest_class(counts.replace(19, 22), 0.2, 100, 485)[1] is True
