"""RadGraph: chest X-ray reports with entities and relations (Jain et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import SPLIT_FILES, Counts, Reader, Records, by_split, each
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation
from radeval_lib.data.restricted import mark

NAME = "radgraph"
ENTITY_LABELS = ("ANAT-DP", "OBS-DP", "OBS-U", "OBS-DA")
RELATION_LABELS = ("modify", "located_at", "suggestive_of")

Annotation = dict[str, Any]
"""RadGraph's record of one text: ``text`` (words joined by blanks) and ``entities``, a dictionary from id to
``tokens``, ``label``, ``start_ix`` and ``end_ix`` (inclusive positions of words), and ``relations``, a list
of [type, id of the tail]."""


def load(path: Path) -> list[AnnotatedSentence]:
    """Return reports of ``train.json``, ``dev.json`` or ``test.json``, each as one sequence of words.

    The test file has two labelers: each report yields two records, ``<id>/labeler_1`` and ``<id>/labeler_2``.
    ``group`` is the institution (MIMIC-CXR or CheXpert).
    """
    return [
        record
        for number, (key, item) in enumerate(reading.read_json(path, dict).items(), start=1)
        for record in _records(key, reading.Entry(item, f"{path.name}, report {number}"))
    ]


def _records(key: str, item: reading.Entry) -> Iterator[AnnotatedSentence]:
    words, group = item.take("text", str).split(), item.take("data_source", str)
    labelers = [name for name in ("labeler_1", "labeler_2") if name in item]
    for name in labelers or [""]:
        holder = reading.Entry(item[name], f"{item.where}, {name}") if name else item
        entities, relations = _graph(holder, words, ENTITY_LABELS)
        yield reading.make(
            AnnotatedSentence,
            holder.where,
            id=f"{key}/{name}" if name else key,
            tokens=tuple(mark(word, NAME, True) for word in words),
            entities=entities,
            relations=relations,
            group=group,
        )


def read_annotations(path: Path) -> dict[str, Annotation]:
    """Return annotations in the form that RadGraph's inference writes: record -> ``text``, ``entities``;
    checked.

    Labels may be any (RadGraph-XL's differ). A text without words is allowed, and has no entities.
    """
    found = reading.read_json(path, dict)
    for number, item in enumerate(found.values(), start=1):
        check_annotation(item, f"{path.name}, record {number}")
    return found


def check_annotation(item: Any, where: str) -> None:
    """Raise :class:`FormatError` where one record of :func:`read_annotations` is broken."""
    entry = reading.Entry(item, where)
    _graph(entry, entry.take("text", str).split(), None)


def annotation(
    words: Sequence[str], entities: Sequence[tuple[int, int, str]], relations: Sequence[tuple[int, int, str]]
) -> Annotation:
    """Return one text in RadGraph's form: ids from 1 as text, ends inclusive, relations with their head.

    ``entities`` are (first word, word behind the last, label), ``relations`` (head, tail, type) by position
    among the entities. A span that leaves the words, or a relation to what there is not, raises
    :class:`ValueError`.
    """
    for start, end, _ in entities:
        if not 0 <= start < end <= len(words):
            raise ValueError(f"span [{start}, {end}) is empty or leaves the {len(words)} words")
    for head, tail, _ in relations:
        if not (0 <= head < len(entities) and 0 <= tail < len(entities)):
            raise ValueError("a relation joins a missing entity")
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
    holder: reading.Entry, words: list[str], labels: tuple[str, ...] | None
) -> tuple[tuple[Entity, ...], tuple[Relation, ...]]:
    """Return entities and relations; RadGraph's ends are inclusive and its relations stand with their
    head."""
    content = holder.inner("entities")
    index = {key: position for position, key in enumerate(content)}
    entities, relations = [], []
    for head, item in enumerate(content.values()):
        entry = reading.Entry(item, f"{holder.where}, entity {head + 1}")
        where, start, end = entry.where, entry.take("start_ix", int), entry.take("end_ix", int)
        label = entry.one_of("label", labels, "Labels") if labels else entry.take("label", str)
        if not 0 <= start <= end < len(words):
            raise FormatError(f"words {start} to {end} are not all in the text of {len(words)} words", where)
        if words[start : end + 1] != entry.take("tokens", str).split():
            raise FormatError(f"words {start} to {end} of the text are not the entity's tokens", where)
        entities.append(reading.make(Entity, where, start=start, end=end + 1, label=label))
        for relation in entry.take("relations", list):
            if not (isinstance(relation, list) and [type(part) for part in relation] == [str, str]):
                raise FormatError("a relation is not [type, entity]", where)
            kind, tail = relation
            if kind not in RELATION_LABELS:
                raise FormatError("unknown relation", where, f"Relations: {', '.join(RELATION_LABELS)}.")
            if tail not in index:
                raise FormatError("a relation to a missing entity", where)
            relations.append(Relation(head, index[tail], kind))
    return tuple(entities), tuple(relations)


def _counts(records: Records) -> Counts:
    reports = {record.id.partition("/labeler_")[0]: record for record in records}
    return {**by_split(reports.values()), "reports": len(reports)}


READER = Reader(each(load, *SPLIT_FILES), _counts)
