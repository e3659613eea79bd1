"""Words that RaTEScore's pages share."""

import pandas as pd
import pytest

from radeval_lib.experiments.ratescore.sentences import link_with_lengths

REFERENCE, CANDIDATE = "words, reference", "words, candidate"


@pytest.mark.parametrize(
    ("reference", "candidate", "words"),
    [
        ((0.1, 0.3), (0.2, 0.4), "rises with the words of either text"),
        ((-0.1, 0.3), (-0.2, 0.4), "has no sure link with the words of either text"),
        (
            (0.1, 0.3),
            (-0.4, -0.1),
            "rises with the words of the reference; falls with the words of the candidate",
        ),
        (
            (0.005, 0.3),
            (0.1, 0.3),
            "rises (the interval just misses 0) with the words of the reference; "
            "rises with the words of the candidate",
        ),
        (
            (-0.3, -0.005),
            (-0.1, 0.3),
            "falls (the interval just misses 0) with the words of the reference; "
            "has no sure link with the words of the candidate",
        ),
    ],
)
def test_a_rating_goes_with_lengths(
    reference: tuple[float, float], candidate: tuple[float, float], words: str
) -> None:
    rows = pd.DataFrame([reference, candidate], index=[REFERENCE, CANDIDATE], columns=["low", "high"])
    assert link_with_lengths(rows) == words
