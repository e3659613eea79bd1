"""Score variants of MIMIC-RRS's worked example of F1-RadGraph, and compare gold and predicted graphs."""

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
"""Two lists: the graphs of the references, and those of the candidates of the same pairs."""


def list_triplets(graph: Graph, ends: str = "outgoing") -> list[tuple[str, str, int]]:
    """Return (words, label, flag) for each entity of a graph; the flag is 1 if it has a relation, else 0.

    With ``ends="outgoing"``, an entity has a relation if a relation starts at the entity; with
    ``ends="either"``, also if a relation ends there.
    """
    related = {key for key, entity in graph.items() if entity.relations}
    if ends == "either":
        related |= {other for entity in graph.values() for _, other in entity.relations}
    return [(entity.tokens, entity.label, int(key in related)) for key, entity in graph.items()]


def check_schema(example: Example) -> list[Check]:
    """Return checks of the paper's description of RadGraph's schema against itself and against its example.

    The description must name two concepts, three levels, four labels and three types of relation. The
    relations of ``example`` must each relate two entities, and its labels must be among the four.
    """
    entity_text, relation_text = (words.replace("- ", "-") for _, words in quotations("rrs.def_schema"))
    labels = re.findall(r"\(((?:ANAT|OBS)-\w+)", entity_text)
    types = [name.strip() for name in re.findall(r"([A-Z]\w+(?: \w+)?) \(\., \.\)", relation_text)]
    used_labels = [label.upper() for label in printed("rrs.example_a2_graph")["label"].drop_duplicates()]
    n_valid = sum(len({*edge} & {*example.nodes}) == 2 for edge in example.edges)

    def tally(names: list[str]) -> str:
        return f"{len(names)}: {', '.join(names)}"

    concepts = list(dict.fromkeys(label.split("-")[0] for label in labels))
    levels = [label for label in labels if label.startswith("OBS-")]
    return [
        check_statement("concepts", "two concepts", tally(concepts), len(concepts) == 2),
        check_statement("levels of Observation", "three uncertainty levels", tally(levels), len(levels) == 3),
        check_statement("entity labels", "four different entities", tally(labels), len(labels) == 4),
        check_statement("relation types", "three levels", tally(types), len(types) == 3),
        check_statement(
            "labels of the example",
            "leading to four different entities",
            ", ".join(used_labels),
            set(used_labels) <= set(labels),
        ),
        check_statement(
            "relations of the example",
            "between two entities",
            f"{out_of(n_valid, len(example.edges), str)} join two entities",
            n_valid == len(example.edges),
        ),
    ]


@dataclass(frozen=True)
class Example:
    """The graph of the paper's worked example (Appendix A.2).

    Attributes
    ----------
    nodes : the words of each entity, from the printed set V.
    edges : (start, end) of each relation, from the printed set E.
    labels : a mapping from each entity to its label, from the printed triplets T.
    """

    nodes: list[str]
    edges: list[Edge]
    labels: dict[str, str]

    @classmethod
    def read(cls) -> Example:
        """Read the example from the paper's sentences in ``rrs.example_a2_graph``."""
        node_text, edge_text, _ = (words.replace("- ", "") for _, words in quotations("rrs.example_a2_graph"))
        node_list = node_text[node_text.index("{") + 1 : node_text.rindex("}")]
        pairs = (pair.split(",") for pair in re.findall(r"\(([^()]*)\)", edge_text))
        triplets = printed("rrs.example_a2_graph")
        return cls(
            [name.strip() for name in node_list.split(",")],
            [(start.strip(), end.strip()) for start, end in pairs],
            dict(zip(triplets["entity"], triplets["label"], strict=True)),
        )

    @property
    def absent_entities(self) -> list[str]:
        """The entities with the label ``obs-da``, "definitely absent"."""
        return [name for name in self.nodes if self.labels[name] == "obs-da"]

    def build_graph(self) -> Graph:
        """Build the graph, in which all edges have the same type, since the paper prints no types."""
        position = {name: index for index, name in enumerate(self.nodes)}
        return radgraph.build_graph(
            [(name, self.labels[name]) for name in self.nodes],
            [(position[start], "relation", position[end]) for start, end in self.edges],
        )

    def make_single_edits(self) -> list[tuple[str, Graph]]:
        """Return (kind of change, graph) for every graph that differs from the example by a single change.

        A change leaves out or replaces an entity, replaces a label with another label of the example, leaves
        out, reverses or adds an edge, or replaces the end of an edge with another entity.
        """
        all_labels, edits = sorted(set(self.labels.values())), []
        for name in self.nodes:
            renamed = {node: "another" if node == name else node for node in self.nodes}
            others = [node for node in self.nodes if node != name]
            remaining = [edge for edge in self.edges if name not in edge]
            edits.append(("a word is missing", replace(self, nodes=others, edges=remaining)))
            edges = [(renamed[start], renamed[end]) for start, end in self.edges]
            labels = {renamed[node]: self.labels[node] for node in self.nodes}
            edits.append(("a word is replaced", Example(list(renamed.values()), edges, labels)))
            for label in all_labels:
                if label != self.labels[name]:
                    labels = self.labels | {name: label}
                    edits.append(("a label is replaced", replace(self, labels=labels)))
        for start, end in self.edges:
            remaining = [edge for edge in self.edges if edge != (start, end)]
            edits.append(("an edge is missing", replace(self, edges=remaining)))
            edits.append(("an edge is reversed", replace(self, edges=[*remaining, (end, start)])))
            for other in self.nodes:
                if other not in (start, end):
                    edges = [*remaining, (start, other)]
                    edits.append(("an edge leads elsewhere", replace(self, edges=edges)))
        for edge in permutations(self.nodes, 2):
            if edge not in self.edges:
                edits.append(("an edge is added", replace(self, edges=[*self.edges, edge])))
        return [(kind, example.build_graph()) for kind, example in edits]

    def count_fits(self, printed_triplets: pd.DataFrame) -> dict[str, int]:
        """Return how many printed triplets each rule on the ends of an edge reproduces.

        The rules, which are the keys of the mapping, count relations at ``the start``, ``the end`` or
        ``either end``. A triplet is reproduced if its flag (1 if the entity has a relation, else 0) is as
        printed. ``printed_triplets`` has the columns ``entity`` and ``value``, the printed flag.
        """
        reversed_example = replace(self, edges=[(end, start) for start, end in self.edges])
        rules = {
            "the start": list_triplets(self.build_graph()),
            "the end": list_triplets(reversed_example.build_graph()),
            "either end": list_triplets(self.build_graph(), "either"),
        }
        flags = dict(zip(printed_triplets["entity"], printed_triplets["value"], strict=True))
        return {rule: sum(flag == flags[name] for name, _, flag in rows) for rule, rows in rules.items()}


def score_by_level(reference: Graph, candidates: Iterable[tuple[str, Graph]]) -> pd.DataFrame:
    """Return the F1-RadGraph (0 to 100) of each candidate at each level.

    ``candidates`` are pairs (name, graph). The DataFrame has one row per candidate, indexed by its name
    (``change``), and one column per level.
    """
    rows = [
        {"change": name} | {level: 100 * compare(reference, graph, level).f1 for level in get_args(Level)}
        for name, graph in candidates
    ]
    return pd.DataFrame(rows).set_index("change")


_PART_TITLES = {"entity": "entities", "relation": "relations", "strict": "relations with typed ends"}
_COUNTS = ["matched", "predicted", "gold", "unseen"]
_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def measure_quality(counts: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a graph model's micro-averaged precision, recall and F1 on entities and relations.

    Parameters
    ----------
    counts : rows from :func:`radeval_lib.models.graph_model.tally_matches`, with an additional column
        ``seed``, the seed of the training run.
    resamples : the number of bootstrap resamples of reports and seeds.
    rng : the generator of the bootstrap.

    Returns
    -------
    DataFrame
        One row each for ``entities``, ``relations`` and ``relations with typed ends``. Columns are ``gold``
        (their number in the test reports), and ``precision``, ``recall`` and ``F1`` (estimates from 0 to 1
        with 95% confidence intervals).
    """
    rows = {}
    for part, name in _PART_TITLES.items():
        cases = counts[counts["part"] == part].groupby(["seed", "case"], as_index=False)[_COUNTS].sum()
        interval = intervals(cases, MICRO, resamples=resamples, rng=rng)[["value", "low", "high"]]
        rows[name] = {
            "gold": int(cases["gold"].sum() / cases["seed"].nunique()),
            **{title: Estimate(*interval.loc[measure]) for measure, title in _MEASURES.items()},
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def read_graphs(pairs: Sequence[ErrorPair], extractor: Extractor) -> tuple[Graphs, Graphs]:
    """Return (gold graphs, extracted graphs) of the findings in pairs of generated reports.

    Each is a list of two lists: the graphs of the references, and those of the candidates.
    """
    gold, extracted = Graphs(), Graphs()
    for side in ("reference", "candidate"):
        sections = [getattr(pair, side).findings for pair in pairs]
        gold.append([parse_graph(make_radgraph_record(section)["entities"]) for section in sections])
        annotations = extractor.annotate([section.text for section in sections])
        extracted.append([parse_graph(annotation["entities"]) for annotation in annotations])
    return gold, extracted


def score_conventions(references: Sequence[Graph], candidates: Sequence[Graph]) -> pd.DataFrame:
    """Return the F1-RadGraph (0 to 1) of each pair by each convention: a level and a rule on letter case.

    The DataFrame has one row per pair and one column per convention, with the column levels ``level`` and
    ``case``. If both graphs of a pair are empty, the score is 0, as in the released code.
    """
    conventions = list(product(get_args(Level), get_args(Case)))
    pairs = list(zip(references, candidates, strict=True))
    columns = {convention: [compare(*pair, *convention).f1 for pair in pairs] for convention in conventions}
    return pd.DataFrame(columns, columns=pd.MultiIndex.from_tuples(conventions, names=["level", "case"]))


def compare_conventions(scores: pd.DataFrame, base: tuple[str, str]) -> pd.DataFrame:
    """Return how the scores by each convention differ from those by the convention ``base``.

    Parameters
    ----------
    scores : the table that :func:`score_conventions` returned.
    base : the level and the rule on letter case of the convention to compare with.

    Returns
    -------
    DataFrame
        One row per convention, with columns ``mean`` (the mean score), ``changed`` (the share of pairs, 0 to
        1, whose score differs from that by ``base``), ``largest`` (the largest absolute difference) and
        ``tau`` (Kendall's τ_b with the scores by ``base``).
    """
    differences = scores.sub(scores[base], axis=0).abs()
    columns = {"mean": scores.mean(), "changed": (differences > 1e-12).mean(), "largest": differences.max()}
    return pd.DataFrame(columns | {"tau": scores.corr("kendall")[base]})


def compare_with_printed(triplets: pd.DataFrame, graph: Graph) -> pd.DataFrame:
    """Return the printed triplets and those of a graph, side by side.

    Parameters
    ----------
    triplets : the printed triplets, with columns ``entity``, ``label`` and ``printed`` ("1" if the entity has
        a relation, else "0").
    graph : the graph, in which entities are looked up by their words, ignoring case.

    Returns
    -------
    DataFrame
        One row per printed triplet, with columns ``entity``, ``label printed``, ``label found``, ``relation
        printed`` and ``relation found``. If the graph lacks the entity, what is found is "–".
    """
    by_words = {words.lower(): (label.lower(), str(flag)) for words, label, flag in list_triplets(graph)}
    matches = [by_words.get(entity.lower(), ("–", "–")) for entity in triplets["entity"]]
    return pd.DataFrame(
        {
            "entity": triplets["entity"],
            "label printed": triplets["label"].str.lower(),
            "label found": [label for label, _ in matches],
            "relation printed": triplets["printed"],
            "relation found": [flag for _, flag in matches],
        }
    )
