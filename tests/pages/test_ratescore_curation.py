"""The filters of A.2 on sentences whose annotation is right."""

from __future__ import annotations

import numpy as np
import pytest

from notebooks.ratescore.curation import (
    ENTITIES,
    FINDINGS,
    OTHER_WORDS,
    SENTENCES,
    apply_cue_words,
    find_annotated_words,
    find_content_words,
    measure_filter_effects,
)
from radeval_lib.data.records import AnnotatedSentence, Entity


class _Letters:
    """Stands for an encoder: a text's vector counts its letters."""

    def encode(self, texts):
        return np.array(
            [[text.count(chr(97 + i)) + 1e-3 for i in range(26)] for text in texts], dtype=np.float32
        )


@pytest.mark.parametrize(
    ("text", "entities", "expected"),
    [
        ("no pleural effusion", [(1, 3, "Abnormality")], ["Non-Abnormality"]),
        ("without pneumonia", [(1, 2, "Disease")], ["Non-Disease"]),
        (
            "the heart is unremarkable",
            [(1, 2, "Anatomy"), (3, 4, "Abnormality")],
            ["Anatomy", "Non-Abnormality"],
        ),
        (
            "no effusion but edema",
            [(1, 2, "Abnormality"), (3, 4, "Non-Abnormality")],
            ["Non-Abnormality", "Abnormality"],
        ),
        ("mild edema", [(0, 2, "Non-Abnormality")], ["Abnormality"]),
    ],
)
def test_polarity(text, entities, expected) -> None:
    result = apply_cue_words(text.split(), [Entity(*entity) for entity in entities])
    assert [entity.label for entity in result] == expected


def test_content_words() -> None:
    words = ["There", "is", "a", "small", "left", "effusion", "."]
    assert find_content_words(words) == {3, 4, 5}
    assert find_annotated_words([Entity(3, 4, "x"), Entity(5, 6, "x")]) == {3, 5}
    assert find_content_words(["is", "."]) == set()


def test_each_filter_alone() -> None:
    rows = [
        AnnotatedSentence("r/0", ("mass",), (Entity(0, 1, "Abnormality"),)),
        AnnotatedSentence("r/1", ("edema", "whatever", "else"), (Entity(0, 1, "Non-Abnormality"),)),
    ]
    table = measure_filter_effects(rows, ["mass"], _Letters(), {"cosine": 0.83, "density": 0.7})
    assert {kind: part["changed"].tolist() for kind, part in table.groupby("kind")} == {
        ENTITIES: [False, True],
        OTHER_WORDS: [True, True],
        SENTENCES: [False, True],
        FINDINGS: [False, True],
    }
