"""The rule of Appendix A.7 on lengths and errors."""

import pytest

from radeval_lib.pages.ratescore.error_counts import case_against_rule, words
from radeval_lib.papers.printed_numbers import parse

RULE = {"short_words": parse("10"), "long_words": parse("25"), "long_errors": parse("3")}


@pytest.mark.parametrize(
    ("length", "errors", "found"),
    [
        (5, "0", ("short", "zero errors", "yes")),
        (5, "1.33", ("short", "zero errors", "no")),
        (30, "1.33", ("long", "more than 3", "no")),
        (30, "3.50", ("long", "more than 3", "yes")),
        (20, "2", ("neither", "nothing said", "no")),
    ],
)
def test_a_case_stands_against_the_rule(length: int, errors: str, found: tuple[str, str, str]) -> None:
    assert case_against_rule(length, parse(errors), RULE) == found


def test_words_are_what_blanks_part() -> None:
    assert words("No  acute process.") == 3
