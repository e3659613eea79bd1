"""Conversion between entity spans and IOB tags; a loader of chest CT sentences with such tags.

The sentences are those of Zhang et al. 2021, in the format that RaLEs reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import SPLIT_FILES, make_reader
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import mark_restricted

WordSpan = tuple[int, int, str]  # first word, one past the last word, type
_PREFIXES = frozenset("BIES")


def encode(spans: Iterable[WordSpan], length: int) -> list[str]:
    """Return one IOB2 tag for each of a sentence's ``length`` words, such as ``B-Anatomy`` or ``O``.

    Of overlapping spans, only the first is tagged; of spans that begin together, only the longest.

    Raises
    ------
    ValueError
        If a span is empty or extends beyond the words.
    """
    tags = ["O"] * length
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1], span[2])):
        if not 0 <= start < end <= length:
            raise ValueError(f"span [{start}, {end}) is empty or extends beyond the {length} words")
        if all(tag == "O" for tag in tags[start:end]):
            tags[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return tags


def decode(tags: Sequence[str]) -> tuple[Entity, ...]:
    """Return the entities of a sentence, in order, from one IOB, IOB2 or IOBES tag per word.

    ``B-`` and ``S-`` begin an entity. ``I-`` and ``E-`` continue the entity before them if it has the same
    label; otherwise they begin one, as in IOB1. ``O`` ends an entity.

    Raises
    ------
    ValueError
        If a tag is not ``O`` or one of these prefixes with a label.
    """
    spans: list[WordSpan] = []
    open_label = ""  # label of the entity that an I- or E- would continue
    for position, tag in enumerate(tags):
        prefix, _, label = tag.partition("-")
        if tag == "O":
            open_label = ""
            continue
        if not (prefix in _PREFIXES and label):
            raise ValueError(f"token {position} (from 0) has no valid tag: use O, or B-, I-, E- or S-LABEL")
        start = spans.pop()[0] if prefix in "IE" and label == open_label else position
        spans.append((start, position + 1, label))
        open_label = "" if prefix in "ES" else label
    return tuple(Entity(*span) for span in spans)


def load(path: Path) -> list[AnnotatedSentence]:
    """Return the sentences in a JSON list or JSON-lines file of objects with ``tokens`` and ``ner_tags``.

    Raises
    ------
    FormatError
        If a key is missing, the numbers of tokens and tags differ, or a tag is not an IOB tag.
    """

    def parse_sentence(item: reading.Entry) -> AnnotatedSentence:
        tokens, tags = item.take("tokens", tuple[str, ...]), item.take("ner_tags", tuple[str, ...])
        if len(tokens) != len(tags):
            raise ValueError(f"{len(tokens)} tokens but {len(tags)} tags; each token needs one tag")
        # A sentence without an id is identified by the number of its record.
        name = str(item.get("id", item.get("doc_key", f"{path.stem}-{item.number}")))
        words = tuple(mark_restricted(token, "stanza_radiology") for token in tokens)
        return AnnotatedSentence(name, words, decode(tags))

    return reading.parse_records(reading.read_objects(path), parse_sentence)


read = make_reader(load, *SPLIT_FILES)
