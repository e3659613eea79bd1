"""Grades a folder of submissions: each in processes of its own, within limits, whatever it holds."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import nbformat
import pandas as pd

from radeval_lib import atomic
from radeval_lib.child_process import kill_on_parent_exit
from radeval_lib.errors import FileError, LabError, NotebookError, listed, plain
from radeval_lib.labs import (
    PLACEHOLDER,
    building,
    gradebook,
    grades,
    judge,
    notebook_files,
    sandbox,
    student,
    submissions,
)
from radeval_lib.labs.gradebook import Roster
from radeval_lib.labs.grades import Grade
from radeval_lib.labs.reaching import Reach, reaches
from radeval_lib.labs.submissions import Submission
from radeval_lib.paths import ROOT

_STARTS = 20  # of a submission whose cells or functions kill its process
_LARGEST = 300_000_000
_REMARKS = 50
_CELLS = 20  # that may take as long as a cell may: the limit of a whole submission
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
_OWN_BACKEND = {"MPLBACKEND": "Agg"}
_KERNEL = {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "PIP_NO_INDEX": "1"}
_IMPORTS = ("ipykernel.inprocess.ipkernel", "radeval_lib.findings")
_REMEDY = (
    "Install it (on Debian and Ubuntu: apt install bubblewrap), or take the risk with --trust-submissions: "
    "submissions can then read and change whatever you can."
)
_MORE_MEMORY = "Grade again with more --memory."
_INCOMPLETE = (
    "The grader's own installation is incomplete, and no submission was run: install radeval-lib with its "
    "extras `labs` and `models` into the Python that runs radbook."
)


@dataclass(frozen=True)
class SubmissionLimits:
    """What a submission may take: seconds of processor time for a cell or a call, bytes of memory; and how
    many are graded at once, 0: one per core."""

    seconds: int = 60
    memory: int = 6_000_000_000
    jobs: int = 0


@dataclass(frozen=True)
class GradingRules:
    """How a class is graded.

    Parameters
    ----------
    lab : name or number of the lab of submissions that do not tell theirs.
    trusted : let submissions run without isolation.
    accepted : versions of labs, other than today's, whose notebooks are graded all the same.
    deadline : of a student's submissions the latest until then counts; without one, the latest.
    """

    lab: str = ""
    trusted: bool = False
    accepted: Collection[str] = ()
    deadline: datetime | None = None
    limits: SubmissionLimits = field(default_factory=SubmissionLimits)


def grade(
    folder: Path, output: Path, rules: GradingRules | None = None, roster: Roster | None = None
) -> pd.DataFrame:
    """Grade every submission below a folder or in a zip, see :func:`radeval_lib.labs.gradebook.table`.

    Writes the table to ``output``, with the written marks that an earlier table there has, and a page for
    each student into ``<output>_feedback/``.

    Raises
    ------
    LabError
        Where submissions cannot be isolated and are not trusted, or the earlier table is not of its format.
    """
    rules = rules or GradingRules()
    if not rules.trusted:
        _try_sandbox(rules.limits.memory)
    earlier = gradebook.read_table(output) if output.exists() else None
    feedback = output.with_name(f"{output.stem}_feedback")
    default = building.find(rules.lab).name if rules.lab else ""
    os.environ.update(_ENVIRONMENT | _OWN_BACKEND)
    with tempfile.TemporaryDirectory() as scratch:
        graders, handed_in = Path(scratch) / "labs", Path(scratch) / "in"
        handed_in.mkdir()
        if folder.is_file():  # the one zip of a learning system
            whole = Path(scratch) / "whole"
            whole.mkdir()
            shutil.copy2(folder, whole)
            folder = whole
        every = submissions.collect(folder, handed_in, [output, feedback])
        if not every:
            raise FileError("no submission", folder.name, "Name a folder that holds notebooks.")
        labs = _used(every, default)
        _run_apart([partial(_build, one, graders) for one in labs], rules.limits.jobs)
        if failed := [one.name for one in labs if not (graders / f"{one.name}.json").is_file()]:
            raise NotebookError(
                f"no grader could be built of {listed(failed)}", "labs", "Run `radbook labs build`."
            )
        for name in _IMPORTS:
            importlib.import_module(name)
        _warm_up(graders)
        places = {number: Path(scratch) / f"{number}.json" for number in range(len(every))}
        job = partial(_grade_one, graders=graders, default=default, rules=rules)
        _run_apart([partial(job, every[n], place) for n, place in places.items()], rules.limits.jobs)
        found = [_read(place, every[number]) for number, place in places.items()]
    counted = gradebook.counted(found, rules.deadline)
    table = gradebook.table(counted, roster)
    if earlier is not None:
        table = gradebook.with_earlier(table, earlier)
    atomic.write_text(output, table.to_csv(index=False))
    with atomic.new_folder(feedback) as pages:
        for name, one in grades.page_names(counted).items():
            (pages / name).write_text(grades.page(one), encoding="utf-8")
    return table


def _try_sandbox(memory: int) -> None:
    """A LabError where submissions cannot be isolated here, or the library does not start in isolation."""
    if lack := sandbox.missing():
        raise LabError(lack, remedy=_REMEDY)
    if said := sandbox.cannot_start(_ENVIRONMENT | _KERNEL, memory):
        raise LabError(
            f"radeval_lib does not start in the sandbox ({plain(said, 90)})",
            remedy=_MORE_MEMORY if _lacks_memory(said) else _INCOMPLETE,
        )


def _lacks_memory(said: str) -> bool:
    """Whether a process that printed this needed more memory; one that is killed prints nothing."""
    return "MemoryError" in said or "Cannot allocate" in said or said == sandbox.last_line("")


def _used(every: Sequence[Submission], default: str) -> list[building.Lab]:
    """The labs whose names are in files: no other is built."""
    used, labs = {default}, building.labs()
    for one in every:
        if one.path is not None and one.path.stat().st_size <= _LARGEST:
            content = one.path.read_bytes()
            used |= {lab.name for lab in labs if lab.name.encode() in content}
    return [lab for lab in labs if lab.name in used]


def _build(lab: building.Lab, folder: Path) -> None:
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


def _run_apart(jobs: Sequence[Callable[[], None]], most: int) -> None:
    """Run each job in a process of its own, at most so many at once; 0: one per core."""
    most = most or os.cpu_count() or 1
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
            kill_on_parent_exit()
            job()
        except Exception:  # the grader's fault: what a submission raises is caught where it runs
            traceback.print_exc()
        finally:
            os._exit(0)
    return child


def _read(place: Path, one: Submission) -> Grade:
    with suppress(OSError, ValueError):
        return Grade(**json.loads(place.read_text(encoding="utf-8")))
    why = "not graded: its process was killed, or failed as standard error says; grade it again, alone"
    return _begun(one, "", [why], problem=why)


def _begun(one: Submission, lab: str, notes: Sequence[str] = (), problem: str = "") -> Grade:
    """The grade of a submission before anything of it ran."""
    stem, notes = plain(Path(one.name).stem, 80), [*one.notes, *notes]
    return Grade(one.name, stem, lab, sender=list(one.sender), time=one.time, notes=notes, problem=problem)


def _grade_one(one: Submission, place: Path, *, graders: Path, default: str, rules: GradingRules) -> None:
    """Leave the grade of a submission at ``place``, as JSON."""
    sandbox.limit(2 * rules.limits.memory)
    found = _begun(one, default)
    marked = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in graders.glob("*.json")}
    notebook = _notebook(one, found)
    if notebook is not None and notebook.lab:
        if notebook.lab in marked:
            found.lab = notebook.lab
        else:
            found.notes.append(f"names a lab that is not here: {plain(notebook.lab, 60)}")
    for task in marked[found.lab]["tasks"] if found.lab else []:
        if task["written"]:
            found.written[task["name"]] = task["points"]
        else:
            found.tasks[task["name"]] = {"points": 0.0, "of": task["points"], "messages": []}
    if notebook is not None and not found.lab:
        found.notes.append("not one of the labs: name it with --lab")
    elif notebook is not None and _is_of_version(
        notebook.version, marked[found.lab]["version"], rules, found
    ):
        grader = graders / "grader" / f"{found.lab}.ipynb"
        _Attempts(notebook.cells, one.files, grader, rules, found).run()
        by_hand = {task["name"] for task in marked[found.lab]["tasks"] if task["without"]}
        student_version = graders / "student" / f"{found.lab}.ipynb"
        discount_reaching(found, _reaches(notebook.cells, one.files, student_version, rules), by_hand)
    if notebook is not None and found.problem and not found.identified:
        found.student = notebook_files.written_id(notebook.cells) or found.student
    place.write_text(json.dumps(asdict(found)), encoding="utf-8")


def _reaches(cells: Sequence[str], files: Path | None, student: Path, rules: GradingRules) -> list[Reach]:
    """What of a submission reaches round its own answers, by its code as it was handed in."""
    given = nbformat.v4.reads(student.read_text(encoding="utf-8"))
    own = {path.relative_to(files).as_posix(): path for path in files.rglob("*")} if files else {}
    beside = {plain(name, 80): path.read_bytes() for name, path in own.items() if path.is_file()}
    return reaches(
        cells,
        beside,
        [cell.source for cell in given.cells if cell.cell_type == "code"],
        seconds=rules.limits.seconds,
    )


def discount_reaching(found: Grade, reached: Sequence[Reach], by_hand: Collection[str]) -> None:
    """Let the tasks that are to be written by hand count nothing where code reaches round its answers; a note
    gives the instructor the points that they had."""
    had = {name: task["points"] for name, task in found.tasks.items() if name in by_hand}
    if not reached or not any(had.values()):
        return
    where = str(reached[0])
    for name in had:
        message = (
            f"{where}, and a task that you are to write yourself takes ordinary code alone: "
            "it counts 0 unless your instructor decides otherwise."
        )
        task = found.tasks[name]
        task |= {"points": 0.0, "messages": [message, *task["messages"]]}
    points = listed([f"{name} ({value:g} points)" for name, value in had.items()])
    found.notes.append(
        f"counted 0 for code that is not ordinary, look at it and decide: {points}; "
        f"{'; '.join(map(str, reached[:5]))}"
    )


def _notebook(one: Submission, found: Grade) -> notebook_files.SubmittedNotebook | None:
    """What a submission holds; None, and a note, where that is no notebook."""
    if one.path is None:
        return None
    try:
        notebook = notebook_files.read(one.path)
    except ValueError as error:
        found.notes.append(plain(str(error), 200))
    except (OSError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
        found.notes.append("not a notebook that can be read")
    else:
        found.notes += notebook.notes
        if not any(cell.strip() for cell in notebook.cells):
            found.notes.append("a notebook without code")
        return notebook
    return None


def _is_of_version(version: str, ours: str, rules: GradingRules, found: Grade) -> bool:
    """Whether a notebook of a version may be graded by today's tests; a note says why not."""
    if not version:
        found.notes.append("does not say which version of the lab it is")
    elif version != ours and version not in rules.accepted:
        found.problem = (
            f"not graded: version {plain(version, 40)} of the lab made it, and these tests are of {ours}; "
            f"grade it with the release that handed it out, or with --accept-version '{plain(version, 40)}'"
        )
        found.notes.append(found.problem)
        return False
    return True


@dataclass
class _Attempts:
    """Runs and judges a submission, again without the cell or the task that killed its process."""

    cells: Sequence[str]
    files: Path | None
    grader: Path
    rules: GradingRules
    found: Grade
    printed: BinaryIO | None = None
    """What an isolated process printed before anything of the submission ran."""

    def run(self) -> None:
        skipped, left = set[int](), list(self.found.tasks)
        deadline = time.monotonic() + _CELLS * self.rules.limits.seconds
        for _ in range(_STARTS):
            self.found.remarks.clear()
            before = len(left), len(skipped)
            for message in self._findings(skipped, left, deadline):
                self._note(message, skipped, left)
            if self.found.problem:
                self.found.notes.append(self.found.problem)
                return
            if not left or time.monotonic() > deadline:
                break
            if (len(left), len(skipped)) == before:
                self.found.tasks[left.pop(0)]["messages"].append("It could not be graded.")
        if left:
            self.found.notes.append(f"out of time before {', '.join(left)}")

    def _note(self, message: dict[str, Any], skipped: set[int], left: list[str]) -> None:
        if "task" in message:
            message["messages"] = [plain(one, 300) for one in message["messages"]]
            name = message.pop("task")
            self.found.tasks[name] |= message
            left.remove(name)
        elif "remark" in message:
            remark = message["remark"].replace(f"{ROOT}/", "").replace(f"{sys.prefix}/", "")
            text = f"Code cell {message['cell'] + 1}: {plain(remark, 300)}"
            self.found.remarks = [*self.found.remarks, text][:_REMARKS]
        elif "ids" in message:
            _identify(self.found, message["ids"])
        elif "fault" in message:
            why = f"the grader itself failed ({message['fault']})"
            self.found.problem = f"not graded: {why}: mark this one by hand"
        elif message["killed"] is None:
            self.found.problem = self._why_not_begun()
        elif message["killed"] not in skipped:
            skipped.add(message["killed"])
            self.found.notes.append(
                f"code cell {message['killed'] + 1} stopped the notebook and was left out"
            )

    def _why_not_begun(self) -> str:
        size = os.fstat(self.printed.fileno()).st_size if self.printed else 0
        end = os.pread(self.printed.fileno(), 2000, max(0, size - 2000)) if self.printed else b""
        said = sandbox.last_line(end.decode(errors="replace"))
        remedy = "perhaps with more --memory" if _lacks_memory(said) else "when the grader is mended"
        why = f"its process could not begin ({plain(said, 200)}), and nothing of it was run"
        return f"not graded: {why}: no fault of the student; grade it again, {remedy}"

    def _findings(
        self, skipped: Collection[int], tasks: Sequence[str], deadline: float
    ) -> Iterator[dict[str, Any]]:
        """What the judge reports of one start of a submission, in processes that end with it."""
        limits = self.rules.limits
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()
        request = {"cells": list(self.cells), "skipped": list(skipped), "seconds": limits.seconds}

        def as_judge() -> None:
            theirs.close()
            os.close(reading)
            student.silence()
            with os.fdopen(writing, "w", encoding="utf-8") as out:

                def report(**message: Any) -> None:
                    out.write(json.dumps(message) + "\n")
                    out.flush()

                notebook = nbformat.v4.reads(self.grader.read_text(encoding="utf-8"))
                try:
                    judge.judge(ours, request, notebook, tasks, report)
                except Exception as error:  # the lab's fault or ours; its message may reveal hidden tests
                    report(fault=type(error).__name__)

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            if self.rules.trusted:
                serving = partial(_serve_trusted, theirs, Path(folder), self.files, limits.memory)
                children = [_forked(serving)]
            else:
                self.printed = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - read when it has ended
                children = [_start_isolated(theirs, self.files, limits.memory, self.printed)]
            children.append(_forked(as_judge))
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
                    with suppress(ChildProcessError):  # the watch has seen its end
                        os.waitpid(child, 0)


def _identify(found: Grade, ids: Sequence[Mapping[str, str]]) -> None:
    """Name a grade by what ran as the student's id, or say why it cannot be."""
    if not ids or "id" not in ids[-1]:
        why = ids[-1]["problem"] if ids else "there is none"
        found.problem = plain(f"not graded: its id cannot be read ({why}); enter it, and grade it again", 200)
        return
    own = [plain(one["id"], 80) for one in ids if one.get("id", PLACEHOLDER) != PLACEHOLDER]
    notes = []
    if ids[-1]["id"] == PLACEHOLDER:
        notes.append("the id is still the placeholder, whose data it has: its file's name is used")
    else:
        found.student, found.identified = own[-1], True
    if len(set(own)) > 1:
        notes.append(f"its id changes in the notebook: {', '.join(dict.fromkeys(own))}")
    found.notes += [note for note in notes if note not in found.notes]


def _serve_trusted(channel: socket.socket, folder: Path, files: Path | None, memory: int) -> None:
    """Run a submission in this process, with limits and no isolation."""
    home = dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"), str(folder))
    kept = {"PATH": os.environ.get("PATH", ""), **_ENVIRONMENT, **_KERNEL, **home}
    os.environ.clear()  # it may name what is not a student's to know
    os.environ.update(kept)
    sandbox.limit(memory)
    own = os.dup2(channel.detach(), 3)
    os.closerange(4, 65536)
    student.run(socket.socket(fileno=own), folder, files)


def _start_isolated(channel: socket.socket, files: Path | None, memory: int, printed: BinaryIO) -> int:
    """The id of a process that runs a submission in a sandbox, in a group of its own; what it prints until it
    silences itself goes into a file."""
    number = channel.fileno()
    called = [sys.executable, "-s", "-m", "radeval_lib.labs.student", number, memory, os.getpid()]
    with open(os.devnull, "r+b") as null:
        process = subprocess.Popen(
            [*sandbox.command(_ENVIRONMENT | _KERNEL, files), *map(str, called)],
            pass_fds=[number],
            stdin=null,
            stdout=null,
            stderr=printed,
            start_new_session=True,
        )
    sandbox.MemoryWatch(process, memory).start()
    return process.pid


def _kill(*groups: int) -> None:
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
