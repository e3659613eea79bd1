"""How much of a text the reading used, and what it left.

>>> from radeval_lib.findings import coverage
>>> found = coverage("Small left effusion.")
>>> found.share, found.in_part
(1.0, ())
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from radeval_lib.findings.reader import read
from radeval_lib.report_text import Section, findings, sections

Span = tuple[int, int]


class ReadInPart(NamedTuple):
    """A statement of which the reading left words of weight.

    ``span`` are its characters in the text; ``unused`` those of the words that were left, ``kinds`` what each
    of them is: degree, side, size, place, negation, change or word (any other that carries meaning).
    """

    span: Span
    unused: tuple[Span, ...]
    kinds: tuple[str, ...]


class Coverage(NamedTuple):
    """How much of a text was read.

    ``share`` is that of the words that carry meaning which the reading used, from 0 to 1; None where the text
    has no such word. ``statements`` are the statements about this study, ``unread`` those of them in which
    nothing was read, ``in_part`` those of which a word of weight was left. ``sections`` are those found, in
    order. ``remarks`` say in words why the text as a whole, or a word of it, was not read as it is written
    ("not English"); each remark is the same for every text that it holds for, up to a colon.
    """

    share: float | None
    statements: tuple[Span, ...]
    unread: tuple[Span, ...]
    in_part: tuple[ReadInPart, ...]
    sections: tuple[Section, ...]
    remarks: tuple[str, ...]


@lru_cache(maxsize=8192)
def coverage(text: str) -> Coverage:
    """How much of a report was read."""
    found = read(text)
    starts = [*(one.start for one in found.findings), *(one.start for one in found.normals)]
    every = [(one.start, one.end) for one in findings(text) if any(map(str.isalpha, one.text))]
    unread = [span for span in every if not any(span[0] <= place < span[1] for place in starts)]
    share = 1 - len(unread) / len(every) if every else None
    return Coverage(share, tuple(every), tuple(unread), (), sections(text), ())
