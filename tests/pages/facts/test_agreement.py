"""What Table 2 and the quoted texts of fact counting show, against print."""

from __future__ import annotations

import pytest

from radeval_lib.pages.facts import agreement
from radeval_lib.papers.printed_numbers import printed


def test_the_alpha_of_all_three_is_compared_and_those_of_the_pairs_are_taken() -> None:
    checks = agreement.among_pairs(printed("facts.table2"))
    assert len(checks) == 9
    assert {cell[-1] for check in checks for cell in check.cells} == {agreement.ALL}


def test_quoted_texts_are_those_of_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = agreement.quoted_texts()
    assert [(check.outcome, check.computed) for check in checks] == [
        ("holds", "23 words, in Figure 3"),
        ("holds", "22 words, in Figure 1"),
    ]
    monkeypatch.setattr(agreement, "printed_report", lambda: ("Weight today is 210 pounds.", ""))
    assert [check.outcome for check in agreement.quoted_texts()] == ["holds", "fails"]


def test_one_wrong_description_bounds_agreement_from_below() -> None:
    lost = agreement.points_lost(printed("facts.table1"))
    assert lost["E1"] == pytest.approx((0.25, 0.35))
    fails, *others = agreement.one_description(lost, {"E1-E2": "0.79", "E1-E3": "0.96", "E2-E3": "0.84"}, 40)
    assert (fails.outcome, fails.low) == ("fails", pytest.approx(0.9453, abs=1e-4))
    assert {check.outcome for check in others} == {"holds"}
