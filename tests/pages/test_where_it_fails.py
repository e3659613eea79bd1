"""The least scores of errors, against sums by hand."""

import pytest

from notebooks.ratescore.where_it_fails import ERRORS, least_score, least_scores
from radeval_lib.metrics.ratescore import Scorer


def test_a_denial_loses_only_by_the_penalty() -> None:
    scorer = Scorer("short")
    w, p = scorer.weights.weight, scorer.weights.penalty
    place = w("ANATOMY", "ANATOMY")
    sides = [w("NON-DISEASE", "DISEASE"), w("DISEASE", "NON-DISEASE")]
    there, back = ((p * weight + place) / (weight + place) for weight in sides)
    found = least_score(scorer, *ERRORS["pneumonia denied"])
    assert found == pytest.approx(2 * there * back / (there + back))


def test_repeating_what_is_true_raises_the_score() -> None:
    scores = least_scores()
    assert scores.loc["half invented"].tolist() == pytest.approx([2 / 3] * 2)
    assert scores.loc["half invented, truth thrice"].tolist() == pytest.approx([6 / 7] * 2)
    assert scores.loc["no entity"].tolist() == [0.5, 0.5]
