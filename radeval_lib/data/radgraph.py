"""RadGraph: chest X-ray reports with entities and relations (Jain et al. 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import SPLIT_FILES, make_reader
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation
from radeval_lib.data.restricted import mark_restricted

NAME = "radgraph"
ENTITY_LABELS = ("ANAT-DP", "OBS-DP", "OBS-U", "OBS-DA")

# RadGraph's record of one text: ``text`` (words joined by blanks) and ``entities``, a dictionary from id to
# ``tokens``, ``label``, ``start_ix`` and ``end_ix`` (positions of words, from 0; the end is inclusive) and
# ``relations``, a list of [type, id of the tail].
Annotation = dict[str, Any]


class _RawEntity(BaseModel):
    """An entity in RadGraph format; see :data:`Annotation`."""

    model_config = ConfigDict(hide_input_in_errors=True)

    tokens: str
    label: Annotated[str, Field(min_length=1)]
    start_ix: reading.Count
    end_ix: reading.Count
    relations: list[tuple[Literal["modify", "located_at", "suggestive_of"], str]]


def load(path: Path) -> list[AnnotatedSentence]:
    """Return the reports of ``train.json``, ``dev.json`` or ``test.json``, each as one sequence of words.

    In the test file, two labelers annotated each report, which gives two records: ``<id>/labeler_1`` and
    ``<id>/labeler_2``. ``group`` is the institution (MIMIC-CXR or CheXpert).

    Raises
    ------
    FormatError
        If the file is not JSON, a key is missing, a label or relation is unknown, an entity's words are not
        those at its positions, or a relation leads to an id that no entity has.
    """
    reports = enumerate(reading.read_json(path, dict).items(), start=1)
    entries = (
        reading.Entry({"key": key, "item": item}, f"{path.name}, report {i}") for i, (key, item) in reports
    )
    return reading.parse_records(entries, _parse_report)


def _parse_report(entry: reading.Entry) -> list[AnnotatedSentence]:
    """Return one record per labeler of a report, or a single record if the file names no labelers."""
    item = entry.take_entry("item")
    words = item.take("text", str).split()
    labelers = [name for name in ("labeler_1", "labeler_2") if name in item]
    sentences = []
    for name in labelers or [""]:
        annotation = reading.Entry(item[name], f"{item.where}, {name}") if name else item
        entities, relations = _parse_graph(annotation, words)
        if any(entity.label not in ENTITY_LABELS for entity in entities):  # The label may be restricted text.
            remedy = f"Use one of {', '.join(ENTITY_LABELS)}."
            raise FormatError("an entity has an unknown label", annotation.where, remedy)
        sentence = AnnotatedSentence(
            id=f"{entry['key']}/{name}" if name else entry["key"],
            tokens=tuple(mark_restricted(word, NAME) for word in words),
            entities=entities,
            relations=relations,
            group=item.take("data_source", str),
        )
        sentences.append(sentence)
    return sentences


def read_annotations(path: Path) -> dict[str, Annotation]:
    """Return a mapping from record key to annotation, read from a file of RadGraph's inference output.

    Any entity label is allowed, because RadGraph-XL has other labels. An empty text has no entities.

    Raises
    ------
    FormatError
        If the file is not a JSON object, or a record has an error that :func:`check_annotation` finds.
    """
    annotations = reading.read_json(path, dict)
    for number, item in enumerate(annotations.values(), start=1):
        check_annotation(item, f"{path.name}, record {number}")
    return annotations


def check_annotation(item: Any, where: str) -> None:
    """Raise a FormatError if a record of RadGraph's inference output is malformed or contradicts itself.

    All keys must be present, an entity's words must be those at its positions, and relations must lead to
    entities of the record. ``where`` names the record in the error.
    """
    entry = reading.Entry(item, where)
    _parse_graph(entry, entry.take("text", str).split())


def make_annotation(
    words: Sequence[str], entities: Sequence[tuple[int, int, str]], relations: Sequence[tuple[int, int, str]]
) -> Annotation:
    """Return the record of one text in RadGraph format (:data:`Annotation`).

    Parameters
    ----------
    words : the words of the text.
    entities : (index of the first word, one past the index of the last word, label) of each entity.
    relations : (head, tail, type) of each relation; head and tail are indices into ``entities``.
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


def _parse_graph(entry: reading.Entry, words: list[str]) -> tuple[tuple[Entity, ...], tuple[Relation, ...]]:
    """Return (entities, relations) of a text, given the entry with its ``entities`` and the text's ``words``.

    Entities are half-open spans of words; relations are between indices into the entities.

    Raises
    ------
    FormatError
        If an entity is malformed, its words are not those at its positions, or a relation leads to an id
        that no entity has.
    """
    content = entry.take_entry("entities")
    index = {key: position for position, key in enumerate(content)}
    entities, relations = [], []
    for head, item in enumerate(content.values()):
        where = f"{entry.where}, entity {head + 1}"
        span: _RawEntity = reading.convert_value(item, _RawEntity, "entity", where)
        start, end = span.start_ix, span.end_ix + 1
        if words[start:end] != span.tokens.split() or not start < end <= len(words):
            problem = f"words {start} to {end - 1} of the text are not the entity's tokens"
            raise FormatError(problem, where, reading.CORRECT_FILE)
        if any(tail not in index for _, tail in span.relations):
            raise FormatError("a relation leads to an id that no entity has", where, reading.CORRECT_FILE)
        entities.append(Entity(start, end, span.label))
        relations += [Relation(head, index[tail], kind) for kind, tail in span.relations]
    return tuple(entities), tuple(relations)


read = make_reader(load, *SPLIT_FILES)
