"""RadGraph: chest X-ray reports with entities and relations (Jain et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import SPLIT_FILES, load_each
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation
from radeval_lib.data.restricted import mark

NAME = "radgraph"
ENTITY_LABELS = ("ANAT-DP", "OBS-DP", "OBS-U", "OBS-DA")

Annotation = dict[str, Any]
"""RadGraph's record of one text: ``text`` (words joined by blanks) and ``entities``, a dictionary from id to
``tokens``, ``label``, ``start_ix`` and ``end_ix`` (inclusive positions of words), and ``relations``, a list
of [type, id of the tail]."""


class _Span(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    tokens: str
    label: Annotated[str, Field(min_length=1)]
    start_ix: reading.Count
    end_ix: reading.Count
    relations: list[tuple[Literal["modify", "located_at", "suggestive_of"], str]]


def load(path: Path) -> list[AnnotatedSentence]:
    """Return reports of ``train.json``, ``dev.json`` or ``test.json``, each as one sequence of words.

    The test file has two labelers: each report yields two records, ``<id>/labeler_1`` and ``<id>/labeler_2``.
    ``group`` is the institution (MIMIC-CXR or CheXpert).
    """
    reports = enumerate(reading.read_json(path, dict).items(), start=1)
    entries = (
        reading.Entry({"key": key, "item": item}, f"{path.name}, report {at}") for at, (key, item) in reports
    )
    return reading.records(entries, _sentences)


def _sentences(entry: reading.Entry) -> list[AnnotatedSentence]:
    item = entry.inner("item")
    words = item.take("text", str).split()
    labelers = [name for name in ("labeler_1", "labeler_2") if name in item]
    sentences = []
    for name in labelers or [""]:
        holder = reading.Entry(item[name], f"{item.where}, {name}") if name else item
        entities, relations = _graph(holder, words)
        if any(entity.label not in ENTITY_LABELS for entity in entities):  # not named: it may be text
            raise FormatError("unknown label", holder.where, f"Use one of {', '.join(ENTITY_LABELS)}.")
        sentence = AnnotatedSentence(
            id=f"{entry['key']}/{name}" if name else entry["key"],
            tokens=tuple(mark(word, NAME, True) for word in words),
            entities=entities,
            relations=relations,
            group=item.take("data_source", str),
        )
        sentences.append(sentence)
    return sentences


def read_annotations(path: Path) -> dict[str, Annotation]:
    """Return the checked annotations in an output of RadGraph's inference, by the key of the record.

    Any label is allowed, since RadGraph-XL's differ. A text may be empty and then has no entities.
    """
    annotations = reading.read_json(path, dict)
    for number, item in enumerate(annotations.values(), start=1):
        check_annotation(item, f"{path.name}, record {number}")
    return annotations


def check_annotation(item: Any, where: str) -> None:
    """Raise a FormatError if a record of RadGraph's inference contradicts itself or lacks something."""
    entry = reading.Entry(item, where)
    _graph(entry, entry.take("text", str).split())


def annotation(
    words: Sequence[str], entities: Sequence[tuple[int, int, str]], relations: Sequence[tuple[int, int, str]]
) -> Annotation:
    """Return the record of one text in RadGraph's form.

    Parameters
    ----------
    entities : (first word, one past the last word, label).
    relations : (head, tail, type); head and tail are positions in ``entities``.
    """
    outgoing: list[list[list[str]]] = [[] for _ in entities]
    for head, tail, kind in relations:
        outgoing[head].append([kind, str(tail + 1)])
    rows = zip(entities, outgoing, strict=True)
    return {
        "text": " ".join(words),
        "entities": {
            str(number): {
                "tokens": " ".join(words[start:end]),
                "label": label,
                "start_ix": start,
                "end_ix": end - 1,
                "relations": links,
            }
            for number, ((start, end, label), links) in enumerate(rows, start=1)
        },
        "data_source": None,
        "data_split": "inference",
    }


def _graph(holder: reading.Entry, words: list[str]) -> tuple[tuple[Entity, ...], tuple[Relation, ...]]:
    """Return the entities and relations of a text, half-open and by position."""
    content = holder.inner("entities")
    index = {key: position for position, key in enumerate(content)}
    entities, relations = [], []
    for head, item in enumerate(content.values()):
        where = f"{holder.where}, entity {head + 1}"
        span: _Span = reading.value(item, _Span, "entity", where)
        start, end = span.start_ix, span.end_ix + 1
        if words[start:end] != span.tokens.split() or not start < end <= len(words):
            problem = f"words {start} to {end - 1} of the text are not the entity's tokens"
            raise FormatError(problem, where, reading.RIGHT_FILE)
        if any(tail not in index for _, tail in span.relations):
            raise FormatError("a relation to a missing entity", where, reading.RIGHT_FILE)
        entities.append(Entity(start, end, span.label))
        relations += [Relation(head, index[tail], kind) for kind, tail in span.relations]
    return tuple(entities), tuple(relations)


read = load_each(load, *SPLIT_FILES)
