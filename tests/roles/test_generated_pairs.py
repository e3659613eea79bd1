"""Generated candidates have errors and words of their own, and come in cases of four as in ReXVal."""

from __future__ import annotations

import numpy as np

from radeval_lib.data.ratings import text_table
from radeval_lib.labs.graded_pairs import cases
from radeval_lib.roles.filling import load


def test_pairs_are_cases_of_four_with_candidates_of_their_own() -> None:
    table = text_table(load("text_pairs", "synthetic", size=22, seed=3, root=None))
    assert table.groupby("case", sort=False).size().tolist() == [4, 4, 4, 4, 4, 2]
    assert table.groupby("case")["reference"].nunique().eq(1).all()
    assert table["candidate"].nunique() > 20


def test_candidates_say_everything_in_their_own_words() -> None:
    def kept(reference: str, candidate: str) -> float:
        sentences = set(reference.split(". "))
        return len(sentences & set(candidate.split(". "))) / len(sentences)

    pairs = load("text_pairs", "synthetic", size=60, seed=1, root=None)
    assert np.mean([kept(str(one.reference), str(one.candidate)) for one in pairs]) < 0.4


def test_a_labs_raters_rate_the_same_pairs() -> None:
    pairs = load("text_pairs", "synthetic", size=8, seed=3, root=None)
    rated = list(cases(8, 3))
    assert len(pairs) == len(rated) == 8
    assert all(len(noted) == 6 for _, noted in rated)
