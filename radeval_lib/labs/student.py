"""A student's process: runs the cells of a submission, then yields values and calls functions, as JSON.

No test comes here. What the process says is data for the judge, whatever a submission does to it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from radeval_lib.labs import known_id, sandbox
from radeval_lib.labs.answers import callable_answer, decode, encode, normal
from radeval_lib.labs.checks import Checks
from radeval_lib.labs.time_limits import OutOfTimeError, at_most

MOST_REMARKS = 50
"""Of a cell, and of a whole submission."""
LONGEST_MESSAGE = 300
"""Characters of a remark or an error."""
WAITING = 4
"""How many times as long as its processor time a cell may take in all."""


def serve(channel: socket.socket, cells: Sequence[str], skipped: Collection[int], seconds: int) -> None:
    """Run the sources of code cells but for those ``skipped``, which killed an earlier process, then answer
    until the channel closes; a cell or call may take so many seconds of processor time.

    A cell that names what a later one defines runs again at the end.
    """
    from radeval_lib.labs.shell import kernel_shell

    Checks.active = False
    shell = kernel_shell()
    lines = channel.makefile("rw", encoding="utf-8")

    def say(**message: Any) -> None:
        lines.write(json.dumps(message) + "\n")
        lines.flush()

    turn, errors = [number for number in range(len(cells)) if number not in skipped], dict[int, str]()
    ids: list[Any] = []
    before = None
    while turn and turn != before:  # what a cell lacks may be defined by one that comes later
        before, again = turn, list[int]()
        for number in turn:
            say(cell=number)
            with at_most(seconds, in_all=WAITING * seconds):
                result = shell.run_cell(cells[number], store_history=False, silent=False)
            error = result.error_before_exec or result.error_in_exec
            errors.pop(number, None)
            if error is not None:
                errors[number] = _described(error)
            if isinstance(error, NameError):
                again.append(number)
            for text in shell.remarks[:MOST_REMARKS]:
                say(cell=number, remark=text[:LONGEST_MESSAGE])
            shell.remarks.clear()
            if (student_id := _id(shell.user_ns)) is not None and student_id not in ids[-1:]:
                ids.append(student_id)
        turn = again
    for number, error_text in errors.items():
        say(cell=number, remark=error_text)
    say(ready=True, ids=ids[-5:])
    for line in lines:
        asked = json.loads(line)
        try:
            with at_most(seconds, in_all=WAITING * seconds):
                text = json.dumps({"value": _answer(shell.user_ns, asked)})
        except BaseException as error:  # a submission may raise anything
            text = json.dumps({"error": _described(error), "slow": isinstance(error, OutOfTimeError)})
        lines.write(text + "\n")
        lines.flush()


def _id(names: Mapping[str, Any]) -> dict[str, str] | None:
    """What the namespace has for an id: its text, or why it cannot be read; None where there is nothing."""
    if "student_id" not in names:
        return None
    try:
        return {"id": known_id(names["student_id"])}
    except Exception as error:  # whatever a submission put there may raise anything
        return {"problem": str(error)[:LONGEST_MESSAGE]}


def _answer(names: Mapping[str, Any], asked: Mapping[str, Any]) -> Any:
    """What the judge asked for: a value, that it is a function, or what it returns."""
    if asked["name"] not in names:
        raise TypeError(f"there is no {asked['name']!r}")
    value = names[asked["name"]]
    if "arguments" not in asked:
        return {"callable": True} if callable(value) else {"plain": encode(normal(value))}
    function = callable_answer(value, asked["without"])
    return encode(function(*decode(asked["arguments"]), **decode(asked["named"])))


def _described(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]
    except Exception:
        return type(error).__name__[:LONGEST_MESSAGE]


def silence() -> None:
    """Let this process read nothing and print into nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)


def run(channel: socket.socket, folder: Path, handed_in: Path | None) -> None:
    """:func:`serve` what the channel's first line asks for in a folder of its own, with the files that came
    with the notebook; does not return."""
    try:
        silence()
        request = json.loads(_first_line(channel))
        os.chdir(folder)
        if handed_in is not None and handed_in.is_dir():
            with suppress(OSError, shutil.Error):  # more than a submission may have
                shutil.copytree(handed_in, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
        sys.path.insert(0, str(folder))
        serve(channel, request["cells"], set(request["skipped"]), request["seconds"])
    finally:
        os._exit(0)


def _first_line(channel: socket.socket) -> bytes:
    """The request, which its sender ends before anything else is said."""
    read = bytearray()
    while not read.endswith(b"\n") and (part := channel.recv(1 << 20)):
        read += part
    return bytes(read)


def _import_nltk() -> None:
    """Import what METEOR needs of NLTK, without scikit-learn and SciPy, which NLTK looks for and can do
    without: so it takes a quarter of the time, which each submission pays."""
    hidden = [name for name in ("sklearn", "scipy") if name not in sys.modules]
    sys.modules |= dict.fromkeys(hidden)  # type: ignore[arg-type]
    with suppress(ImportError):
        import nltk.translate.meteor_score  # noqa: F401
    for name in hidden:
        del sys.modules[name]


def main() -> None:
    """Serve a submission in the sandbox that this process was started in; the command line has the socket's
    number, or ``try`` to load what a submission needs and end, the limit on memory in bytes, and a number for
    a user."""
    sandbox.enter(*map(int, sys.argv[2:]))
    _import_nltk()
    if sys.argv[1] == "try":
        from radeval_lib.labs.shell import kernel_shell

        kernel_shell()
        return
    run(socket.socket(fileno=int(sys.argv[1])), Path(sandbox.HOME), Path(sandbox.HANDED_IN))


if __name__ == "__main__":
    main()
