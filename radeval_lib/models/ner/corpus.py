"""Annotated sentences as both tagging schemes train on them: words, and typed spans of words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import reveal
from radeval_lib.models.ner.agreement import WordSpan

if TYPE_CHECKING:
    from radeval_lib.synthetic.records import AnnotatedText, SyntheticReport

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


def from_text(annotated: AnnotatedText, key: str, group: str, split: str) -> Iterator[AnnotatedSentence]:
    """The sentences of a generated text. An entity whose borders are not word borders, or that crosses
    sentences, is an error of the generator and raises ValueError."""
    for number, sentence in enumerate(annotated.sentences):
        spans = [
            (sentence.start + a, sentence.start + b)
            for a, b in words_of(annotated.text[sentence.start : sentence.end])
        ]
        begins = {begin: index for index, (begin, _) in enumerate(spans)}
        ends = {end: index + 1 for index, (_, end) in enumerate(spans)}
        inside = [entity for entity in annotated.entities if sentence.start <= entity.start < sentence.end]
        for entity in inside:
            if entity.start not in begins or entity.end not in ends:
                raise ValueError(
                    f"{key}, sentence {number}: {entity.text!r} does not begin and end at a word"
                )
        if spans:
            yield AnnotatedSentence(
                f"{key}-{number}",
                tuple(annotated.text[begin:end] for begin, end in spans),
                tuple(Entity(begins[entity.start], ends[entity.end], entity.label) for entity in inside),
                group=group,
                split=split,
            )


def from_synthetic(reports: Iterable[SyntheticReport], split: str = "") -> list[AnnotatedSentence]:
    """The sentences of generated findings and impressions; the group is the style that they are written
    in."""
    return [
        sentence
        for report in reports
        for name, section in (("findings", report.findings), ("impression", report.impression))
        for sentence in from_text(section, f"{report.report_id}-{name}", report.style, split)
    ]
