"""Numbers in words."""

import pytest

from radeval_lib.stats.base import Estimate
from radeval_lib.text_format import (
    in_words,
    joined,
    ordinal,
    out_of,
    p_digits,
    p_words,
    percent,
    with_interval,
)


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "first"), (10, "tenth"), (11, "11th"), (12, "12th"), (21, "21st"), (102, "102nd"), (113, "113th")],
)
def test_places_are_in_letters_up_to_the_tenth(number: int, words: str) -> None:
    assert ordinal(number) == words


def test_an_interval_may_have_other_digits_than_its_value() -> None:
    assert with_interval(0.12345, 0.1, 0.2) == "0.123 [0.100, 0.200]"
    assert with_interval(0.5, 0.25, 0.75, ".0%") == "50% [25%, 75%]"
    assert f"{Estimate(0.5, 0.25, 0.75):.0%}" == "50% [25%, 75%]"


def test_counts_and_lists() -> None:
    assert [in_words(number) for number in (0, 10, 11)] == ["none", "ten", "11"]
    assert [joined(list(names)) for names in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]


def test_a_p_value_below_a_thousandth_is_a_bound() -> None:
    assert [p_digits(p) for p in (8e-59, 0.000999, 0.001, 0.0123, 0.994, 1.0)] == [
        *("< 0.001", "< 0.001", "0.001", "0.012", "0.99", "1"),
    ]
    assert [p_words(p) for p in (5e-07, 0.045)] == ["p < 0.001", "p = 0.045"]


def test_all_both_and_none_are_said_as_such() -> None:
    assert [out_of(part, 5) for part in (0, 2, 5)] == ["none of five", "two of five", "all five"]
    assert [out_of(2, 2), out_of(1, 1), out_of(16, 16, str)] == ["both", "one of one", "all 16"]


def test_percent_says_none_and_all_of_none_and_all_alone() -> None:
    shares = (0.0, 0.002, 0.0099, 0.01, 0.444, 0.996, 1.0)
    words = ["0%", "under 1%", "under 1%", "1%", "44%", "over 99%", "100%"]
    assert [percent(share) for share in shares] == words
