"""The students of a class, from a table that a spreadsheet or a learning system wrote."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from radeval_lib.errors import LabError, listed

CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
"""What Canvas exports, and wants back, of each student."""
_ID_COLUMNS = ("student", "student_id", "id", "SIS Login ID", "SIS User ID")
_NAME_COLUMNS = ("name", "Student")
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class RosterEntry:
    """A student of a class: the id as it is in notebooks, a name, and what Canvas knows the student by."""

    student: str
    name: str
    canvas: Mapping[str, str] = field(default_factory=dict)


Roster = dict[str, RosterEntry]
"""The students of a class, by :func:`key` of their ids."""


def key(student: str) -> str:
    """What two spellings of an id have in common: that of a notebook (:func:`radeval_lib.labs.known_id`) and
    that of a table, which may have a sign against formulas before it."""
    return unicodedata.normalize("NFKC", student).strip().removeprefix("'").lower()


def read_roster(path: Path) -> Roster:
    """A class's list: a CSV with a column of ids (``student``, ``student_id`` or ``id``; in Canvas's export
    ``SIS Login ID`` or ``SIS User ID``), and one of names (``name`` or ``Student``). Rows without an id are
    left out: Canvas's row of points possible, and its test student.

    Raises
    ------
    LabError
        For a table without ids, or with an id twice; see also :func:`read_table`.
    """
    rows = read_table(path)
    own = next((name for name in _ID_COLUMNS if name in rows), None)
    named = next((name for name in _NAME_COLUMNS if name in rows and name != own), None)
    if own is None:
        raise LabError("a class list without ids", path.name, f"Name a column {listed(_ID_COLUMNS)}.")
    roster: Roster = {}
    for number, row in enumerate(rows.to_dict("records"), start=2):
        if not row[own].strip():
            continue
        if key(row[own]) in roster:
            raise LabError(f"{row[own]!r} is there twice", f"{path.name}, row {number}", "Leave one row.")
        in_canvas = {column: row[column] for column in CANVAS_COLUMNS if column in rows}
        roster[key(row[own])] = RosterEntry(row[own].strip(), row[named] if named else "", in_canvas)
    return roster


def read_table(path: Path) -> pd.DataFrame:
    """A CSV as texts, whether a spreadsheet wrote it with commas, semicolons or tabs; a row that ends early
    has empty cells.

    Raises
    ------
    LabError
        For a file without a header or not in UTF-8, two columns of one name, or a cell in a column without
        one, as a comma that is not quoted makes it.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        separator = max(",;\t", key=_QUOTED.sub("", text.partition("\n")[0]).count)
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise LabError(f"not a table ({error})", path.name, "Save it as CSV, in UTF-8.") from None
    if not rows:
        raise LabError("an empty table", path.name, "Give its columns names in the first row.")
    head = [name.strip() for name in rows.pop(0)]
    places = {name: place for place, name in enumerate(head) if name}
    if twice := sorted(name for name in places if head.count(name) > 1):
        raise LabError(f"two columns are called {twice[0]!r}", path.name, "Rename one.")
    for number, row in enumerate(rows, start=2):
        if any(cell.strip() for place, cell in enumerate(row) if place not in places.values()):
            where = f"{path.name}, row {number}"
            raise LabError("a cell in a column without a name", where, "Name it; quote cells with commas.")
    cells = [[row[place] if place < len(row) else "" for place in places.values()] for row in rows]
    return pd.DataFrame(cells, columns=list(places), dtype=str)
