"""F1-RadGraph of texts: both sides' graphs, found by a model, compared by
:mod:`radeval_lib.metrics.radgraph`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.metrics.radgraph import (
    BothEmpty,
    Case,
    Graph,
    Level,
    combined_of,
    combined_sets,
    items,
    overlap,
    parse_graph,
)

if TYPE_CHECKING:
    from radeval_lib.data.radgraph import Annotation
    from radeval_lib.models.graph.extraction import Extractor

CHUNK = 1_000
"""Pairs whose texts are read together; memory grows with this, not with the number of pairs."""


class _GraphMetric(Metric):
    """What the metrics of RadGraph graphs share: the extractor, opened when first needed, and its chunks."""

    citation = "jain2021radgraph"
    needs = ("graph_model",)

    def __init__(self, graph_model: str, both_empty: BothEmpty, device: str) -> None:
        if both_empty not in get_args(BothEmpty):
            raise MetricError(
                f"unknown value {both_empty!r}", f"{self.name}.both_empty", _choices(get_args(BothEmpty))
            )
        self.graph_model, self.both_empty, self._device = graph_model, both_empty, device
        self._extractor: Extractor | None = None

    @property
    def extractor(self) -> Extractor:
        """What finds the graphs, opened when first needed."""
        if self._extractor is None:
            from radeval_lib.models.graph.extraction import open_extractor

            self._extractor = open_extractor(self.graph_model, device=self._device)
        return self._extractor

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Any]]:
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair))
            annotated = self.extractor.annotate(texts)
            read = {
                text: self._read(parse_graph(item["entities"]))
                for text, item in zip(texts, annotated, strict=True)
            }
            for reference, candidate in chunk:
                yield self._compare(read[reference], read[candidate])

    def compare(self, reference: Annotation, candidate: Annotation) -> float:
        """The score of two annotations in RadGraph's form, such as the package ``radgraph`` gives."""
        read = [self._read(parse_graph(item["entities"])) for item in (reference, candidate)]
        return self._compare(*read)[0]

    def _read(self, graph: Graph) -> Any:
        """What of a graph is compared."""
        raise NotImplementedError

    def _compare(self, reference: Any, candidate: Any) -> tuple[float, Any]:
        """The score and its detail."""
        raise NotImplementedError


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

    def __init__(
        self,
        *,
        graph_model: str = "radgraph:modern-radgraph-xl",
        level: Level = "partial",
        case: Case = "relations",
        both_empty: BothEmpty = "zero",
        device: str = "auto",
    ) -> None:
        super().__init__(graph_model, both_empty, device)
        for setting, value, allowed in (("level", level, get_args(Level)), ("case", case, get_args(Case))):
            if value not in allowed:
                raise MetricError(f"unknown value {value!r}", f"{self.name}.{setting}", _choices(allowed))
        self.level, self.case = level, case

    def settings(self) -> dict[str, Any]:
        return {
            "level": self.level,
            "case": self.case,
            "both_empty": self.both_empty,
            "graph_model": self.graph_model,
        }

    def _read(self, graph: Graph) -> Any:
        return items(graph, self.level, self.case)

    def _compare(self, reference: Any, candidate: Any) -> tuple[float, Any]:
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

    def __init__(
        self,
        *,
        graph_model: str = "radgraph:radgraph",
        both_empty: BothEmpty = "zero",
        device: str = "auto",
    ) -> None:
        super().__init__(graph_model, both_empty, device)

    def settings(self) -> dict[str, Any]:
        return {"both_empty": self.both_empty, "graph_model": self.graph_model}

    def _read(self, graph: Graph) -> Any:
        return combined_sets(graph)

    def _compare(self, reference: Any, candidate: Any) -> tuple[float, Any]:
        value, entities, relations = combined_of(reference, candidate, self.both_empty)
        return value, {"entities": entities, "relations": relations}


def _choices(allowed: Sequence[str]) -> str:
    return f"Choices: {', '.join(allowed)}."
