"""RadGraph graphs compared: F1-RadGraph, and the mean F1 of entities and of relations.

Sources: Chen et al. 2023 (MIMIC-RRS), Appendix A.2; package ``radgraph`` 0.1.18; CXR-Report-Metric.

The metrics of texts are in :mod:`radeval_lib.metrics.radgraph_metrics`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from radeval_lib.errors import check_choice
from radeval_lib.metrics.base import MetricError
from radeval_lib.stats.f_scores import f1

Level = Literal["simple", "partial", "complete"]
Case = Literal["relations", "fold", "keep"]
BothEmpty = Literal["zero", "one"]
Direction = Literal["outgoing", "either"]


class GraphEntity(NamedTuple):
    """One entity: its words, its label ("OBS-DP"), its outgoing relations as (type, key of the other)."""

    tokens: str
    label: str
    relations: tuple[tuple[str, str], ...] = ()


Graph = Mapping[str, GraphEntity]
Item = tuple[Any, ...]


class Overlap(NamedTuple):
    """Agreement of two sets of items: sizes of the intersection and of the two sets; shares from 0 to 1."""

    common: int
    candidate: int
    reference: int
    precision: float
    recall: float
    f1: float


def parse_graph(entities: Mapping[str, Mapping[str, Any]]) -> dict[str, GraphEntity]:
    """Read RadGraph's ``entities`` dictionary of one text; keys that are numbers become texts.

    Raises
    ------
    ValueError
        If an entity has no tokens or label, or a relation is not [type, key of an entity that is there].
    """
    keys, graph = {str(key) for key in entities}, dict[str, GraphEntity]()
    for key, entity in entities.items():
        named = isinstance(entity, Mapping) and all(
            isinstance(entity.get(name), str) for name in ("tokens", "label")
        )
        if not named:
            raise ValueError(f"entity {key!r} has no text tokens or label; give RadGraph's own JSON")
        relations = entity.get("relations") or ()
        if any(isinstance(one, str) or len(one) != 2 for one in relations):
            raise ValueError(f"a relation of entity {key!r} is not [type, key of the other]")
        if lost := [other for _, other in relations if str(other) not in keys]:
            raise ValueError(f"a relation of entity {key!r} points at {lost[0]!r}, which is not there")
        outgoing = tuple((str(kind), str(other)) for kind, other in relations)
        graph[str(key)] = GraphEntity(entity["tokens"], entity["label"], outgoing)
    return graph


def build_graph(
    entities: Sequence[tuple[str, str]], relations: Iterable[tuple[int, str, int]] = ()
) -> dict[str, GraphEntity]:
    """Return a graph from (tokens, label) pairs and (source, type, target) triples of positions from 0; a
    position that is not there is a ValueError."""
    outgoing: dict[int, list[tuple[str, str]]] = {}
    for source, kind, target in relations:
        if not (0 <= source < len(entities) and 0 <= target < len(entities)):
            raise ValueError(f"relation {source} to {target} is outside the {len(entities)} entities")
        outgoing.setdefault(source, []).append((kind, str(target + 1)))
    return {
        str(position + 1): GraphEntity(tokens, label, tuple(outgoing.get(position, ())))
        for position, (tokens, label) in enumerate(entities)
    }


def triplets(graph: Graph, direction: Direction = "outgoing") -> list[tuple[str, str, int]]:
    """Return the triplets (entity, label, has a relation) of MIMIC-RRS, Appendix A.2, in the annotation's
    order.

    Parameters
    ----------
    direction : ``outgoing`` counts a relation for its source alone, as the reference code does; ``either``
        counts it for both of its ends.
    """
    check_choice(direction, Direction, "direction", MetricError)
    related = {key for key, entity in graph.items() if entity.relations}
    if direction == "either":
        related |= {other for entity in graph.values() for _, other in entity.relations}
    return [(entity.tokens, entity.label, int(key in related)) for key, entity in graph.items()]


def items(graph: Graph, level: Level, case: Case = "relations") -> set[Item]:
    """Return the set of items of a graph that a reward level compares; duplicates collapse.

    Parameters
    ----------
    level : ``simple``: (tokens, label). ``partial``: also whether the entity has an outgoing relation.
        ``complete``: an entity without one gives (tokens, label), any other gives one
        (tokens, label, type, tokens of the target) for each relation; the target's label is not compared.
    case : which words are lower-cased. ``relations``: those of complete's relation items alone, as the
        ``radgraph`` package 0.1.18 of the Python Package Index does; ``fold``: all, as its repository does
        since commit 87f11a1 of July 2026 without a new version; ``keep``: none.
    """
    check_choice(level, Level, "level", MetricError)
    check_choice(case, Case, "case", MetricError)
    return {item for _, item in keyed_items(graph, level, case)}


def keyed_items(graph: Graph, level: Level, case: Case) -> Iterator[tuple[str, Item]]:
    """Yield each item with the key of the entity that it is of."""

    def words(text: str, in_relation: bool = False) -> str:
        return text.lower() if case == "fold" or (case == "relations" and in_relation) else text

    for key, entity in graph.items():
        if level == "simple" or not entity.relations:
            yield key, (words(entity.tokens), entity.label)
        elif level == "partial":
            yield key, (words(entity.tokens), entity.label, True)
        else:
            for kind, other in entity.relations:
                target = words(graph[other].tokens, True)
                yield key, (words(entity.tokens, True), entity.label, kind, target)


def overlap(candidate: set[Any], reference: set[Any], both_empty: BothEmpty = "zero") -> Overlap:
    """Return agreement of two sets of items; see :func:`compare`."""
    check_choice(both_empty, BothEmpty, "both_empty", MetricError)
    if not candidate and not reference and both_empty == "one":
        return Overlap(0, 0, 0, 1.0, 1.0, 1.0)
    common = len(candidate & reference)
    precision = common / len(candidate) if candidate else 0.0
    recall = common / len(reference) if reference else 0.0
    return Overlap(common, len(candidate), len(reference), precision, recall, f1(precision, recall))


def compare(
    reference: Graph,
    candidate: Graph,
    level: Level = "partial",
    case: Case = "relations",
    both_empty: BothEmpty = "zero",
) -> Overlap:
    """Return F1-RadGraph of one pair, as an :class:`Overlap`; the paper multiplies by 100.

    Parameters
    ----------
    reference, candidate : graphs from :func:`parse_graph` or :func:`build_graph`.
    level, case : see :func:`items`.
    both_empty : value where neither side has an entity: ``zero`` as the reference code, or ``one``.
    """
    return overlap(items(candidate, level, case), items(reference, level, case), both_empty)


def entities_and_relations(graph: Graph) -> Iterator[tuple[str, Item]]:
    """Yield entities as (tokens, label), relations as (source, target, type) with both labels, each with a
    key."""
    yield from keyed_items(graph, "simple", "keep")
    for key, entity in graph.items():
        for kind, other in entity.relations:
            target = graph[other].tokens, graph[other].label
            yield key, ((entity.tokens, entity.label), target, kind)


def radgraph_combined(reference: Graph, candidate: Graph, both_empty: BothEmpty = "zero") -> float:
    """Mean of entity F1 and relation F1: the ``radgraph_combined`` of CXR-Report-Metric, from 0 to 1.

    Entities are (tokens, label), relations (source, target, type) with both labels, all case-sensitive.

    Parameters
    ----------
    both_empty : value of either F1 where neither side has an item. The reference code takes ``zero``, so
        that two identical reports without relations score 0.5; ``one`` gives them 1.
    """
    ours, theirs = ({item for _, item in entities_and_relations(graph)} for graph in (reference, candidate))
    return mean_of_two_f1(ours, theirs, both_empty)[0]


def mean_of_two_f1(
    reference: set[Item], candidate: set[Item], both_empty: BothEmpty
) -> tuple[float, dict[str, Overlap]]:
    """Return the mean of two F1, and the overlaps that it is the mean of; relations are the items of three
    parts."""
    found = {}
    for name, size in (("entities", 2), ("relations", 3)):
        ours, theirs = ({item for item in side if len(item) == size} for side in (reference, candidate))
        found[name] = overlap(theirs, ours, both_empty)
    return (found["entities"].f1 + found["relations"].f1) / 2, found
