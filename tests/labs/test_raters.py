"""Simulated raters depart from the truth as stated and by no more."""

from __future__ import annotations

import numpy as np
import pytest

from radeval_lib.labs.raters import MINDS, PERFECT, Rater, panel, rate
from radeval_lib.synthetic import error_pairs
from radeval_lib.synthetic.difference import GoldError, ReportDifference


@pytest.fixture(scope="module")
def comparisons() -> list[ReportDifference]:
    """Candidates with 0 to 6 errors."""
    return [pair.comparison for pair in error_pairs(300, 11)]


def test_a_perfect_rater_counts_exactly(comparisons: list[ReportDifference]) -> None:
    for comparison in comparisons:
        rating = rate(comparison, PERFECT)
        assert rating.significant == comparison.count(True)
        assert rating.insignificant == comparison.count(False)
        assert rating.potential == comparison.potential
        assert 0 <= rating.normalised <= 1
        if not comparison.errors:
            assert rating.grade == 5


def test_a_blind_rater_sees_nothing(comparisons: list[ReportDifference]) -> None:
    blind = Rater(sensitivity=0, minor_sensitivity=0, false_alarms=0, noise=0)
    for comparison in comparisons[:50]:
        rating = rate(comparison, blind)
        assert rating.total == 0
        assert rating.grade == 5


def test_sensitivity_is_the_share_noticed(comparisons: list[ReportDifference]) -> None:
    """Of several hundred errors, the share noticed lies within 0.08 (over 3 sd) of the parameter."""
    for sensitivity in (0.3, 0.8):
        rater = Rater(sensitivity=sensitivity, minor_sensitivity=sensitivity, false_alarms=0, noise=0)
        ratings = [rate(c, rater, 1, str(i)) for i, c in enumerate(comparisons)]
        noticed = sum(r.total for r in ratings) / sum(len(c.errors) for c in comparisons)
        assert abs(noticed - sensitivity) < 0.08


def test_false_alarms_have_their_mean(comparisons: list[ReportDifference]) -> None:
    rater = Rater(sensitivity=0, minor_sensitivity=0, false_alarms=0.5)
    alarms = [rate(c, rater, 2, str(i)).total for i, c in enumerate(comparisons)]
    assert abs(np.mean(alarms) - 0.5) < 0.15  # sd of the mean: sqrt(0.5 / 300) = 0.04


@pytest.mark.parametrize("step", [1.0, 0.5, 0.25])
def test_grades_are_multiples_of_the_granularity(comparisons: list[ReportDifference], step: float) -> None:
    grades = [rate(c, Rater(granularity=step), 3, str(i)).grade for i, c in enumerate(comparisons)]
    assert all(0 <= grade <= 5 and (grade / step).is_integer() for grade in grades)
    assert len(set(grades)) > 4


def test_raters_mind_different_things() -> None:
    def error(concept: str, significant: bool) -> GoldError:
        return GoldError("b", significant, concept, "", "")

    errors = (error("edema", True), error("nodule", True), error("nodule", True), error("rib", False))
    comparison = ReportDifference(errors, ("heart", "aorta", "hilum"), (), 9)
    lost = {name: minds(comparison, 3, 1) for name, minds in MINDS.items()}
    # The worst error: 2.5 and a quarter for each further significant one. The impression: 3 of 6 findings.
    assert lost == pytest.approx(
        {"errors": 3.2, "weighted errors": 3.25, "the worst error": 3.0, "the impression": 2.0}
    )
    assert {name: minds(comparison, 0, 0) for name, minds in MINDS.items()} == dict.fromkeys(MINDS, 0)


def test_more_errors_lower_grades(comparisons: list[ReportDifference]) -> None:
    grades = [rate(c, PERFECT).grade for c in comparisons]
    errors = [c.count(True) for c in comparisons]
    assert np.corrcoef(grades, [sum(e.values()) for e in errors])[0, 1] < -0.5


def test_raters_are_seeded_and_differ(comparisons: list[ReportDifference]) -> None:
    raters = panel(6, seed=4)
    assert len({(r.sensitivity, r.minor_sensitivity, r.false_alarms) for r in raters}) == 6
    assert {r.minds for r in raters} == set(MINDS)
    one, two = (
        [[rate(c, rater, 5, str(i)) for rater in raters] for i, c in enumerate(comparisons[:40])]
        for _ in range(2)
    )
    assert one == two
    by_rater = [[row[k].total for row in one] for k in range(6)]
    assert len({tuple(totals) for totals in by_rater}) == 6
