"""The measure of closeness, by hand; and what it finds on Open-i where that is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.data import catalog
from radeval_lib.pages.across.closeness import (
    measure,
    mentions,
    profile,
    sentences,
    words,
)


def test_words_leave_out_marks_of_deidentification() -> None:
    assert words("The XXXX lungs, x-XXXX 2.5 cm.") == ["the", "lungs", "x", "cm"]


def test_sentences_hold_words() -> None:
    assert sentences("Clear lungs.. No effusion. 12. ") == ["Clear lungs..", "No effusion."]


@pytest.mark.parametrize(
    ("sentence", "found", "denied"),
    [
        ("No pleural effusion or pneumothorax.", 2, 2),
        ("There is a left pleural effusion.", 1, 0),
        ("Pneumothorax is absent.", 1, 1),
        ("Small effusion without pneumothorax.", 2, 1),
        ("The lungs are clear.", 0, 0),
    ],
)
def test_mentions(sentence: str, found: int, denied: int) -> None:
    assert mentions(sentence) == (found, denied)


def test_profile_by_hand() -> None:
    found = profile(["No effusion. The lungs are clear.", "Pneumothorax."])
    assert found.sentence_words[2] == 2
    assert found.report_words[2] == pytest.approx(3.5)
    assert found.negated_sentences == pytest.approx(1 / 3)
    assert found.negated_findings == pytest.approx(1 / 2)


def test_coverage_by_hand() -> None:
    found = measure(["The lungs are clear. Zyzzyva zyzzyva."], n=300)
    assert found.coverage == pytest.approx(4 / 6)
    assert found.missing == (("zyzzyva", 2),)


def test_reach_on_openi(data_root: Path) -> None:
    reports = catalog.load("openi", data_root)
    if not reports:
        pytest.skip("Open-i is not among the data")
    found = measure([report.findings for report in reports if report.findings], n=5000)
    assert found.coverage >= 0.85
    assert abs(found.generated.negated_sentences - found.real.negated_sentences) < 0.1
    assert abs(found.generated.sentence_words[2] - found.real.sentence_words[2]) <= 1
