"""Radiology notes of MIMIC-III's NOTEEVENTS table, streamed (Johnson et al. 2016)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.restricted import RestrictedText

SOURCE = "mimic3"
COLUMNS = ("ROW_ID", "SUBJECT_ID", "CATEGORY", "DESCRIPTION", "TEXT")
_DEIDENTIFIED = re.compile(r"\[\*\*.*?\*\*\]", re.DOTALL)
MASK = "___"


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

    Raises
    ------
    FormatError
        Naming file and line: missing column, wrong type, cut short, wrong encoding, duplicate ROW_ID.
    """
    seen: set[int] = set()
    for line, row in reading.read_csv(path, COLUMNS):
        if row["CATEGORY"].strip() != "Radiology":
            continue
        where = f"{path.name}, line {line}"
        row_id = reading.whole(row["ROW_ID"], "ROW_ID", where)
        if row_id in seen:
            raise FormatError("the same ROW_ID stands above", where)
        seen.add(row_id)
        yield Note(
            id=str(row_id),
            patient=str(reading.whole(row["SUBJECT_ID"], "SUBJECT_ID", where)),
            description=" ".join(row["DESCRIPTION"].split()),
            text=RestrictedText(row["TEXT"], SOURCE),
        )


def mask_deidentified(text: str) -> str:
    """``text`` with each ``[**...**]`` mark of de-identification as ``___``."""
    return _DEIDENTIFIED.sub(MASK, text)
