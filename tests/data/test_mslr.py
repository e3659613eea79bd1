"""MSLR's ratings and preferences, on small files of the exact format and on the real ones where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from radeval_lib.data import FormatError, mslr

RATED = ["ExpID", "ReviewID", "Target Summary", "Generated Summary", *mslr._FACETS.values()]
CHOSEN = ["review_id", "target", "sys_a", "A", "sys_b", "B", mslr._CHOICE, "Notes"]


def table(path: Path, *rows: list[str]) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rating(*answers: str, system: str = "01GABCDEF") -> list[str]:
    return [system, "CD1", 'the "target', "a summary", *answers]


def test_facets_are_summed_and_uncertain_rows_left_out(tmp_path: Path) -> None:
    path = table(
        tmp_path / "A1.tsv",
        RATED,
        rating("2: Yes", "1: Partially", "0: No"),
        rating("2: Yes", "N/A: No intervention in generated summary", "2: Yes", system="01GXYZXYZ"),
        rating("Other / uncertain (please comment)", "2: Yes", "2: Yes", system="01GOTHERR"),
        rating("", "2: Yes", "2: Yes", system="01GBLANKK"),
    )
    found = mslr.load_ratings(path)
    assert [(one.id, one.rating, one.rater, one.group) for one in found] == [
        ("CD1/ABCDEF", 3.0, "A1", "ABCDEF"),
        ("CD1/XYZXYZ", 4.0, "A1", "XYZXYZ"),
    ]
    assert found[0].reference == 'the "target'  # a quotation mark is a character like others


def test_a_summary_rated_twice_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path / "A1.tsv", RATED, *[rating("2: Yes", "2: Yes", "2: Yes")] * 2)
    with pytest.raises(FormatError, match=r"A1\.tsv, line 3"):
        mslr.load_ratings(path)


def test_unknown_answers_are_refused_without_being_shown(tmp_path: Path) -> None:
    path = table(tmp_path / "A2.tsv", RATED, rating("Secret", "2: Yes", "2: Yes"))
    with pytest.raises(FormatError, match=r"A2\.tsv, line 2: unknown answer on the population") as caught:
        mslr.load_ratings(path)
    assert "Secret" not in str(caught.value)
    path = table(tmp_path / "A3.tsv", CHOSEN, ["CD1", "t", "AAAAAA", "a", "BBBBBB", "b", "Secret", ""])
    with pytest.raises(FormatError, match="unknown preference") as caught:
        mslr.load_preferences(path)
    assert "Secret" not in str(caught.value)


def test_blank_preferences_are_left_out(tmp_path: Path) -> None:
    row = ["CD1", "t", "AAAAAA", "a", "BBBBBB", "b"]
    path = table(
        tmp_path / "A3.tsv", CHOSEN, [*row, "A", ""], [*row, "", ""], [*row, "Neither is more accurate", ""]
    )
    assert [one.choice for one in mslr.load_preferences(path)] == ["A", "neither"]


def test_the_real_files(data_root: Path) -> None:
    ratings = [
        one for name in mslr.RATERS for one in mslr.load_ratings(data_root / f"mslr/annotations/{name}.tsv")
    ]
    assert len({one.group for one in ratings}) == 6
    preferences = [
        one for name in mslr.JUDGES for one in mslr.load_preferences(data_root / f"mslr/pairwise/{name}.tsv")
    ]
    choices = [one.choice for one in preferences]
    assert (choices.count("neither"), len(choices) - choices.count("neither")) == (89, 363)
