"""How well graphs are found, and what the conventions of F1-RadGraph change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import get_args

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.textpath import TextPath

from radeval_lib import plots
from radeval_lib.data.radgraph import Annotation
from radeval_lib.metrics.radgraph import (
    Case,
    Graph,
    Level,
    build_graph,
    compare,
    parse_graph,
    triplets,
)
from radeval_lib.models.graph.extraction import Extractor
from radeval_lib.roles.generated import radgraph_json
from radeval_lib.rules.generator.planted_errors import ErrorPair
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.measures import MICRO, intervals

_TITLES = {"entity": "entities", "relation": "relations", "strict": "relations with typed ends"}
_COUNTS = ["matched", "predicted", "gold", "unseen"]
_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def quality(counts: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Micro precision, recall and F1 of each part and of each of its labels, over reports and seeds.

    Parameters
    ----------
    counts : rows of :func:`radeval_lib.models.graph.model.tally` with a column ``seed``.
    resamples, rng : of :func:`radeval_lib.stats.measures.intervals`.

    Returns
    -------
    DataFrame
        One row per part, by its title, and label (``all`` for the part as a whole, first): ``gold`` (in one
        seed's test part), and ``precision``, ``recall`` and ``F1`` as estimates.
    """
    rows = {}
    for part, name in _TITLES.items():
        own = counts[counts["part"] == part]
        for label in ("all", *sorted(own["label"].unique())):
            chosen = own if label == "all" else own[own["label"] == label]
            sums = chosen.groupby(["seed", "case"], as_index=False)[_COUNTS].sum()
            found = intervals(sums, MICRO, resamples=resamples, rng=rng)[["value", "low", "high"]]
            rows[name, label] = {
                "gold": int(sums["gold"].sum() / sums["seed"].nunique()),
                **{title: Estimate(*found.loc[measure]) for measure, title in _MEASURES.items()},
            }
    return pd.DataFrame.from_dict(rows, orient="index")


def graphs(pairs: Sequence[ErrorPair], extractor: Extractor) -> tuple[list[list[Graph]], list[list[Graph]]]:
    """Graphs of the references and the candidates, by the generator and as an extractor finds them."""
    gold: list[list[Graph]] = []
    found: list[list[Graph]] = []
    for side in ("reference", "candidate"):
        texts = [getattr(pair, side).findings for pair in pairs]
        gold.append([parse_graph(radgraph_json(text)["entities"]) for text in texts])
        annotated = extractor.annotate([text.text for text in texts])
        found.append([parse_graph(item["entities"]) for item in annotated])
    return gold, found


def scores_of_changes() -> pd.DataFrame:
    """F1-RadGraph by level (columns) of graphs that differ from a reference in one thing (rows)."""
    entities = [("opacity", "OBS-DP"), ("left", "ANAT-DP"), ("lobe", "ANAT-DP")]
    absent = [("opacity", "OBS-DA"), *entities[1:]]
    located, modify = (0, "located_at", 2), (1, "modify", 2)
    variants = {
        "an entity is absent instead of present": (absent, [located, modify]),
        "a relation is missing": (entities, [located]),
        "a relation has another type": (entities, [located, (1, "located_at", 2)]),
        "a relation leads elsewhere": (entities, [(0, "located_at", 1), modify]),
    }
    reference, levels = build_graph(entities, [located, modify]), get_args(Level)
    rows = {
        name: [compare(reference, build_graph(*graph), level).f1 for level in levels]
        for name, graph in variants.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(levels))


def conventions(references: Sequence[Graph], candidates: Sequence[Graph]) -> pd.DataFrame:
    """F1-RadGraph of each pair (rows) by every level and rule on case (columns), as released where both
    graphs are empty."""
    names = list(product(get_args(Level), get_args(Case)))
    pairs = list(zip(references, candidates, strict=True))
    columns = {name: [compare(*pair, *name).f1 for pair in pairs] for name in names}
    return pd.DataFrame(columns, columns=pd.MultiIndex.from_tuples(names, names=["level", "case"]))


def changes(scores: pd.DataFrame, base: tuple[str, str]) -> pd.DataFrame:
    """What each convention does to the scores that ``base`` gives: ``mean``, ``changed`` (share of pairs with
    another score), ``largest`` (absolute change of one pair) and ``tau`` (Kendall's tau-b of the pairs' order
    with that of ``base``)."""
    gaps = scores.sub(scores[base], axis=0).abs()
    columns = {"mean": scores.mean(), "changed": (gaps > 1e-12).mean(), "largest": gaps.max()}
    return pd.DataFrame(columns | {"tau": scores.corr("kendall")[base]})


def beside_printed(printed: pd.DataFrame, graph: Graph) -> pd.DataFrame:
    """Printed triplets (``entity``, ``label`` and ``printed``: whether it has a relation) beside a graph's.

    Returns ``entity``, ``label printed``, ``label found``, ``relation printed``, ``relation found``; ``–``
    where the graph has no such entity. Capitals do not count.
    """
    triplet = {words.lower(): (label.lower(), str(flag)) for words, label, flag in triplets(graph)}
    found = [triplet.get(entity.lower(), ("–", "–")) for entity in printed["entity"]]
    return pd.DataFrame(
        {
            "entity": printed["entity"],
            "label printed": printed["label"].str.lower(),
            "label found": [label for label, _ in found],
            "relation printed": printed["printed"],
            "relation found": [flag for _, flag in found],
        }
    )


COLOURS = {
    "ANAT": plots.PALETTE[2],
    "OBS-DP": plots.PALETTE[0],
    "OBS-U": plots.PALETTE[3],
    "OBS-DA": plots.PALETTE[1],
}
"""A colour for each kind of label, matched by how the label begins."""


def colour_of(label: str) -> str:
    """The colour of a label; grey for one that RadGraph's four do not begin."""
    return next((colour for start, colour in COLOURS.items() if label.upper().startswith(start)), "0.4")


def draw(axes: Axes, annotation: Annotation) -> None:
    """A short sentence: its entities as boxes in the colour of their label, and for each relation a bridge
    from the first word of the head to that of the tail, over shorter ones in its way, its type on top."""
    words, entities = annotation["text"].split(), annotation["entities"]
    widths = np.array([TextPath((0, 0), word, size=10).get_extents().width + 7 for word in words])
    gaps = np.array([6.0 if word[0].isalnum() else -2.0 for word in words])  # a full stop stands by its word
    places = np.cumsum(widths + gaps) - widths / 2
    boxes = {
        number: {"boxstyle": "square,pad=0.3", "fc": "white", "ec": colour_of(entity["label"]), "lw": 1.8}
        for entity in entities.values()
        for number in range(entity["start_ix"], entity["end_ix"] + 1)
    }
    for number, (word, place) in enumerate(zip(words, places, strict=True)):
        axes.text(place, 0, word, ha="center", va="center", fontsize=10, bbox=boxes.get(number), zorder=3)
    arcs = [
        (head["start_ix"], entities[tail]["start_ix"], kind.replace("_", " "))
        for head in entities.values()
        for kind, tail in head["relations"]
    ]
    levels: dict[tuple[int, int], int] = {}  # of the bridges over words, from 0, by their ends
    for start, end, kind in sorted(arcs, key=lambda arc: abs(arc[0] - arc[1])):
        low, high = sorted((start, end))
        below = [under for (left, right), under in levels.items() if left < high and low < right]
        level = levels[low, high] = 1 + max(below, default=-1)
        height, inwards = 14 + 18 * level, np.sign(end - start) * (7 - 9 * min(level, 2))
        ends = places[start] + inwards, places[end] - inwards
        bridge = f"arc,angleA=90,angleB=90,armA={height},armB={height},rad=5"
        look = {"arrowstyle": "-|>", "color": plots.PALETTE[-1], "shrinkA": 0, "shrinkB": 1, "lw": 1.1}
        look["connectionstyle"] = bridge
        axes.annotate("", (ends[1], 7), (ends[0], 7), arrowprops=look, zorder=2)
        plots.label_point(axes, kind, (sum(ends) / 2, 7), (0, height + 8))
    top = 40 + 18 * max(levels.values(), default=0)
    axes.set(xlim=(0, (widths + gaps).sum() + 6), ylim=(-14, top))
    axes.axis("off")
