"""Annotated sentences as both tagging schemes train on them: words, and typed spans of words."""

from __future__ import annotations

import re

from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.data.restricted import reveal
from radeval_lib.models.ner.agreement import WordSpan

_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


def words_of(text: str) -> list[tuple[int, int]]:
    """Where the words of a text are: runs of letters and digits, and each other sign by itself."""
    return [match.span() for match in _WORD.finditer(text)]


def plain_words(sentence: AnnotatedSentence) -> list[str]:
    """The sentence's words, to compute on."""
    return [reveal(token) for token in sentence.tokens]


def gold_spans(sentence: AnnotatedSentence) -> list[WordSpan]:
    """The sentence's entities; types in upper case."""
    return [(entity.start, entity.end, entity.label.upper()) for entity in sentence.entities]
