"""Numbers and symbols as pages show them."""

from __future__ import annotations

import pytest

from radeval_lib.pipeline.typesetting import characters, symbols


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("-0.5 and 3-4", "\N{MINUS SIGN}0.5 and 3-4"),
        ("-0.00", "0.00"),
        ("2023-07-04", "2023-07-04"),
        ("[-0.1, 0.2]", "[\N{MINUS SIGN}0.1,\N{NO-BREAK SPACE}0.2]"),
    ],
)
def test_signs_and_intervals(plain: str, shown: str) -> None:
    assert characters(plain) == shown


def test_code_and_tags_stay_as_they_are() -> None:
    html = '<td title="-1">τ_b -1</td><code>-1 τ_b</code>'
    assert symbols(html) == '<td title="-1">τ<sub>b</sub> \N{MINUS SIGN}1</td><code>-1 τ_b</code>'
