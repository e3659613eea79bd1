"""Grades a folder of submissions: each in processes of its own, within limits, whatever it holds."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import signal
import socket
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd

from radeval_lib import atomic
from radeval_lib.errors import FileError, NotebookError, listed, plain
from radeval_lib.labs import PLACEHOLDER, building, confinement, grades, student, test_runner
from radeval_lib.labs.grades import Grade

_STARTS = 20  # of a submission whose cells or functions kill its process
_LARGEST = 300_000_000
_ERRORS = 50
_CELLS = 20  # that may take as long as a cell may: the limit of a whole submission
_ID = re.compile(r"""^student_id\s*=\s*(["'])([^"'\n]{1,80})\1""", re.MULTILINE)
_ENVIRONMENT = {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
_IMPORTS = ("IPython.core.interactiveshell", "otter.test_files", "radeval_lib.findings")


@dataclass(frozen=True)
class SubmissionLimits:
    """What a submission may take: seconds for a cell or a call, bytes of memory, processes beside it."""

    seconds: int = 60
    memory: int = 6_000_000_000
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)


def grade(
    folder: Path, output: Path, *, lab: str = "", limits: SubmissionLimits | None = None
) -> pd.DataFrame:
    """Grade every file below a folder, see :func:`radeval_lib.labs.grades.table`.

    Writes the table to ``output`` and a page for each student into ``<output>_feedback/``. Where a submission
    does not tell which lab it belongs to, ``lab`` does, by name or number.
    """
    limits = limits or SubmissionLimits()
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    if not files:
        raise FileError("no submission", folder.name, "Name a folder that holds notebooks.")
    default = building.find(lab).name if lab else ""
    labs = _used(files, default)
    os.environ.update(_ENVIRONMENT)
    with tempfile.TemporaryDirectory() as scratch:
        graders = Path(scratch) / "labs"
        _run_apart([partial(_build, one, graders) for one in labs], limits.jobs)
        if failed := [one.name for one in labs if not (graders / f"{one.name}.json").is_file()]:
            raise NotebookError(
                f"no grader could be built of {listed(failed)}", "labs", "Run `radbook labs build`."
            )
        for name in _IMPORTS:
            importlib.import_module(name)
        _warm_up(graders)
        places = {path: Path(scratch) / f"{number}.json" for number, path in enumerate(files)}
        job = partial(_grade_one, folder=folder, graders=graders, default=default, limits=limits)
        _run_apart([partial(job, path, place) for path, place in places.items()], limits.jobs)
        found = [_read(place, path, folder) for path, place in places.items()]
    grades.note_same_ids(found)
    table = grades.table(found)
    atomic.write_text(output, table.to_csv(index=False))
    with atomic.new_folder(output.with_name(f"{output.stem}_feedback")) as pages:
        for number, one in enumerate(found, start=1):
            (pages / grades.page_name(one, number)).write_text(grades.page(one), encoding="utf-8")
    return table


def _used(files: Sequence[Path], default: str) -> list[building.Lab]:
    """The labs whose names stand in files: no other is built."""
    used, labs = {default}, building.labs()
    for path in files:
        content = path.read_bytes() if path.stat().st_size <= _LARGEST else b""
        used |= {lab.name for lab in labs if lab.name.encode() in content}
    return [lab for lab in labs if lab.name in used]


def _build(lab: building.Lab, folder: Path) -> None:
    """Build a lab for grading, and note what is marked.

    In a process of its own: what a student's process is forked from must never have held a test.
    """
    building.build(lab, folder)
    notebook = nbformat.read(folder / "grader" / f"{lab.name}.ipynb", as_version=4)
    described = json.dumps(notebook.metadata["lab"]["tasks"])
    (folder / f"{lab.name}.json").write_text(described, encoding="utf-8")


def _warm_up(folder: Path) -> None:
    """Run what students were given, so that what it loads is loaded once: no solution, and no test."""
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null), contextlib.redirect_stderr(null):
        for path in folder.glob("student/*.ipynb"):
            names: dict[str, Any] = {"display": lambda *_: None}
            for source in building.code(nbformat.v4.reads(path.read_text(encoding="utf-8"))):
                with suppress(Exception):  # answers are missing
                    exec(compile(source, "student", "exec"), names)


def _run_apart(jobs: Sequence[Callable[[], None]], most: int) -> None:
    """Run each job in a process of its own, so many at once."""
    waiting, running = list(jobs), set[int]()
    while waiting or running:
        while waiting and len(running) < most:
            running.add(_forked(waiting.pop(0)))
        ended, _ = os.wait()
        running.discard(ended)


def _forked(job: Callable[[], None]) -> int:
    """The id of a process that does a job, in a group of its own, and ends."""
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            confinement.die_with_parent()
            job()
        except Exception:  # a fault of ours: what a submission raises is caught where it runs
            traceback.print_exc()
        finally:
            os._exit(0)
    return child


def _read(place: Path, path: Path, folder: Path) -> Grade:
    with suppress(OSError, ValueError):
        return Grade(**json.loads(place.read_text(encoding="utf-8")))
    note = "its process was killed, or failed as standard error says; grade it again, alone"
    return Grade(path.relative_to(folder).as_posix(), path.stem, notes=[note])


def _grade_one(
    path: Path, place: Path, *, folder: Path, graders: Path, default: str, limits: SubmissionLimits
) -> None:
    """Leave the grade of a file at ``place``, as JSON."""
    confinement.limit(2 * limits.memory)
    found = Grade(plain(path.relative_to(folder).as_posix(), 120), plain(path.stem, 80), default)
    marked = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in graders.glob("*.json")}
    cells: list[str] = []
    try:
        named, cells = _notebook(path)
        found.lab = named if named in marked else default
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        found.notes.append("not a notebook that can be read")
    own = next(iter(_ID.findall("\n".join(cells))), ("", PLACEHOLDER))[1].strip()
    if own != PLACEHOLDER:
        found.student = plain(own, 80)
    elif cells:
        found.notes.append("no id in the notebook: its file's name stands for it")
    if found.lab:
        for task in marked[found.lab]:
            if task["written"]:
                found.written[task["name"]] = task["points"]
            else:
                found.tasks[task["name"]] = {"points": 0.0, "of": task["points"], "messages": []}
        if cells:
            _attempt(cells, graders / "grader" / f"{found.lab}.ipynb", own, found, limits)
    elif cells:
        found.notes.append("not one of the labs: name it with --lab")
    place.write_text(json.dumps(vars(found)), encoding="utf-8")


def _notebook(path: Path) -> tuple[str, list[str]]:
    """The lab that a notebook names, and the sources of its code cells."""
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"larger than {_LARGEST} bytes")
    notebook = json.loads(path.read_bytes())
    found = [cell for cell in notebook["cells"] if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    sources = [cell.get("source") for cell in found]
    cells = ["".join(map(str, source)) for source in sources if isinstance(source, str | list)]
    return str(notebook.get("metadata", {}).get("otter", {}).get("assignment_name", "")), cells


def _attempt(
    cells: Sequence[str], grader: Path, student_id: str, found: Grade, limits: SubmissionLimits
) -> None:
    """Run and judge a submission, anew without the cell or the task that killed its process."""
    skipped, left, faults = set[int](), list(found.tasks), set[str]()
    deadline = time.monotonic() + _CELLS * limits.seconds
    for _ in range(_STARTS):
        found.errors.clear()
        before = len(left), len(skipped)
        for message in _findings(cells, skipped, grader, left, student_id, limits, deadline):
            if "task" in message:
                message["messages"] = [plain(one, 300) for one in message["messages"]]
                found.tasks[message.pop("task")] |= message
                left.pop(0)
            elif "error" in message:
                error_text = f"Code cell {message['cell'] + 1}: {plain(message['error'], 300)}"
                found.errors = [*found.errors, error_text][:_ERRORS]
            elif "fault" in message:
                faults.add(message["fault"])
            elif message["killed"] not in skipped:
                skipped.add(message["killed"])
                found.notes.append(f"code cell {message['killed'] + 1} stopped the notebook and was left out")
        if left and (len(left), len(skipped)) == before:
            found.tasks[left.pop(0)]["messages"].append("It could not be graded.")
        if not left or time.monotonic() > deadline:
            break
    if faults:
        found.notes.append(f"the grader itself failed ({', '.join(sorted(faults))}): mark this one by hand")
    if left:
        found.notes.append(f"out of time before {', '.join(left)}")


def _findings(
    cells: Sequence[str],
    skipped: set[int],
    grader: Path,
    tasks: Sequence[str],
    student_id: str,
    limits: SubmissionLimits,
    deadline: float,
) -> Iterator[dict[str, Any]]:
    """What the judge reports of one start of a submission, in processes that end with it."""
    ours, theirs = socket.socketpair()
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:

        def as_student() -> None:
            ours.close()
            os.close(reading)
            os.close(writing)  # else it would seem open as long as a cell hangs
            os.chdir(folder)
            home = dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"), folder)
            kept = {"PATH": os.environ.get("PATH", ""), **_ENVIRONMENT, **home}
            os.environ.clear()  # it may name what is not a student's to know
            os.environ.update(kept)
            confinement.limit(limits.memory)
            confinement.isolate(Path(folder))
            student.as_student(theirs, cells, skipped, student_id, limits.seconds)

        def as_judge() -> None:
            theirs.close()
            os.close(reading)
            student.silence()
            with os.fdopen(writing, "w", encoding="utf-8") as out:

                def report(**message: Any) -> None:
                    out.write(json.dumps(message) + "\n")
                    out.flush()

                try:
                    test_runner.judge(
                        ours, nbformat.v4.reads(grader.read_text()), tasks, student_id, limits.seconds, report
                    )
                except Exception as error:  # the lab's fault or ours; its message may tell of hidden tests
                    report(fault=type(error).__name__)

        children = [_forked(as_student), _forked(as_judge)]
        os.close(writing)
        ours.close()
        theirs.close()
        signal.signal(signal.SIGALRM, lambda *_: _kill(*children))
        signal.alarm(max(1, int(deadline - time.monotonic())))
        try:
            with os.fdopen(reading, encoding="utf-8") as lines:
                yield from map(json.loads, lines)
        finally:
            signal.alarm(0)
            _kill(*children)
            for child in children:
                os.waitpid(child, 0)


def _kill(*groups: int) -> None:
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
