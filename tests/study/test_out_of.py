"""Counts of cases out of all, in words."""

from radeval_lib.text_format import out_of


def test_all_both_and_none_are_said_as_such() -> None:
    assert [out_of(part, 5) for part in (0, 2, 5)] == ["none of five", "two of five", "all five"]
    assert [out_of(2, 2), out_of(1, 1), out_of(16, 16, str)] == ["both", "one of one", "all 16"]
