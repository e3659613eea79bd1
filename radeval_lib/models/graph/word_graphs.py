"""Graphs over the words of a text, the units in which texts are read, and counts against gold graphs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence
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
    """Return the beginning and end of each unit of a text, in words; together the units cover it.

    A sentence ends with an exclamation or question mark, or with a full stop that does not stand between two
    numbers: RadGraph writes "2.5" as three words. What is longer than :data:`MAX_WORDS` is cut.
    """
    borders = [0]
    if unit == "sentence":
        for index, word in enumerate(words[:-1]):
            number = word == "." and words[index + 1][:1].isdigit() and index and words[index - 1].isdigit()
            if word in _ENDS and not number:
                borders.append(index + 1)
    borders.append(len(words))
    return [
        (cut, min(cut + MAX_WORDS, end))
        for start, end in itertools.pairwise(borders)
        for cut in range(start, end, MAX_WORDS)
    ]


def within(graph: WordGraph, start: int, end: int) -> WordGraph:
    """Return the part of a graph in ``[start, end)``, counted from there, without what crosses a border."""
    kept = [number for number, (a, b, _) in enumerate(graph.entities) if start <= a and b <= end]
    positions = {number: position for position, number in enumerate(kept)}
    return WordGraph(
        tuple((a - start, b - start, label) for a, b, label in (graph.entities[number] for number in kept)),
        tuple(
            (positions[head], positions[tail], label)
            for head, tail, label in graph.relations
            if head in positions and tail in positions
        ),
    )


def joined_units(
    texts: Sequence[Sequence[str]], unit: Unit, read: Callable[[list[tuple[str, ...]]], Sequence[WordGraph]]
) -> list[WordGraph]:
    """Return the graphs of texts, each joined from those of its units.

    ``read`` gets the distinct units of all texts, as tuples of words, and returns a graph for each.
    """
    parts = [units(words, unit) for words in texts]
    keys = [tuple(words[a:b]) for words, borders in zip(texts, parts, strict=True) for a, b in borders]
    graphs = iter(of_distinct(keys, read))
    result = []
    for borders in parts:
        entities: list[WordSpan] = []
        relations: list[tuple[int, int, str]] = []
        for (start, _), part in zip(borders, graphs, strict=False):
            shift = len(entities)
            entities += [(start + a, start + b, label) for a, b, label in part.entities]
            relations += [(shift + head, shift + tail, label) for head, tail, label in part.relations]
        result.append(WordGraph(tuple(entities), tuple(relations)))
    return result


PARTS = ("entity", "relation", "strict")
"""What is counted: entities, relations, and relations whose ends must also have the right types."""


def counts(
    gold: WordGraph,
    predicted: WordGraph,
    entity_types: Sequence[str],
    relation_types: Sequence[str],
    max_width: int,
) -> list[dict[str, Any]]:
    """Return counts of one text by part and label, as DyGIE++ makes them (repository at b55dec4,
    ``dygie/training``).

    An entity is right if its borders and its type are. A gold entity wider than the model's spans is left
    out, which helps recall; it is counted as ``unseen``. A relation is right if the borders of its head and
    its tail, its direction and its label are; types of the ends do not matter, except for ``strict`` (PURE's
    Rel+). Labels other than ``entity_types`` and ``relation_types`` are not counted. A span has one type and
    an ordered pair one relation: of several the last counts. Gold relations are all counted.
    """
    truth, guess = ({(a, b): kind for a, b, kind in graph.entities} for graph in (gold, predicted))
    links, predicted_links = (_links(graph) for graph in (gold, predicted))
    seen = {span: kind for span, kind in truth.items() if span[1] - span[0] <= max_width}
    right = {span: kind for span, kind in guess.items() if seen.get(span) == kind}
    linked = {pair: kind for pair, kind in predicted_links.items() if links.get(pair) == kind}
    strict = {pair: kind for pair, kind in linked.items() if all(guess[end] == truth[end] for end in pair)}
    wide = {span: kind for span, kind in truth.items() if span not in seen}
    parts: list[tuple[str, Sequence[str], tuple[dict[Any, str], ...]]] = [
        ("entity", entity_types, (right, guess, seen, wide)),
        ("relation", relation_types, (linked, predicted_links, links, {})),
        ("strict", relation_types, (strict, predicted_links, links, {})),
    ]
    columns = ("matched", "predicted", "gold", "unseen")
    return [
        {"part": part, "label": label}
        | {name: list(kinds.values()).count(label) for name, kinds in zip(columns, sets, strict=True)}
        for part, labels, sets in parts
        for label in labels
    ]


def _links(graph: WordGraph) -> dict[tuple[tuple[int, int], tuple[int, int]], str]:
    """Return the label of each relation by the spans of its head and tail."""
    ends = [(start, end) for start, end, _ in graph.entities]
    return {(ends[head], ends[tail]): kind for head, tail, kind in graph.relations}
