"""Polarities that a recogniser misreads, and cosines of rows."""

import numpy as np
import pytest

from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.pages.ratescore.where_it_fails import misread_polarities, paired_cosines


class _Tagger:
    def tag(self, texts):
        return [[("effusion", "ABNORMALITY"), ("lung", "ANATOMY"), ("edema", "DISEASE")] for _ in texts]


def test_polarity_is_judged_where_words_are_the_same_and_no_anatomy() -> None:
    sentence = AnnotatedSentence(
        id="a/0",
        group="g",
        split="test",
        tokens=("no", "effusion", "lung"),
        entities=(Entity(1, 2, "Non-Abnormality"), Entity(2, 3, "Anatomy")),
    )
    assert misread_polarities(_Tagger(), [sentence]) == [True]


def test_cosines_are_of_the_same_row() -> None:
    first = np.array([[1, 0], [1, 1]], dtype=np.float32)
    second = np.array([[0, 2], [3, 3]], dtype=np.float32)
    assert paired_cosines(first, second).tolist() == pytest.approx([0, 1])
