"""Rad-SpRL: chest X-ray reports with spatial roles, in one XML file (Datta and Roberts 2020)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import Reader, each
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation

ROLES = ("Trajector", "Landmark", "Diagnosis", "Hedge")


def load(path: Path) -> list[AnnotatedSentence]:
    """Documents of ``Rad-SpRL.xml`` in the file's order, each as one sequence of tokens.

    Documents without relations are kept. Relations run from the spatial indicator to each of its roles. A
    role whose tokens have gaps is one entity over all of them (RaLEs' converter makes one of each piece).
    """
    text = reading.read_text(path)
    if re.search(r"<!(DOCTYPE|ENTITY)", text):  # entity expansion has no place in a data file
        raise FormatError("declares a document type or entities", path.name)
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise FormatError(
            "not XML", f"{path.name}, line {line}, column {column}", reading.CUT_SHORT
        ) from None
    documents = enumerate(root.iter("Document"), start=1)
    entries = (reading.Entry({"document": one}, f"{path.name}, document {n}") for n, one in documents)
    return reading.records(entries, _document)


def _document(entry: reading.Entry) -> Iterator[AnnotatedSentence]:
    element, where = entry["document"], entry.where
    text = element.findtext("Text")
    annotations = element.find("Annotations")
    if text is None or annotations is None:
        raise FormatError("a document needs Text and Annotations", where)
    tokens = []
    for token in annotations.iter("Token"):
        start, length = (_wholes(token, key, where)[0] for key in ("cs", "cl"))
        if not 0 < length <= len(text) - start:
            raise FormatError(f"token at {start} of length {length} leaves the text", where)
        tokens.append(text[start : start + length])
    entities: list[Entity] = []
    relations: list[Relation] = []
    for relation in annotations.iter("RadSpRLRelation"):
        head = len(entities)
        entities.append(_entity(relation, "Indicator", where))
        for role in relation:
            if role.tag not in ROLES:
                raise FormatError("unknown role", where, f"Roles: {', '.join(ROLES)}.")
            relations.append(Relation(head, len(entities), role.tag))
            entities.append(_entity(role, role.tag, where))
    yield AnnotatedSentence(
        id=_attribute(element, "id", where),
        tokens=tuple(tokens),
        entities=tuple(entities),
        relations=tuple(relations),
    )


def _attribute(element: ElementTree.Element, name: str, where: str) -> str:
    if name not in element.attrib:
        raise FormatError(f"{element.tag} needs attribute {name!r}", where)
    return element.attrib[name]


def _wholes(element: ElementTree.Element, name: str, where: str) -> list[int]:
    """Return the numbers of an attribute: several, with commas, where a span has gaps."""
    parts = _attribute(element, name, where).split(",")
    return [reading.whole(part, f"{element.tag}@{name}", where) for part in parts]


def _entity(element: ElementTree.Element, label: str, where: str) -> Entity:
    """Return an entity from its token starts ``ts`` and lengths ``tl``, whatever gaps are between."""
    starts, lengths = _wholes(element, "ts", where), _wholes(element, "tl", where)
    if len(starts) != len(lengths):
        raise FormatError(f"{element.tag} has {len(starts)} starts but {len(lengths)} lengths", where)
    spans = [(start, start + length) for start, length in zip(starts, lengths, strict=True) if length]
    if not spans:
        raise FormatError(f"{element.tag} has no tokens", where)
    return Entity(min(spans)[0], max(end for _, end in spans), label)


READER = Reader(each(load, "Rad-SpRL.xml"), lambda records: {"reports": len(records)})
