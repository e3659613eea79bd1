"""The judge's process: runs otter's tests here, on what a student's process says over a channel.

A test names what a submission defines. It gets plain values, and for functions stand-ins that call over the
channel; so neither the test, nor what it expects, nor its verdict is within a submission's reach.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from nbformat import NotebookNode

from radeval_lib.labs import building
from radeval_lib.labs.student import ARRAY

_MOST_BYTES = 20_000_000
_GRACE = 5  # seconds beyond a student's own limit


class StudentError(Exception):
    """What a submission did in place of answering."""


class GoneError(Exception):
    """The student's process is dead, silent, or talks no sense."""


class Student(dict[str, Any]):
    """The names of a submission, for otter's tests to be run on; the grader knows those ``given`` better."""

    def __init__(self, channel: socket.socket, seconds: int, given: dict[str, Any]) -> None:
        super().__init__(given)
        channel.settimeout(seconds + _GRACE)
        self._channel, self._read = channel, bytearray()
        self.failed = ""

    def listen(self) -> dict[str, Any]:
        """The next message; a GoneError where none comes in time, or none of the kind that our side sends."""
        try:
            while b"\n" not in self._read:
                part = self._channel.recv(1 << 20)
                if not part or len(self._read) > _MOST_BYTES:
                    raise GoneError("stopped, or said too much")
                self._read += part
            line, _, self._read = self._read.partition(b"\n")
            message = json.loads(line)
        except (OSError, ValueError, RecursionError) as error:
            raise GoneError(type(error).__name__) from None
        if not isinstance(message, dict):
            raise GoneError("talks no sense")
        return message

    def _ask(self, name: str, **more: Any) -> Any:
        if self.failed:
            raise StudentError(self.failed)
        try:
            self._channel.sendall(json.dumps({"name": name, **more}, default=sent).encode() + b"\n")
            answer = self.listen()
        except (OSError, GoneError):
            self.failed = "the notebook's process stopped here"
            raise StudentError(self.failed) from None
        if "error" in answer:
            self.failed = "it took too long" if answer.get("slow") else ""
            raise StudentError(str(answer["error"])[:300])
        return answer.get("value")

    def get(self, key: str, default: Any = None) -> Any:
        """What a submission has under a name: a plain value, or a stand-in for a function."""
        if key in self:
            return self[key]
        found = self._ask(key)
        if isinstance(found, dict) and found.get("callable"):
            return lambda *arguments, **named: self._ask(key, arguments=arguments, named=named)
        return found.get("plain") if isinstance(found, dict) else None


def sent(value: Any) -> Any:
    """What stands for an array in JSON, so that a function gets one as it would in the notebook."""
    return {ARRAY: value.tolist()} if hasattr(value, "tolist") else list(value)


def solved(notebook: NotebookNode, student_id: str) -> SimpleNamespace:
    """What the solution defines for a student: its code is run here."""
    names: dict[str, Any] = {"student_id": student_id, "display": lambda *_: None}
    for source in building.code(notebook):
        if not source.startswith("student_id ="):
            exec(compile(source, "solution", "exec"), names)
    return SimpleNamespace(**names)


def judge(
    channel: socket.socket,
    notebook: NotebookNode,
    tasks: Iterable[str],
    student_id: str,
    seconds: int,
    report: Callable[..., None],
) -> None:
    """Follow a submission through its cells, then judge its tasks by the grader's version of the lab.

    ``report`` takes each finding as keywords: ``killed`` (the cell that the process did not survive),
    ``error`` with ``cell``, or ``task`` with ``points``, ``of`` and ``messages``.
    """
    from otter.nbmeta_config import NBMetadataConfig
    from otter.test_files import create_test_file

    given = {"student_id": student_id, "solution": solved(notebook, student_id)}
    student, at = Student(channel, seconds, given), None
    try:
        while not (message := student.listen()).get("ready"):
            at = message["cell"] if isinstance(message.get("cell"), int) else at
            if "error" in message and at is not None:
                report(cell=at, error=str(message["error"])[:300])
    except GoneError:
        if at is not None:
            report(killed=at)
        return
    config = NBMetadataConfig.from_notebook(notebook)
    for task in tasks:
        test = create_test_file("grader.ipynb", config, task)
        test.run(student)
        failed = [result for result in test.test_case_results if not result.passed]
        messages = [_message(result.message, result.test_case) for result in failed]
        report(task=task, points=test.score, of=test.possible, messages=list(dict.fromkeys(messages)))
        if "stopped" in student.failed:
            return
        student.failed = ""


def _message(text: str, case: Any) -> str:
    """What a student is told of a test that failed; of a hidden one no more than its own message."""
    if case.hidden:
        return str(case.failure_message or "A hidden test fails.")
    return text.rstrip().rpartition("\n")[2].removeprefix("StudentError: ")
