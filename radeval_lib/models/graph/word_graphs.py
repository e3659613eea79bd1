"""Graphs over the words of a text, and the units in which texts are read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.errors import ModelError, check_choice
from radeval_lib.models.batching import of_distinct

Unit = Literal["sentence", "text"]

MAX_WORDS = 200
"""A longer unit is cut into pieces of so many words; 512 pieces of words, an encoder's reach, hold them."""

_ENDS = (".", "!", "?")


class WordGraph(NamedTuple):
    """Entities and relations of a text.

    An entity is (first word, one past the last word, label); a relation is (head, tail, label), where head
    and tail are indices into ``entities``.
    """

    entities: tuple[WordSpan, ...] = ()
    relations: tuple[tuple[int, int, str], ...] = ()


def gold_graph(record: AnnotatedSentence) -> WordGraph:
    """Return the annotations of a record; a discontinuous entity is taken from its first to its last word."""
    return WordGraph(
        tuple((entity.start, entity.end, entity.label) for entity in record.entities),
        tuple((relation.head, relation.tail, relation.label) for relation in record.relations),
    )


def units(words: Sequence[str], unit: Unit) -> list[tuple[int, int]]:
    """Return where the units of a text begin and end, in words; together they cover it.

    A sentence ends with an exclamation or question mark, or with a full stop that does not stand between two
    numbers: RadGraph writes "2.5" as three words. What is longer than :data:`MAX_WORDS` is cut.
    """
    check_choice(unit, Unit, "unit", ModelError)
    borders = [0]
    if unit == "sentence":
        for place, word in enumerate(words[:-1]):
            number = (
                word == "." and words[place + 1][:1].isdigit() and place > 0 and words[place - 1].isdigit()
            )
            if word in _ENDS and not number:
                borders.append(place + 1)
    borders.append(len(words))
    return [
        (cut, min(cut + MAX_WORDS, end))
        for start, end in itertools.pairwise(borders)
        for cut in range(start, end, MAX_WORDS)
    ]


def within(graph: WordGraph, start: int, end: int) -> WordGraph:
    """Return the part of a graph in ``[start, end)``, counted from there, without what crosses a border."""
    kept = [number for number, (a, b, _) in enumerate(graph.entities) if start <= a and b <= end]
    place = {number: position for position, number in enumerate(kept)}
    return WordGraph(
        tuple((a - start, b - start, label) for a, b, label in (graph.entities[number] for number in kept)),
        tuple(
            (place[head], place[tail], label)
            for head, tail, label in graph.relations
            if head in place and tail in place
        ),
    )


def joined_units(
    texts: Sequence[Sequence[str]], unit: Unit, read: Callable[[list[tuple[str, ...]]], Sequence[WordGraph]]
) -> list[WordGraph]:
    """Return the graphs of texts, each joined from those of its units.

    ``read`` gets the distinct units of all texts, as tuples of words, and returns a graph for each.
    """
    parts = [units(words, unit) for words in texts]
    keys = [tuple(words[a:b]) for words, own in zip(texts, parts, strict=True) for a, b in own]
    found = iter(of_distinct(keys, read))
    result = []
    for own in parts:
        entities: list[WordSpan] = []
        relations: list[tuple[int, int, str]] = []
        for (start, _), part in zip(own, found, strict=False):
            shift = len(entities)
            entities += [(start + a, start + b, label) for a, b, label in part.entities]
            relations += [(shift + head, shift + tail, label) for head, tail, label in part.relations]
        result.append(WordGraph(tuple(entities), tuple(relations)))
    return result
