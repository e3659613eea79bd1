"""Rad-SpRL: chest X-ray reports with spatial roles, in one XML file (Datta and Roberts 2020)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.records import AnnotatedSentence, Entity, Relation

ROLES = ("Trajector", "Landmark", "Diagnosis", "Hedge")
INDICATOR = "Indicator"


def load(path: Path) -> list[AnnotatedSentence]:
    """Documents of ``Rad-SpRL.xml`` in the file's order, each as one sequence of tokens.

    Documents without relations are kept. Relations run from the spatial indicator to each of its roles. A
    role whose tokens have a gap is one entity with ``tokens`` (RaLEs' converter makes one of each piece).
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
    return reading.unique(_documents(root, path), lambda document: document.id)


def _documents(root: ElementTree.Element, path: Path) -> Iterator[tuple[str, AnnotatedSentence]]:
    for number, element in enumerate(root.iter("Document"), start=1):
        where = f"{path.name}, document {number}"
        name = _attribute(element, "id", where)
        text = element.findtext("Text")
        annotations = element.find("Annotations")
        if text is None or annotations is None:
            raise FormatError("a document needs Text and Annotations", where)
        tokens = []
        for token in annotations.iter("Token"):
            start, length = (_whole(token, key, where) for key in ("cs", "cl"))
            if not 0 < length <= len(text) - start:
                raise FormatError(f"token at {start} of length {length} leaves the text", where)
            tokens.append(text[start : start + length])
        entities: list[Entity] = []
        relations: list[Relation] = []
        for relation in annotations.iter("RadSpRLRelation"):
            head = _entity(relation, INDICATOR, where)
            entities.append(head)
            at = len(entities) - 1
            for role in relation:
                if role.tag not in ROLES:
                    raise FormatError("unknown role", where, f"Roles: {', '.join(ROLES)}.")
                entities.append(_entity(role, role.tag, where))
                relations.append(Relation(at, len(entities) - 1, role.tag))
        yield (
            where,
            reading.make(
                AnnotatedSentence,
                where,
                id=name,
                tokens=tuple(tokens),
                entities=tuple(entities),
                relations=tuple(relations),
            ),
        )


def _attribute(element: ElementTree.Element, name: str, where: str) -> str:
    if name not in element.attrib:
        raise FormatError(f"{element.tag} needs attribute {name!r}", where)
    return element.attrib[name]


def _whole(element: ElementTree.Element, name: str, where: str) -> int:
    return reading.whole(_attribute(element, name, where), f"{element.tag}@{name}", where)


def _entity(element: ElementTree.Element, label: str, where: str) -> Entity:
    """An entity from its token starts ``ts`` and lengths ``tl``, comma lists where the span has gaps."""
    starts, lengths = (
        [
            reading.whole(part, f"{element.tag}@{key}", where)
            for part in _attribute(element, key, where).split(",")
        ]
        for key in ("ts", "tl")
    )
    if len(starts) != len(lengths):
        raise FormatError(f"{element.tag} has {len(starts)} starts but {len(lengths)} lengths", where)
    tokens = sorted(
        token for start, length in zip(starts, lengths, strict=True) for token in range(start, start + length)
    )
    if not tokens:
        raise FormatError(f"{element.tag} has no tokens", where)
    gaps = len(tokens) != tokens[-1] - tokens[0] + 1
    return reading.make(
        Entity, where, start=tokens[0], end=tokens[-1] + 1, label=label, tokens=tuple(tokens) if gaps else ()
    )


def counts(documents: list[AnnotatedSentence]) -> dict[str, int]:
    """Documents with a relation, which RaLEs uses, by their total."""
    return {"documents with a relation": sum(bool(document.relations) for document in documents)}
