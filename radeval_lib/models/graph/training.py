"""Joint entity-and-relation models as a task of the one trainer, and counts as DyGIE++ makes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from radeval_lib.data.records import AnnotatedSentence, Entity, Relation
from radeval_lib.models.graph.model import (
    GraphModel,
    GraphSettings,
    Unit,
    WordGraph,
    gold_graph,
    units,
    within,
)
from radeval_lib.models.ner.entities import plain_words
from radeval_lib.models.pretrained import ModelError

if TYPE_CHECKING:
    import torch

PARTS = ("entity", "relation", "strict")
"""What is counted: entities, relations, and relations whose ends must also have the right types."""


def model_of(
    init_model: str | Path, corpus: Iterable[AnnotatedSentence], seed: int = 0, **settings: Any
) -> GraphModel:
    """A model to train on a corpus, which gives its labels; the head is drawn from ``seed``.

    Parameters
    ----------
    settings : fields of :class:`~radeval_lib.models.graph.model.GraphSettings` other than the labels.
    """
    import torch

    rows = list(corpus)
    entities = tuple(sorted({entity.label for row in rows for entity in row.entities}))
    relations = tuple(sorted({relation.label for row in rows for relation in row.relations}))
    if not entities:
        raise ModelError("no entity in the corpus", "graph model", "Give records with entities.")
    torch.manual_seed(seed)
    return GraphModel(init_model, GraphSettings(entities, relations, **settings))


class GraphTask:
    """Trains a joint model on annotated records (a :class:`~radeval_lib.models.training.Task`).

    Measures: ``entity_f1``, ``relation_f1`` and ``strict_f1`` (micro, see :func:`tally`), and ``f1``, the
    mean of the first two.
    """

    new_layers = ("head.",)

    def __init__(self, model: GraphModel) -> None:
        self.model = model
        self.module = model.module

    def example(self, record: AnnotatedSentence) -> dict[str, Any]:
        return self.model.example(plain_words(record), gold_graph(record))

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        return self.model.collate(examples)

    def measure(self, records: Sequence[AnnotatedSentence]) -> dict[str, float]:
        sums = tally(self.model, records).groupby("part")[["matched", "predicted", "gold"]].sum()
        f1 = (2 * sums["matched"] / (sums["predicted"] + sums["gold"]).clip(lower=1)).to_dict()
        return {"f1": (f1["entity"] + f1["relation"]) / 2, **{f"{part}_f1": f1[part] for part in PARTS}}

    def save(self, folder: str | Path) -> None:
        self.model.save(folder)


def unit_records(records: Iterable[AnnotatedSentence], unit: Unit) -> list[AnnotatedSentence]:
    """Records of one unit each, to train on: a model that reads sentences learns from sentences. Entities and
    relations that cross a border are left out; :func:`tally` counts them as missed."""
    found = []
    for record in records:
        for number, (start, end) in enumerate(units(plain_words(record), unit)):
            part = within(gold_graph(record), start, end)
            found.append(
                replace(
                    record,
                    id=f"{record.id}/{number}",
                    tokens=record.tokens[start:end],
                    entities=tuple(Entity(*entity) for entity in part.entities),
                    relations=tuple(Relation(*relation) for relation in part.relations),
                )
            )
    return found


def tally(model: GraphModel, records: Sequence[AnnotatedSentence]) -> pd.DataFrame:
    """Counts of a model's predictions on annotated records.

    Returns
    -------
    DataFrame
        One row a record, part and label, zeros included: ``case`` (the record's id), ``group``, ``part``
        (:data:`PARTS`), ``label``, ``matched``, ``predicted``, ``gold``, and ``unseen``, gold entities that
        are wider than the model's spans and not among ``gold``.
    """
    predicted = model.predict([plain_words(record) for record in records])
    s = model.settings
    rows = [
        {"case": record.id, "group": record.group, **row}
        for record, found in zip(records, predicted, strict=True)
        for row in counts(gold_graph(record), found, s.entity_types, s.relation_types, s.max_width)
    ]
    return pd.DataFrame(rows)


def counts(
    gold: WordGraph,
    predicted: WordGraph,
    entity_types: Sequence[str],
    relation_types: Sequence[str],
    max_width: int,
) -> list[dict[str, Any]]:
    """Counts of one text by part and label, as DyGIE++ makes them (repository at b55dec4,
    ``dygie/training``).

    An entity is right if its borders and its type are. A gold entity wider than the model's spans is left
    out, which helps recall; it is counted as ``unseen``. A relation is right if the borders of its head and
    its tail, its direction and its label are; types of the ends do not matter, except for ``strict`` (PURE's
    Rel+). A span has one type and an ordered pair one relation: of several the last counts. Gold relations
    are all counted.
    """
    truth, guess = ({(a, b): kind for a, b, kind in graph.entities} for graph in (gold, predicted))
    links, found = (_links(graph) for graph in (gold, predicted))
    seen = {span: kind for span, kind in truth.items() if span[1] - span[0] <= max_width}
    right = {span: kind for span, kind in guess.items() if seen.get(span) == kind}
    linked = {pair: kind for pair, kind in found.items() if links.get(pair) == kind}
    strict = {pair: kind for pair, kind in linked.items() if all(guess[end] == truth[end] for end in pair)}
    wide = {span: kind for span, kind in truth.items() if span not in seen}
    parts: list[tuple[str, Sequence[str], tuple[dict[Any, str], ...]]] = [
        ("entity", entity_types, (right, guess, seen, wide)),
        ("relation", relation_types, (linked, found, links, {})),
        ("strict", relation_types, (strict, found, links, {})),
    ]
    columns = ("matched", "predicted", "gold", "unseen")
    return [
        {"part": part, "label": label}
        | {name: list(one.values()).count(label) for name, one in zip(columns, sets, strict=True)}
        for part, labels, sets in parts
        for label in labels
    ]


def _links(graph: WordGraph) -> dict[tuple[tuple[int, int], tuple[int, int]], str]:
    ends = [(start, end) for start, end, _ in graph.entities]
    return {(ends[head], ends[tail]): kind for head, tail, kind in graph.relations}
