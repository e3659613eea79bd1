"""The sentence on mixed sources claims no more than its comparisons."""

from __future__ import annotations

import pytest

from radeval_lib.pages.ratescore.ner_ablations import mixture_sentence


@pytest.mark.parametrize(
    ("counts", "end"),
    [
        ((4, 4, 4, 4), "in four of four: the mixture itself adds something."),
        ((4, 4, 2, 4), "in two of four: whether the mixture itself adds anything is not settled."),
        (
            (4, 4, 0, 4),
            "in none of four: what is shown is the benefit of more sentences, not of the mixture.",
        ),
        ((0, 4, 0, 4), "in none of four: nothing is shown of either."),
        ((3, 4, 0, 0), "over one in three of four comparisons."),
    ],
)
def test_no_gain_is_put_down_to_the_mixture_unless_every_comparison_shows_it(counts: tuple, end: str) -> None:
    assert mixture_sentence(*counts).endswith(end)
