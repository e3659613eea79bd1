"""Rad-SpRL: chest X-ray reports with spatial roles, in one XML file (Datta and Roberts 2020)."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.readers import make_reader
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation

ROLES = ("Trajector", "Landmark", "Diagnosis", "Hedge")


def load(path: Path) -> list[AnnotatedSentence]:
    """Return the documents of ``Rad-SpRL.xml``, in the file's order, each as one sequence of tokens.

    Relations run from each spatial indicator to its roles. A role whose tokens are not adjacent becomes one
    entity from its first to its last token; the RaLEs converter makes one entity per piece. Documents without
    relations are kept.

    Raises
    ------
    FormatError
        If the file is not XML, or a document lacks a part or has a malformed attribute or an unknown role.
    """
    try:
        root = ElementTree.fromstring(reading.read_text(path))
    except ElementTree.ParseError as error:
        where = f"{path.name}, line {error.position[0]}"
        raise FormatError(f"not well-formed XML: {error.msg}", where, reading.REPLACE_FILE) from None
    entries = (
        reading.Entry({"document": document}, f"{path.name}, document {number}")
        for number, document in enumerate(root.iter("Document"), start=1)
    )
    return reading.parse_records(entries, _parse_document)


def _parse_document(entry: reading.Entry) -> AnnotatedSentence:
    """Return a document's tokens, entities and relations.

    Raises
    ------
    ValueError
        If an element or role is missing or unknown, or a position is not a number or beyond the text.
    """
    element = entry["document"]
    text, annotations = element.findtext("Text"), element.find("Annotations")
    if text is None or annotations is None:
        raise ValueError("the document lacks the element Text or Annotations")
    tokens = []
    for token in annotations.iter("Token"):
        (start,), (length,) = _parse_integers(token, "cs"), _parse_integers(token, "cl")
        if not 0 < length <= len(text) - start:
            raise ValueError(f"the token at {start} of length {length} is empty or extends beyond the text")
        tokens.append(text[start : start + length])
    entities: list[Entity] = []
    relations: list[Relation] = []
    for relation in annotations.iter("RadSpRLRelation"):
        head = len(entities)
        entities.append(_parse_entity(relation, "Indicator"))
        for role in relation:
            if role.tag not in ROLES:
                raise ValueError(f"a relation has an unknown role; use {', '.join(ROLES)}")
            relations.append(Relation(head, len(entities), role.tag))
            entities.append(_parse_entity(role, role.tag))
    return AnnotatedSentence(element.get("id", ""), tuple(tokens), tuple(entities), tuple(relations))


def _parse_integers(element: ElementTree.Element, name: str) -> list[int]:
    """Return the integers in a comma-separated attribute; a discontinuous span has several.

    Raises
    ------
    ValueError
        If the attribute is missing or is not a list of integers.
    """
    parts = element.get(name, "").split(",")
    if not all(part.isdecimal() for part in parts):
        raise ValueError(f"attribute {name!r} must be integers separated by commas")
    return list(map(int, parts))


def _parse_entity(element: ElementTree.Element, label: str) -> Entity:
    """Return the entity from the first to the last token of an element.

    The element's attributes ``ts`` and ``tl`` list the first token (from 0) and the number of tokens of each
    piece. A piece without tokens is ignored.

    Raises
    ------
    ValueError
        If the two attributes are malformed or differ in length, or no piece has a token.
    """
    starts, lengths = _parse_integers(element, "ts"), _parse_integers(element, "tl")
    if len(starts) != len(lengths):
        raise ValueError(f"{label} has {len(starts)} token starts (ts) but {len(lengths)} lengths (tl)")
    if not any(lengths):
        raise ValueError(f"{label} has no token; give tl a length above 0")
    spans = [(start, start + length) for start, length in zip(starts, lengths, strict=True) if length]
    return Entity(min(spans)[0], max(end for _, end in spans), label)


read = make_reader(load, "Rad-SpRL.xml")
