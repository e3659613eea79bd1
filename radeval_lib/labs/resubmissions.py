"""Which of the submissions of a student counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from radeval_lib.errors import listed
from radeval_lib.labs.grades import Grade
from radeval_lib.labs.roster import key
from radeval_lib.labs.submissions import Sender, is_named_by_learning_system


def counted(grades: Sequence[Grade], deadline: datetime | None = None) -> list[Grade]:
    """The submissions that count, of each student and lab: the latest, or the latest until the deadline.

    What does not count is named in the notes of what does. A submission replaces another only if the same
    person sent both, as far as folders and file names say: else anybody could replace another's work. Where
    names that anybody can choose are all that says so, the better one counts.
    """
    copies = [replace(grade, notes=list(grade.notes)) for grade in grades]
    kept = [
        _one_that_counts(same, deadline, sure=work.in_own_folder) for work, same in _by_sender(copies).items()
    ]
    same_id = defaultdict[tuple[str, str], list[Grade]](list)
    for grade in kept:
        same_id[grade.lab, key(grade.student)].append(grade)
    for group in same_id.values():
        for grade in group:
            if others := [other.file for other in group if other is not grade]:
                grade.notes.append(f"another sender's submission has the same id: {listed(others)}")
    folders = Counter(grade.sender.folder for grade in kept)
    for grade in kept:
        folder = grade.sender.folder  # its name tells more than a file's, which is called lab
        if not grade.identified and folders[folder] == 1:
            grade.student = folder or grade.student
    return kept


class _Work(NamedTuple):
    """What one sender handed in for a lab under one id; a sender's file is empty where the folder is theirs
    alone."""

    lab: str
    sender: Sender
    student: str

    @property
    def in_own_folder(self) -> bool:
        """Whether more than a name that a student chose says who sent it."""
        return not self.sender.file


def _by_sender(grades: Sequence[Grade]) -> dict[_Work, list[Grade]]:
    """The submissions of a lab that one person sent under one id; what has no id goes with what has one.

    A folder is one person's unless it is the only one or holds several ids.
    """
    folders = {grade.sender.folder for grade in grades}
    ids = defaultdict[tuple[str, str], set[str]](set)
    for grade in grades:
        if grade.identified:
            ids[grade.lab, grade.sender.folder].add(key(grade.student))
    submissions = defaultdict[_Work, list[Grade]](list)
    identified = set[_Work]()
    for grade in sorted(grades, key=lambda grade: not grade.identified):
        folder = grade.sender.folder
        personal = bool(folder) and len(ids[grade.lab, folder]) <= 1 and len(folders) > 1
        work = _Work(grade.lab, Sender(folder, "") if personal else grade.sender, key(grade.student))
        if grade.identified:
            identified.add(work)
        else:
            known = [one for one in identified if (one.lab, one.sender) == (work.lab, work.sender)]
            work = known[0] if len(known) == 1 else work
        submissions[work].append(grade)
    return submissions


def _one_that_counts(same: Sequence[Grade], deadline: datetime | None, *, sure: bool) -> Grade:
    """The submission that counts, with notes on why and on the others; ``sure``: whether one person sent
    them all."""
    last = deadline.timestamp() if deadline else float("inf")
    graded = [grade for grade in same if grade.identified] or list(same)
    in_time = [grade for grade in graded if grade.time <= last]
    sure = sure or len(graded) < 2 or all(is_named_by_learning_system(grade.file) for grade in graded)
    order = sorted(in_time or graded, key=lambda grade: (sure or grade.points, grade.time, grade.file))
    best = order[-1] if in_time or not sure else order[0]
    if best.time > last:
        best.notes.append(f"handed in after the deadline: {_moment(best.time)}")
    if len(same) > 1:
        marks = {id(grade): "not graded" if grade.problem else f"{grade.points:g} points" for grade in same}
        others = [f"{grade.file} ({marks[id(grade)]})" for grade in same if grade is not best]
        rule = "the latest" if sure else "the best, as nothing but their names and ids says who sent them"
        rule += " until the deadline" if deadline and sure else ""
        best.notes.append(
            f"of {len(same)} submissions {rule}, {best.file}, {_moment(best.time)}; "
            f"not counted: {listed(others)}"
        )
    return best


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M}"
