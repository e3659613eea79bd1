"""Choices between two candidates, and how often a score makes them too."""

import numpy as np
import pandas as pd
import pytest

from radeval_lib.data.radpref import Case, RadPrefRating
from radeval_lib.models.judges.rules import RulesJudge
from radeval_lib.pages.green import preferences
from radeval_lib.pages.green.preferences import Choice, counted
from radeval_lib.synthetic import GoldError, ReportDifference


def choice(*votes: int | None, confidence: float = 5.0) -> Choice:
    return Choice("1", "reference", "first", "second", votes, confidence)


def truth(significant: int, insignificant: int = 0, matched: int = 2) -> ReportDifference:
    errors = [GoldError("a", grave, "x", "", "") for grave in [True] * significant + [False] * insignificant]
    return ReportDifference(tuple(errors), tuple("ab"[:matched]), (), 9)


@pytest.mark.parametrize(
    ("votes", "preferred", "split"),
    [
        ((0, 0), 0, False),
        ((1, 1, None), 1, False),
        ((0, 1), None, True),
        ((0, 0, 1), None, True),
        ((0, None, None), None, False),
        ((None, None), None, False),
    ],
)
def test_split_votes_and_too_few_are_no_preference(votes, preferred, split):
    assert choice(*votes).preferred == preferred
    assert choice(*votes).split is split


def test_a_score_is_right_where_the_preferred_candidate_scores_higher():
    cases = [choice(0, 0), choice(1, 1), choice(1, 1)]
    assert preferences.is_correct(cases, [0.9, 0.2, 0.4], [0.1, 0.1, 0.4]).tolist() == [1.0, 0.0, 0.5]
    with pytest.raises(ValueError, match="no preference"):
        preferences.is_correct([choice(0, 1)], [1], [0])
    with pytest.raises(ValueError, match="cases and scores"):
        preferences.is_correct(cases, [1], [0])


def test_a_tie_is_wrong_by_the_papers_words_and_half_by_a_coin():
    table = {"one": pd.Series([1.0, 1.0, 0.5, 0.0]), "other": pd.Series([1.0, 1.0, 1.0, 1.0])}
    found = preferences.accuracies(table, resamples=200, rng=np.random.default_rng(0))
    assert found.loc["one", ["accuracy", "ties", "ties by a coin"]].tolist() == [0.5, 0.25, 0.625]
    assert found.loc["other", ["accuracy", "low", "high"]].tolist() == [1.0, 1.0, 1.0]
    assert found.loc["one", "low"] < 0.5 < found.loc["one", "high"]


def test_grades_become_votes():
    findings = {"C1": ("a",), "C2": ("a",)}
    case = Case("7", "ref", ("x",), {"C1": "one", "C2": "two"}, findings, {"C1": "s", "C2": "t"})
    grades = {"1": (2, 5), "2": (3, 3), "3": (4, 5)}
    ratings = [
        RadPrefRating("7", candidate, rater, grade, ())
        for rater, pair in grades.items()
        for candidate, grade in zip(("C1", "C2"), pair, strict=True)
    ]
    (found,) = preferences.graded([case], ratings)
    assert found.votes == (1, None, 1)
    assert found.preferred == 1
    assert found.confidence == pytest.approx(4 / 3)


def test_gain_with_confidence_by_hand():
    rng = np.random.default_rng(0)
    values, known = pd.Series([1.0, 1, 0, 1, 0, 0, 1, 0]), pd.Series([True] * 4 + [False] * 4)
    found = preferences.group_difference(values, known, resamples=300, rng=rng)
    assert found.value == pytest.approx(0.75 - 0.25)
    assert found.low < found.value < found.high
    with pytest.raises(ValueError, match="nothing to compare"):
        preferences.group_difference(values, pd.Series([True] * 8), resamples=10, rng=rng)


def test_counts_of_analyses_a_malformed_one_among_them():
    (good,) = RulesJudge().judge([("No effusion.", "Small right pleural effusion. Cardiomegaly.")])
    found = counted([good, "I think that they agree."])
    assert found["significant errors"].tolist() == [-2, 0]
    assert found["error count"].tolist() == [-2, 0]
    assert found["GREEN"].tolist() == [0, 0]
