"""How well graphs are found, and what the conventions of F1-RadGraph change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import yaml

from radeval_lib import plots
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
    f1_radgraph,
    parse_graph,
    triplets,
)
from radeval_lib.models.graph.extraction import Extractor
from radeval_lib.models.graph.training import PARTS
from radeval_lib.stats.resampling import MICRO, intervals
from radeval_lib.synthetic.export import radgraph_json
from radeval_lib.synthetic.planted_errors import ErrorPair
from radeval_lib.wording import with_interval

PART_TITLES = {
    "entity": "entities",
    "relation": "relations",
    "strict": "relations with typed ends",
}
_ALLOWED = {
    "located_at": {("observation", "anatomy")},
    "modify": {("observation", "observation"), ("anatomy", "anatomy")},
    "suggestive_of": {("observation", "observation")},
}
_COUNTS = ["matched", "predicted", "gold", "unseen"]


def quality(counts: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """Micro precision, recall and F1 of each part and of each of its labels, over reports and seeds.

    Parameters
    ----------
    counts : rows of :func:`radeval_lib.models.graph.training.tally` with a column ``seed``.
    resamples, rng : of :func:`radeval_lib.stats.resampling.intervals`.

    Returns
    -------
    DataFrame
        One row a part and label (``all`` for the part as a whole, first) and measure: ``part``, ``label``,
        ``measure``, ``value``, ``low``, ``high``, ``gold`` (in one seed's test part).
    """
    rows = []
    for part in PARTS:
        own = counts[counts["part"] == part]
        for label in ("all", *sorted(own["label"].unique())):
            chosen = own if label == "all" else own[own["label"] == label]
            sums = chosen.groupby(["seed", "case"], as_index=False)[_COUNTS].sum()
            found = intervals(sums, MICRO, resamples=resamples, rng=rng).reset_index()
            gold = int(sums["gold"].sum() / sums["seed"].nunique())
            rows.append(found.assign(part=part, label=label, gold=gold))
    columns = ["part", "label", "measure", "value", "low", "high", "gold"]
    return pd.concat(rows, ignore_index=True)[columns]


def agreement(quality: pd.DataFrame) -> pd.DataFrame:
    """One row a part: ``gold``, and precision, recall and F1 with their intervals, as text.

    Parameters
    ----------
    quality : of :func:`quality`.
    """
    overall = quality[quality["label"] == "all"]
    text = overall.apply(lambda row: with_interval(row.value, row.low, row.high, ".2f"), axis=1)
    table = overall.assign(text=text).pivot(index="part", columns="measure", values="text")
    return _measures(table.loc[list(PART_TITLES)], overall.groupby("part")["gold"].first()).rename(
        index=PART_TITLES
    )


def f1_by_type(quality: pd.DataFrame) -> pd.DataFrame:
    """The rows of F1 of each type of entity and relation, by type."""
    return _types(quality).query("measure == 'f1'").set_index("label")


def by_type(quality: pd.DataFrame) -> pd.DataFrame:
    """One row a type of entity or relation: ``gold``, precision, recall and F1."""
    typed = f1_by_type(quality)
    table = _types(quality).pivot_table(index="label", columns="measure", values="value").loc[typed.index]
    return _measures(table, typed["gold"]).rename_axis("type")


def _types(quality: pd.DataFrame) -> pd.DataFrame:
    return quality[(quality["label"] != "all") & quality["part"].isin(["entity", "relation"])]


def _measures(table: pd.DataFrame, gold: pd.Series) -> pd.DataFrame:
    table = table[["precision", "recall", "f1"]].rename(columns={"f1": "F1"})
    table.insert(0, "gold", gold)
    return table.rename_axis(None).rename_axis(None, axis=1)


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
    reference = build_graph(entities, [located, modify])
    rows = {
        name: [compare(reference, build_graph(*graph), level).f1 for level in get_args(Level)]
        for name, graph in variants.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(get_args(Level)))


def conventions(references: Sequence[Graph], candidates: Sequence[Graph]) -> pd.DataFrame:
    """F1-RadGraph of each pair by every level and rule on case, as released where both graphs are empty.

    Returns
    -------
    DataFrame
        float64, one row a pair, columns (level, case).
    """
    names = list(product(get_args(Level), get_args(Case)))
    columns = {name: f1_radgraph(references, candidates, *name) for name in names}
    return pd.DataFrame(columns, columns=pd.MultiIndex.from_tuples(names, names=["level", "case"]))


def changes(scores: pd.DataFrame, base: tuple[str, str]) -> pd.DataFrame:
    """What each convention does to the scores that ``base`` gives.

    Returns
    -------
    DataFrame
        One row a convention: ``mean``, ``changed`` (share of pairs with another score), ``largest`` (absolute
        change of one pair) and ``tau`` (Kendall's tau-b of the pairs' order with that of ``base``).
    """
    gaps = scores.sub(scores[base], axis=0).abs()
    return pd.DataFrame(
        {
            "mean": scores.mean(),
            "changed": (gaps > 1e-12).mean(),
            "largest": gaps.max(),
            "tau": scores.corr("kendall")[base],
        }
    )


def _concept(label: str) -> str:
    return "observation" if label.upper().startswith("OBS") else "anatomy"


def relation_types(head: str, tail: str) -> list[str]:
    """The types of relation that RadGraph's scheme lets lead from one label to another, in words."""
    ends = _concept(head), _concept(tail)
    return [kind.replace("_", " ") for kind, allowed in _ALLOWED.items() if ends in allowed]


def beside_printed(printed: pd.DataFrame, graph: Graph) -> pd.DataFrame:
    """Printed triplets beside those of a graph.

    Parameters
    ----------
    printed : ``entity``, ``label`` and ``printed`` (whether it has a relation, as text).

    Returns
    -------
    DataFrame
        ``entity``, ``label printed``, ``label found``, ``relation printed``, ``relation found``; ``–`` where
        the graph has no such entity. Capitals do not count.
    """
    found = {words.lower(): (label.lower(), str(flag)) for words, label, flag in triplets(graph)}
    rows = [
        {
            "entity": row.entity,
            "label printed": str(row.label).lower(),
            "label found": found.get(str(row.entity).lower(), ("–", "–"))[0],
            "relation printed": str(row.printed),
            "relation found": found.get(str(row.entity).lower(), ("–", "–"))[1],
        }
        for row in printed.itertuples()
    ]
    return pd.DataFrame(rows)


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


def draw(axes: Any, annotation: Annotation, words_a_line: int = 9) -> None:
    """The text with its entities as boxes in the colour of their label, and an arrow for each relation.

    Parameters
    ----------
    axes : matplotlib axes, which are cleared of ticks and frame.
    annotation : in RadGraph's form.
    words_a_line : after how many words a new line begins.
    """
    words = annotation["text"].split()
    x, places = 0.0, []
    for number, word in enumerate(words):
        if number % words_a_line == 0:
            x = 0.0
        width = 0.13 * len(word) + 0.12
        places.append((x + width / 2, -1.5 * (number // words_a_line)))
        x += width + 0.22
    marked = {
        at: one["label"]
        for one in annotation["entities"].values()
        for at in range(one["start_ix"], one["end_ix"] + 1)
    }
    for number, (word, place) in enumerate(zip(words, places, strict=True)):
        label = marked.get(number)
        edge = {} if label is None else {"ec": colour_of(label), "lw": 1.8}
        box = {"boxstyle": "round,pad=0.3", "fc": "white", **edge} if edge else None
        axes.text(*place, word, ha="center", va="center", fontsize=9, bbox=box, zorder=3)
    _arrows(axes, annotation, places)
    right = max((x for x, _ in places), default=1.0)
    low = min((y for _, y in places), default=0.0)
    axes.set(xlim=(-0.5, right + 0.9), ylim=(low - 0.6, 1.1))
    axes.axis("off")


def _arrows(axes: Any, annotation: Annotation, places: Sequence[tuple[float, float]]) -> None:
    """An arc from the first word of the head to that of the tail, its type above the middle."""
    entities = annotation["entities"]
    for one in entities.values():
        for kind, tail in one["relations"]:
            start, end = places[one["start_ix"]], places[entities[tail]["start_ix"]]
            bend = 0.35 if start[0] > end[0] else -0.35
            shape = {
                "arrowstyle": "-|>",
                "color": plots.PALETTE[-1],
                "connectionstyle": f"arc3,rad={bend}",
                "shrinkA": 9,
                "shrinkB": 9,
                "lw": 1.1,
            }
            axes.annotate("", end, start, arrowprops=shape, zorder=2)
            rise = 0.3 + 0.17 * abs(end[0] - start[0])
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + min(rise, 0.95))
            axes.text(*middle, kind.replace("_", " "), fontsize=7, ha="center", color=plots.PALETTE[-1])


_GRAPHS = Path(__file__).with_name("open_sentences.yml")


@dataclass(frozen=True)
class OpenSentence:
    """A sentence and its graph by hand."""

    uid: str
    gold: Annotation

    @property
    def text(self) -> str:
        """The sentence's words, joined by blanks."""
        return str(self.gold["text"])


def read(path: Path | None) -> list[OpenSentence]:
    """The sentences, their words from Open-i's file; none where there is no file.

    Raises
    ------
    ResultError
        Where the file has no such report, or a shorter one.
    """
    if path is None:
        return []
    findings = {report.id: report.findings for report in openi.load(path)}
    found = []
    for row in yaml.safe_load(_GRAPHS.read_text(encoding="utf-8")):
        start, end = row["words"]
        words = tokenize(reveal(findings.get(row["uid"], "")))[start:end]
        if len(words) < end - start:
            raise ResultError(f"report {row['uid']} has other words than those annotated", path.name)
        graph = ([tuple(item) for item in row[name]] for name in ("entities", "relations"))
        found.append(OpenSentence(row["uid"], annotation(words, *graph)))
    return found


def judged(sentences: Sequence[OpenSentence], found: Sequence[Annotation]) -> pd.DataFrame:
    """One row a sentence: its words, how many entities and relations are right of how many, and the lines of
    either graph that the other lacks."""
    rows = []
    for sentence, graph in zip(sentences, found, strict=True):
        truth, guess = _entities(sentence.gold), _entities(graph)
        links, made = _relations(sentence.gold), _relations(graph)
        wanted, had = lines(sentence.gold), lines(graph)
        rows.append(
            {
                "sentence": sentence.text,
                "entities right": f"{len(truth & guess)} of {len(truth)}",
                "relations right": f"{len(links & made)} of {len(links)}",
                "found wrongly": "; ".join(line for line in had if line not in wanted) or "–",
                "missed": "; ".join(line for line in wanted if line not in had) or "–",
            }
        )
    return pd.DataFrame(rows)


def _entities(graph: Annotation) -> set[tuple[int, int, str]]:
    return {(one["start_ix"], one["end_ix"], one["label"]) for one in graph["entities"].values()}


def _relations(graph: Annotation) -> set[tuple[int, int, str]]:
    entities = graph["entities"]
    return {
        (one["start_ix"], entities[tail]["start_ix"], kind)
        for one in entities.values()
        for kind, tail in one["relations"]
    }
