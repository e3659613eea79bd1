"""Decoding of per-token tags (IOB, IOB2, IOBES) into entity spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import mark

TAGS = ("tokens", "ner_tags")
_PREFIXES = frozenset("BIES")


def decode(tags: Sequence[str]) -> tuple[Entity, ...]:
    """Entities of a tagged sentence, in order.

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


def load(
    path: Path, *, source: str, restricted: bool, group: str = "", split: str = ""
) -> list[AnnotatedSentence]:
    """Sentences of a JSON list, or of JSON lines, of objects with ``tokens`` and ``ner_tags``.

    Parameters
    ----------
    path : the file.
    source : manifest name, for the mark of restricted text.
    restricted : whether the text may not be redistributed.
    group, split : kept in the records.
    """
    return reading.unique(_sentences(path, source, restricted, group, split), lambda one: one.id)


def _sentences(
    path: Path, source: str, restricted: bool, group: str, split: str
) -> Iterator[tuple[str, AnnotatedSentence]]:
    for position, item in reading.read_objects(path):
        where = f"{path.name}, record {position}"
        tokens = reading.text_list(item, TAGS[0], where)
        tags = reading.text_list(item, TAGS[1], where)
        if len(tokens) != len(tags):
            raise FormatError(f"{len(tokens)} tokens but {len(tags)} tags", where)
        try:
            entities = decode(tags)
        except ValueError as error:
            raise FormatError(str(error), where) from None
        yield (
            where,
            reading.make(
                AnnotatedSentence,
                where,
                # Files without ids: the record's number is its name.
                id=str(item.get("id", item.get("doc_key", f"{path.stem}-{position}"))),
                tokens=tuple(mark(token, source, restricted) for token in tokens),
                entities=entities,
                group=group,
                split=split,
            ),
        )
