"""The annotation pipeline of A.2: each filter alone, and what all of them buy against an annotator that
errs."""

from __future__ import annotations

import numpy as np
import pytest

from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.models.ner.entities import agreement, gold_spans
from radeval_lib.pages.ratescore.curation import (
    Curated,
    NoisyAnnotator,
    Remembered,
    annotated_share,
    curate,
    in_library,
    kind_of,
    names,
    rates,
    tally,
    with_polarity,
)
from radeval_lib.roles.generated import ner_corpus


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
    found = with_polarity(text.split(), [Entity(*entity) for entity in entities])
    assert [entity.label for entity in found] == expected


def test_polarity_without_restoring_only_negates() -> None:
    words = ["lungs", "are", "clear", "without", "pneumonia"]
    entities = [Entity(2, 3, "Non-Abnormality"), Entity(4, 5, "Disease")]
    both, negated = (with_polarity(words, entities, restore) for restore in (True, False))
    assert [entity.label for entity in both] == ["Abnormality", "Non-Disease"]
    assert [entity.label for entity in negated] == ["Non-Abnormality", "Non-Disease"]


def test_share_of_content_words() -> None:
    # content words: small, left, effusion; "there", "is", "a" and the stop are not
    words = ["There", "is", "a", "small", "left", "effusion", "."]
    assert annotated_share(words, [Entity(3, 4, "x"), Entity(5, 6, "x")]) == pytest.approx(2 / 3)
    assert annotated_share(["is", "."], []) == 0


def test_library_keeps_what_is_like_it() -> None:
    words = [["edema", "zzz"]]
    proposed = [[Entity(0, 1, "Abnormality"), Entity(1, 2, "Disease")]]
    assert in_library(words, proposed, ["Oedema"], _Letters(), 0.83) == [[proposed[0][0]]]
    assert in_library(words, proposed, [], _Letters(), 0.83) == [[]]


def test_filters_raise_precision() -> None:
    gold = list(ner_corpus(150, 7))
    library = {" ".join(row.tokens[e.start : e.end]) for row in ner_corpus(400, 8) for e in row.entities}
    annotator = NoisyAnnotator(gold, seed=1)
    plain = curate(gold, annotator, [], library, _Letters(), cosine=None, density=None, negation=False)
    full = curate(gold, annotator, [], library, _Letters(), cosine=0.97)
    truth = {row.id: gold_spans(row) for row in gold}

    def precision(result) -> float:
        rows = result.sentences
        spans = [gold_spans(row) for row in rows]
        return agreement(
            [truth[row.id] for row in rows], spans, [len(row.tokens) for row in rows]
        ).overall.precision

    assert precision(full) > precision(plain) + 0.05
    assert plain.proposed == full.proposed
    assert plain.outside_library == plain.thin == plain.flipped == 0
    assert min(full.outside_library, full.thin, full.flipped) > 0
    assert len(full.sentences) + full.thin == len(gold)


def test_noise_is_repeatable_and_none_is_gold() -> None:
    gold = list(ner_corpus(20, 9))
    words = [list(row.tokens) for row in gold]
    assert NoisyAnnotator(gold, seed=1).annotate(words, []) == NoisyAnnotator(gold, seed=1).annotate(
        words, []
    )
    silent = NoisyAnnotator(gold, miss=0, shift=0, invent=0, confuse=0)
    assert silent.annotate(words, []) == [
        sorted((Entity(e.start, e.end, e.label) for e in row.entities), key=lambda e: (e.start, e.end))
        for row in gold
    ]
    assert NoisyAnnotator([], invent=0).annotate([["unknown"]], []) == [[]]


def test_relations_go_with_the_old_entities() -> None:
    row = AnnotatedSentence("1", ("edema",))
    kept = curate([row], NoisyAnnotator([row], invent=0), [], ["edema"], _Letters(), density=None).sentences
    assert kept == [row]


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


def test_tally_counts_each_sentence_once() -> None:
    gold = [
        AnnotatedSentence(
            "r/0", ("large", "mass", "in", "lung"), (Entity(0, 2, "Abnormality"), Entity(3, 4, "Anatomy"))
        ),
        AnnotatedSentence("r/1", ("no", "edema"), (Entity(1, 2, "Non-Abnormality"),)),
    ]
    found = AnnotatedSentence(
        "r/0", gold[0].tokens, (Entity(0, 2, "Non-Abnormality"), Entity(2, 3, "Disease"))
    )
    table = tally(gold, Curated([found], 3, 0, 1, 0))
    sums = table.drop(columns="report").sum()
    assert list(table["report"]) == ["r", "r"]
    assert sums.to_dict() == {
        "sentences": 2,
        "entities": 3,
        "kept": 1,
        "gold": 2,
        "found": 2,
        "right": 0,
        "polarity": 1,
        "border": 0,
        "invented": 1,
        "missed": 1,
        "findings": 1,
    }


def test_rates_are_those_of_strict_agreement() -> None:
    gold = list(ner_corpus(40, 5))
    library = names(gold)
    assert library == sorted({name.lower() for name in library})
    result = curate(gold, NoisyAnnotator(gold, seed=2), [], library[::2], _Letters(), cosine=0.97)
    truth = {row.id: gold_spans(row) for row in gold}
    rows = result.sentences
    strict = agreement(
        [truth[row.id] for row in rows], [gold_spans(row) for row in rows], [len(row.tokens) for row in rows]
    ).overall
    sums = tally(gold, result).drop(columns="report").sum().to_frame().T
    found = rates(sums).iloc[0]
    assert found["precision"] == pytest.approx(strict.precision)
    assert found["recall"] == pytest.approx(strict.recall)
    assert found["f1"] == pytest.approx(strict.f1)
    assert found["sentences"] == pytest.approx(len(rows) / len(gold))
    kinds = sums[["right", "polarity", "border", "invented"]].sum(axis=1)
    assert kinds.tolist() == sums["found"].tolist()


def test_a_remembered_text_is_encoded_once() -> None:
    asked = []

    class Counting(_Letters):
        def encode(self, texts):
            asked.extend(texts)
            return super().encode(texts)

    encoder = Remembered(Counting())
    first, again = encoder.encode(["a", "b", "a"]), encoder.encode(["b", "c"])
    assert asked == ["a", "b", "c"]
    assert first.shape == (3, 26)
    assert (first[1] == again[0]).all()
