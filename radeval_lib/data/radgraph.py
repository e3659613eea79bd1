"""RadGraph: chest X-ray reports with entities and relations (Jain et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation
from radeval_lib.data.restricted import mark

NAME = "radgraph"
ENTITY_LABELS = ("ANAT-DP", "OBS-DP", "OBS-U", "OBS-DA")
RELATION_LABELS = ("modify", "located_at", "suggestive_of")
LABELERS = ("labeler_1", "labeler_2")

Annotation = dict[str, Any]
"""RadGraph's record of one text: ``text`` (words joined by blanks) and ``entities``, a dictionary from id to
``tokens``, ``label``, ``start_ix`` and ``end_ix`` (inclusive positions of words), and ``relations``, a list
of [type, id of the tail]."""


def load(path: Path, split: str = "") -> list[AnnotatedSentence]:
    """Reports of ``train.json``, ``dev.json`` or ``test.json``, each as one sequence of words.

    The test file has two labelers: each report yields two records, ``<id>/labeler_1`` and ``<id>/labeler_2``.
    ``group`` is the institution (MIMIC-CXR or CheXpert).
    """
    return [
        record
        for number, (key, item) in enumerate(reading.read_json(path, dict).items(), start=1)
        for record in _records(f"{path.name}, report {number}", key, item, split)
    ]


def _records(where: str, key: str, item: Any, split: str) -> Iterator[AnnotatedSentence]:
    if not isinstance(item, dict):
        raise FormatError(f"must be an object, not {type(item).__name__}", where)
    words = reading.take(item, "text", str, where).split()
    group = reading.take(item, "data_source", str, where)
    labelers = [name for name in LABELERS if name in item]
    for labeler in labelers or [""]:
        holder = reading.take(item, labeler, dict, where) if labeler else item
        place = f"{where}, {labeler}" if labeler else where
        entities, relations = _graph(reading.take(holder, "entities", dict, place), words, place)
        yield reading.make(
            AnnotatedSentence,
            place,
            id=f"{key}/{labeler}" if labeler else key,
            tokens=tuple(mark(word, NAME, True) for word in words),
            entities=entities,
            relations=relations,
            group=group,
            split=split,
        )


def read_annotations(path: Path) -> dict[str, Annotation]:
    """Annotations in the form that RadGraph's inference writes: record -> ``text``, ``entities``; checked.

    Labels may be any (RadGraph-XL's differ). A text without words is allowed, and has no entities.
    """
    found = reading.read_json(path, dict)
    for number, item in enumerate(found.values(), start=1):
        check_annotation(item, f"{path.name}, record {number}")
    return found


def check_annotation(item: Any, where: str) -> None:
    """Raise :class:`FormatError` where one record of :func:`read_annotations` is broken."""
    if not isinstance(item, dict):
        raise FormatError(f"must be an object, not {type(item).__name__}", where)
    words = reading.take(item, "text", str, where).split()
    _graph(reading.take(item, "entities", dict, where), words, where, labels=None)


def annotation(
    words: Sequence[str], entities: Sequence[tuple[int, int, str]], relations: Sequence[tuple[int, int, str]]
) -> Annotation:
    """One text in RadGraph's form: ids from 1 as text, ends inclusive, relations with their head."""
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


def _graph(
    content: dict[str, Any], words: list[str], where: str, labels: tuple[str, ...] | None = ENTITY_LABELS
) -> tuple[tuple[Entity, ...], tuple[Relation, ...]]:
    """Entities and relations; RadGraph's ends are inclusive and its relations stand with their head."""
    index = {key: position for position, key in enumerate(content)}
    entities, relations = [], []
    for key, item in content.items():
        place = f"{where}, entity {index[key] + 1}"
        if not isinstance(item, dict):
            raise FormatError(f"must be an object, not {type(item).__name__}", place)
        start, end = (reading.take(item, name, int, place) for name in ("start_ix", "end_ix"))
        label = reading.take(item, "label", str, place)
        if labels is not None and label not in labels:
            raise FormatError("unknown label", place, f"Labels: {', '.join(labels)}.")
        if not 0 <= start <= end < len(words):
            raise FormatError(f"words {start} to {end} are not all in the text of {len(words)} words", place)
        if words[start : end + 1] != reading.take(item, "tokens", str, place).split():
            raise FormatError(f"words {start} to {end} of the text are not the entity's tokens", place)
        entities.append(reading.make(Entity, place, start=start, end=end + 1, label=label))
        for relation in reading.take(item, "relations", list, place):
            if not (isinstance(relation, list) and [type(part) for part in relation] == [str, str]):
                raise FormatError("a relation is not [type, entity]", place)
            kind, tail = relation
            if kind not in RELATION_LABELS:
                raise FormatError("unknown relation", place, f"Relations: {', '.join(RELATION_LABELS)}.")
            if tail not in index:
                raise FormatError("a relation to a missing entity", place)
            relations.append(Relation(index[key], index[tail], kind))
    return tuple(entities), tuple(relations)
