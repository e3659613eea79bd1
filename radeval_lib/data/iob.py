"""Sentences of chest CT reports with IOB tags, in the form that RaLEs reads (Zhang et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import SPLIT_FILES, Reader, by_split, each
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import mark

_PREFIXES = frozenset("BIES")


def decode(tags: Sequence[str]) -> tuple[Entity, ...]:
    """Entities of a sentence tagged in IOB, IOB2 or IOBES, in order.

    ``B-`` and ``S-`` begin an entity. ``I-`` and ``E-`` continue one of the same label; without one, they
    begin it (as in IOB1, and as gold files with a stray ``I-`` are usually read). ``O`` ends it.
    """
    entities: list[Entity] = []
    start, open_label = 0, ""

    def close(end: int) -> None:
        if open_label:
            entities.append(Entity(start, end, open_label))

    for position, tag in enumerate(tags):
        prefix, _, label = tag.partition("-")
        if tag != "O" and not (prefix in _PREFIXES and label):
            raise ValueError(f"the tag of token {position} is not an IOB tag")
        if tag == "O":
            close(position)
            open_label = ""
        elif prefix in "BS" or label != open_label:
            close(position)
            start, open_label = position, label
        if prefix in "ES" and open_label:
            close(position + 1)
            open_label = ""
    close(len(tags))
    return tuple(entities)


def load(path: Path) -> list[AnnotatedSentence]:
    """Sentences of a JSON list, or of JSON lines, of objects with ``tokens`` and ``ner_tags``."""
    return reading.records(reading.read_objects(path), partial(_sentence, stem=path.stem))


def _sentence(item: reading.Entry, stem: str) -> Iterator[AnnotatedSentence]:
    tokens, tags = item.texts("tokens"), item.texts("ner_tags")
    if len(tokens) != len(tags):
        raise FormatError(f"{len(tokens)} tokens but {len(tags)} tags", item.where)
    yield AnnotatedSentence(
        # Files without ids: the record's number is its name.
        id=str(item.get("id", item.get("doc_key", f"{stem}-{item.at}"))),
        tokens=tuple(mark(token, "stanza_radiology", True) for token in tokens),
        entities=decode(tags),
    )


READER = Reader(each(load, *SPLIT_FILES), by_split)
