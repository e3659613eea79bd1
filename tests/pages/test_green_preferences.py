"""Choices between two candidates, and how often a score makes them too."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from notebooks.green import preferences, radpref_scores
from notebooks.green.preferences import counted
from radeval_lib.data import radpref, recorded
from radeval_lib.data.radpref import Case, RadPrefRating
from radeval_lib.green_analysis import render
from radeval_lib.rules.judge import RulesJudge

RUN = SimpleNamespace(profile=SimpleNamespace(resamples=300), rng=lambda name: np.random.default_rng(0))


def chosen(*grades: tuple[int, int]) -> pd.Series:
    """The choice that follows from each radiologist's grades of both candidates."""
    findings = {"C1": ("a",), "C2": ("a",)}
    case = Case("7", "ref", ("x",), {"C1": "one", "C2": "two"}, findings, {"C1": "s", "C2": "t"})
    ratings = [
        RadPrefRating("7", candidate, str(rater), grade, ())
        for rater, pair in enumerate(grades)
        for candidate, grade in zip(("C1", "C2"), pair, strict=True)
    ]
    candidates = radpref.candidates([case]).set_index("number")
    return preferences.choices(candidates, radpref.marks([case], ratings)).loc[0]


@pytest.mark.parametrize(
    ("grades", "preferred", "split"),
    [
        ([(2, 1), (5, 3)], -1, False),
        ([(1, 2), (3, 5), (4, 4)], 1, False),
        ([(2, 1), (1, 2)], 0, True),
        ([(2, 1), (2, 1), (1, 2)], 0, True),
        ([(2, 1), (3, 3), (3, 3)], 0, False),
        ([(3, 3), (3, 3)], 0, False),
    ],
)
def test_split_votes_and_too_few_are_no_preference(grades, preferred, split):
    found = chosen(*grades)
    assert (found["preferred"], found["split"]) == (preferred, split)


def test_a_score_is_right_where_the_preferred_candidate_scores_higher():
    cases = pd.DataFrame({"preferred": [-1, 1, 1]}, index=list("abc"))
    first, second = pd.DataFrame({"S": [0.9, 0.2, 0.4]}), pd.DataFrame({"S": [0.1, 0.1, 0.4]})
    assert preferences.matches(cases, first, second)["S"].tolist() == [1.0, 0.0, 0.5]


def test_accuracy_leaves_out_split_votes_and_calls_a_tie_wrong():
    """By hand: two radiologists prefer the first candidate of cases a, e and f and the second of c and d, and
    split on b. The score puts the first ahead in a and f and the second in d and e, and ties in c: three
    matches in five cases, a tie and a miss."""
    first_ahead, second_ahead = [(5, 1), (4, 2)], [(1, 3), (2, 4)]
    votes = {"a": first_ahead, "b": [(5, 1), (1, 5)], "c": second_ahead, "d": second_ahead}
    votes |= {"e": first_ahead, "f": first_ahead}
    found = {"C1": ("a",), "C2": ("a",)}
    cases = [
        Case(name, "ref", ("x",), {"C1": "1", "C2": "2"}, found, {"C1": "s", "C2": "t"}) for name in votes
    ]
    ratings = [
        RadPrefRating(name, candidate, str(rater), grade, ())
        for name, pairs in votes.items()
        for rater, pair in enumerate(pairs)
        for candidate, grade in zip(("C1", "C2"), pair, strict=True)
    ]
    asked = radpref.candidates(cases).set_index("number")
    kept = preferences.choices(asked, radpref.marks(cases, ratings)).query("preferred != 0")
    assert kept["preferred"].tolist() == [-1, 1, 1, -1, -1]
    first = pd.DataFrame({"S": [0.9, 0.4, 0.2, 0.3, 0.8]})
    second = pd.DataFrame({"S": [0.1, 0.4, 0.6, 0.5, 0.7]})
    right = preferences.matches(kept, first, second)
    assert preferences.accuracies(RUN, right).loc["S", ["accuracy", "ties"]].tolist() == [0.6, 0.2]
    # A lower count of errors, significant and insignificant ones summed, is the better score.
    analyses = [render((1, 0, 0, 0, 0, 0), (0, 3, 0, 0, 0, 0), 2), render((2, 0, 0, 0, 0, 0), (0,) * 6, 0)]
    assert counted(analyses)["error count"].tolist() == [-4, -2]


def test_a_tie_is_wrong_by_the_papers_words_and_half_by_a_coin():
    right = pd.DataFrame({"GREEN": [1.0, 1.0, 0.5, 0.0], "error count": [1.0, 1.0, 1.0, 1.0]})
    found = preferences.accuracies(RUN, right)
    assert found.loc["GREEN", ["accuracy", "ties", "ties by a coin"]].tolist() == [0.5, 0.25, 0.625]
    assert found.loc["error count", ["accuracy", "low", "high"]].tolist() == [1.0, 1.0, 1.0]
    assert found.loc["GREEN", "low"] < 0.5 < found.loc["GREEN", "high"]
    assert preferences.lead(RUN, right, "lead", tie=0.0).value == -0.5
    assert preferences.lead(RUN, right, "coin", tie=0.5).value == -0.375


def test_counts_of_analyses_a_malformed_one_among_them():
    (good,) = RulesJudge().judge([("No effusion.", "Small right pleural effusion. Cardiomegaly.")])
    found = counted([good, "I think that they agree."])
    assert found["significant errors"].tolist() == [-2, 0]
    assert found["error count"].tolist() == [-2, 0]
    assert found["GREEN"].tolist() == [0, 0]


def test_what_does_not_choose_between_two_is_refused():
    candidates = pd.DataFrame({"set": [0, 0, 0], "reference": "r", "text": ["x", "y", "z"]})
    with pytest.raises(ValueError, match="set 0 has 3 candidates, not 2"):
        preferences.choices(candidates, pd.DataFrame())
    cases, scores = pd.DataFrame({"preferred": [1, -1]}), pd.DataFrame({"S": [0.1, 0.2]})
    for other in (scores.rename(columns={"S": "T"}), scores.iloc[:1]):
        with pytest.raises(ValueError, match="the same scores of every case"):
            preferences.matches(cases, scores, other)
    with pytest.raises(ValueError, match="a score is missing"):
        preferences.matches(cases, scores, pd.DataFrame({"S": [0.1, None]}))


@pytest.mark.parametrize(
    ("text", "root", "moved", "is_recorded"),
    [
        ("No effusion.", None, True, False),
        ("No effusion.", "somewhere", False, False),
        ("No effusion.", "somewhere", True, True),
        (recorded.texts("radpref")["candidate"].iloc[0], None, False, True),
    ],
)
def test_recorded_columns_stand_for_placeholders_and_for_rules_that_moved(
    text, root, moved, is_recorded, monkeypatch
):
    monkeypatch.setattr(radpref_scores.recordings, "is_out_of_date", lambda name, metric: moved)
    monkeypatch.setattr(radpref_scores.recorded_metrics, "columns", lambda name, root, pairs: pairs)
    run = SimpleNamespace(data_root=root, metric=lambda name: name)
    pairs = [("Effusion.", text)]
    assert radpref_scores.recorded_columns(run, pairs) == (pairs if is_recorded else None)


def test_scores_are_turned_so_that_higher_is_better():
    metric = SimpleNamespace(
        sign=lambda: -1, score=lambda *sides: SimpleNamespace(values=np.array([0.5, 2.0]))
    )
    found = radpref_scores.oriented(SimpleNamespace(metric=lambda key: metric), "errors", ["a"], ["b"])
    assert found.tolist() == [-0.5, -2.0]
