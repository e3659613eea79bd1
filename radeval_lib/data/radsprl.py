"""Rad-SpRL: chest X-ray reports with spatial roles, in one XML file (Datta and Roberts 2020)."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import load_each
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation

ROLES = ("Trajector", "Landmark", "Diagnosis", "Hedge")


def load(path: Path) -> list[AnnotatedSentence]:
    """Return the documents of ``Rad-SpRL.xml`` in the file's order, each as one sequence of tokens.

    Documents without relations are kept. Relations run from the spatial indicator to each of its roles. A
    role whose tokens have gaps is one entity over all of them (RaLEs' converter makes one of each piece).
    """
    try:
        root = ElementTree.fromstring(reading.read_text(path))
    except ElementTree.ParseError as error:
        where = f"{path.name}, line {error.position[0]}"
        raise FormatError("not XML", where, reading.CUT_SHORT) from None
    entries = (
        reading.Entry({"document": document}, f"{path.name}, document {number}")
        for number, document in enumerate(root.iter("Document"), start=1)
    )
    return reading.records(entries, _document)


def _document(entry: reading.Entry) -> AnnotatedSentence:
    """Return the sentence of a document; raise a ValueError if a part of it is missing or not a number."""
    element = entry["document"]
    text, annotations = element.findtext("Text"), element.find("Annotations")
    if text is None or annotations is None:
        raise ValueError("a document needs Text and Annotations")
    tokens = []
    for token in annotations.iter("Token"):
        (start,), (length,) = _wholes(token, "cs"), _wholes(token, "cl")
        if not 0 < length <= len(text) - start:
            raise ValueError(f"token at {start} of length {length} extends beyond the text")
        tokens.append(text[start : start + length])
    entities: list[Entity] = []
    relations: list[Relation] = []
    for relation in annotations.iter("RadSpRLRelation"):
        head = len(entities)
        entities.append(_entity(relation, "Indicator"))
        for role in relation:
            if role.tag not in ROLES:
                raise ValueError(f"an unknown role; those known are {', '.join(ROLES)}")
            relations.append(Relation(head, len(entities), role.tag))
            entities.append(_entity(role, role.tag))
    return AnnotatedSentence(element.get("id", ""), tuple(tokens), tuple(entities), tuple(relations))


def _wholes(element: ElementTree.Element, name: str) -> list[int]:
    """Return the whole numbers in an attribute, which are several, with commas, if a span has gaps."""
    parts = element.get(name, "").split(",")
    if not all(part.isdecimal() for part in parts):
        raise ValueError(f"attribute {name!r} must be whole numbers")
    return list(map(int, parts))


def _entity(element: ElementTree.Element, label: str) -> Entity:
    """Return the entity from the first to the last token of an element, given its token starts ``ts`` and
    lengths ``tl``."""
    starts, lengths = _wholes(element, "ts"), _wholes(element, "tl")
    if len(starts) != len(lengths):
        raise ValueError(f"{label} has {len(starts)} token starts but {len(lengths)} lengths")
    if not any(lengths):
        raise ValueError(f"{label} has no token")
    spans = [(start, start + length) for start, length in zip(starts, lengths, strict=True) if length]
    return Entity(min(spans)[0], max(end for _, end in spans), label)


read = load_each(load, "Rad-SpRL.xml")
