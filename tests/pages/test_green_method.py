"""GREEN's score by hand on radiologists' marks, and its reading from text."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from notebooks.green import ceilings, method
from radeval_lib.data import recorded
from radeval_lib.data.radpref import MARKS

RUN = SimpleNamespace(profile=SimpleNamespace(resamples=30), rng=lambda name: np.random.default_rng(0))


def recording(*marks: dict[str, int]) -> recorded.Recording:
    """Return candidates of one radiologist, two of each set, with these marks and none else."""
    none = {"_".join(mark): 0 for mark in MARKS} | {"rater": 1, "grade": 3, "clean": 0}
    ratings = pd.DataFrame([none | {"number": number} | mark for number, mark in enumerate(marks)])
    table = pd.DataFrame({"number": range(len(marks)), "reference_findings": 0, "candidate_findings": 1})
    table = table.assign(case=table["number"] // 2, set=table["number"] // 2, system=table["number"] % 2 + 1)
    table.loc[0, "candidate_findings"] = 0
    return recorded.Recording("radpref", table, {}, {"ratings": ratings})


def test_marks_by_hand() -> None:
    wrong = {"false_urgent": 1, "attribute_negligible": 1, "missing_actionable_not_urgent": 1, "clean": 1}
    marked = ceilings.count_marks(recording({}, wrong, {"missing_benign_expected": 2}))
    assert marked[["errors", "significant", "weighted"]].to_numpy().tolist() == [
        [0, 0, 0],
        [3, 2, 1.5],
        [2, 0, 0],
    ]
    # 0/0 in the first, where neither text lists a finding, and in the third, whose text lists one.
    assert marked["undefined"].tolist() == [True, False, True]
    assert marked["both_empty"].tolist() == [True, False, False]


def test_three_ways_by_hand() -> None:
    table = recording({}, {}, {}, {}).table.set_index("number")
    numbers = pd.DataFrame({"x": [1.0, 4.0, 10.0, 12.0]})
    views = ceilings.split_views(numbers, table)
    assert [view["x"].tolist() for view, _ in views.values()] == [[1, 4, 10, 12], [1, 10], [4, 12], [3, 2]]
    assert [cases.tolist() for _, cases in views.values()] == [[0, 0, 1, 1], [0, 1], [0, 1], [0, 1]]


def test_a_score_that_orders_as_the_others_do_agrees_with_them() -> None:
    grades = pd.DataFrame({rater: np.arange(12.0) for rater in (1, 2, 3)})
    scores = dict.fromkeys(grades, pd.DataFrame({"same": 2 * grades[1], "reversed": -grades[1]}))
    agreement = ceilings.compare_with_radiologist(scores, grades, pd.Series(range(12)), RUN, "x")
    assert agreement["value"].tolist() == pytest.approx([1, -1, 1])
    assert agreement.index[-1] == ceilings.RADIOLOGIST


def test_a_strict_reading_never_gives_a_wrong_score() -> None:
    read = method.compare_parsers()
    assert ((read["strict"] == read["intended"]) | (read["strict"] == "none")).all()
    assert (read["released"] != read["intended"]).any()
    assert read.loc["as asked for", "faults that the strict parser names"] == ""
