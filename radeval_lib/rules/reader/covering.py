"""How much of a text the reading used, and what it left.

>>> from radeval_lib.rules.reader import coverage
>>> found = coverage("Small left effusion. Large blarney.")
>>> found.share, found.unread
(0.5, ((21, 34),))
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from radeval_lib.rules.reader.reader import why_unread
from radeval_lib.rules.reader.sentence import parse
from radeval_lib.rules.report_text import Section, findings, sections
from radeval_lib.rules.report_text.characters import Span


class ReadInPart(NamedTuple):
    """A statement of which the reading left words that carry meaning.

    ``span`` are its characters in the text; ``unused`` those of the words that were left, ``kinds`` what each
    of them is: degree, side, size, place, negation, change or word (any other).
    """

    span: Span
    unused: tuple[Span, ...]
    kinds: tuple[str, ...]


class Coverage(NamedTuple):
    """How much of a text was read.

    ``share`` is that of the words that carry meaning which the reading used, from 0 to 1; None where the text
    has no such word. ``statements`` are the statements about this study that say something, ``unread`` those
    in which nothing was read, ``in_part`` those of which a word was left. ``sections`` are those found, in
    order. ``remarks`` say in words why the text as a whole was not read, or which word was read otherwise
    than it is written.
    """

    share: float | None
    statements: tuple[Span, ...]
    unread: tuple[Span, ...]
    in_part: tuple[ReadInPart, ...]
    sections: tuple[Section, ...]
    remarks: tuple[str, ...]


@lru_cache(maxsize=8192)
def coverage(text: str) -> Coverage:
    """How much of a report was read, by the words that carry meaning."""
    every, unread, in_part = [], [], []
    why = why_unread(text)
    remarks = [f"not read: {why}"] if why else []
    used = total = 0
    for one in findings(text):
        parsed = parse(one.text)
        if not (number := parsed.used + len(parsed.unused)):
            continue
        span, total = (one.start, one.end), total + number
        every.append(span)
        if why or not (parsed.mentions or parsed.normals):
            unread.append(span)
            continue
        used += parsed.used
        if parsed.unused:
            left = [(one.span(word.start, word.stop), word.kind) for word in parsed.unused]
            in_part.append(
                ReadInPart(span, tuple(where for where, _ in left), tuple(kind for _, kind in left))
            )
        for start, stop, meant in parsed.misspelt:
            remarks.append(f'"{one.text[start:stop].lower()}" read as "{meant}"')
    share = used / total if total else None
    return Coverage(
        share, tuple(every), tuple(unread), tuple(in_part), sections(text), tuple(dict.fromkeys(remarks))
    )
