"""Simulated raters miss, misjudge and invent as often as stated."""

from __future__ import annotations

import numpy as np
import pytest

from radeval_lib.labs.graded_pairs import Rater, note_errors, panel
from radeval_lib.rules.generator import error_pairs
from radeval_lib.rules.generator.difference import ReportDifference


@pytest.fixture(scope="module")
def comparisons() -> list[ReportDifference]:
    """Candidates with 0 to 6 errors."""
    return [pair.comparison for pair in error_pairs(300, 11)]


def totals(comparisons: list[ReportDifference], rater: Rater, seed: int = 1) -> list[int]:
    return [len(note_errors(pair, rater, seed, str(case))) for case, pair in enumerate(comparisons)]


def test_who_sees_everything_counts_exactly(comparisons: list[ReportDifference]) -> None:
    result = totals(comparisons, Rater("perfect", 1.0, 1.0, 0.0))
    assert result == [len(comparison.errors) for comparison in comparisons]


@pytest.mark.parametrize("sensitivity", [0, 0.3, 0.8])
def test_sensitivity_is_the_share_noticed(comparisons: list[ReportDifference], sensitivity: float) -> None:
    """Of several hundred errors, the share noticed lies within 0.08 (over 3 sd) of the parameter."""
    noticed = sum(totals(comparisons, Rater("some", sensitivity, sensitivity, 0.0)))
    errors = sum(len(comparison.errors) for comparison in comparisons)
    assert noticed / errors == pytest.approx(sensitivity, abs=0.08)


def test_false_alarms_have_their_mean(comparisons: list[ReportDifference]) -> None:
    alarms = totals(comparisons, Rater("alarmed", 0.0, 0.0, 0.5))
    assert np.mean(alarms) == pytest.approx(0.5, abs=0.15)  # sd of the mean: sqrt(0.5 / 300) = 0.04


def test_raters_are_seeded_and_differ(comparisons: list[ReportDifference]) -> None:
    raters = panel(6, seed=4)
    assert len({(r.sensitivity, r.minor_sensitivity, r.false_alarms) for r in raters}) == 6
    result = [totals(comparisons[:40], rater, 5) for rater in raters]
    assert result == [totals(comparisons[:40], rater, 5) for rater in panel(6, seed=4)]
    assert len(set(map(tuple, result))) == 6
