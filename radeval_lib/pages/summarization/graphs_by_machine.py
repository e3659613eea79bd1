"""How well graphs are found, and what the conventions of F1-RadGraph change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from radeval_lib import own_yaml, plots
from radeval_lib.data import openi
from radeval_lib.data.radgraph import Annotation, annotation
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ResultError
from radeval_lib.lexicon.markup import tokenize
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
from radeval_lib.models.graph.model import PARTS
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.resampling import MICRO, intervals
from radeval_lib.synthetic.export import radgraph_json
from radeval_lib.synthetic.planted_errors import ErrorPair

PART_TITLES = {"entity": "entities", "relation": "relations", "strict": "relations with typed ends"}
_ALLOWED = {
    "located_at": {("observation", "anatomy")},
    "modify": {("observation", "observation"), ("anatomy", "anatomy")},
    "suggestive_of": {("observation", "observation")},
}
_COUNTS = ["matched", "predicted", "gold", "unseen"]
_MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1"}


def quality(counts: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Micro precision, recall and F1 of each part and of each of its labels, over reports and seeds.

    Parameters
    ----------
    counts : rows of :func:`radeval_lib.models.graph.training.tally` with a column ``seed``.
    resamples, rng : of :func:`radeval_lib.stats.resampling.intervals`.

    Returns
    -------
    DataFrame
        One row a part and label (``all`` for the part as a whole, first): ``gold`` (in one seed's test part),
        and ``precision``, ``recall`` and ``F1`` as estimates.
    """
    rows = {}
    for part in PARTS:
        own = counts[counts["part"] == part]
        for label in ("all", *sorted(own["label"].unique())):
            chosen = own if label == "all" else own[own["label"] == label]
            sums = chosen.groupby(["seed", "case"], as_index=False)[_COUNTS].sum()
            found = intervals(sums, MICRO, resamples=resamples, rng=rng)[["value", "low", "high"]]
            rows[part, label] = {
                "gold": int(sums["gold"].sum() / sums["seed"].nunique()),
                **{title: Estimate(*found.loc[measure]) for measure, title in _MEASURES.items()},
            }
    return pd.DataFrame.from_dict(rows, orient="index")


def agreement(quality: pd.DataFrame) -> pd.DataFrame:
    """The parts of :func:`quality` as wholes: ``gold``, and precision, recall and F1 as text."""
    table = quality.xs("all", level=1).loc[list(PART_TITLES)].rename(PART_TITLES)
    return table.assign(**{title: table[title].map("{:.2f}".format) for title in _MEASURES.values()})


def by_type(quality: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`quality` of each type of entity and relation, by type."""
    return quality.drop("all", level=1).loc[["entity", "relation"]].droplevel(0)


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
    told = {"mean": scores.mean(), "changed": (gaps > 1e-12).mean(), "largest": gaps.max()}
    return pd.DataFrame(told | {"tau": scores.corr("kendall")[base]})


def _concept(label: str) -> str:
    return "observation" if label.upper().startswith("OBS") else "anatomy"


def relation_types(head: str, tail: str) -> list[str]:
    """The types of relation that RadGraph's scheme lets lead from one label to another, in words."""
    ends = _concept(head), _concept(tail)
    return [kind.replace("_", " ") for kind, allowed in _ALLOWED.items() if ends in allowed]


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


def lines(annotation: Annotation) -> list[str]:
    """The relations, then the entities without one, e.g. ``mild (OBS-DP) modify edema (OBS-DP)``."""
    entities = annotation["entities"]
    named = {key: f"{one['tokens']} ({one['label']})" for key, one in entities.items()}
    related = [
        f"{named[key]} {kind.replace('_', ' ')} {named[tail]}"
        for key, one in entities.items()
        for kind, tail in one["relations"]
    ]
    joined = {key for key, one in entities.items() if one["relations"]}
    joined |= {tail for one in entities.values() for _, tail in one["relations"]}
    return [*related, *(name for key, name in named.items() if key not in joined)]


def draw(axes: Axes, annotation: Annotation, words_a_line: int = 9) -> None:
    """The text with its entities as boxes in the colour of their label, and an arrow for each relation.

    ``annotation``: in RadGraph's form. ``words_a_line``: after how many words a new line begins.
    """
    words = annotation["text"].split()
    x, places = 0.0, []
    for number, word in enumerate(words):
        if number % words_a_line == 0:
            x = 0.0
        width = 0.13 * len(word) + 0.12
        places.append((x + width / 2, -1.5 * (number // words_a_line)))
        x += width + 0.22
    boxes = {
        at: {"boxstyle": "round,pad=0.3", "fc": "white", "ec": colour_of(one["label"]), "lw": 1.8}
        for one in annotation["entities"].values()
        for at in range(one["start_ix"], one["end_ix"] + 1)
    }
    for number, (word, place) in enumerate(zip(words, places, strict=True)):
        axes.text(*place, word, ha="center", va="center", fontsize=9, bbox=boxes.get(number), zorder=3)
    _arrows(axes, annotation, places)
    right = max((x for x, _ in places), default=1.0)
    low = min((y for _, y in places), default=0.0)
    axes.set(xlim=(-0.5, right + 0.9), ylim=(low - 0.6, 1.1))
    axes.axis("off")


def _arrows(axes: Axes, annotation: Annotation, places: Sequence[tuple[float, float]]) -> None:
    """An arc from the first word of the head to that of the tail, its type above the middle."""
    entities = annotation["entities"]
    for one in entities.values():
        for kind, tail in one["relations"]:
            start, end = places[one["start_ix"]], places[entities[tail]["start_ix"]]
            bend = f"arc3,rad={0.35 if start[0] > end[0] else -0.35}"
            looks = {"arrowstyle": "-|>", "color": plots.PALETTE[-1], "shrinkA": 9, "shrinkB": 9, "lw": 1.1}
            axes.annotate("", end, start, arrowprops=looks | {"connectionstyle": bend}, zorder=2)
            rise = 0.3 + 0.17 * abs(end[0] - start[0])
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + min(rise, 0.95))
            axes.text(*middle, kind.replace("_", " "), fontsize=7, ha="center", color=plots.PALETTE[-1])


def read(path: Path | None) -> list[Annotation]:
    """Ten sentences with their graphs by hand, their words from Open-i's file; none where there is no file.

    Raises
    ------
    ResultError
        Where the file has no such report, or a shorter one.
    """
    if path is None:
        return []
    findings = {report.id: report.findings for report in openi.load(path)}
    found = []
    for row in own_yaml.read(Path(__file__).with_name("open_sentences.yml")):
        start, end = row["words"]
        words = tokenize(reveal(findings.get(row["uid"], "")))[start:end]
        if len(words) < end - start:
            raise ResultError(f"report {row['uid']} has other words than those annotated", path.name)
        graph = ([tuple(item) for item in row[name]] for name in ("entities", "relations"))
        found.append(annotation(words, *graph))
    return found


def judged(gold: Sequence[Annotation], found: Sequence[Annotation]) -> pd.DataFrame:
    """One row a sentence: its words, how many entities and relations are right of how many, and the lines of
    either graph that the other lacks."""
    rows = []
    for truth, guess in zip(gold, found, strict=True):
        (entities, links), (guessed, made) = _items(truth), _items(guess)
        wanted, had = lines(truth), lines(guess)
        rows.append(
            {
                "sentence": truth["text"],
                "entities right": f"{len(entities & guessed)} of {len(entities)}",
                "relations right": f"{len(links & made)} of {len(links)}",
                "found wrongly": "; ".join(line for line in had if line not in wanted) or "–",
                "missed": "; ".join(line for line in wanted if line not in had) or "–",
            }
        )
    return pd.DataFrame(rows)


def _items(graph: Annotation) -> tuple[set[tuple[int, int, str]], set[tuple[int, int, str]]]:
    """Borders and label of each entity, and where each relation begins and ends, with its type."""
    entities = graph["entities"].values()
    return {(one["start_ix"], one["end_ix"], one["label"]) for one in entities}, {
        (one["start_ix"], graph["entities"][tail]["start_ix"], kind)
        for one in entities
        for kind, tail in one["relations"]
    }
