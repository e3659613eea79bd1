"""What a judge's process reports of a submission to the grader, one message per line, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class TaskMarked:
    """The tests of a task have run: its points, those possible, and what failing tests say."""

    task: str
    points: float
    possible: float
    messages: Sequence[str]


@dataclass(frozen=True)
class CellRemark:
    """What there is to say of a cell, counted from 0."""

    cell: int
    remark: str


@dataclass(frozen=True)
class StudentIds:
    """What the cells left as the student's id, the last one valid: each the ``id``, or the ``problem`` for
    which it cannot be read."""

    ids: Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class ProcessKilled:
    """The student's process did not survive this cell; None: it ended before the first."""

    cell: int | None


@dataclass(frozen=True)
class GraderFault:
    """The judge itself failed, by an error of this type: its text could reveal hidden tests."""

    error: str


Message = TaskMarked | CellRemark | StudentIds | ProcessKilled | GraderFault
_TYPES: dict[str, type[Message]] = {
    kind.__name__: kind for kind in (TaskMarked, CellRemark, StudentIds, ProcessKilled, GraderFault)
}


def encode(message: Message) -> str:
    """A message as one line."""
    return f"{json.dumps({'type': type(message).__name__, **asdict(message)})}\n"


def decode(line: str) -> Message:
    """The message of a line of :func:`encode`."""
    content = json.loads(line)
    return _TYPES[content.pop("type")](**content)
