"""Annotations as IOB (RaTE-NER) and in RadGraph's form."""

from __future__ import annotations

from collections.abc import Iterator

from radeval_lib.data import iob_tags
from radeval_lib.data.radgraph import Annotation, annotation
from radeval_lib.rules.generator.records import AnnotatedText
from radeval_lib.rules.lexicon.markup import tokenize


def graph(text: AnnotatedText) -> tuple[list[tuple[int, int, str]], list[tuple[int, int, str]]]:
    """RadGraph entities as (first token, token behind the last, label), relations as (head, tail, type)."""
    entities = [(one.start_ix, one.end_ix + 1, one.label) for one in text.radgraph]
    links = [(head, link) for head, one in enumerate(text.radgraph) for link in one.relations]
    return entities, [(head, int(tail) - 1, kind) for head, (kind, tail) in links]


def radgraph_json(text: AnnotatedText) -> Annotation:
    """RadGraph's form: tokens joined by blanks, entities by 1-based id, inclusive token positions."""
    return annotation(tokenize(text.text), *graph(text)) | {"data_source": "synthetic"}


def token_places(text: str) -> tuple[tuple[str, ...], list[int]]:
    """Tokens, and for each character position the token that holds it or the next one."""
    tokens, places, at = tokenize(text), [], 0
    for number, token in enumerate(tokens):
        end = text.index(token, at) + len(token)
        places += [number] * (end - at)
        at = end
    return tokens, places


def sentence_tokens(text: AnnotatedText) -> Iterator[tuple[list[str], list[tuple[int, int, str]]]]:
    """Each sentence's tokens, and its RaTE entities as (first token, last token, type)."""
    for sentence in text.sentences:
        begin, end = sentence.start, sentence.end
        tokens, places = token_places(text.text[begin:end])
        inside = (e for e in text.entities if begin <= e.start < end)
        yield list(tokens), [(places[e.start - begin], places[e.end - 1 - begin], e.label) for e in inside]


def iob(text: AnnotatedText) -> Iterator[tuple[list[str], list[str]]]:
    """Each sentence's tokens and IOB tags, types in capitals as in RaTE-NER ("B-NON-ABNORMALITY")."""
    for tokens, entities in sentence_tokens(text):
        spans = ((first, last + 1, label.upper()) for first, last, label in entities)
        yield tokens, iob_tags.encode(spans, len(tokens))
