"""Tokens, lengths and ROUGE-L against hand-computed values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.tokenizers import DefaultTokenizer

from radeval_lib.stats import tokens

TEXT = "No acute findings. T2-weighted: 1.9 x 3.5 cm, ____."


@pytest.mark.parametrize(
    ("name", "count"),
    # white space: No acute findings. T2-weighted: 1.9 x 3.5 cm, ____.
    # words: no acute findings t2 weighted 1 9 x 3 5 cm
    # signs: those 11, the mask (a run of word characters), and . - : . . , .
    [("white space", 9), ("words", 11), ("words and signs", 11 + 1 + 7)],
)
def test_counts_by_hand(name: str, count: int) -> None:
    assert len(tokens.TOKENIZERS[name](TEXT)) == count


def test_length_statistics_by_hand() -> None:
    # lengths 1, 2, 6: mean 3, variance (4 + 1 + 9) / 2 = 7
    lengths = tokens.length_statistics(["a", "b c", "d e f g h i"], tokens.whitespace)
    assert lengths == pytest.approx(
        {"texts": 3, "min": 1, "max": 6, "average": 3, "standard deviation": 7**0.5}
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("heart size\nnormal ", "heart size normal"),
        ("clear \r\n\r\n  lungs", "clear lungs"),
        ("mid- \nlung, right-\nto-left", "mid-lung, right-to-left"),
        ("left-\nand right-sided", "left- and right-sided"),
        ("5 -\n6 mm  apart", "5 - 6 mm  apart"),
    ],
)
def test_wrapped_lines_are_joined(text: str, line: str) -> None:
    assert tokens.one_line(text) == line


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("", "", 0.0),
        ("a", "", 0.0),
        ("a b c", "a b c", 1.0),
        ("a b c", "c b a", 1 / 3),  # one token in order
        ("a b c d", "a c", 2 * 2 / 6),
        # RaLEs, Table 16, third example: no, acute, process; printed 0.67
        ("no acute radiographic cardiopulmonary process", "no acute pulmonary process", 2 * 3 / 9),
    ],
)
def test_rouge_l_by_hand(reference: str, candidate: str, expected: float) -> None:
    assert tokens.rouge_l(reference.split(), candidate.split()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("first", "second", "length"),
    [("", "abc", 0), ("abcbdab", "bdcaba", 4), ("abc", "abc", 3), ("ab", "ba", 1)],
)
def test_lengths_of_common_subsequences_by_hand(first: str, second: str, length: int) -> None:
    subsequence = tokens.longest_common_subsequence
    assert subsequence(first, second) == subsequence(second, first) == length


WORDS = st.lists(
    st.sampled_from(["effusions", "Lungs", "are", "cardiomegaly,", "é", "opacities", "5"]), max_size=20
)


@given(WORDS.map(" ".join), st.booleans())
def test_the_words_of_rouge_are_the_packages(text: str, stem: bool) -> None:
    assert tokens.RougeTokenizer(stem).tokenize(text) == DefaultTokenizer(stem).tokenize(text)
