"""Fact counting: Figure 3's task (Moramarco et al. 2021) by hand, and edge cases."""

from __future__ import annotations

import math

import pytest

from radeval_lib.stats.measures import FactCounts


def test_figure_3() -> None:
    # R = 6, G = 4, R&G = 2, C = 3, as printed: 2/4, 2/6, 2 (1/2)(1/3)/(5/6), 3/4.
    task = FactCounts(reference=6, generated=4, common=2, correct=3)
    assert (task.precision, task.recall, task.accuracy) == (0.5, pytest.approx(1 / 3), 0.75)
    assert task.f_score == pytest.approx(0.4)
    # There R&G / G = C / R, and C = G - 1. Of 10, 8, 3 and 5 no two ratios are the same.
    other = FactCounts(reference=10, generated=8, common=3, correct=5)
    assert (other.precision, other.recall) == (pytest.approx(3 / 8), pytest.approx(0.3))
    assert (other.f_score, other.accuracy) == (pytest.approx(1 / 3), pytest.approx(5 / 8))


def test_no_common_fact_and_no_fact() -> None:
    assert FactCounts(3, 2, 0, 2).f_score == 0
    silent = FactCounts(3, 0, 0, 0)
    assert math.isnan(silent.precision)
    assert math.isnan(silent.accuracy)
    assert math.isnan(silent.f_score)
    assert silent.recall == 0
    assert math.isnan(FactCounts(0, 2, 0, 2).recall)
