"""Fact counting: Figure 3's task (Moramarco et al. 2021) by hand, edge cases, and the bound on mean F."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@st.composite
def tasks(draw: st.DrawFn) -> FactCounts:
    reference, generated = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    common = draw(st.integers(0, min(reference, generated)))
    return FactCounts(reference, generated, common, draw(st.integers(0, generated)))


@given(st.lists(tasks(), min_size=1, max_size=10))
def test_mean_f_is_at_most_the_harmonic_mean_of_the_means(chosen: list[FactCounts]) -> None:
    # The harmonic mean is concave in (precision, recall): Jensen's inequality.
    precision, recall, f_score = (
        float(np.mean([getattr(task, name) for task in chosen]))
        for name in ("precision", "recall", "f_score")
    )
    bound = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert f_score <= bound + 1e-12
