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
_ID_COLUMNS = ("student_id", "id", "SIS Login ID", "SIS User ID", "student")
_NAME_COLUMNS = ("name", "Student", "student")
_QUOTED = re.compile(r'"[^"]*"')
_SEPARATOR = re.compile(r"sep=([,;\t])\n", re.IGNORECASE)  # a line for Excel, which is no row


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
    return unicodedata.normalize("NFKC", student).strip().removeprefix("'").strip().lower()


def read_roster(path: Path) -> Roster:
    """A class's list: a CSV with a column of ids and one of names. Rows without an id are left out: Canvas's
    row of points possible, and its test student.

    Ids are those of the first of ``student_id``, ``id``, ``SIS Login ID``, ``SIS User ID`` (both of Canvas's
    export) and ``student`` that has some; names those of the first of ``name``, ``Student`` and ``student``
    that there is beside it.

    Raises
    ------
    LabError
        For a table without ids, or with an id twice; see also :func:`read_table`.
    """
    rows = read_table(path)
    own = next((name for name in _ID_COLUMNS if name in rows and rows[name].str.strip().any()), None)
    named = next((name for name in _NAME_COLUMNS if name in rows and name != own), None)
    if own is None:
        remedy = f"Put them into a column {listed(_ID_COLUMNS)}."
        raise LabError("a class list without ids", path.name, remedy)
    roster: Roster = {}
    for number, row in enumerate(rows.to_dict("records"), start=2):
        if not row[own].strip():
            continue
        if key(row[own]) in roster:
            raise LabError(f"{row[own]!r} is there twice", f"{path.name}, row {number}", "Leave one row.")
        in_canvas = {column: row[column] for column in CANVAS_COLUMNS if column in rows}
        roster[key(row[own])] = RosterEntry(row[own].strip(), row[named].strip() if named else "", in_canvas)
    return roster


def read_table(path: Path) -> pd.DataFrame:
    """A CSV as texts, whether a spreadsheet wrote it with commas, semicolons or tabs; a row that ends early
    has empty cells, and an empty one between others nothing else, so that rows have a spreadsheet's numbers.

    Raises
    ------
    LabError
        For a file without a header in its first row or not in UTF-8, two columns of one name, or a cell in a
        column without one, as a comma that is not quoted makes it.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        if stated := _SEPARATOR.match(text):
            text = text[stated.end() :]
        usual = max(",;\t", key=_QUOTED.sub("", text.partition("\n")[0]).count)
        rows = list(csv.reader(io.StringIO(text), delimiter=stated[1] if stated else usual))
    except (UnicodeDecodeError, csv.Error) as error:
        raise LabError(f"not a table ({error})", path.name, "Save it as CSV, in UTF-8.") from None
    while rows and not any(rows[-1]):
        rows.pop()
    if not rows or not any(rows[0]):
        what = "an empty first row" if rows else "an empty table"
        raise LabError(what, path.name, "Give its columns names in the first row.")
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
