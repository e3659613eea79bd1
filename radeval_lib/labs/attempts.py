"""Runs and judges one submission, again where a cell or a task killed its process."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import nbformat

from radeval_lib.errors import plain
from radeval_lib.labs import PLACEHOLDER, grader_processes, judge, judge_messages, sandbox, student
from radeval_lib.labs.grades import Grade, TaskMark
from radeval_lib.labs.grading_rules import SubmissionLimits
from radeval_lib.labs.judge_messages import (
    CellRemark,
    GraderFault,
    Message,
    ProcessKilled,
    StudentIds,
    TaskMarked,
)
from radeval_lib.paths import ROOT

_STARTS = 20  # of a submission whose cells or functions kill its process
_CELLS = 20  # that may take as long as a cell may: the limit of a whole submission


@dataclass
class Attempts:
    """Runs and judges a submission, again without the cell or the task that killed its process.

    Parameters
    ----------
    cells : the sources of its code cells.
    files : a folder with what came with it, if anything did.
    grader : the grader's version of the lab.
    trusted : whether it runs without isolation.
    grade : takes the marks of its tasks, the id, remarks and notes; it has each task that tests mark.
    printed : what an isolated process printed before anything of the submission ran.
    """

    cells: Sequence[str]
    files: Path | None
    grader: Path
    limits: SubmissionLimits
    trusted: bool
    grade: Grade
    printed: BinaryIO | None = None

    def run(self) -> None:
        """Fill in the grade."""
        skipped, left = set[int](), list(self.grade.tasks)
        deadline = time.monotonic() + _CELLS * self.limits.seconds
        for _ in range(_STARTS):
            self.grade.remarks.clear()
            before = len(left), len(skipped)
            for message in self._start(skipped, left, deadline):
                self.take(message, skipped, left)
            if self.grade.problem:
                self.grade.notes.append(self.grade.problem)
                return
            if not left or time.monotonic() > deadline:
                break
            if (len(left), len(skipped)) == before:
                self.grade.tasks[left.pop(0)].messages.append("It could not be graded.")
        if left:
            self.grade.notes.append(f"out of time before {', '.join(left)}")

    def take(self, message: Message, skipped: set[int], left: list[str]) -> None:
        """Note in the grade what the judge reports; a task that is marked leaves ``left``, a cell that killed
        the process goes into ``skipped``."""
        match message:
            case TaskMarked(task, points, possible, messages):
                self.grade.tasks[task] = TaskMark(points, possible, [plain(one, 300) for one in messages])
                left.remove(task)
            case CellRemark(cell, remark):
                remark = remark.replace(f"{ROOT}/", "").replace(f"{sys.prefix}/", "")
                if len(self.grade.remarks) < student.MOST_REMARKS:
                    self.grade.remarks.append(f"Code cell {cell + 1}: {plain(remark, 300)}")
            case StudentIds(ids):
                _identify(self.grade, ids)
            case GraderFault(error):
                self.grade.problem = f"not graded: the grader itself failed ({error}): mark this one by hand"
            case ProcessKilled(None):
                self.grade.problem = self._why_not_begun()
            case ProcessKilled(int(cell)) if cell not in skipped:
                skipped.add(cell)
                self.grade.notes.append(f"code cell {cell + 1} stopped the notebook and was left out")

    def _why_not_begun(self) -> str:
        """Why nothing of the submission ran, by what its process printed."""
        size = os.fstat(self.printed.fileno()).st_size if self.printed else 0
        end = os.pread(self.printed.fileno(), 2000, max(0, size - 2000)) if self.printed else b""
        failure = sandbox.start_failure(end.decode(errors="replace"))
        remedy = "perhaps with more --memory" if failure.lacks_memory else "when the grader is mended"
        why = f"its process could not begin ({plain(failure.message, 200)}), and nothing of it was run"
        return f"not graded: {why}: no fault of the student; grade it again, {remedy}"

    def _start(self, skipped: Collection[int], tasks: Sequence[str], deadline: float) -> Iterator[Message]:
        """What the judge reports of one start of a submission, in processes that end with it."""
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe()

        def as_judge() -> None:
            theirs.close()
            os.close(reading)
            self._judge(ours, writing, skipped, tasks)

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            memory = self.limits.memory
            if self.trusted:
                serve = partial(grader_processes.serve_trusted, theirs, Path(folder), self.files, memory)
                children = [grader_processes.forked(serve)]
            else:
                self.printed = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - read when it has ended
                children = [grader_processes.start_isolated(theirs, self.files, memory, self.printed)]
            children.append(grader_processes.forked(as_judge))
            os.close(writing)
            ours.close()
            theirs.close()
            signal.signal(signal.SIGALRM, lambda *_: grader_processes.kill_groups(*children))
            signal.alarm(max(1, int(deadline - time.monotonic())))
            try:
                with os.fdopen(reading, encoding="utf-8") as lines:
                    yield from map(judge_messages.decode, lines)
            finally:
                signal.alarm(0)
                grader_processes.kill_groups(*children)
                for child in children:
                    with suppress(ChildProcessError):  # the watch has seen its end
                        os.waitpid(child, 0)

    def _judge(
        self, channel: socket.socket, writing: int, skipped: Collection[int], tasks: Sequence[str]
    ) -> None:
        """In the judge's process: write its messages to a file descriptor."""
        student.silence()
        request = {"cells": list(self.cells), "skipped": list(skipped), "seconds": self.limits.seconds}
        with os.fdopen(writing, "w", encoding="utf-8") as out:

            def report(message: Message) -> None:
                out.write(judge_messages.encode(message))
                out.flush()

            notebook = nbformat.v4.reads(self.grader.read_text(encoding="utf-8"))
            try:
                judge.judge(channel, request, notebook, tasks, report)
            except Exception as error:  # the lab's fault or ours; its message may reveal hidden tests
                report(GraderFault(type(error).__name__))


def _identify(grade: Grade, ids: Sequence[Mapping[str, str]]) -> None:
    """Name a grade by what ran as the student's id, or say why it cannot be."""
    if not ids or "id" not in ids[-1]:
        why = ids[-1]["problem"] if ids else "there is none"
        grade.problem = plain(f"not graded: its id cannot be read ({why}); enter it, and grade it again", 200)
        return
    own = [plain(given["id"], 80) for given in ids if given.get("id", PLACEHOLDER) != PLACEHOLDER]
    notes = []
    if ids[-1]["id"] == PLACEHOLDER:
        notes.append("the id is still the placeholder, whose data it has: its file's name is used")
    else:
        grade.student, grade.identified = own[-1], True
    if len(set(own)) > 1:
        notes.append(f"its id changes in the notebook: {', '.join(dict.fromkeys(own))}")
    grade.notes += [note for note in notes if note not in grade.notes]
