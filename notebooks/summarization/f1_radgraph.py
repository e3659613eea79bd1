"""Score variants of MIMIC-RRS's worked example of F1-RadGraph, and compare gold graphs with a model's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import get_args

import numpy as np
import pandas as pd

from radeval_lib.data.generated import make_radgraph_record
from radeval_lib.metrics import radgraph
from radeval_lib.metrics.radgraph import Case, Graph, Level, compare, parse_graph
from radeval_lib.models.graph_extraction import Extractor
from radeval_lib.papers.printed_numbers import printed, quotations
from radeval_lib.rules.generator.planted_errors import ErrorPair
from radeval_lib.stats.base import Estimate
from radeval_lib.stats.measures import MICRO, intervals
from radeval_lib.study.checks import Check, check_statement
from radeval_lib.text_format import out_of

Edge = tuple[str, str]
Graphs = list[list[Graph]]
"""The graphs of the references, then those of the candidates, of the same pairs."""


def list_triplets(graph: Graph, ends: str = "outgoing") -> list[tuple[str, str, int]]:
    """Return (words, label, flag) of each entity of a graph, in order; the flag is 1 if it has a relation.

    With ``ends="outgoing"``, an entity has a relation if one starts at it; with ``ends="either"``, also if
    one ends at it. Otherwise, the flag is 0.
    """
    related = {key for key, entity in graph.items() if entity.relations}
    if ends == "either":
        related |= {other for entity in graph.values() for _, other in entity.relations}
    return [(entity.tokens, entity.label, int(key in related)) for key, entity in graph.items()]


def check_schema(example: Example) -> list[Check]:
    """Return checks of the paper's description of RadGraph's schema.

    It must name two concepts, three levels, four labels and three types of relation, and its example must use
    these labels and relate two entities at a time.
    """
    entities, relations = (words.replace("- ", "-") for _, words in quotations("rrs.def_schema"))
    labels = re.findall(r"\(((?:ANAT|OBS)-\w+)", entities)
    types = [name.strip() for name in re.findall(r"([A-Z]\w+(?: \w+)?) \(\., \.\)", relations)]
    used_labels = [label.upper() for label in printed("rrs.example_a2_graph")["label"].drop_duplicates()]
    joining = sum(len({*edge} & {*example.nodes}) == 2 for edge in example.edges)

    def words(names: list[str]) -> str:
        return f"{len(names)}: {', '.join(names)}"

    concepts = list(dict.fromkeys(label.split("-")[0] for label in labels))
    levels = [label for label in labels if label.startswith("OBS-")]
    return [
        check_statement("concepts", "two concepts", words(concepts), len(concepts) == 2),
        check_statement("levels of Observation", "three uncertainty levels", words(levels), len(levels) == 3),
        check_statement("entity labels", "four different entities", words(labels), len(labels) == 4),
        check_statement("relation types", "three levels", words(types), len(types) == 3),
        check_statement(
            "labels of the example",
            "leading to four different entities",
            ", ".join(used_labels),
            set(used_labels) <= set(labels),
        ),
        check_statement(
            "relations of the example",
            "between two entities",
            f"{out_of(joining, len(example.edges), str)} join two entities",
            joining == len(example.edges),
        ),
    ]


@dataclass(frozen=True)
class Example:
    """The graph of the worked example in Appendix A.2.

    Attributes
    ----------
    nodes : the entities, from the printed set V.
    edges : (start, end) of each relation, from the printed set E.
    labels : the label of each entity, from the printed triplets T.
    """

    nodes: list[str]
    edges: list[Edge]
    labels: dict[str, str]

    @classmethod
    def read(cls) -> Example:
        """Read the example from the paper's sentences in ``rrs.example_a2_graph``."""
        nodes, edges, _ = (words.replace("- ", "") for _, words in quotations("rrs.example_a2_graph"))
        inside = nodes[nodes.index("{") + 1 : nodes.rindex("}")]
        pairs = (pair.split(",") for pair in re.findall(r"\(([^()]*)\)", edges))
        entries = printed("rrs.example_a2_graph")
        return cls(
            [name.strip() for name in inside.split(",")],
            [(first.strip(), second.strip()) for first, second in pairs],
            dict(zip(entries["entity"], entries["label"], strict=True)),
        )

    @property
    def absent_entities(self) -> list[str]:
        """The entities with the label ``obs-da``, "definitely absent"."""
        return [name for name in self.nodes if self.labels[name] == "obs-da"]

    def build_graph(self) -> Graph:
        """Return the example's graph; all edges have the same type, since the paper prints no types."""
        position = {name: index for index, name in enumerate(self.nodes)}
        return radgraph.build_graph(
            [(name, self.labels[name]) for name in self.nodes],
            [(position[first], "relation", position[second]) for first, second in self.edges],
        )

    def make_single_edits(self) -> list[tuple[str, Graph]]:
        """Return (kind of change, graph) for every graph that differs from the example by a single change.

        A change leaves out or replaces an entity, replaces a label by another one of the example, or leaves
        out, reverses or adds an edge, or leads it from its start to another entity.
        """
        kinds, edits = sorted(set(self.labels.values())), []
        for name in self.nodes:
            new = {node: "another" if node == name else node for node in self.nodes}
            others = [node for node in self.nodes if node != name]
            remaining = [edge for edge in self.edges if name not in edge]
            edits.append(("a word is missing", replace(self, nodes=others, edges=remaining)))
            edges = [(new[first], new[second]) for first, second in self.edges]
            labels = {new[node]: self.labels[node] for node in self.nodes}
            edits.append(("a word is replaced", Example(list(new.values()), edges, labels)))
            for label in kinds:
                if label != self.labels[name]:
                    labels = self.labels | {name: label}
                    edits.append(("a label is replaced", replace(self, labels=labels)))
        for first, second in self.edges:
            remaining = [edge for edge in self.edges if edge != (first, second)]
            edits.append(("an edge is missing", replace(self, edges=remaining)))
            edits.append(("an edge is reversed", replace(self, edges=[*remaining, (second, first)])))
            for other in self.nodes:
                if other not in (first, second):
                    elsewhere = [*remaining, (first, other)]
                    edits.append(("an edge leads elsewhere", replace(self, edges=elsewhere)))
        for edge in permutations(self.nodes, 2):
            if edge not in self.edges:
                edits.append(("an edge is added", replace(self, edges=[*self.edges, edge])))
        return [(kind, example.build_graph()) for kind, example in edits]

    def count_fits(self, printed_triplets: pd.DataFrame) -> dict[str, int]:
        """Return, for each rule on which ends of an edge count, how many printed triplets it reproduces.

        A triplet is reproduced if its third element, whether the entity has a relation (1 or 0), is as
        printed. ``printed_triplets``: table with columns ``entity`` and ``value``, the third element.
        """
        reversed_example = replace(self, edges=[(second, first) for first, second in self.edges])
        rules = {
            "the start": list_triplets(self.build_graph()),
            "the end": list_triplets(reversed_example.build_graph()),
            "either end": list_triplets(self.build_graph(), "either"),
        }
        wanted = dict(zip(printed_triplets["entity"], printed_triplets["value"], strict=True))
        return {rule: sum(flag == wanted[name] for name, _, flag in rows) for rule, rows in rules.items()}


def score_by_level(reference: Graph, candidates: Iterable[tuple[str, Graph]]) -> pd.DataFrame:
    """Return F1-RadGraph (0 to 100) of each candidate at each level.

    ``candidates``: (name, graph) of each. The returned table has one row per candidate, with its name as the
    index ``change``, and one column per level.
    """
    rows = [
        {"change": name} | {level: 100 * compare(reference, graph, level).f1 for level in get_args(Level)}
        for name, graph in candidates
    ]
    return pd.DataFrame(rows).set_index("change")


_TITLES = {"entity": "entities", "relation": "relations", "strict": "relations with typed ends"}
_COUNTS = ["matched", "predicted", "gold", "unseen"]
_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def measure_quality(counts: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a graph model's micro precision, recall and F1 on entities and relations.

    Parameters
    ----------
    counts : rows of :func:`radeval_lib.models.graph_model.tally_matches`, with one more column ``seed``, the
        seed of the training.
    resamples, rng : number of resamples and generator of the bootstrap over reports and seeds.

    Returns
    -------
    DataFrame
        One row per part of the graphs (``entities``, ``relations``, ``relations with typed ends``), with
        columns ``gold`` (the number in the test reports) and ``precision``, ``recall`` and ``F1`` (estimates
        with 95% intervals, 0 to 1).
    """
    rows = {}
    for part, name in _TITLES.items():
        cases = counts[counts["part"] == part].groupby(["seed", "case"], as_index=False)[_COUNTS].sum()
        interval = intervals(cases, MICRO, resamples=resamples, rng=rng)[["value", "low", "high"]]
        rows[name] = {
            "gold": int(cases["gold"].sum() / cases["seed"].nunique()),
            **{title: Estimate(*interval.loc[measure]) for measure, title in _MEASURES.items()},
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def read_graphs(pairs: Sequence[ErrorPair], extractor: Extractor) -> tuple[Graphs, Graphs]:
    """Return (gold graphs, graphs that an extractor finds) of pairs of generated reports.

    Both are lists of two lists: the graphs of the references, then those of the candidates.
    """
    gold, extracted = Graphs(), Graphs()
    for side in ("reference", "candidate"):
        texts = [getattr(pair, side).findings for pair in pairs]
        gold.append([parse_graph(make_radgraph_record(text)["entities"]) for text in texts])
        annotated = extractor.annotate([text.text for text in texts])
        extracted.append([parse_graph(item["entities"]) for item in annotated])
    return gold, extracted


def score_conventions(references: Sequence[Graph], candidates: Sequence[Graph]) -> pd.DataFrame:
    """Return F1-RadGraph (0 to 1) of each pair, by every combination of level and rule on capitals.

    The returned table has one row per pair and one column per convention, with the column levels ``level``
    and ``case``. If both graphs are empty, the score is 0, as in the released code.
    """
    names = list(product(get_args(Level), get_args(Case)))
    pairs = list(zip(references, candidates, strict=True))
    columns = {name: [compare(*pair, *name).f1 for pair in pairs] for name in names}
    return pd.DataFrame(columns, columns=pd.MultiIndex.from_tuples(names, names=["level", "case"]))


def compare_conventions(scores: pd.DataFrame, base: tuple[str, str]) -> pd.DataFrame:
    """Return how the scores by each convention differ from those by the convention ``base``.

    ``scores``: the table that :func:`score_conventions` returned. ``base``: (level, rule on capitals). The
    returned table has one row per convention, with columns ``mean`` (mean score), ``changed`` (share of the
    pairs, 0 to 1, whose score differs from that by ``base``), ``largest`` (largest absolute difference) and
    ``tau`` (Kendall's τ_b with the scores by ``base``).
    """
    gaps = scores.sub(scores[base], axis=0).abs()
    columns = {"mean": scores.mean(), "changed": (gaps > 1e-12).mean(), "largest": gaps.max()}
    return pd.DataFrame(columns | {"tau": scores.corr("kendall")[base]})


def compare_with_printed(rows: pd.DataFrame, graph: Graph) -> pd.DataFrame:
    """Return a table with printed triplets and those of a graph side by side.

    Parameters
    ----------
    rows : printed triplets, with columns ``entity``, ``label`` and ``printed`` ("1" if the entity has a
        relation, else "0").
    graph : the graph; entities are looked up by their words, without regard to case.

    Returns
    -------
    DataFrame
        One row per printed triplet, with columns ``entity``, ``label printed``, ``label found``, ``relation
        printed`` and ``relation found``; "–" if the graph lacks the entity.
    """
    by_words = {words.lower(): (label.lower(), str(flag)) for words, label, flag in list_triplets(graph)}
    labelled = [by_words.get(entity.lower(), ("–", "–")) for entity in rows["entity"]]
    return pd.DataFrame(
        {
            "entity": rows["entity"],
            "label printed": rows["label"].str.lower(),
            "label found": [label for label, _ in labelled],
            "relation printed": rows["printed"],
            "relation found": [flag for _, flag in labelled],
        }
    )
