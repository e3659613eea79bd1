"""RaTE-NER: sentences with five entity types, as spans (Zhao et al. 2024, Section 2.2).

The files were not seen when this was written: it reads the columns that public code reads from them, and an
error lists what it found instead.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from radeval_lib.categories import RATE_TYPES
from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import SPLITS, Find, Reader, Records, each
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import mark, reveal

NAME = "rate_ner"
SOURCES = {"MIMIC_IV": "MIMIC-IV", "Radiopaedia": "Radiopaedia"}  # folder -> the paper's name


def load_span(path: Path, group: str = "") -> list[AnnotatedSentence]:
    """Return sentences of ``<split>_span.json``: with ``sentences`` and ``ner`` (spans with inclusive
    ends)."""
    sentences = partial(_sentences, stem=path.stem, group=group)
    return reading.records(reading.read_objects(path), sentences, name="doc_key")


def _sentences(item: reading.Entry, stem: str, group: str) -> Iterator[AnnotatedSentence]:
    where, key = item.where, str(item.get("doc_key", f"{stem}-{item.at}"))
    sentences, annotated = item.take("sentences", list), item.take("ner", list)
    if len(sentences) != len(annotated):
        raise FormatError(f"{len(sentences)} sentences but {len(annotated)} lists of entities", where)
    offset = 0
    for number, (tokens, spans) in enumerate(zip(sentences, annotated, strict=True)):
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise FormatError("a sentence must be a list of words", where)
        if not isinstance(spans, list):
            raise FormatError("the entities of a sentence must be a list", where)
        yield AnnotatedSentence(
            id=key if len(sentences) == 1 else f"{key}-{number}",
            tokens=tuple(mark(token, NAME, True) for token in tokens),
            entities=tuple(_entity(span, offset, where) for span in spans),
            group=group,
        )
        offset += len(tokens)


def _entity(span: object, offset: int, where: str) -> Entity:
    """Return an entity from [start, end, type] with document-level indices and an inclusive end; the type in
    any case and with any separator."""
    if not (
        isinstance(span, list) and len(span) >= 3 and [type(part) for part in span[:3]] == [int, int, str]
    ):
        raise FormatError("a span must be [start, end, type]", where)
    said = span[2].lower().replace("_", "-")
    label = next((name for name in RATE_TYPES if name.lower() == said), "")
    if not label:
        raise FormatError("unknown entity type", where, f"Types: {', '.join(RATE_TYPES)}.")
    return Entity(span[0] - offset, span[1] - offset + 1, label)


def counts(sentences: Sequence[AnnotatedSentence]) -> dict[str, int]:
    """Return sentences and entities by source, type and split, named as in the manifest's printed counts.

    Distinct entities are distinct pairs of words and type within a source and split.
    """
    result: Counter[str] = Counter()
    distinct: dict[str, set[str]] = defaultdict(set)
    for sentence in sentences:
        result[f"sentences, {sentence.group}, {sentence.split}"] += 1
        for entity in sentence.entities:
            name = f"entities, {sentence.group}, {entity.label}, {sentence.split}"
            result[f"{name}, all"] += 1
            words = " ".join(reveal(token) for token in sentence.tokens[entity.start : entity.end])
            distinct[f"{name}, distinct"].add(words)
    return dict(result) | {name: len(words) for name, words in distinct.items()}


def _read(find: Find) -> Records:
    """Return span files, which need no list of labels; the IOB files hold the same sentences."""
    records: Records = []
    for folder, group in SOURCES.items():
        spans = [f"rate_ner/{folder}/{split}_span.json" for split in SPLITS]
        records += each(partial(load_span, group=group), *spans)(find)
    return records


READER = Reader(_read, counts)
