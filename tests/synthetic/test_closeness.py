"""The measure of closeness, by hand; and what it finds on Open-i where that is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.synthetic import SyntheticError
from radeval_lib.synthetic.closeness import (
    find_openi,
    measure,
    mentions,
    profile,
    read_openi,
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
    assert (found.reports, found.tokens) == (2, 7)
    assert found.mean_sentence_words == pytest.approx(7 / 3)
    assert found.report_words[2] == pytest.approx(3.5)
    assert found.negated_sentences == pytest.approx(1 / 3)
    assert found.negated_findings == pytest.approx(1 / 2)


def test_coverage_by_hand() -> None:
    found = measure(["The lungs are clear. Zyzzyva zyzzyva."], n=300)
    assert found.coverage == pytest.approx(4 / 6)
    assert found.missing == (("zyzzyva", 2),)


def test_a_table_without_findings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "openi" / "indiana_reports.csv"
    path.parent.mkdir()
    path.write_text("uid,text\n1,a\n", encoding="utf-8")
    assert find_openi(tmp_path) == path
    with pytest.raises(SyntheticError, match="findings"):
        read_openi(path)
    assert find_openi(tmp_path / "elsewhere") is None


def test_reach_on_openi(data_root: Path) -> None:
    path = find_openi(data_root)
    if path is None:
        pytest.skip("Open-i is not among the data")
    found = measure(read_openi(path), n=5000)
    assert found.coverage >= 0.85
    assert abs(found.generated.negated_sentences - found.real.negated_sentences) < 0.1
    assert abs(found.generated.mean_sentence_words - found.real.mean_sentence_words) < 1
    assert len(found.frame()) == 18
