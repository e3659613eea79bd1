"""The page on F1-RadGraph: the example that MIMIC-RRS works through, and candidates that differ from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import get_args

import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import plots
from radeval_lib.metrics import radgraph
from radeval_lib.metrics.radgraph import Direction, Graph, Level
from radeval_lib.papers.printed_numbers import Printed, by_name, printed, quotations
from radeval_lib.study.checks import Check, by_reading, check_statement
from radeval_lib.text_format import out_of

Edge = tuple[str, str]

_PLACES = {
    "mild": (0, 1),
    "overload": (1, 1),
    "fluid": (2, 1),
    "overt": (0, 0),
    "edema": (1, 0),
    "pulmonary": (2, 0),
}
_COLOURS = dict(zip(("obs-dp", "obs-da", "anat-dp"), plots.PALETTE, strict=False))


def check_schema() -> list[Check]:
    """Whether the paper names two concepts, three levels of one, four labels and three types of relation, and
    its example uses these labels and relates two entities at a time."""
    entities, relations = (words.replace("- ", "-") for _, words in quotations("rrs.def_schema"))
    labels = re.findall(r"\(((?:ANAT|OBS)-\w+)", entities)
    types = [name.strip() for name in re.findall(r"([A-Z]\w+(?: \w+)?) \(\., \.\)", relations)]
    used = [label.upper() for label in printed("rrs.example_a2_graph")["label"].drop_duplicates()]
    example = Example.read()
    between = sum(len({*edge} & {*example.nodes}) == 2 for edge in example.edges)

    def named(found: list[str]) -> str:
        return f"{len(found)}: {', '.join(found)}"

    concepts = list(dict.fromkeys(label.split("-")[0] for label in labels))
    levels = [label for label in labels if label.startswith("OBS-")]
    return [
        check_statement("concepts", "two concepts", named(concepts), len(concepts) == 2),
        check_statement("levels of Observation", "three uncertainty levels", named(levels), len(levels) == 3),
        check_statement("entity labels", "four different entities", named(labels), len(labels) == 4),
        check_statement("relation types", "three levels", named(types), len(types) == 3),
        check_statement(
            "labels of the example", "the labels of the schema", ", ".join(used), set(used) <= set(labels)
        ),
        check_statement(
            "relations of the example",
            "between two entities",
            f"{out_of(between, len(example.edges), str)} join two entities",
            between == len(example.edges),
        ),
    ]


@dataclass(frozen=True)
class Example:
    """The graph of Appendix A.2: the sets V (``nodes``) and E (``edges``), read out of the paper's words, and
    the label of each entity, as the printed triplets T have them."""

    nodes: list[str]
    edges: list[Edge]
    labels: dict[str, str]

    @classmethod
    def read(cls) -> Example:
        """The example as ``rrs.example_a2_graph`` quotes it."""
        nodes, edges, _ = (words.replace("- ", "") for _, words in quotations("rrs.example_a2_graph"))
        inside = nodes[nodes.index("{") + 1 : nodes.rindex("}")]
        pairs = (pair.split(",") for pair in re.findall(r"\(([^()]*)\)", edges))
        triplets = printed("rrs.example_a2_graph")
        return cls(
            [name.strip() for name in inside.split(",")],
            [(first.strip(), second.strip()) for first, second in pairs],
            dict(zip(triplets["entity"], triplets["label"], strict=True)),
        )

    @property
    def turned(self) -> list[Edge]:
        """All edges the other way round."""
        return [(second, first) for first, second in self.edges]

    @property
    def absent(self) -> list[str]:
        """The entities labelled definitely absent."""
        return [name for name in self.nodes if self.labels[name] == "obs-da"]

    def graph(self) -> Graph:
        """The example's graph; the types of relations are not printed, so every edge gets the same one."""
        places = {name: place for place, name in enumerate(self.nodes)}
        return radgraph.build_graph(
            [(name, self.labels[name]) for name in self.nodes],
            [(places[first], "relation", places[second]) for first, second in self.edges],
        )

    def candidates(self) -> dict[str, Graph]:
        """The example, and graphs that differ from it by one thing, by what that is."""
        first = self.nodes[:3]
        changed = {
            "the same": self,
            "overt modifies edema": replace(self, edges=[*self.edges, ("overt", "edema")]),
            "the negation is missed": replace(
                self, labels=self.labels | dict.fromkeys(self.absent, "obs-dp")
            ),
            "every edge reversed": replace(self, edges=self.turned),
            "no edges": replace(self, edges=[]),
            "“Mild” with a capital": Example(
                ["Mild", *self.nodes[1:]],
                [("Mild", second) if name == "mild" else (name, second) for name, second in self.edges],
                self.labels | {"Mild": "obs-dp"},
            ),
            "first three entities only": replace(
                self, nodes=first, edges=[edge for edge in self.edges if set(edge) <= set(first)]
            ),
        }
        return {name: example.graph() for name, example in changed.items()}

    def check_triplets(self) -> list[Check]:
        """Whether the printed triplets follow from the printed sets, and these fit one another."""
        ends = list(chain(*self.edges))
        inside, both = sum(end in self.nodes for end in ends), set(self.nodes) & set(self.labels)
        entities, edges = f"{len(both)} of {len(self.nodes)}", f"{inside} of {len(ends)} ends"
        same = set(self.nodes) == set(self.labels)
        name, claim = "the edges join entities of V", "relations between pairs of entities"
        return [
            *self._check_flags(by_name(printed("rrs.example_a2_graph"), "entity")),
            check_statement(
                "the entities of T are those of V", "a triplet contains an entity", entities, same
            ),
            check_statement(name, claim, edges, inside == len(ends)),
        ]

    def _check_flags(self, wanted: Mapping[str, Printed]) -> list[Check]:
        """Whether each rule on the ends of an edge gives the third elements of all triplets together; the
        rule itself is lost in our text."""
        name, claim = "has a relation", "whether or not this entity has a relation"
        return by_reading(
            {
                f"by {rule} of an edge": check_statement(
                    name, claim, out_of(fits, len(wanted), str), fits == len(wanted), cells=wanted.values()
                )
                for rule, fits in self._fits(wanted).items()
            }
        )

    def _fits(self, wanted: Mapping[str, Printed]) -> dict[str, int]:
        """How many of the printed third elements each rule on the ends of an edge gives."""
        rules = {
            "the start": has_relation(self.graph()),
            "the end": has_relation(replace(self, edges=self.turned).graph()),
            "either end": has_relation(self.graph(), "either"),
        }
        return {
            rule: sum(flag == wanted[name].value for name, flag in flags.items())
            for rule, flags in rules.items()
        }

    def check_node_labels(self) -> Check:
        """Whether every node of V has a label, by the printed triplets."""
        labelled = sum(bool(self.labels.get(name)) for name in self.nodes)
        return check_statement(
            "nodes with a label",
            "each node has a label",
            f"{labelled} of {len(self.nodes)}",
            labelled == len(self.nodes),
        )

    def check_direction(self) -> Check:
        """Whether all printed triplets follow by a rule that tells the ends of an edge apart, and not by one
        that does not."""
        wanted = by_name(printed("rrs.example_a2_graph"), "entity")
        fits = self._fits(wanted)
        told_apart = max(fits["the start"], fits["the end"])
        return check_statement(
            "printed triplets need the direction of the edges",
            "The graph is directed",
            f"{told_apart} of {len(wanted)} fit if one end counts, {fits['either end']} if either does",
            told_apart == len(wanted) > fits["either end"],
        )

    def draw(self) -> Axes:
        """Entities as boxes in the colour of their label, edges as arrows."""
        _, axes = plots.panels(1, 1, height=2.2)
        line = {"arrowstyle": "-|>", "lw": 1.6, "color": plots.PALETTE[-1], "shrinkA": 34, "shrinkB": 39}
        for first, second in self.edges:
            axes.annotate("", _PLACES[second], _PLACES[first], arrowprops=line)
        for name in self.nodes:
            label = self.labels[name]
            box = {"boxstyle": "round,pad=0.5", "fc": "white", "ec": _COLOURS[label], "lw": 2}
            looks = {"ha": "center", "va": "center", "multialignment": "center", "fontsize": 10}
            axes.text(*_PLACES[name], f"{name}\n{label}", bbox=box, **looks)
        axes.set(xlim=(-0.4, 2.4), ylim=(-0.55, 1.55))
        axes.axis("off")
        return axes


def has_relation(graph: Graph, direction: Direction = "outgoing") -> dict[str, int]:
    """The third element of each triplet, by entity."""
    return {name: flag for name, _, flag in radgraph.triplets(graph, direction)}


def scores_by_level(reference: Graph, candidates: Mapping[str, Graph]) -> pd.DataFrame:
    """F1-RadGraph, 0 to 100, of candidates (rows) by level (columns).

    The last column is *partial* if either end of an edge counted; 0 where both graphs are empty.
    """

    def either(graph: Graph) -> float:
        ours, theirs = (set(radgraph.triplets(one, "either")) for one in (reference, graph))
        return 2 * len(ours & theirs) / max(1, len(ours) + len(theirs))

    rows = {
        name: {level: radgraph.compare(reference, graph, level).f1 for level in get_args(Level)}
        | {"partial, either end": either(graph)}
        for name, graph in candidates.items()
    }
    return 100 * pd.DataFrame.from_dict(rows, orient="index")


def draw_levels(scores: pd.DataFrame) -> Axes:
    """One row per candidate, one marker a level, from :func:`scores_by_level`."""
    long = scores.rename_axis("candidate").reset_index()
    long = long.melt("candidate", var_name="level", value_name="F1-RadGraph")
    _, axes = plots.panels(1, 1, height=4.8)
    plots.dodged(axes, long, "F1-RadGraph", "candidate", "level")
    axes.set(xlim=(-4, 104), xlabel="F1-RadGraph")
    axes.legend(ncols=4, loc="lower right", bbox_to_anchor=(1, 1), columnspacing=1, handletextpad=0.1)
    return axes
