"""Rated pairs as one table; and tables of one's own, whose faults are named by their line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from radeval_lib.data import manifests, ratings, readers
from radeval_lib.data.errors import DataError, FormatError, ManifestError
from radeval_lib.data.ratings import tabulate_ratings, tabulate_texts
from radeval_lib.data.records import RatedPair, TextPair
from radeval_lib.data.restricted import RestrictedText, mark_restricted
from radeval_lib.data.roles import classify, load
from radeval_lib.study import dependencies

HEAD = ["case", "id", "candidate", "reference", "rater", "grade"]
ROWS = [
    ["1", "a", "Clear lungs.", "The lungs are clear.", "Ada", "5"],
    ["1", "a", "Clear lungs.", "The lungs are clear.", "Ben", "4.5"],
    ["1", "b", "Left mass.", "The lungs are clear.", "Ada", "1"],
    ["1", "b", "Left mass.", "The lungs are clear.", "Ben", "2"],
    ["2", "a", "Large heart.", "Normal heart.", "Ada", "2"],
    ["2", "a", "Large heart.", "Normal heart.", "Ben", "1"],
]


def _write(path: Path, rows: list[list[str]]) -> Path:
    path.write_text("\n".join(",".join(row) for row in [HEAD, *rows]) + "\n", encoding="utf-8")
    return path


def test_several_raters_of_a_candidate_are_read(tmp_path: Path) -> None:
    pairs = ratings.load([_write(tmp_path / "r.csv", ROWS)], "mine", restricted=False)
    assert [(pair.id, pair.rater, pair.rating) for pair in pairs[:3]] == [
        ("1/a", "Ada", 5),
        ("1/a", "Ben", 4.5),
        ("1/b", "Ada", 1),
    ]
    assert {pair.scale for pair in pairs} == {"grade"}
    closed = ratings.load([tmp_path / "r.csv"], "mine", restricted=True)
    assert all(isinstance(pair.candidate, RestrictedText) for pair in closed)


def _changed(row: int, column: str, value: str) -> list[list[str]]:
    rows = [list(cells) for cells in ROWS]
    rows[row][HEAD.index(column)] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (_changed(1, "rater", "Ada"), 3),
        (_changed(2, "grade", "good"), 4),
        (_changed(2, "grade", "nan"), 4),
        (_changed(2, "candidate", ""), 4),
        (_changed(2, "case", "1/2"), 4),
        (_changed(1, "candidate", "Else."), 3),
        (_changed(2, "reference", "Else.")[:3], 4),
    ],
)
def test_what_is_wrong_is_named_without_its_text(rows: list[list[str]], line: int, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        ratings.load([_write(tmp_path / "r.csv", rows)], "mine", restricted=True)
    assert caught.value.where == f"r.csv, line {line}"
    assert not {"Else", "lungs"} & set(str(caught.value).replace(".", " ").split())


def test_several_tables_are_checked_as_one(tmp_path: Path) -> None:
    row = ["1", "a", "Else.", "The lungs are clear.", "Eve", "4"]
    first, second = _write(tmp_path / "r.csv", ROWS), _write(tmp_path / "s.csv", [row])
    with pytest.raises(FormatError) as caught:
        ratings.load([first, second], "mine", restricted=False)
    assert caught.value.where == "s.csv, line 2"


def test_one_manifest_makes_a_table_fill_the_role(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder := tmp_path / "datasets").mkdir()
    content = {
        "name": "mine",
        "title": "Our ratings: reports of one week",
        "reader": "ratings",
        "restricted": False,
        "files": [{"path": "mine/ratings.csv"}],
        "shows": "Grades of two radiologists.",
    }
    (folder / "mine.yml").write_text(yaml.safe_dump(content), encoding="utf-8")
    monkeypatch.setattr(manifests, "DATASETS", folder)
    manifests.load_manifest.cache_clear()
    try:
        (root := tmp_path / "data" / "mine").mkdir(parents=True)
        _write(root / "ratings.csv", ROWS)
        records = load("rated_pairs", "mine", size=0, seed=0, root=tmp_path / "data")
        assert len(records) == 6
        assert classify("mine") == "open"
        assert readers.count_records("mine", records) == {"cases": 2, "candidates": 3, "raters": 2}
        assert dependencies.readers("mine", "rated_pairs") == ["radeval_lib.data.ratings:make_reader"]
        closed = manifests.parse_manifest("mine", {**content, "restricted": True}, "mine.yml")
        assert (closed.access, closed.redistributable) == ("credentialed", False)
        unsaid = {key: value for key, value in content.items() if key != "restricted"}
        assert manifests.parse_manifest("mine", unsaid, "mine.yml").restricted
        with pytest.raises(ManifestError):
            manifests.parse_manifest("mine", {**content, "reader": "guess"}, "mine.yml")
    finally:
        manifests.load_manifest.cache_clear()


def _pair(key: str, reference: str, rating: float, scale: str = "grade") -> RatedPair:
    return RatedPair(key, reference, f"candidate of {key}", rating, scale=scale)


def test_raters_are_averaged_and_cases_are_shared_references() -> None:
    rows = [_pair("1", "a", 2), _pair("2", "a", 1), _pair("1", "a", 5), _pair("3", "b", 0)]
    table = tabulate_ratings(rows)
    assert table.index.tolist() == ["1", "2", "3"]
    assert table["rating"].tolist() == [3.5, 1, 0]
    assert table["case"].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("scale", "expected"), [("grade", [1, 0.25]), ("errors", [-1, -0.25]), ("error_share", [0, 0.75])]
)
def test_a_higher_rating_is_a_better_one(scale: str, expected: list[float]) -> None:
    table = tabulate_ratings([_pair("1", "a", 1, scale), _pair("2", "b", 0.25, scale)])
    assert table["rating"].tolist() == expected


def test_restricted_texts_are_laid_open_for_scoring() -> None:
    pair = RatedPair("1", mark_restricted("secret", "rexval"), mark_restricted("other", "rexval"), 1)
    assert tabulate_ratings([pair])["reference"].tolist() == ["secret"]


def test_ratings_on_several_scales_are_refused() -> None:
    with pytest.raises(DataError):
        tabulate_ratings([_pair("1", "a", 1), _pair("2", "a", 1, "errors")])


def test_a_table_of_texts_has_a_row_for_each_id() -> None:
    pairs = [TextPair("1", "c", "a", "x"), TextPair("2", "c", "a", "y")]
    assert tabulate_texts(pairs).loc["2"].tolist() == ["c", "a", "y"]
