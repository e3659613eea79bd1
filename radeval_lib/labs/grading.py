"""Grades a folder of submissions: each in processes of its own, within limits, whatever it holds."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd

from radeval_lib import atomic
from radeval_lib.errors import FileError, LabError, NotebookError, listed, plain
from radeval_lib.labs import (
    building,
    gradebook,
    grades,
    lab_sources,
    notebook_files,
    resubmissions,
    sandbox,
    submissions,
)
from radeval_lib.labs.grader_processes import ENVIRONMENT, STUDENT_ENVIRONMENT, run_in_processes
from radeval_lib.labs.grades import Grade
from radeval_lib.labs.grading_one import grade_submission, new_grade
from radeval_lib.labs.grading_rules import GradingRules
from radeval_lib.labs.roster import Roster, read_table
from radeval_lib.labs.submissions import Submission

_LOADED_ONCE = ("ipykernel.inprocess.ipkernel", "radeval_lib.rules.reader")
"""Modules that every submission needs, loaded before its process is forked."""
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")
_REMEDY = (
    "Install it (on Debian and Ubuntu: apt install bubblewrap), or take the risk with --trust-submissions: "
    "submissions can then read and change whatever you can."
)
_MORE_MEMORY = "Grade again with more --memory."
_INCOMPLETE = (
    "The grader's own installation is incomplete, and no submission was run: install radeval-lib with its "
    "extras `labs` and `models` into the Python that runs radbook."
)


def grade(folder: Path, output: Path, rules: GradingRules, roster: Roster | None = None) -> pd.DataFrame:
    """Grade every submission below a folder or in a zip, see :func:`radeval_lib.labs.gradebook.table`.

    Writes the table to ``output``, with the written marks that an earlier table there has, and a page for
    each student into ``<output>_feedback/``.

    Raises
    ------
    LabError
        Where submissions cannot be isolated and are not trusted, or the earlier table is not of its format.
    """
    if not rules.trusted:
        _try_sandbox(rules.limits.memory)
    earlier = read_table(output) if output.exists() else None
    feedback = output.with_name(f"{output.stem}_feedback")
    with _environment(ENVIRONMENT | {"MPLBACKEND": "Agg"}):
        every = _grades(folder, [output, feedback], rules)
    counted = resubmissions.counted(every, rules.deadline)
    table = gradebook.table(counted, roster)
    if earlier is not None:
        table = gradebook.with_earlier(table, earlier)
    atomic.write_text(output, table.to_csv(index=False))
    with atomic.new_folder(feedback) as pages:
        for name, student_grade in grades.page_names(counted).items():
            (pages / name).write_text(grades.page(student_grade), encoding="utf-8")
    return table


def _grades(folder: Path, leave_out: Sequence[Path], rules: GradingRules) -> list[Grade]:
    """The grade of every submission below a folder or in a zip, but for some places."""
    default_lab = lab_sources.find(rules.lab).name if rules.lab else ""
    with tempfile.TemporaryDirectory() as scratch:
        graders, handed_in = Path(scratch) / "labs", Path(scratch) / "in"
        handed_in.mkdir()
        if folder.is_file():  # the one zip of a learning system
            whole = Path(scratch) / "whole"
            whole.mkdir()
            shutil.copy2(folder, whole)
            folder = whole
        every = submissions.collect(folder, handed_in, leave_out)
        if not every:
            raise FileError("no submission", folder.name, "Name a folder that holds notebooks.")
        labs = _labs_in_use(every, default_lab)
        run_in_processes([partial(_build, lab, graders) for lab in labs], rules.limits.jobs)
        if failed := [lab.name for lab in labs if not (graders / f"{lab.name}.json").is_file()]:
            raise NotebookError(
                f"no grader could be built of {listed(failed)}", "labs", "Run `radbook labs build`."
            )
        for name in _LOADED_ONCE:
            importlib.import_module(name)
        _warm_up(graders)
        targets = [(one, Path(scratch) / f"{number}.json") for number, one in enumerate(every)]
        job = partial(grade_submission, graders=graders, default_lab=default_lab, rules=rules)
        run_in_processes([partial(job, one, target) for one, target in targets], rules.limits.jobs)
        return [_load_grade(one, target) for one, target in targets]


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process, whose children inherit them, for a while."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _try_sandbox(memory: int) -> None:
    """A LabError where submissions cannot be isolated here, or the library does not start in isolation."""
    if reason := sandbox.missing():
        raise LabError(reason, remedy=_REMEDY)
    if failure := sandbox.cannot_start(STUDENT_ENVIRONMENT, memory):
        raise LabError(
            f"radeval_lib does not start in the sandbox ({plain(failure.message, 90)})",
            remedy=_MORE_MEMORY if failure.lacks_memory else _INCOMPLETE,
        )


def _labs_in_use(every: Sequence[Submission], default_lab: str) -> list[lab_sources.Lab]:
    """The labs whose names are in files, in any encoding that notebooks are read in: no other is built."""
    used, labs = {default_lab}, lab_sources.labs()
    for submission in every:
        if submission.path is not None and submission.path.stat().st_size <= notebook_files.LARGEST:
            content = submission.path.read_bytes()
            written = {(lab.name, encoding) for lab in labs for encoding in _ENCODINGS}
            used |= {name for name, encoding in written if name.encode(encoding) in content}
    return [lab for lab in labs if lab.name in used]


def _build(lab: lab_sources.Lab, folder: Path) -> None:
    """Build a lab for grading, and note what is marked.

    In a process of its own: what a student's process may be forked from must never have held a test.
    """
    building.build(lab, folder)
    notebook = nbformat.read(folder / "grader" / f"{lab.name}.ipynb", as_version=4)
    described = notebook.metadata["lab"]
    tasks = [
        {key: task[key] for key in ("name", "points", "written", "without")} for task in described["tasks"]
    ]
    text = json.dumps({"version": described["version"], "tasks": tasks})
    (folder / f"{lab.name}.json").write_text(text, encoding="utf-8")


def _warm_up(folder: Path) -> None:
    """Run what students were given, so that what it loads is loaded once: no solution, and no test."""
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null), contextlib.redirect_stderr(null):
        for path in folder.glob("student/*.ipynb"):
            names: dict[str, Any] = {"display": lambda *_: None}
            for source in building.code(nbformat.v4.reads(path.read_text(encoding="utf-8"))):
                with suppress(Exception):  # answers are missing
                    exec(compile(source, "student", "exec"), names)


def _load_grade(submission: Submission, target: Path) -> Grade:
    """What :func:`grade_submission` left, or a grade that says why it left none."""
    with suppress(OSError, ValueError):
        return Grade.from_json(target.read_text(encoding="utf-8"))
    why = "not graded: its process was killed, or failed as standard error says; grade it again, alone"
    return new_grade(submission, "", [why], problem=why)
