"""The gold annotations of Lab 3 agree with each other, as far as the lab's own rules say."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest

from radeval_lib.labs import tagging
from radeval_lib.labs.tagging import Sentence
from radeval_lib.synthetic.records import Style


@pytest.fixture(scope="module", params=["hospital", "encyclopaedic"])
def gold(request: pytest.FixtureRequest) -> list[Sentence]:
    style: Style = request.param
    return [one for seed in (2000, 2001) for one in tagging.sentences(style, 250, seed)]


def test_no_entity_begins_with_an_article(gold: list[Sentence]) -> None:
    begun = [words[first].lower() for words, tags in gold for first, _, _ in tagging.spans(tags)]
    assert begun
    assert not {"a", "an", "the"} & {*begun}
    neighbours = [pair for _, tags in gold for pair in pairwise(["O", *tags])]
    assert not [pair for pair in neighbours if pair[0] == "O" and pair[1].startswith("I-")]


def test_the_article_alone_is_taken_away() -> None:
    words = ["at", "The", "lung", "bases", "the", "heart"]
    tags = ["O", "B-ANATOMY", "I-ANATOMY", "I-ANATOMY", "B-ANATOMY", "B-DISEASE"]
    assert tagging._without_articles(words, tags) == [
        *("O", "O", "B-ANATOMY", "I-ANATOMY", "O", "B-DISEASE"),
    ]


def test_a_sentence_is_annotated_in_one_way(gold: list[Sentence]) -> None:
    ways = defaultdict[tuple[str, ...], set[tuple[str, ...]]](set)
    for words, tags in gold:
        ways[tuple(word.lower() for word in words)].add(tuple(tags))
    assert len(ways) > 100
    assert [words for words, annotated in ways.items() if len(annotated) > 1] == []
