"""Grades one submission, in a process that is its own."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat

from radeval_lib.errors import listed, plain
from radeval_lib.labs import notebook_files, sandbox
from radeval_lib.labs.attempts import Attempts
from radeval_lib.labs.grades import Grade, TaskMark
from radeval_lib.labs.grading_rules import GradingRules
from radeval_lib.labs.submissions import Submission
from radeval_lib.labs.workarounds import Workaround, find_workarounds


def new_grade(submission: Submission, lab: str, notes: Sequence[str] = (), problem: str = "") -> Grade:
    """The grade of a submission before anything of it ran."""
    return Grade(
        submission.name,
        plain(Path(submission.name).stem, 80),
        lab,
        sender=submission.sender,
        time=submission.time,
        notes=[*submission.notes, *notes],
        problem=problem,
    )


def grade_submission(
    submission: Submission, target: Path, *, graders: Path, default_lab: str, rules: GradingRules
) -> None:
    """Leave the grade of a submission at ``target``, as JSON.

    ``graders`` has what ``grading`` built of each lab; ``default_lab`` is that of notebooks that name none.
    """
    sandbox.limit(2 * rules.limits.memory)
    grade = new_grade(submission, default_lab)
    marked = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in graders.glob("*.json")}
    notebook = _notebook(submission, grade)
    if notebook is not None and notebook.lab:
        if notebook.lab in marked:
            grade.lab = notebook.lab
        else:
            grade.notes.append(f"names a lab that is not here: {plain(notebook.lab, 60)}")
    tasks: Sequence[Mapping[str, Any]] = marked[grade.lab]["tasks"] if grade.lab else []
    grade.written = {task["name"]: task["points"] for task in tasks if task["written"]}
    grade.tasks = {task["name"]: TaskMark(0.0, task["points"]) for task in tasks if not task["written"]}
    if notebook is not None and not grade.lab:
        grade.notes.append("not one of the labs: name it with --lab")
    elif notebook is not None and _is_of_version(
        notebook.version, marked[grade.lab]["version"], rules, grade
    ):
        grader = graders / "grader" / f"{grade.lab}.ipynb"
        Attempts(notebook.cells, submission.files, grader, rules.limits, rules.trusted, grade).run()
        student_version = graders / "student" / f"{grade.lab}.ipynb"
        workarounds = _workarounds(notebook.cells, submission.files, student_version, rules.limits.seconds)
        withhold_points(grade, workarounds, {task["name"] for task in tasks if task["without"]})
    if notebook is not None and grade.problem and not grade.identified:
        grade.student = notebook_files.written_id(notebook.cells) or grade.student
    target.write_text(grade.to_json(), encoding="utf-8")


def _notebook(submission: Submission, grade: Grade) -> notebook_files.SubmittedNotebook | None:
    """What a submission holds; None, and a note in the grade, where that is no notebook."""
    if submission.path is None:
        return None
    try:
        notebook = notebook_files.read(submission.path)
    except ValueError as error:
        grade.notes.append(plain(str(error), 200))
    except (OSError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        grade.notes.append("not a notebook that can be read")
    else:
        grade.notes += notebook.notes
        if not any(cell.strip() for cell in notebook.cells):
            grade.notes.append("a notebook without code")
        return notebook
    return None


def _is_of_version(version: str, current: str, rules: GradingRules, grade: Grade) -> bool:
    """Whether a notebook of a version may be graded by today's tests; a note in the grade says why not."""
    if not version:
        grade.notes.append("does not say which version of the lab it is")
    elif version != current and version not in rules.accepted:
        grade.problem = (
            f"not graded: version {plain(version, 40)} of the lab made it, and these tests are of {current}; "
            f"grade it with the release that handed it out, or with --accept-version '{plain(version, 40)}'"
        )
        grade.notes.append(grade.problem)
        return False
    return True


def _workarounds(
    cells: Sequence[str], files: Path | None, student_version: Path, seconds: int
) -> list[Workaround]:
    """The workarounds in a submission's code as it was handed in."""
    given = nbformat.v4.reads(student_version.read_text(encoding="utf-8"))
    beside = {}
    if files is not None:
        paths = {path.relative_to(files).as_posix(): path for path in files.rglob("*") if path.is_file()}
        beside = {plain(name, 80): path.read_bytes() for name, path in paths.items()}
    return find_workarounds(
        cells,
        beside,
        [cell.source for cell in given.cells if cell.cell_type == "code"],
        seconds=seconds,
    )


def withhold_points(grade: Grade, workarounds: Sequence[Workaround], by_hand: Collection[str]) -> None:
    """Let the tasks that are to be written by hand count nothing where code has workarounds; a note in the
    grade gives the instructor the points that they had."""
    had = {name: mark.points for name, mark in grade.tasks.items() if name in by_hand}
    if not workarounds or not any(had.values()):
        return
    message = (
        f"{workarounds[0]}, and a task that you are to write yourself takes ordinary code alone: "
        "it counts 0 unless your instructor decides otherwise."
    )
    for name in had:
        mark = grade.tasks[name]
        mark.points, mark.messages = 0.0, [message, *mark.messages]
    points = listed([f"{name} ({value:g} points)" for name, value in had.items()])
    grade.notes.append(
        f"counted 0 for code that is not ordinary, look at it and decide: {points}; "
        f"{'; '.join(map(str, workarounds[:5]))}"
    )
