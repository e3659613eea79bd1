"""The judge's process: runs a lab's tests against the values that a student's process sends.

A test names what a submission defines. It gets values in normal form, and for functions stand-ins that call
over the channel; so neither the test, nor what it expects, nor its verdict is within a submission's reach.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from nbformat import NotebookNode

from radeval_lib.labs import building, known_id
from radeval_lib.labs.answers import AnswerError, decode, encode, normal
from radeval_lib.labs.checks import StudentError, outcome
from radeval_lib.labs.judge_messages import CellRemark, Message, ProcessKilled, StudentIds, TaskMarked
from radeval_lib.labs.student import LONGEST_MESSAGE, WAITING

_MOST_BYTES = 20_000_000  # of one message from a student's process
_GRACE = 60  # seconds beyond a student's own limit: on a busy machine it takes long to begin


class GoneError(Exception):
    """The student's process is dead, silent, or sends malformed messages."""


class StudentChannel:
    """What a student's process defines, asked for by name."""

    def __init__(self, channel: socket.socket, seconds: int) -> None:
        channel.settimeout(WAITING * seconds + _GRACE)
        self._channel, self._read = channel, bytearray()
        self.failed = ""

    def pop_failure(self) -> str:
        """Why the process gave no more answers since this was last asked; it is asked again from now on."""
        failure, self.failed = self.failed, ""
        return failure

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; a GoneError where nobody takes it in time."""
        try:
            self._channel.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise GoneError(type(error).__name__) from None

    def listen(self) -> dict[str, Any]:
        """The next message; a GoneError where none comes in time, or a malformed one."""
        try:
            while b"\n" not in self._read:
                part = self._channel.recv(1 << 20)
                if not part or len(self._read) > _MOST_BYTES:
                    raise GoneError("stopped, or sent too many bytes")
                self._read += part
            line, _, self._read = self._read.partition(b"\n")
            message = json.loads(line)
        except (OSError, ValueError, RecursionError) as error:
            raise GoneError(type(error).__name__) from None
        if not isinstance(message, dict):
            raise GoneError("sent a malformed message")
        return message

    def _ask(self, name: str, **more: Any) -> Any:
        """What the student's process answers; a StudentError where it raised, or gives no answers."""
        if self.failed:
            raise StudentError(self.failed)
        try:
            self.send({"name": name, **more})
            answer = self.listen()
        except GoneError:
            self.failed = "the notebook's process stopped here"
            raise StudentError(self.failed) from None
        if "error" in answer:
            self.failed = "it took too long" if answer.get("slow") else ""
            raise StudentError(str(answer["error"])[:LONGEST_MESSAGE])
        return answer.get("value")

    def _call(
        self, name: str, arguments: tuple[Any, ...], named: dict[str, Any], without: Collection[str]
    ) -> Any:
        sent = {"arguments": encode(arguments), "named": encode(named), "without": list(without)}
        return self._decoded(self._ask(name, **sent))

    def _decoded(self, value: Any) -> Any:
        try:
            return normal(decode(value))  # as our side sends it: whatever else it is, it was forged
        except (ValueError, TypeError, KeyError, RecursionError):  # our side never sends such a thing
            raise StudentError("the answer could not be read") from None

    def get(self, name: str, without: Collection[str] = ()) -> Any:
        """What a submission has under a name: a value in normal form, or a stand-in for a function, which
        must not call the packages that ``without`` names; an AnswerError where there is neither."""
        try:
            answer = self._ask(name)
        except StudentError as error:
            raise AnswerError(f"{name}: {str(error).partition(': ')[2] or error}") from None
        if isinstance(answer, dict) and answer.get("callable"):
            return lambda *arguments, **named: self._call(name, arguments, named, without)
        return self._decoded(answer.get("plain")) if isinstance(answer, dict) else None


def solved(notebook: NotebookNode, student_id: str) -> SimpleNamespace:
    """What the solution defines for a student: its code is run here."""
    names: dict[str, Any] = {"student_id": student_id, "display": lambda *_: None}
    for source in building.code(notebook):
        if not source.startswith("student_id ="):
            exec(compile(source, "solution", "exec"), names)
    return SimpleNamespace(**names)


def judge(
    channel: socket.socket,
    request: Mapping[str, Any],
    notebook: NotebookNode,
    tasks: Sequence[str],
    report: Callable[[Message], None],
) -> None:
    """Ask for a submission's cells to be run, then judge its tasks by the grader's version of the lab.

    Parameters
    ----------
    channel : to the student's process.
    request : the ``cells``, which of them are ``skipped``, and the ``seconds`` for each cell or call.
    notebook : the grader's version.
    tasks : the names of those that are not marked yet.
    report : takes each message to the grader.
    """
    student = StudentChannel(channel, request["seconds"])
    ids = _run_cells(student, request, report)
    if not ids or "id" not in ids[-1]:
        return
    given = {"student_id": ids[-1]["id"], "solution": solved(notebook, ids[-1]["id"])}
    waiting = {}
    # Every visible check comes before any hidden test: a function could else repeat, in the message of a
    # visible check, what a hidden test gave it.
    for task in notebook.metadata["lab"]["tasks"]:
        if task["name"] in tasks:
            visible, failure = _outcomes(task, student, given, hidden=False), student.pop_failure()
            if failure:
                report(TaskMarked(task["name"], 0.0, task["points"], _different(visible)))
            else:
                waiting[task["name"]] = task, visible
            if "stopped" in failure:
                return
    for task, visible in waiting.values():
        hidden = _outcomes(task, student, given, hidden=True)
        points = task["points"] * hidden.count(None) / len(hidden)
        report(TaskMarked(task["name"], points, task["points"], _different(visible + hidden)))
        if "stopped" in student.pop_failure():
            return


def _run_cells(
    student: StudentChannel, request: Mapping[str, Any], report: Callable[[Message], None]
) -> list[dict[str, str]]:
    """Have the cells run, and report what there is to say of them and the ids that they left; returns these
    ids, none where the process was killed."""
    cell = None
    try:
        student.send(request)
        while not (message := student.listen()).get("ready"):
            cell = message["cell"] if type(message.get("cell")) is int else cell
            if "remark" in message and cell is not None:
                report(CellRemark(cell, str(message["remark"])[:LONGEST_MESSAGE]))
    except GoneError:
        report(ProcessKilled(cell))
        return []
    ids = _ids(message)
    report(StudentIds(ids))
    return ids


def _different(messages: Sequence[str | None]) -> list[str]:
    return [message for message in dict.fromkeys(messages) if message is not None]


def _ids(message: Mapping[str, Any]) -> list[dict[str, str]]:
    """The ids that a submission's process reports, validated; nothing else in the message is trusted."""
    ids = []
    for reported in message.get("ids", []) if isinstance(message.get("ids"), list) else []:
        try:
            ids.append({"id": known_id(reported["id"])})
        except (ValueError, TypeError, KeyError):
            problem = reported.get("problem") if isinstance(reported, dict) else None
            ids.append({"problem": str(problem or "it cannot be read")[:LONGEST_MESSAGE]})
    return ids[-5:]


def _outcomes(
    task: Mapping[str, Any], student: StudentChannel, given: Mapping[str, Any], *, hidden: bool
) -> list[str | None]:
    """The message of each of a task's visible or hidden tests; None where the answer passes."""

    def get(name: str) -> Any:
        return given[name] if name in given else student.get(name, task["without"])

    messages = []
    for test in task["tests"]:
        if test["hidden"] == hidden:
            names: dict[str, Any] = {}
            exec(compile(test["source"], "test", "exec"), names)
            messages.append(outcome(names[test["name"]], get, hidden=hidden))
    return messages
