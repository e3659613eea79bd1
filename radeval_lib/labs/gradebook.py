"""Grades of a class: tables, written marks, totals, and what Canvas imports."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from radeval_lib.errors import LabError, listed
from radeval_lib.labs import lab_sources
from radeval_lib.labs.grades import Grade
from radeval_lib.labs.roster import CANVAS_COLUMNS, Roster, key

_FIXED = ("student", "name", "lab", "file", "points", "of", "notes")
_TOTALS = ["student", "name", "lab", "points", "written", "total", "of", "notes"]
_GONE = "no longer among the submissions"
_NUMBER = re.compile(r"\d+([.,]\d+)?")  # 2, 2.5 or 2,5


def table(grades: Sequence[Grade], roster: Roster | None = None) -> pd.DataFrame:
    """One row per student and lab.

    Returns
    -------
    pandas.DataFrame
        ``student``, ``name`` (with a roster), ``lab``, ``file``, ``points``, ``of`` (points possible),
        ``notes``, and a column per task; those of written tasks, and all of what was not graded, are left to
        fill in. With a roster a student who handed nothing in has a row without points for each lab.
    """
    rows = []
    for grade in grades:
        row: dict[str, Any] = {
            "student": _text(grade.student),
            "name": "",
            "lab": grade.lab,
            "file": _text(grade.file),
        }
        marks = {"points": grade.points, **{name: mark.points for name, mark in grade.tasks.items()}}
        row |= {name: "" if grade.problem else round(mark, 2) for name, mark in marks.items()}
        row |= {"of": round(grade.possible, 2), "notes": list(grade.notes)}
        rows.append(row | dict.fromkeys(grade.written, ""))
    if roster is not None:
        _by_roster(rows, grades, roster)
    for row in rows:
        row["notes"] = "; ".join(row["notes"])
    rows.sort(key=lambda row: (row["lab"], key(row["student"]), row["file"]))
    made = pd.DataFrame(rows, columns=list(dict.fromkeys([*_FIXED, *(name for row in rows for name in row)])))
    return made if roster is not None else made.drop(columns="name")


def _by_roster(rows: list[dict[str, Any]], grades: Sequence[Grade], roster: Roster) -> None:
    """Name the students of the rows, by folder or file where no id ran, and add those who handed nothing
    in."""
    seen = {(key(grade.student), grade.lab) for grade in grades if grade.identified}
    for row, grade in zip(rows, grades, strict=True):
        entry = roster.get(key(row["student"]))
        for sender in () if grade.identified or entry else map(key, grade.sender):
            if sender in roster and (sender, grade.lab) not in seen:
                entry = roster[sender]
                row["student"] = _text(entry.student)
        if entry is None:
            row["notes"].append("not on the class list")
        else:
            row["name"] = _text(entry.name)
            seen.add((key(row["student"]), row["lab"]))
    possible = {grade.lab: round(grade.possible, 2) for grade in grades if grade.lab}
    for lab, points in possible.items():
        for own, entry in roster.items():
            if (own, lab) not in seen:
                known = {"student": _text(entry.student), "name": _text(entry.name), "lab": lab, "file": ""}
                rows.append(known | {"points": "", "of": points, "notes": ["nothing handed in"]})


def _text(value: str) -> str:
    """What a spreadsheet takes for a text and not for a formula."""
    return f"'{value}" if value[:1] in ("=", "+", "-", "@", "\t") else value


def with_earlier(new: pd.DataFrame, earlier: pd.DataFrame) -> pd.DataFrame:
    """A new table with what an instructor wrote into the earlier one: marks of written tasks, columns of the
    instructor's own, and rows with marks whose submission is gone.

    Marks go to the row of the same student, lab and file; if there is none, to the student's first row of
    the lab that has none yet, with a note.

    Raises
    ------
    LabError
        If the earlier table has no columns ``student``, ``lab`` and ``file``.
    """
    if not {"student", "lab", "file"} <= set(earlier):
        raise LabError(
            "the table that is there has no columns student, lab and file",
            remedy="Write to another file: what was entered there would be lost.",
        )
    made = new.astype(object)
    automatic = {"points", "of", "notes", "name", *_task_columns(new)}
    own = [name for name in earlier if name not in {"student", "lab", "file", *automatic}]
    for name in own:
        if name not in made:
            made[name] = ""
    places = defaultdict[tuple[str, str], list[int]](list)
    for place, row in enumerate(made.to_dict("records")):
        places[row["lab"], key(row["student"])].append(place)
    gone = []
    for row in earlier.to_dict("records"):
        entered = {name: row[name] for name in own if row[name].strip()}
        candidates = places[row["lab"], key(row["student"])]
        same = [place for place in candidates if made.at[place, "file"] == row["file"]]
        free = [place for place in same or candidates if not any(made.loc[place, own])]
        if entered and free:
            note = "" if same else f"written marks are those of {row['file']}"
            _enter(made, free[0], entered, note)
        elif entered:
            notes = dict.fromkeys([*filter(None, row.get("notes", "").split("; ")), _GONE])
            gone.append({**{name: row.get(name, "") for name in made}, "notes": "; ".join(notes)})
    return pd.concat([made, pd.DataFrame(gone, columns=made.columns, dtype=object)], ignore_index=True)


def _enter(made: pd.DataFrame, place: int, entered: Mapping[str, str], note: str) -> None:
    """Put marks, and a note if there is one, into a row of a table."""
    for name, mark in entered.items():
        made.at[place, name] = mark
    made.at[place, "notes"] = "; ".join(filter(None, (made.at[place, "notes"], note)))


def _task_columns(rows: pd.DataFrame) -> set[str]:
    """The columns that tests fill."""
    return {
        task.name for lab in _labs_of(rows).values() for task in lab_sources.tasks(lab) if not task.written
    }


def _labs_of(rows: pd.DataFrame) -> dict[str, lab_sources.Lab]:
    known = {lab.name: lab for lab in lab_sources.labs()}
    return {name: known[name] for name in sorted(set(rows["lab"])) if name in known}


def totals(grades: pd.DataFrame, where: str) -> pd.DataFrame:
    """Points of tests and of written tasks together, one row per student and lab.

    Returns
    -------
    pandas.DataFrame
        ``student``, ``name`` (if known), ``lab``, ``points``, ``written``, ``total``, ``of`` (what is
        possible) and ``notes``. What is not marked yet is named there, and has no total.

    Raises
    ------
    LabError
        For a mark that is not a number from 0 to the task's points, an unknown lab, or two rows of a student
        and lab: it names the row of ``where``.
    """
    if not {"student", "lab", "points"} <= set(grades):
        raise LabError("not a table of grades", where, "It has columns student, lab and points.")
    labs, rows, seen = _labs_of(grades), [], set()
    for number, row in enumerate(grades.to_dict("records"), start=2):
        place = f"{where}, row {number}"
        if not row["lab"]:
            continue
        if row["lab"] not in labs:
            known = listed(lab.name for lab in lab_sources.labs())
            raise LabError(f"there is no lab {row['lab']!r}", place, f"Labs: {known}.")
        if (own := (row["lab"], key(row["student"]))) in seen:
            raise LabError(
                f"a second row of {row['student']!r}", place, "Delete the one that does not count."
            )
        seen.add(own)
        rows.append(_total(row, lab_sources.tasks(labs[row["lab"]]), place))
    made = pd.DataFrame(rows, columns=_TOTALS)
    return made if "name" in grades else made.drop(columns="name")


def _total(row: Mapping[str, str], tasks: Sequence[lab_sources.LabTask], where: str) -> dict[str, Any]:
    """A row of :func:`totals` from one of a table of grades, which stands at ``where``."""
    written = {task.name: task.points for task in tasks if task.written}
    marks = {name: _mark(row.get(name, ""), most, f"{where}, {name}") for name, most in written.items()}
    possible = sum(task.points for task in tasks)
    automatic = _mark(row["points"], possible, f"{where}, points")
    missing = [name for name, mark in marks.items() if mark is None]
    entered = [mark for mark in marks.values() if mark is not None]
    total = None if missing else (0 if automatic is None else automatic) + sum(entered)
    identity = {"student": row["student"], "name": row.get("name", ""), "lab": row["lab"]}
    notes = [row.get("notes", "")]
    if automatic is None and row.get("file"):
        total = None
        notes.append("not graded by tests: grade it again, or enter its points")
    elif automatic is not None and missing:  # else nothing was handed in
        notes.append(f"not marked yet: {', '.join(missing)}")
    return identity | {
        "points": "" if automatic is None else automatic,
        "written": sum(entered) if entered else "",
        "total": "" if total is None else round(total, 2),
        "of": possible,
        "notes": "; ".join(filter(None, notes)),
    }


def _mark(text: object, most: float, where: str) -> float | None:
    """A mark as somebody entered it, with a comma or a point; None where there is none."""
    if not (entered := str(text).strip()):
        return None
    if not _NUMBER.fullmatch(entered) or (mark := float(entered.replace(",", "."))) > most + 1e-9:
        raise LabError(f"{entered!r} is no mark", where, f"Enter a number from 0 to {most:g}.")
    return mark


def canvas(with_totals: pd.DataFrame, roster: Roster) -> pd.DataFrame:
    """The totals as Canvas imports them: a row per student, a column per lab, and a first row with the points
    possible. What has no total is empty, which changes nothing there; whom the class list lacks is left out,
    as Canvas does not know them."""
    labs = {name: f"Lab {lab.number}: {lab.title}" for name, lab in _labs_of(with_totals).items()}
    possible = {labs[row["lab"]]: row["of"] for row in with_totals.to_dict("records")}
    rows: list[dict[str, Any]] = [{"Student": "    Points Possible", **possible}]
    for own, entry in roster.items():
        known = {"Student": entry.name, "SIS Login ID": entry.student, **entry.canvas}
        rows_of_student = [row for row in with_totals.to_dict("records") if key(row["student"]) == own]
        rows.append(known | {labs[row["lab"]]: row["total"] for row in rows_of_student})
    return pd.DataFrame(rows, columns=[*CANVAS_COLUMNS, *possible]).astype(object).fillna("")
