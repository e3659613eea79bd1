"""Radiology notes of MIMIC-III, and the sections of a note."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.restricted import RestrictedText

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


COLUMNS = ("ROW_ID", "SUBJECT_ID", "CATEGORY", "DESCRIPTION", "TEXT")


@dataclass(frozen=True)
class Note:
    """A radiology note: ``description`` is the examination's name in MIMIC-III."""

    id: str
    patient: str
    description: str
    text: RestrictedText


def radiology_notes(path: Path) -> Iterator[Note]:
    """Notes of category Radiology of ``NOTEEVENTS.csv`` or ``.csv.gz``, in the file's order.

    Memory is constant but for the ids.
    """
    seen: set[int] = set()
    for row in reading.read_csv(path, COLUMNS):
        if row.text("CATEGORY") != "Radiology":
            continue
        row_id = row.whole("ROW_ID")
        if row_id in seen:
            raise FormatError("the same ROW_ID stands above", row.where)
        seen.add(row_id)
        yield Note(
            id=str(row_id),
            patient=str(row.whole("SUBJECT_ID")),
            description=" ".join(row["DESCRIPTION"].split()),
            text=RestrictedText(row["TEXT"], "mimic3"),
        )


def mask_deidentified(text: str) -> str:
    """``text`` with each ``[**...**]`` mark of de-identification as ``___``."""
    return re.sub(r"\[\*\*.*?\*\*\]", "___", text, flags=re.DOTALL)
