"""Simulated ratings have the shape of the papers' data."""

from __future__ import annotations

from collections import Counter

import pytest

from radeval_lib.data.ratings import rating_table
from radeval_lib.roles import generated_ratings
from radeval_lib.roles.filling import load


def test_rated_errors_are_cases_of_four_as_in_rexval() -> None:
    records = load("rated_errors", "synthetic", size=22, seed=3, root=None)
    assert set(Counter(record.id for record in records).values()) == {6}, "six raters, as in ReXVal"
    table = rating_table(records)
    assert table.groupby("case").size().tolist() == [4, 4, 4, 4, 4, 2]
    assert table["candidate"].nunique() > 20, "each candidate has its own errors and words"
    assert table.groupby("case")["rating"].nunique().max() > 1


def test_counts_by_category_add_up_to_the_same_errors() -> None:
    counts = list(generated_ratings.error_counts(8, seed=3))
    assert len(counts) == 8 * 6 * 6 * 2  # pairs, raters, categories, significance
    assert {(one.study, one.origin) for one in counts} == {
        (s, f"candidate {k}") for s in (0, 1) for k in (1, 2, 3, 4)
    }
    errors = rating_table(list(generated_ratings.rated_errors(8, seed=3)))
    assert sum(one.count for one in counts) / 6 == pytest.approx(-errors["rating"].sum())


def test_a_sentence_about_something_else_is_no_candidate() -> None:
    table = rating_table(load("rated_sentences", "synthetic", size=60, seed=3, root=None))
    assert (table["reference"] != table["candidate"]).mean() > 0.9
