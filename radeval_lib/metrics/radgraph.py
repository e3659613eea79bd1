"""RadGraph graphs compared: F1-RadGraph, and the mean F1 of entities and of relations; both as metrics.

Sources: Chen et al. 2023 (MIMIC-RRS), Appendix A.2; package ``radgraph`` 0.1.18; CXR-Report-Metric.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from radeval_lib.metrics.base import Metric, register
from radeval_lib.metrics.reasons import Reason, places
from radeval_lib.rules.report_text.words import Span
from radeval_lib.stats.base import f1
from radeval_lib.stats.tokens import one_line

if TYPE_CHECKING:
    from radeval_lib.data.radgraph import Annotation
    from radeval_lib.models.graph_extraction import Extractor

Level = Literal["simple", "partial", "complete"]
Case = Literal["relations", "fold", "keep"]
BothEmpty = Literal["zero", "one"]


class GraphEntity(NamedTuple):
    """One entity: its words, its label ("OBS-DP"), its outgoing relations as (type, key of the other)."""

    tokens: str
    label: str
    relations: tuple[tuple[str, str], ...] = ()


Graph = Mapping[str, GraphEntity]
Item = tuple[Any, ...]


class Overlap(NamedTuple):
    """Agreement of two sets of items: the sizes of both and of their intersection; shares from 0 to 1."""

    common: int
    candidate: int
    reference: int
    precision: float
    recall: float
    f1: float


def parse_graph(entities: Mapping[str, Mapping[str, Any]]) -> dict[str, GraphEntity]:
    """Return the graph in RadGraph's ``entities`` dictionary of one text; numeric keys become texts."""
    return {
        str(key): GraphEntity(
            entity["tokens"],
            entity["label"],
            tuple((str(kind), str(other)) for kind, other in entity.get("relations") or ()),
        )
        for key, entity in entities.items()
    }


def build_graph(
    entities: Sequence[tuple[str, str]], relations: Iterable[tuple[int, str, int]] = ()
) -> dict[str, GraphEntity]:
    """Return a graph from (tokens, label) pairs and (source, type, target) triples of positions from 0."""
    outgoing: dict[int, list[tuple[str, str]]] = {}
    for source, kind, target in relations:
        outgoing.setdefault(source, []).append((kind, str(target + 1)))
    return {
        str(position + 1): GraphEntity(tokens, label, tuple(outgoing.get(position, ())))
        for position, (tokens, label) in enumerate(entities)
    }


def items(graph: Graph, level: Level, case: Case = "relations") -> set[Item]:
    """Return the set of a graph's items that a reward level compares; duplicates collapse.

    Parameters
    ----------
    level : ``simple``: (tokens, label). ``partial``: also whether the entity has an outgoing relation.
        ``complete``: an entity without one gives (tokens, label), any other gives one
        (tokens, label, type, tokens of the target) for each relation; the target's label is not compared.
    case : which words are lower-cased. ``relations``: those of complete's relation items alone, as the
        ``radgraph`` package 0.1.18 of the Python Package Index does; ``fold``: all, as its repository does
        since commit 87f11a1 of July 2026 without a new version; ``keep``: none.
    """
    return {item for _, item in keyed_items(graph, level, case)}


def keyed_items(graph: Graph, level: Level, case: Case) -> Iterator[tuple[str, Item]]:
    """Yield each item with the key of its entity."""

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
    """Return the agreement of two sets of items; see :func:`compare`."""
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
    both_empty : value if neither side has an entity: ``zero`` as the reference code, or ``one``.
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
    """Return the mean of entity F1 and relation F1: ``radgraph_combined`` of CXR-Report-Metric, from 0 to 1.

    Entities are (tokens, label), relations (source, target, type) with both labels, all case-sensitive.

    Parameters
    ----------
    both_empty : value of either F1 if neither side has an item. The reference code takes ``zero``, so that
        two identical reports without relations score 0.5; ``one`` gives them 1.
    """
    ours, theirs = ({item for _, item in entities_and_relations(graph)} for graph in (reference, candidate))
    return mean_of_two_f1(ours, theirs, both_empty)[0]


def mean_of_two_f1(
    reference: set[Item], candidate: set[Item], both_empty: BothEmpty
) -> tuple[float, dict[str, Overlap]]:
    """Return the mean of two F1 scores, and their overlaps; relations are triples of parts."""
    overlaps = {}
    for name, size in (("entities", 2), ("relations", 3)):
        ours, theirs = ({item for item in side if len(item) == size} for side in (reference, candidate))
        overlaps[name] = overlap(theirs, ours, both_empty)
    return (overlaps["entities"].f1 + overlaps["relations"].f1) / 2, overlaps


def character_spans(text: str, annotated: Annotation) -> dict[str, Span]:
    """Return where an annotation's entities are in its text, by key; empty if it is of another text."""
    words = annotated["text"].split()
    where = places(text)
    if "".join(words) != "".join(text.split()):
        return {}
    ends = list(accumulate(map(len, words)))
    return {
        key: (
            where[ends[item["start_ix"]] - len(words[item["start_ix"]])],
            where[ends[item["end_ix"]] - 1] + 1,
        )
        for key, item in annotated["entities"].items()
    }


CHUNK = 1_000
"""Pairs whose texts are read together; memory grows with this, not with the number of pairs."""


class _GraphMetric(Metric):
    """What the metrics of RadGraph graphs share: the extractor, opened when first needed, and its chunks."""

    citation = "jain2021radgraph"
    needs = ("graph_model",)
    graph_model: str
    both_empty: BothEmpty = "zero"
    device: str = "auto"

    @cached_property
    def extractor(self) -> Extractor:
        """What finds the graphs, opened when first needed."""
        from radeval_lib.models.graph_extraction import shared_extractor

        return shared_extractor(self.graph_model, device=self.device)

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Any]]:
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair))
            read = {
                text: {item for _, item in self._items(parse_graph(annotated["entities"]))}
                for text, annotated in zip(texts, self.extractor.annotate(texts), strict=True)
            }
            for reference, candidate in chunk:
                yield self._compare(read[reference], read[candidate])

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterator[str]:
        result: Overlap = detail if isinstance(detail, Overlap) else detail["entities"]
        texts = ((reference, result.reference), (candidate, result.candidate))
        if any(text.strip() and not entities for text, entities in texts):
            yield "the graph model finds no entity in a text"

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterator[Reason]:
        """Yield a reason for each item of either text, at its first place."""
        texts = (reference, candidate)
        sides: list[dict[Item, Span | None]] = []  # by item its first place
        for text, annotated in zip(texts, self.extractor.annotate([*map(one_line, texts)]), strict=True):
            where, first = character_spans(text, annotated), dict[Item, Span | None]()
            for key, item in self._items(parse_graph(annotated["entities"])):
                first.setdefault(item, where.get(key))
            sides.append(first)
        ours, theirs = sides
        for item in dict.fromkeys([*ours, *theirs]):
            shared = item in ours and item in theirs
            yield Reason(
                "matched" if shared else "unmatched",
                **self._fields_of(item),
                credit=float(shared),
                reference=ours.get(item),
                candidate=theirs.get(item),
            )

    @abstractmethod
    def _items(self, graph: Graph) -> Iterator[tuple[str, Item]]:
        """Return the items that are compared, each with the key of the entity that it is of."""

    @abstractmethod
    def _fields_of(self, item: Item) -> dict[str, Any]:
        """Return the report on an item, as fields of :class:`~radeval_lib.metrics.reasons.Reason`."""

    @abstractmethod
    def _compare(self, reference: set[Item], candidate: set[Item]) -> tuple[float, Any]:
        """Return the score of two texts' items, and its detail."""


@register
class F1RadGraph(_GraphMetric):
    """F1-RadGraph (Chen et al. 2023, MIMIC-RRS, Appendix A.2; levels of the package ``radgraph`` 0.1.18),
    from 0 to 1; the paper multiplies by 100. Each value's detail is an
    :class:`~radeval_lib.metrics.radgraph.Overlap`.

    Parameters
    ----------
    graph_model : what finds the graphs, see :func:`~radeval_lib.models.graph_extraction.open_extractor`.
    level : ``partial`` are A.2's triplets; see :func:`~radeval_lib.metrics.radgraph.items`.
    case : likewise.
    both_empty : the value if neither text has an entity: ``zero`` as in the package, or ``one``. An empty
        text has none.
    device : ``auto``, ``cpu`` or ``cuda``.
    """

    name = "f1_radgraph"
    title = "RadGraph F1"
    variant = "level"
    graph_model: str = "radgraph:modern-radgraph-xl"
    level: Level = "partial"
    case: Case = "relations"

    def _items(self, graph: Graph) -> Iterator[tuple[str, Item]]:
        return keyed_items(graph, self.level, self.case)

    def _fields_of(self, item: Item) -> dict[str, Any]:
        _, label, *relation = map(str, item)
        if len(relation) == 2:
            return {"category": label, "quoted": " ".join(relation)}
        return {"category": label, "says": "with a relation" if relation else ""}

    def _compare(self, reference: set[Item], candidate: set[Item]) -> tuple[float, Any]:
        result = overlap(candidate, reference, self.both_empty)
        return result.f1, result


@register
class RadGraphCombined(_GraphMetric):
    """Mean of the F1 of entities and of relations (``radgraph_combined`` of CXR-Report-Metric), from 0 to 1.

    Parameters
    ----------
    graph_model, device : as for :class:`F1RadGraph`; the released code uses the model ``radgraph``.
    both_empty : the value of either F1 if neither text has an item: ``zero`` as released, so that identical
        texts without relations score 0.5, or ``one``.
    """

    name = "radgraph_combined"
    title = "RadGraph entities and relations"
    citation = "yu2023radcliq"
    variant = "mean-of-two-f1"
    graph_model: str = "radgraph:radgraph"

    def _items(self, graph: Graph) -> Iterator[tuple[str, Item]]:
        return entities_and_relations(graph)

    def _fields_of(self, item: Item) -> dict[str, Any]:
        if len(item) == 2:
            return {"category": str(item[1])}
        (_, label), (target, other), kind = item
        return {"category": f"{label} {kind} {other}", "quoted": f"{kind} {target}"}

    def _compare(self, reference: set[Item], candidate: set[Item]) -> tuple[float, Any]:
        return mean_of_two_f1(reference, candidate, self.both_empty)
