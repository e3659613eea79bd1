"""Splitting a MIMIC report into sections by its headers: capitals and a colon at the start of a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

# A newline, one space, capitals, a colon: the header rule of the MIMIC-CXR code, which MIMIC-RRS shares.
_HEADER = re.compile(r"\n ([A-Z ()/,-]+):\s")


@dataclass(frozen=True)
class Section:
    """A section: its header in lower case (empty for what stands before the first) and its text."""

    name: str
    text: str


def split(text: str) -> list[Section]:
    """Sections of a report in order, the part before the first header first.

    The line on which a section begins is not searched for another header, as in the reference code: it avoids
    taking a phrase such as ``CHEST, PA AND LATERAL:`` within it for one.
    """
    header = _HEADER.search(text)
    sections = [Section("", text[: header.start()] if header else text)]
    while header:
        begin = header.end()
        line_end = text.find("\n", begin)
        following = _HEADER.search(text, line_end) if line_end >= 0 else None
        sections.append(
            Section(header[1].lower().strip(), text[begin : following.start() if following else None])
        )
        header = following
    return sections


def is_like(name: str, wanted: str) -> bool:
    """Whether a header is ``wanted`` or a misspelling of it, such as ``findigns`` or ``impresion``.

    At least 85 % of the letters agree in order (Ratcliff-Obershelp), which keeps ``complications`` apart from
    ``comparison``.
    """
    return SequenceMatcher(None, name, wanted).ratio() >= 0.85
