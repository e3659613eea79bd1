"""A student's process: runs the cells of a submission, then yields values and calls functions, as JSON.

No test comes here. What the process says is data for the judge, whatever a submission does to it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

from radeval_lib.labs.figure_data import figure_facts

ARRAY = "ndarray"
"""The only key of what stands for an array."""


class OutOfTimeError(BaseException):
    """A cell or call that ran too long; not an Exception, which cells may catch."""


def serve(
    channel: socket.socket, cells: Sequence[str], skipped: Collection[int], student_id: str, seconds: int
) -> None:
    """Run the sources of code cells but for those ``skipped``, which killed an earlier process, then answer
    until the channel closes; a cell or call may take so many seconds.

    A cell that names what a later one defines runs again at the end.
    """
    from IPython.core.history import HistoryManager
    from IPython.core.interactiveshell import InteractiveShell

    HistoryManager.enabled = False  # type: ignore[assignment]
    sys.modules["otter"] = _no_checks()
    signal.signal(signal.SIGALRM, _out_of_time)
    shell = InteractiveShell(user_ns={"student_id": student_id})
    lines = channel.makefile("rw", encoding="utf-8")

    def say(**message: Any) -> None:
        lines.write(json.dumps(message, default=plain) + "\n")
        lines.flush()

    turn, errors = [number for number in range(len(cells)) if number not in skipped], dict[int, str]()
    before = None
    while turn and turn != before:  # what a cell lacks may be defined by one that stands later
        before, again = turn, list[int]()
        for number in turn:
            say(cell=number)
            with _at_most(seconds):
                result = shell.run_cell(cells[number], store_history=False, silent=True)
            error = result.error_before_exec or result.error_in_exec
            errors.pop(number, None)
            if error is not None:
                errors[number] = _told(error)
            if isinstance(error, NameError):
                again.append(number)
        turn = again
    for number, error_text in errors.items():
        say(cell=number, error=error_text)
    say(ready=True)
    for line in lines:
        asked = json.loads(line, object_hook=received)
        try:
            with _at_most(seconds):
                value = _answer(shell.user_ns, asked)
                text = json.dumps({"value": value}, default=plain)
        except BaseException as error:  # a submission may raise anything
            text = json.dumps({"error": _told(error), "slow": isinstance(error, OutOfTimeError)})
        lines.write(text + "\n")
        lines.flush()


def _answer(names: Mapping[str, Any], asked: Mapping[str, Any]) -> Any:
    found = names[asked["name"]]
    if "arguments" not in asked:
        return {"callable": True} if callable(found) else {"plain": found}
    return found(*asked["arguments"], **asked["named"])


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def received(value: dict[str, Any]) -> Any:
    """An array where one was sent."""
    import numpy as np

    return np.array(value[ARRAY]) if value.keys() == {ARRAY} else value


def plain(value: Any) -> Any:
    """What stands for a value that JSON lacks: lists for arrays, columns for tables, what a figure shows."""
    if value is ...:
        raise TypeError("it has no answer yet")
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    kind = type(value).__name__
    if kind == "Figure":
        return figure_facts(value)
    if kind == "DataFrame":
        return value.reset_index(drop=True).to_dict("list")
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {kind} is no number, text, list, dict, table or figure")


def _no_checks() -> ModuleType:
    """Stands for otter, whose checks are the judge's business."""
    module = ModuleType("otter")
    module.Notebook = MagicMock()  # type: ignore[attr-defined]
    return module


def _out_of_time(*_: object) -> None:
    raise OutOfTimeError("it took too long")


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)  # and each second again, for who catches everything
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def silence() -> None:
    """Let this process read nothing and print into nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)


def as_student(
    channel: socket.socket, cells: Sequence[str], skipped: Collection[int], student_id: str, seconds: int
) -> None:
    """:func:`serve` without the files of the process that it was forked from; does not return."""
    silence()
    os.dup2(channel.detach(), 3)
    os.closerange(4, 65536)
    try:
        serve(socket.socket(fileno=3), cells, skipped, student_id, seconds)
    finally:
        os._exit(0)
