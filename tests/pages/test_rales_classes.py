"""Classes with few documents, read fairly."""

import numpy as np
import pandas as pd
import pytest

from radeval_lib.pages.rales.procedure_selection import (
    by_class,
    check_examples,
    confident,
    predicted_counts,
    predictions,
    rows_near,
    shrunken,
)


def test_counts_of_a_class_follow_from_the_predictions() -> None:
    table = by_class([0, 0, 0, 1, 1], [0, 0, 1, 1, 0], ["head", "chest", "unseen"])
    assert table.index.tolist() == ["head", "chest"]
    assert table["N"].tolist() == [3, 2]
    assert table.loc["head", ["precision", "recall"]].tolist() == pytest.approx([200 / 3, 200 / 3])
    assert table.loc["chest", ["precision", "recall", "F1"]].tolist() == pytest.approx([50, 50, 50])


def test_few_cases_are_drawn_further_than_many() -> None:
    hits, totals = np.array([2, 100, 5, 30, 1]), np.array([2, 200, 20, 40, 4])
    raw, found = hits / totals, shrunken(hits, totals)
    assert ((found > 0) & (found < 1)).all()
    assert abs(found[0] - raw[0]) > abs(found[1] - raw[1])
    assert found[0] < raw[0]


def test_shares_that_differ_by_chance_alone_become_nearly_one() -> None:
    rng = np.random.default_rng(1)
    totals = np.full(60, 12)
    hits = rng.binomial(12, 0.6, 60)
    assert np.ptp(shrunken(hits, totals)) < 0.4 * np.ptp(hits / totals)


def test_more_hits_than_cases_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and the total"):
        shrunken([3], [2])


def test_the_surest_are_chosen_among_right_and_wrong() -> None:
    rows = pd.DataFrame(
        {"reference": list("aabb"), "predicted": list("abba"), "P(predicted)": [0.6, 0.7, 0.9, 0.8]}
    )
    assert confident(rows, right=True, number=1)["P(predicted)"].tolist() == [0.9]
    assert confident(rows, right=False)["P(predicted)"].tolist() == [0.8, 0.7]


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
    made = predictions(
        np.array([[0.95, 0.05], [0.04, 0.96]]), np.array([0, 0]), ["head", "chest"], ["bleed", "cough"]
    )
    assert made["predicted"].tolist() == ["head", "chest"]
    assert made["P(reference)"].tolist() == [0.95, 0.04]
    marked = made.assign(correct=["yes", "no"])
    assert [check.outcome for check in check_examples(marked, ["head", "chest"])] == ["holds"] * 4
    wrong = marked.assign(correct="yes", **{"P(predicted)": [0.95, 0.03]})
    assert [check.outcome for check in check_examples(wrong, ["head"])] == ["fails"] * 4
