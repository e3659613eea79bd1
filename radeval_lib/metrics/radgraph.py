"""Comparison of RadGraph graphs: F1-RadGraph and the mean F1 of entities and relations, both as metrics.

Sources: Chen et al. 2023 (MIMIC-RRS), Appendix A.2; package ``radgraph`` 0.1.18; CXR-Report-Metric.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from radeval_lib.errors import check_choice
from radeval_lib.metrics.base import Metric, MetricError, Pair, register
from radeval_lib.metrics.cautions import Reason
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
    """An entity: its words, its label, such as "OBS-DP", and its outgoing relations, each as (type of
    relation, key of the target entity)."""

    tokens: str
    label: str
    relations: tuple[tuple[str, str], ...] = ()


Graph = Mapping[str, GraphEntity]


class Item(NamedTuple):
    """An entity or a relation in the form in which graphs are compared; fields not compared are empty."""

    tokens: str
    label: str
    relation: str = ""
    target: str = ""
    target_label: str = ""


class Overlap(NamedTuple):
    """Agreement of two sets of items: the size of their intersection (``common``) and of each set, and
    precision, recall and F1, from 0 to 1."""

    common: int
    reference: int
    candidate: int
    precision: float
    recall: float
    f1: float


def parse_graph(entities: Mapping[str, Mapping[str, Any]]) -> dict[str, GraphEntity]:
    """Return a graph, a mapping from key to entity, from the dictionary ``entities`` of a text in RadGraph
    format; numeric keys become str."""
    return {
        str(key): GraphEntity(
            entity["tokens"],
            entity["label"],
            tuple((str(kind), str(target)) for kind, target in entity.get("relations") or ()),
        )
        for key, entity in entities.items()
    }


def build_graph(
    entities: Sequence[tuple[str, str]], relations: Iterable[tuple[int, str, int]] = ()
) -> dict[str, GraphEntity]:
    """Return a graph from entities (tokens, label) and relations (source, type, target).

    Source and target are 0-based positions in ``entities``; the graph's keys are the positions from 1, as
    str.
    """
    outgoing: dict[int, list[tuple[str, str]]] = {}
    for source, kind, target in relations:
        outgoing.setdefault(source, []).append((kind, str(target + 1)))
    return {
        str(position + 1): GraphEntity(tokens, label, tuple(outgoing.get(position, ())))
        for position, (tokens, label) in enumerate(entities)
    }


def list_items(graph: Graph, level: Level, case: Case = "relations") -> Iterator[tuple[str, Item]]:
    """Yield the items of a graph that a reward level compares, each with the key of its entity; equal items
    are not merged.

    Parameters
    ----------
    level : ``simple`` compares tokens and label; ``partial`` also compares whether the entity has an outgoing
        relation. With ``complete``, an entity without relations gives one item, its tokens and label; any
        other gives an item for each relation, with its tokens and label, the relation's type and the target's
        tokens.
    case : ``relations`` lower-cases only the words of relation items at level ``complete``, as does the
        package ``radgraph`` 0.1.18 of the Python Package Index. ``fold`` lower-cases all words, as does the
        package's repository since commit 87f11a1 of July 2026. ``keep`` lower-cases none.

    Raises
    ------
    MetricError
        If ``level`` or ``case`` is unknown.
    KeyError
        At level ``complete``, if the target of a relation is not an entity of the graph.
    """

    check_choice(level, Level, "level", MetricError)
    check_choice(case, Case, "case", MetricError)

    def set_case(words: str, in_relation: bool = False) -> str:
        return words.lower() if case == "fold" or (case == "relations" and in_relation) else words

    for key, entity in graph.items():
        if level == "simple" or not entity.relations:
            yield key, Item(set_case(entity.tokens), entity.label)
        elif level == "partial":
            yield key, Item(set_case(entity.tokens), entity.label, "any")
        else:
            for kind, target_key in entity.relations:
                target_words = set_case(graph[target_key].tokens, True)
                yield key, Item(set_case(entity.tokens, True), entity.label, kind, target_words)


def list_entities_and_relations(graph: Graph) -> Iterator[tuple[str, Item]]:
    """Yield a graph's entities, then its relations with both labels, each with the key of its entity.

    Raises KeyError if the target of a relation is not an entity of the graph.
    """
    yield from list_items(graph, "simple", "keep")
    for key, entity in graph.items():
        for kind, target_key in entity.relations:
            target = graph[target_key]
            yield key, Item(entity.tokens, entity.label, kind, target.tokens, target.label)


def measure_overlap(reference: set[Item], candidate: set[Item], both_empty: BothEmpty = "zero") -> Overlap:
    """Return the agreement of two sets of items.

    If both sets are empty, precision, recall and F1 are 0 or 1, as ``both_empty`` says; if only one set is
    empty, they are 0.
    """
    if not candidate and not reference and both_empty == "one":
        return Overlap(0, 0, 0, 1.0, 1.0, 1.0)
    common = len(candidate & reference)
    precision = common / len(candidate) if candidate else 0.0
    recall = common / len(reference) if reference else 0.0
    return Overlap(common, len(reference), len(candidate), precision, recall, f1(precision, recall))


def compare(
    reference: Graph,
    candidate: Graph,
    level: Level = "partial",
    case: Case = "relations",
    both_empty: BothEmpty = "zero",
) -> Overlap:
    """Return the agreement of two graphs; its ``f1`` is F1-RadGraph, from 0 to 1 (the paper multiplies it by
    100).

    Parameters
    ----------
    reference, candidate : graphs from :func:`parse_graph` or :func:`build_graph`.
    level, case : what is compared, and which words are lower-cased; see :func:`list_items`.
    both_empty : F1 if neither graph has an entity: ``zero``, as in the released code, or ``one``.

    Raises
    ------
    MetricError
        If ``level`` or ``case`` is unknown.
    KeyError
        At level ``complete``, if the target of a relation is not an entity of its graph.
    """
    item_sets = [{item for _, item in list_items(graph, level, case)} for graph in (reference, candidate)]
    return measure_overlap(item_sets[0], item_sets[1], both_empty)


def radgraph_combined(reference: Graph, candidate: Graph, both_empty: BothEmpty = "zero") -> float:
    """Return the mean of entity F1 and relation F1 of two graphs, from 0 to 1, as in CXR-Report-Metric.

    Entities are compared by tokens and label, relations by both entities and their type; matching is
    case-sensitive.

    Parameters
    ----------
    both_empty : entity (relation) F1 if neither graph has an entity (relation): ``zero``, as in the released
        code, so that two identical reports without relations score 0.5, or ``one``.

    Raises
    ------
    KeyError
        If the target of a relation is not an entity of its graph.
    """
    sides = (list_entities_and_relations(graph) for graph in (reference, candidate))
    reference_items, candidate_items = ({item for _, item in items} for items in sides)
    return average_two_f1(reference_items, candidate_items, both_empty)[0]


def average_two_f1(
    reference: set[Item], candidate: set[Item], both_empty: BothEmpty = "zero"
) -> tuple[float, dict[str, Overlap]]:
    """Return the mean of entity F1 and relation F1, from 0 to 1, and a dictionary with the agreement of each,
    under the keys ``entities`` and ``relations``."""
    overlaps, sides = {}, (reference, candidate)
    for kind, is_relation in (("entities", False), ("relations", True)):
        item_sets = [{item for item in side if bool(item.relation) == is_relation} for side in sides]
        overlaps[kind] = measure_overlap(item_sets[0], item_sets[1], both_empty)
    return (overlaps["entities"].f1 + overlaps["relations"].f1) / 2, overlaps


def find_spans(text: str, annotation: Annotation) -> dict[str, Span]:
    """Return a mapping from the key of each annotated entity to its (start, end) in a text.

    The mapping is empty if the annotation and the text differ in more than white space.
    """
    words = annotation["text"].split()
    if "".join(words) != "".join(text.split()):
        return {}
    visible_positions = [index for index, char in enumerate(text) if not char.isspace()]
    word_ends = list(accumulate(map(len, words)))
    return {
        key: (
            visible_positions[word_ends[entity["start_ix"]] - len(words[entity["start_ix"]])],
            visible_positions[word_ends[entity["end_ix"]] - 1] + 1,
        )
        for key, entity in annotation["entities"].items()
    }


#: The number of pairs whose texts are annotated together; memory grows with it, not with the number of pairs.
CHUNK = 1_000


class _GraphMetric(Metric):
    """Base class of metrics that compare RadGraph graphs; it extracts the graphs and explains the scores."""

    citation = "jain2021radgraph"
    required_roles = ("graph_model",)
    graph_model: str
    both_empty: BothEmpty = "zero"
    device: str = "auto"

    @abstractmethod
    def _list_items(self, graph: Graph) -> Iterator[tuple[str, Item]]:
        """Yield the items that are compared, each with the key of its entity."""

    @cached_property
    def extractor(self) -> Extractor:
        """The model that extracts graphs from texts, loaded when first needed; raises ModelError if it cannot
        be loaded."""
        from radeval_lib.models.graph_extraction import open_shared_extractor

        return open_shared_extractor(self.graph_model, device=self.device)

    def _extract_items(self, pairs: Sequence[Pair]) -> Iterator[tuple[set[Item], set[Item]]]:
        """Yield, for each pair, the set of the reference's items and the set of the candidate's items."""
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair))
            items_of = {
                text: {item for _, item in self._list_items(parse_graph(annotation["entities"]))}
                for text, annotation in zip(texts, self.extractor.annotate(texts), strict=True)
            }
            for reference, candidate in chunk:
                yield items_of[reference], items_of[candidate]

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterator[str]:
        """Yield a caution if the model finds no entity in a text that is not empty."""
        entity_overlap: Overlap = detail if isinstance(detail, Overlap) else detail["entities"]
        texts = ((reference, entity_overlap.reference), (candidate, entity_overlap.candidate))
        if any(text.strip() and not entity_count for text, entity_count in texts):
            yield "the graph model finds no entity in a text"

    def explain(self, reference: str, candidate: str, detail: Any) -> Iterator[Reason]:
        """Yield a reason for each item of either text, with the position of its first occurrence."""
        texts = (reference, candidate)
        spans_of_texts: list[dict[Item, Span | None]] = []
        for text, annotation in zip(texts, self.extractor.annotate([*map(one_line, texts)]), strict=True):
            spans, first_spans = find_spans(text, annotation), dict[Item, Span | None]()
            for key, item in self._list_items(parse_graph(annotation["entities"])):
                first_spans.setdefault(item, spans.get(key))
            spans_of_texts.append(first_spans)
        reference_spans, candidate_spans = spans_of_texts
        for item in dict.fromkeys([*reference_spans, *candidate_spans]):
            labels = f"{item.label} {item.relation} {item.target_label}" if item.target_label else item.label
            is_shared = item in reference_spans and item in candidate_spans
            yield Reason(
                "matched" if is_shared else "unmatched",
                labels,
                says="with a relation" if item.relation and not item.target else "",
                quoted=f"{item.relation} {item.target}" if item.target else "",
                credit=float(is_shared),
                reference=reference_spans.get(item),
                candidate=candidate_spans.get(item),
            )


@register
class F1RadGraph(_GraphMetric):
    """F1-RadGraph of two texts (Chen et al. 2023, MIMIC-RRS, Appendix A.2), from 0 to 1.

    The levels are those of the package ``radgraph`` 0.1.18; the paper multiplies by 100. Each score's detail
    is an :class:`~radeval_lib.metrics.radgraph.Overlap`.

    Parameters
    ----------
    graph_model : the model that extracts the graphs; see
        :func:`~radeval_lib.models.graph_extraction.open_extractor`.
    level, case : the compared items, and which words are lower-cased; see
        :func:`~radeval_lib.metrics.radgraph.list_items`. The level ``partial`` compares the triplets of A.2.
    both_empty : the score if neither text has an entity: ``zero``, as in the package, or ``one``. An empty
        text has no entities.
    device : ``auto``, ``cpu`` or ``cuda``.
    """

    name = "f1_radgraph"
    title = "RadGraph F1"
    variant = "level"
    graph_model: str = "radgraph:modern-radgraph-xl"
    level: Level = "partial"
    case: Case = "relations"

    def _list_items(self, graph: Graph) -> Iterator[tuple[str, Item]]:
        """Yield the items of the reward level ``level``."""
        return list_items(graph, self.level, self.case)

    def _score_pairs(self, pairs: Sequence[Pair]) -> Iterator[tuple[float, Overlap]]:
        """Yield F1 and the agreement of the items for each pair."""
        for reference_items, candidate_items in self._extract_items(pairs):
            agreement = measure_overlap(reference_items, candidate_items, self.both_empty)
            yield agreement.f1, agreement


@register
class RadGraphCombined(_GraphMetric):
    """Mean of entity F1 and relation F1 (``radgraph_combined`` of CXR-Report-Metric), from 0 to 1.

    Each score's detail is a dictionary with the :class:`~radeval_lib.metrics.radgraph.Overlap` of
    ``entities`` and of ``relations``.

    Parameters
    ----------
    graph_model, device : as for :class:`F1RadGraph`; the released code uses the model ``radgraph``.
    both_empty : entity F1, or relation F1, if neither text has an entity, or a relation: ``zero``, as in the
        released code, so that identical texts without relations score 0.5, or ``one``.
    """

    name = "radgraph_combined"
    title = "RadGraph entities and relations"
    citation = "yu2023radcliq"
    variant = "mean-of-two-f1"
    graph_model: str = "radgraph:radgraph"

    def _list_items(self, graph: Graph) -> Iterator[tuple[str, Item]]:
        """Yield the entities and relations of a graph."""
        return list_entities_and_relations(graph)

    def _score_pairs(self, pairs: Sequence[Pair]) -> Iterator[tuple[float, dict[str, Overlap]]]:
        """Yield the mean F1, and the agreement of entities and of relations, for each pair."""
        for reference_items, candidate_items in self._extract_items(pairs):
            yield average_two_f1(reference_items, candidate_items, self.both_empty)
