"""The students of a class, from a table that a spreadsheet or a learning system wrote."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from radeval_lib.errors import LabError, listed

CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
"""What Canvas exports, and wants back, of each student."""
_ID_COLUMNS = ("student", "student_id", "id", "SIS Login ID", "SIS User ID")
_NAME_COLUMNS = ("name", "Student")


@dataclass(frozen=True)
class RosterEntry:
    """A student of a class: the id as it is in notebooks, a name, and what Canvas knows the student by."""

    student: str
    name: str
    canvas: Mapping[str, str] = field(default_factory=dict)


Roster = dict[str, RosterEntry]
"""The students of a class, by :func:`key` of their ids."""


def key(student: str) -> str:
    """What two spellings of an id have in common."""
    return student.strip().removeprefix("'").lower()


def read_roster(path: Path) -> Roster:
    """A class's list: a CSV with a column of ids (``student``, ``student_id`` or ``id``; in Canvas's export
    ``SIS Login ID`` or ``SIS User ID``), and one of names (``name`` or ``Student``)."""
    rows = read_table(path)
    own = next((name for name in _ID_COLUMNS if name in rows), None)
    named = next((name for name in _NAME_COLUMNS if name in rows and name != own), None)
    if own is None:
        raise LabError("a class list without ids", path.name, f"Name a column {listed(_ID_COLUMNS)}.")
    roster: Roster = {}
    for number, row in enumerate(rows.to_dict("records"), start=2):
        if not row[own].strip():
            continue  # Canvas's row of points possible, and its test student
        if key(row[own]) in roster:
            raise LabError(f"{row[own]!r} is there twice", f"{path.name}, row {number}", "Leave one row.")
        in_canvas = {column: row[column] for column in CANVAS_COLUMNS if column in rows}
        roster[key(row[own])] = RosterEntry(row[own].strip(), row[named] if named else "", in_canvas)
    return roster


def read_table(path: Path) -> pd.DataFrame:
    """A CSV as texts, whether a spreadsheet wrote it with commas, semicolons or tabs."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        separator = max(",;\t", key=text.partition("\n")[0].count)
        found = pd.read_csv(io.StringIO(text), sep=separator, dtype=str, keep_default_na=False)
    except (UnicodeDecodeError, ValueError, csv.Error) as error:
        raise LabError(f"not a table ({error})", path.name, "Save it as CSV, in UTF-8.") from None
    return found.rename(columns=str.strip)
