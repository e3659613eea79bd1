"""Annotations as IOB (RaTE-NER) and in RadGraph's form."""

from __future__ import annotations

from collections.abc import Iterator

from radeval_lib.data.radgraph import Annotation, annotation
from radeval_lib.lexicon.markup import tokenize
from radeval_lib.synthetic.records import AnnotatedText


def radgraph_json(text: AnnotatedText) -> Annotation:
    """RadGraph's form: tokens joined by blanks, entities by 1-based id, inclusive token positions."""
    entities = [(one.start_ix, one.end_ix + 1, one.label) for one in text.radgraph]
    relations = [
        (head, int(target) - 1, kind)
        for head, one in enumerate(text.radgraph)
        for kind, target in one.relations
    ]
    return annotation(tokenize(text.text), entities, relations) | {"data_source": "synthetic"}


def sentence_tokens(text: AnnotatedText) -> Iterator[tuple[list[str], list[tuple[int, int, str]]]]:
    """Each sentence's tokens, and its RaTE entities as (first token, last token, type)."""
    for sentence in text.sentences:
        tokens: list[str] = []
        starts: dict[int, int] = {}
        ends: dict[int, int] = {}
        at = sentence.start
        for token in tokenize(text.text[sentence.start : sentence.end]):
            at = text.text.index(token, at)
            starts[at], ends[at + len(token)] = len(tokens), len(tokens)
            tokens.append(token)
            at += len(token)
        inside = (e for e in text.entities if sentence.start <= e.start < sentence.end)
        yield tokens, [(starts[e.start], ends[e.end], e.label) for e in inside]


def iob(text: AnnotatedText) -> Iterator[tuple[list[str], list[str]]]:
    """Each sentence's tokens and IOB tags, types in capitals as in RaTE-NER ("B-NON-ABNORMALITY")."""
    for tokens, entities in sentence_tokens(text):
        tags = ["O"] * len(tokens)
        for first, last, label in entities:
            tags[first] = f"B-{label.upper()}"
            for index in range(first + 1, last + 1):
                tags[index] = f"I-{label.upper()}"
        yield tokens, tags
