"""Copying: runs by hand, limits, and the means' intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebooks.facts.copying import compute_rouge_precision, is_one_run, measure_fragments, measure_run_share
from radeval_lib.stats.tokens import words

SOURCE = "Weight today is 201 pounds, which is down 3 pounds in the past month."


def test_fragments_by_hand() -> None:
    text = words("Down 3 pounds in the past month; weight is 180 pounds.")
    # "down 3 pounds in the past month", then "weight", "is", nothing for 180, "pounds".
    assert measure_fragments(words(SOURCE), text) == [7, 1, 1, 1]
    summary = "Down 3 pounds in the past month; weight is 180 pounds."
    assert measure_run_share(SOURCE, summary) == pytest.approx(7 / 11)


def test_limits() -> None:
    assert measure_run_share(SOURCE, SOURCE) == 1
    assert measure_run_share(SOURCE, "Nothing common here") == measure_run_share(SOURCE, "") == 0


@given(
    st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abcd"), min_size=1, max_size=12)
)
def test_runs_cover_just_the_words_that_the_source_has(source: list[str], summary: list[str]) -> None:
    assert sum(measure_fragments(source, summary)) == sum(word in source for word in summary)


def test_rouge_precision_of_a_copy() -> None:
    result = compute_rouge_precision([SOURCE, SOURCE], ["weight today is 201", "month today"], stem=False)
    assert result["rouge_1"].tolist() == [1.0, 1.0]
    assert result["rouge_l"].tolist() == [1.0, 0.5]  # the order is turned round


def test_one_run_of_words() -> None:
    assert is_one_run("a b c d", "B c.")
    assert not is_one_run("a b c d", "a b d")
    assert not is_one_run("a b", "")
