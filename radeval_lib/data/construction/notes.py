"""Radiology notes of MIMIC-III."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from radeval_lib.data import reading
from radeval_lib.data.errors import FormatError
from radeval_lib.data.restricted import RestrictedText

COLUMNS = ("ROW_ID", "SUBJECT_ID", "CATEGORY", "DESCRIPTION", "TEXT")


@dataclass(frozen=True)
class Note:
    """A radiology note: ``description`` is the examination's name in MIMIC-III."""

    id: str
    patient: str
    description: str
    text: RestrictedText


def radiology_notes(path: Path) -> Iterator[Note]:
    """Yield notes of category Radiology of ``NOTEEVENTS.csv`` or ``.csv.gz``, in the file's order.

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
