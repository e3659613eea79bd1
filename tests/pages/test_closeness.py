"""The measure of closeness, by hand; and what it finds on Open-i where that is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.data import catalog
from radeval_lib.pages.across.closeness import measure, profile, sentences, words


def test_words_leave_out_marks_of_deidentification() -> None:
    assert words("The XXXX lungs, x-XXXX 2.5 cm.") == ["the", "lungs", "x", "cm"]


def test_sentences_hold_words() -> None:
    assert sentences("Clear lungs.. No effusion. 12. ") == ["Clear lungs..", "No effusion."]


def test_profile_by_hand() -> None:
    found = profile(["No effusion. The lungs are clear.", "Pneumothorax."])
    assert found.lengths["words a sentence"][2] == 2
    assert found.lengths["words a report"][2] == pytest.approx(3.5)
    assert found.negated == pytest.approx(1 / 3)


def test_coverage_by_hand() -> None:
    found = measure(["The lungs are clear. Zyzzyva zyzzyva."], n=300)
    assert found.coverage == pytest.approx(4 / 6)
    assert found.missing == ["zyzzyva"]


def test_reach_on_openi(data_root: Path) -> None:
    reports = catalog.load("openi", data_root)
    if not reports:
        pytest.skip("Open-i is not among the data")
    found = measure([report.findings for report in reports if report.findings], n=5000)
    assert found.coverage >= 0.85
    assert abs(found.generated.negated - found.real.negated) < 0.1
    made, real = (side.lengths["words a sentence"][2] for side in (found.generated, found.real))
    assert abs(made - real) <= 1
