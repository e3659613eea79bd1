"""Rated pairs as one table, and what the generator's rated pairs are."""

from __future__ import annotations

import pytest

from radeval_lib.data.errors import DataError
from radeval_lib.data.ratings import rating_table, text_table
from radeval_lib.data.records import RatedPair, TextPair
from radeval_lib.data.restricted import mark


def _pair(key: str, reference: str, rating: float, scale: str = "grade") -> RatedPair:
    return RatedPair(key, reference, f"candidate of {key}", rating, scale=scale)


def test_raters_are_averaged_and_cases_are_shared_references() -> None:
    rows = [_pair("1", "a", 2), _pair("2", "a", 1), _pair("1", "a", 5), _pair("3", "b", 0)]
    table = rating_table(rows)
    assert table.index.tolist() == ["1", "2", "3"]
    assert table["rating"].tolist() == [3.5, 1, 0]
    assert table["case"].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("scale", "expected"), [("grade", [1, 0.25]), ("errors", [-1, -0.25]), ("error_share", [0, 0.75])]
)
def test_a_higher_rating_is_a_better_one(scale: str, expected: list[float]) -> None:
    table = rating_table([_pair("1", "a", 1, scale), _pair("2", "b", 0.25, scale)])
    assert table["rating"].tolist() == expected


def test_restricted_texts_are_laid_open_for_scoring() -> None:
    pair = RatedPair("1", mark("secret", "rexval", True), mark("other", "rexval", True), 1)
    assert rating_table([pair])["reference"].tolist() == ["secret"]


def test_ratings_on_several_scales_are_refused() -> None:
    with pytest.raises(DataError):
        rating_table([_pair("1", "a", 1), _pair("2", "a", 1, "errors")])


def test_a_table_of_texts_has_a_row_for_each_id() -> None:
    pairs = [TextPair("1", "c", "a", "x"), TextPair("2", "c", "a", "y")]
    assert text_table(pairs).loc["2"].tolist() == ["c", "a", "y"]
