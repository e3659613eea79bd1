"""F1-RadGraph and the mean F1 of entities and relations as metrics of texts, or of annotations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from radeval_lib.metrics.base import Metric, register
from radeval_lib.metrics.radgraph import (
    BothEmpty,
    Case,
    Graph,
    Item,
    Level,
    Overlap,
    entities_and_relations,
    keyed_items,
    mean_of_two_f1,
    overlap,
    parse_graph,
)
from radeval_lib.metrics.reasons import Reason, places
from radeval_lib.rules.report_text.words import Span

if TYPE_CHECKING:
    from radeval_lib.data.radgraph import Annotation
    from radeval_lib.models.graph.extraction import Extractor


def character_spans(text: str, annotated: Annotation) -> dict[str, Span]:
    """Return where the entities of an annotation stand in its text, by key; empty where it is of another
    text."""
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
        from radeval_lib.models.graph.extraction import shared_extractor

        return shared_extractor(self.graph_model, device=self.device)

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Any]]:
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair))
            read = dict(zip(texts, map(self._read, self.extractor.annotate(texts)), strict=True))
            for reference, candidate in chunk:
                yield self._compare(read[reference], read[candidate])

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterator[str]:
        found: Overlap = detail if isinstance(detail, Overlap) else detail["entities"]
        texts = ((reference, found.reference), (candidate, found.candidate))
        if any(text.strip() and not entities for text, entities in texts):
            yield "the graph model finds no entity in a text"

    def _reasons(self, reference: str, candidate: str, detail: Any) -> Iterator[Reason]:
        """Yield an item that a text has several times is reported once, at its first place."""
        texts = (reference, candidate)
        both = zip(texts, self.extractor.annotate(texts), strict=True)
        ours, theirs = (self._first_places(*one) for one in both)
        for item in dict.fromkeys([*ours, *theirs]):
            shared = item in ours and item in theirs
            yield Reason(
                "matched" if shared else "unmatched",
                **self._fields_of(item),
                credit=float(shared),
                reference=ours.get(item),
                candidate=theirs.get(item),
            )

    def _first_places(self, text: str, annotated: Annotation) -> dict[Item, Span | None]:
        where, found = character_spans(text, annotated), dict[Item, Span | None]()
        for key, item in self._items(parse_graph(annotated["entities"])):
            found.setdefault(item, where.get(key))
        return found

    def compare(self, reference: Annotation, candidate: Annotation) -> float:
        """Return the score of two annotations in RadGraph's form, such as the package ``radgraph`` gives."""
        return self._compare(self._read(reference), self._read(candidate))[0]

    def _read(self, annotated: Annotation) -> set[Item]:
        return {item for _, item in self._items(parse_graph(annotated["entities"]))}

    @abstractmethod
    def _items(self, graph: Graph) -> Iterator[tuple[str, Item]]:
        """Return the items that are compared, each with the key of the entity that it is of."""

    @abstractmethod
    def _fields_of(self, item: Item) -> dict[str, Any]:
        """Return what is reported about an item, as fields of
        :class:`~radeval_lib.metrics.reasons.Reason`."""

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
    graph_model : what finds the graphs, see :func:`~radeval_lib.models.graph.extraction.open_extractor`.
    level : ``partial`` are A.2's triplets; see :func:`~radeval_lib.metrics.radgraph.items`.
    case : likewise.
    both_empty : the value where neither text has an entity: ``zero`` as in the package, or ``one``. An empty
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
        found = overlap(candidate, reference, self.both_empty)
        return found.f1, found


@register
class RadGraphCombined(_GraphMetric):
    """Mean of the F1 of entities and of relations (``radgraph_combined`` of CXR-Report-Metric), from 0 to 1.

    Parameters
    ----------
    graph_model, device : as for :class:`F1RadGraph`; the released code uses the model ``radgraph``.
    both_empty : the value of either F1 where neither text has an item: ``zero`` as released, so that
        identical texts without relations score 0.5, or ``one``.
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
