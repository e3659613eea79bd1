"""Accuracies: by hand, and Wilson's formula written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from radeval_lib.stats.comparisons import accuracies, compare_accuracies

CORRECT = {
    "a": [1, 1, 1, 1, 1, 1, 1, 0, 0.5, 1],
    "b": [0, 0, 0, 0, 0, 1, 1, 1, 0, 1],
    "c": [1, 1, 1, 1, 1, 1, 1, 0, 0.5, 0],
}


def test_accuracies_by_hand() -> None:
    frame = accuracies(CORRECT).set_index("metric")
    assert frame["value"].tolist() == [0.8, 0.4, 0.7]
    assert frame["right"].tolist() == [8, 4, 7]
    assert frame["tied"].tolist() == [1, 0, 1]
    assert (frame["n"] == 10).all()
    z = stats.norm.ppf(0.975)
    centre, reach = 0.8 + z**2 / 20, z * math.sqrt(0.8 * 0.2 / 10 + z**2 / 400)
    expected = [(centre - reach) / (1 + z**2 / 10), (centre + reach) / (1 + z**2 / 10)]
    np.testing.assert_allclose(frame.loc["a", ["low", "high"]].astype(float), expected)
    assert (accuracies(CORRECT, level=0.5)["low"] > frame["low"].to_numpy()).all()


def test_bools_are_taken_and_ties_are_wrong() -> None:
    as_bool = {name: np.asarray(values) == 1 for name, values in CORRECT.items()}
    assert (accuracies(as_bool)["value"] == accuracies(CORRECT)["value"]).all()
    assert compare_accuracies(as_bool, first="a").equals(compare_accuracies(CORRECT, first="a"))


def test_mcnemar_and_holm_by_hand() -> None:
    frame = compare_accuracies(CORRECT, first="a").set_index("rival")
    assert frame.loc["b", ["only_first", "only_rival"]].tolist() == [5, 1]
    assert frame.loc["b", "difference"] == pytest.approx(0.4)
    p = 2 * (1 + 6) / 2**6  # at most one of six coins
    assert frame.loc["b", "p"] == pytest.approx(p)
    assert frame.loc["c", ["only_first", "only_rival", "p"]].tolist() == [1, 0, 1]
    assert frame["p_holm"].tolist() == pytest.approx([2 * p, 1])


def test_the_same_metric_twice_differs_in_nothing() -> None:
    frame = compare_accuracies({"a": CORRECT["a"], "again": CORRECT["a"]}, first="a")
    assert frame.loc[0, ["difference", "p", "p_holm"]].tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("correct", "message"),
    [
        ({}, "no metric"),
        ({"a": [1, 0], "b": [1]}, r"b has shape \(1,\)"),
        ({"a": [], "b": []}, r"a has shape \(0,\)"),
        ({"a": [1, 0.3], "b": [1, 0]}, "a holds a value other"),
        ({"a": [1, np.nan], "b": [1, 0]}, "a holds a value other"),
        ({"b": [1, 0], "c": [1, 0]}, "no metric 'a'"),
        ({"a": [1, 0]}, "only metric"),
    ],
)
def test_bad_input(correct, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_accuracies(correct, first="a")


def test_bad_level() -> None:
    with pytest.raises(ValueError, match="level"):
        accuracies(CORRECT, level=1)
