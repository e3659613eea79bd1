"""RaTE-NER: sentences with five entity types, as spans (Zhao et al. 2024, Section 2.2).

The files were not accessible when this module was written; their keys are those that public code reads.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from radeval_lib.categories import RATE_TYPES
from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import SPLITS, Find, Records, make_reader
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import mark_restricted

NAME = "rate_ner"
SOURCES = {"MIMIC_IV": "MIMIC-IV", "Radiopaedia": "Radiopaedia"}  # from folder to the paper's name


_Span = tuple[int, int, Annotated[str, AfterValidator(lambda label: label.lower().replace("_", "-"))]]
_LABELS = {label.lower(): label for label in RATE_TYPES}


def load_span(path: Path, group: str = "") -> list[AnnotatedSentence]:
    """Return the sentences of ``<split>_span.json``, in which ``ner`` lists spans with inclusive ends.

    ``group`` is the source of the sentences, such as ``MIMIC-IV``.

    Raises
    ------
    FormatError
        If a key is missing, a type is unknown, a span extends beyond its sentence, or an id is repeated.
    """
    parse = partial(_parse_document, stem=path.stem, group=group)
    return reading.parse_records(reading.read_objects(path), parse, name="doc_key")


def _parse_document(item: reading.Entry, stem: str, group: str) -> list[AnnotatedSentence]:
    """Return the sentences of one document.

    Spans count tokens through the whole document. The name of a type may be in any case, with hyphens or
    underscores.
    """
    key = str(item.get("doc_key", f"{stem}-{item.number}"))
    sentences = item.take("sentences", list[list[str]])
    span_lists = item.take("ner", list[list[Annotated[_Span, BeforeValidator(lambda span: span[:3])]]])
    if len(sentences) != len(span_lists):
        raise ValueError(f"{len(sentences)} sentences but {len(span_lists)} lists; each sentence needs one")
    offset, records = 0, []
    for number, (tokens, spans) in enumerate(zip(sentences, span_lists, strict=True)):
        if any(label not in _LABELS for *_, label in spans):
            remedy = f"Use one of {', '.join(RATE_TYPES)}."
            raise FormatError("an entity has an unknown type", item.where, remedy)
        sentence = AnnotatedSentence(
            id=key if len(sentences) == 1 else f"{key}-{number}",
            tokens=tuple(mark_restricted(token, NAME) for token in tokens),
            entities=tuple(
                Entity(first - offset, last - offset + 1, _LABELS[label]) for first, last, label in spans
            ),
            group=group,
        )
        records.append(sentence)
        offset += len(tokens)
    return records


def read(find: Find) -> Records:
    """Return the sentences of all span files.

    The IOB files, which have the same sentences, are not read: they need a list of labels.
    """
    records: Records = []
    for folder, group in SOURCES.items():
        spans = [f"rate_ner/{folder}/{split}_span.json" for split in SPLITS]
        records += make_reader(partial(load_span, group=group), *spans)(find)
    return records
