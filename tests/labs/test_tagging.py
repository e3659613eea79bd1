"""The gold annotations of Lab 3 agree with each other, and its tagger and score do what they say."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest

from radeval_lib.labs import tagging
from radeval_lib.labs.tagging import Sentence
from radeval_lib.rules.generator.records import Style


@pytest.fixture(scope="module", params=["hospital", "encyclopaedic"])
def gold(request: pytest.FixtureRequest) -> list[Sentence]:
    style: Style = request.param
    return [sentence for seed in (2000, 2001) for sentence in tagging.sentences(style, 250, seed)]


def test_no_entity_begins_with_an_article(gold: list[Sentence]) -> None:
    begun = [words[first].lower() for words, tags in gold for first, _, _ in tagging.spans(tags)]
    assert begun
    assert not {"a", "an", "the"} & {*begun}
    neighbours = [pair for _, tags in gold for pair in pairwise(["O", *tags])]
    assert not [pair for pair in neighbours if pair[0] == "O" and pair[1].startswith("I-")]


def test_a_sentence_is_annotated_in_one_way(gold: list[Sentence]) -> None:
    ways = defaultdict[tuple[str, ...], set[tuple[str, ...]]](set)
    for words, tags in gold:
        ways[tuple(word.lower() for word in words)].add(tuple(tags))
    assert len(ways) > 100
    assert [words for words, annotated in ways.items() if len(annotated) > 1] == []


SMALL: list[Sentence] = [
    (["small", "effusion"], ["O", "B-DISEASE"]),
    (["no", "effusion"], ["O", "B-DISEASE"]),
    (["left", "lung"], ["B-ANATOMY", "I-ANATOMY"]),
]


def test_a_tagger_knows_the_sentences_that_it_was_trained_on() -> None:
    words = [words for words, _ in SMALL]
    first, second = (tagging.predict(tagging.train(SMALL), [*words, []]) for _ in range(2))
    assert first == second == [*(tags for _, tags in SMALL), []]
    assert tagging.predict(tagging.train(SMALL), []) == []


def test_entities_score_where_ends_and_type_are_right() -> None:
    gold = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"]]
    result = [["B-X", "I-X", "O", "B-X"], ["B-X", "B-X"]]  # 2 of 3 found; 2 of 4 right
    assert tagging.score(gold, result) == pytest.approx({"precision": 1 / 2, "recall": 2 / 3, "f1": 4 / 7})
    assert tagging.score([["O"]], [["O"]]) == {"precision": 0, "recall": 0, "f1": 0}
