"""Joint entity-and-relation models to train, and what they are trained on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from radeval_lib.data.records import AnnotatedSentence, Entity, Relation, plain_words
from radeval_lib.errors import ModelError
from radeval_lib.models.graph.model import GraphModel
from radeval_lib.models.graph.network import GraphSettings
from radeval_lib.models.graph.word_graphs import Unit, gold_graph, units, within
from radeval_lib.models.randomness import seeded


def new_model(
    init_model: str | Path, corpus: Iterable[AnnotatedSentence], seed: int, **head: Any
) -> GraphModel:
    """Return a model that is not trained yet.

    Parameters
    ----------
    init_model : folder or name of the encoder from which it starts.
    corpus : what it is to be trained on, which gives its labels.
    seed : what the head is drawn from.
    head : fields of :class:`~radeval_lib.models.graph.network.GraphSettings` other than the labels.
    """
    rows = list(corpus)
    entities = tuple(sorted({entity.label for row in rows for entity in row.entities}))
    relations = tuple(sorted({relation.label for row in rows for relation in row.relations}))
    if not entities:
        raise ModelError("no entity in the corpus", "graph model", "Give records with entities.")
    with seeded(seed):
        return GraphModel(init_model, GraphSettings(entities, relations, **head))


def unit_records(records: Iterable[AnnotatedSentence], unit: Unit) -> list[AnnotatedSentence]:
    """Return records of one unit each, to train on: a model that reads sentences learns from sentences.
    Entities and relations that cross a border are left out; the model's ``measure`` counts them as missed."""
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
