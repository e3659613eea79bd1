"""What an entity tagger is, and the decoding of per-token labels into entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

Decoding = Literal["released", "standard"]


class Span(NamedTuple):
    """A stretch of tokens, both ends included, and its type."""

    start: int
    end: int
    type: str


class Tagger(Protocol):
    """Finds entities in sentences."""

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """(text, type) of each entity of each sentence, in order; types in upper case."""
        ...


def decode(labels: Sequence[str], skipped: Sequence[bool], how: Decoding = "released") -> list[Span]:
    """Spans of a sequence of ``B-TYPE``, ``I-TYPE`` and ``O``."""
    return decode_released(labels, skipped) if how == "released" else decode_standard(labels, skipped)


def decode_standard(labels: Sequence[str], skipped: Sequence[bool]) -> list[Span]:
    """Spans of IOB labels; a stray I- begins an entity, a change of type ends one."""
    spans: list[Span] = []
    current: Span | None = None
    for position, (label, special) in enumerate(zip(labels, skipped, strict=True)):
        prefix, _, kind = ("O", "", "") if special else label.partition("-")
        if current is not None and prefix == "I" and kind == current.type:
            current = current._replace(end=position)
            continue
        if current is not None:
            spans.append(current)
        current = Span(position, position, kind) if prefix in ("B", "I") else None
    return spans if current is None else [*spans, current]


def decode_released(labels: Sequence[str], skipped: Sequence[bool]) -> list[Span]:
    """Spans by the released code's rules (``post_process`` in RaTEScore 0.6.0), its oddities included.

    An entity has the type of its B-, whatever types the I- after it have; an I- without a B- before it is
    dropped. An entity ends where the NEXT label is O or B-, so the label predicted for the closing special
    token decides over an entity at the end of the sentence: if that label is I-, the entity is taken to end
    before the special token, but only as long as no entity before it ended at a B-; otherwise it is lost.
    """
    spans: list[Span] = []
    opened: tuple[int, str] | None = None
    ended_at_b = False  # the reference forgets to clear the end of an entity that another followed at once
    for position in range(len(labels) - 1):
        prefix, _, kind = labels[position].partition("-")
        following = labels[position + 1][:1]
        if skipped[position] or prefix not in ("B", "I") or (prefix == "I" and following == "I"):
            continue
        begin = (position, kind) if prefix == "B" else opened
        if following == "I":
            opened = begin
            continue
        if begin is not None:
            spans.append(Span(begin[0], position, begin[1]))
        opened = (position, kind) if following == "B" else None
        ended_at_b = following == "B"
    if opened is not None and not ended_at_b:
        spans.append(Span(opened[0], len(labels) - 2, opened[1]))
    return spans
