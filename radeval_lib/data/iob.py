"""Sentences of chest CT reports with IOB tags, in the form that RaLEs reads (Zhang et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.iob_tags import decode
from radeval_lib.data.readers import SPLIT_FILES, Reader, by_split, each
from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.data.restricted import mark


def load(path: Path) -> list[AnnotatedSentence]:
    """Return sentences of a JSON list, or of JSON lines, of objects with ``tokens`` and ``ner_tags``."""
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
