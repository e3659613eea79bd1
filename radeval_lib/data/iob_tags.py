"""Spans of tokens as IOB tags, and back; and sentences of chest CT reports with such tags, in the form that
RaLEs reads (Zhang et al. 2021)."""

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
    """Return the IOB2 tags of ``length`` words. If spans overlap, the earlier and then the longer one keeps
    its words.

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

    ``B-`` and ``S-`` begin an entity. ``I-`` and ``E-`` continue one of the same label; without one, they
    begin it (as in IOB1, and as gold files with a stray ``I-`` are usually read). ``O`` ends it.
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
        # Files without ids: the record's number is its name.
        name = str(item.get("id", item.get("doc_key", f"{path.stem}-{item.at}")))
        words = tuple(mark(token, "stanza_radiology", True) for token in tokens)
        return AnnotatedSentence(name, words, decode(tags))

    return reading.records(reading.read_objects(path), sentence)


read = load_each(load, *SPLIT_FILES)
