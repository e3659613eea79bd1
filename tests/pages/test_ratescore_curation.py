"""The filters of A.2, against an annotator that errs on purpose."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from notebooks.ratescore.curation import (
    CUE_WORDS,
    annotated_share,
    judged,
    kind_of,
    names,
    proposed,
    taken,
    with_polarity,
)
from radeval_lib.data.generated import ner_corpus
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.study import begin


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
        (
            "the spine is intact",
            [(1, 2, "Anatomy"), (3, 4, "Non-Abnormality")],
            ["Anatomy", "Non-Abnormality"],
        ),
    ],
)
def test_polarity(text, entities, expected) -> None:
    result = with_polarity(text.split(), [Entity(*entity) for entity in entities])
    assert [entity.label for entity in result] == expected


def test_share_of_content_words() -> None:
    # content words: small, left, effusion; "there", "is", "a" and the stop are not
    words = ["There", "is", "a", "small", "left", "effusion", "."]
    assert annotated_share(words, [Entity(3, 4, "x"), Entity(5, 6, "x")]) == pytest.approx(2 / 3)
    assert annotated_share(["is", "."], []) == 0


def test_noise_is_repeatable_and_none_is_the_truth() -> None:
    for row in ner_corpus(20, 9):
        words = list(row.tokens)
        assert proposed(words, row.entities, seed=1) == proposed(words, row.entities, seed=1)
        plain = sorted(
            (Entity(e.start, e.end, e.label) for e in row.entities), key=lambda e: (e.start, e.end)
        )
        silent = {"miss": 0, "shift": 0, "invent": 0, "confuse": 0}
        assert proposed(words, row.entities, seed=1, **silent) == plain
    assert proposed(["unknown"], (), seed=1, invent=0) == []


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        ((0, 2, "Abnormality"), "right"),
        ((0, 2, "Non-Abnormality"), "polarity"),
        ((0, 2, "Disease"), "border"),
        ((1, 3, "Abnormality"), "border"),
        ((2, 3, "Abnormality"), "invented"),
    ],
)
def test_kinds_of_error(entity, expected) -> None:
    assert kind_of(Entity(*entity), [Entity(0, 2, "Abnormality"), Entity(3, 4, "Anatomy")]) == expected


def test_each_filter_judges_what_the_annotator_proposes() -> None:
    rows = [
        AnnotatedSentence("r/0", ("mass",), (Entity(0, 1, "Abnormality"),)),
        AnnotatedSentence("r/1", ("no", "edema", "whatever", "else"), (Entity(1, 2, "Non-Abnormality"),)),
    ]
    confused = partial(proposed, seed=0, miss=0, shift=0, invent=0, confuse=1)
    table = judged(rows, confused, ["mass"], _Letters(), {"cosine": 0.83, "density": 0.7})
    assert table[["kind", "after", "thin", "outside"]].to_numpy().tolist() == [
        ["polarity", "right", False, False],
        ["polarity", "right", True, True],
    ]


def test_the_library_takes_inventions_before_truths(tmp_path) -> None:
    gold = list(ner_corpus(150, 7))
    run = begin("ratescore/curation", profile="smoke", seed=1, output_dir=str(tmp_path))
    annotate, cuts = partial(proposed, seed=1), {"cosine": 0.97, "density": 0.7}
    table = judged(gold, annotate, names(gold)[::2], _Letters(), cuts)
    shares = taken(table, run)
    assert shares.loc[("library", "invented"), "value"] > shares.loc[("library", "right"), "value"]
    assert shares.loc["library", "n"].sum() == len(table)
    assert (
        shares.loc[CUE_WORDS, "n"].sum()
        == (table["finding"] & table["kind"].isin(["right", "polarity"])).sum()
    )
