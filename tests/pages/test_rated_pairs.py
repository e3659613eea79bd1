"""Places in a ranking, and the shares that a printed digit can come from."""

import pytest

from radeval_lib.pages.ratescore.rated_pairs import place, some_share_prints


def test_a_place_is_told_in_words() -> None:
    assert place(2, 7) == "second of seven"


@pytest.mark.parametrize(
    ("cell", "total", "cut", "possible"),
    [
        ("0.33", 3, False, True),
        ("0.67", 3, False, True),
        ("0.67", 3, True, False),
        ("0.66", 3, True, True),
        ("0.34", 3, False, False),
    ],
)
def test_a_printed_share_has_to_come_from_a_whole_number(
    cell: str, total: int, cut: bool, possible: bool
) -> None:
    assert some_share_prints(cell, total, cut=cut) is possible
