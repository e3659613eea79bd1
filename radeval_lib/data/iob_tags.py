"""Conversion between spans of tokens and IOB tags, and a loader of chest CT sentences with such tags (Zhang
et al. 2021), in the form that RaLEs reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.readers import SPLIT_FILES, load_each
from radeval_lib.data.records import AnnotatedSentence, Entity
from radeval_lib.data.restricted import mark

WordSpan = tuple[int, int, str]
"""First word, one past the last word, type."""
_PREFIXES = frozenset("BIES")


def encode(spans: Iterable[WordSpan], length: int) -> list[str]:
    """Return the IOB2 tags of ``length`` words. Of overlapping spans, the one that begins first keeps its
    words, or the longer of two that begin together; the other is left out.

    Raises
    ------
    ValueError
        If a span is empty or leaves the words.
    """
    tags = ["O"] * length
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1], span[2])):
        if not 0 <= start < end <= length:
            raise ValueError(f"span [{start}, {end}) is empty or extends beyond the {length} words")
        if all(tag == "O" for tag in tags[start:end]):
            tags[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return tags


def decode(tags: Sequence[str]) -> tuple[Entity, ...]:
    """Return the entities of a sentence tagged in IOB, IOB2 or IOBES, in order.

    ``B-`` and ``S-`` begin an entity. ``I-`` and ``E-`` continue an entity of the same label or, without
    one before them, begin it (as in IOB1, and as a stray ``I-`` is usually read). ``O`` ends it.

    Raises
    ------
    ValueError
        If a tag is not of these schemes.
    """
    spans: list[WordSpan] = []
    continued = ""  # the label that an I- or E- continues
    for position, tag in enumerate(tags):
        prefix, _, label = tag.partition("-")
        if tag == "O":
            continued = ""
            continue
        if not (prefix in _PREFIXES and label):
            raise ValueError(f"the tag of token {position} is not an IOB tag")
        start = spans.pop()[0] if prefix in "IE" and label == continued else position
        spans.append((start, position + 1, label))
        continued = "" if prefix in "ES" else label
    return tuple(Entity(*span) for span in spans)


def load(path: Path) -> list[AnnotatedSentence]:
    """Return sentences from a JSON list, or JSON lines, of objects with ``tokens`` and ``ner_tags``."""

    def sentence(item: reading.Entry) -> AnnotatedSentence:
        tokens, tags = item.take("tokens", tuple[str, ...]), item.take("ner_tags", tuple[str, ...])
        if len(tokens) != len(tags):
            raise ValueError(f"{len(tokens)} tokens but {len(tags)} tags")
        # Without ids, the record's number names it.
        name = str(item.get("id", item.get("doc_key", f"{path.stem}-{item.at}")))
        words = tuple(mark(token, "stanza_radiology", True) for token in tokens)
        return AnnotatedSentence(name, words, decode(tags))

    return reading.records(reading.read_objects(path), sentence)


read = load_each(load, *SPLIT_FILES)
