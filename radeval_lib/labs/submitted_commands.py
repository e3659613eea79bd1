"""Commands and magics in a submission's code: those that run what nobody reads, or go on unseen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from radeval_lib.labs.ordinary import is_installed
from radeval_lib.labs.submitted_code import SHELLS, without_options
from radeval_lib.labs.submitted_names import Names

_MAGICS = {"alias_magic", "macro", "rerun", "recall", "edit", "store"}
"""Magics that run code which does not stand in their cell."""
_UNSEEN = re.compile(
    r"(?<![&>|])&(?![&>])"  # `sleep 9 &`, and neither `a && b` nor `2>&1`
    r"|--bg\b|\b(?:nohup|setsid|disown)\b"
    r"|(?:^|[\s;|&])(?:\.|source|ba?sh|zsh)\s+[^-\s]"  # `source run.sh`, `bash run.sh`
)
"""In a command: it goes on behind the notebook, or runs a file that nobody reads."""
_PYTHON = re.compile(
    r"\b(?:python[\d.]*|sys\.executable\})(?:[ \t]+-[BEIsSu]+)*(?:[ \t]+(\S+)(?:[ \t]+(\S+))?)?"
)
"""In a command: Python and two words after its flags, as ``python3 -u -m pip``."""
_MODULES_OF_COMMANDS = {
    *("pip", "radeval_lib.cli", "venv", "json.tool", "pytest", "jupyter", "nbconvert", "jupytext"),
}
"""What ``python -m`` may run."""


def in_command(text: ast.AST | None, names: Names) -> Iterator[str]:
    """What is wrong with a command of the shell, which must be written out, end where it began, and run no
    Python but pip's like and files whose code is read."""
    match text:
        case ast.Constant(value=str(command)):
            pass
        case ast.JoinedStr(values=parts):
            command = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
        case _:
            yield "a command that is not written out"
            return
    if _UNSEEN.search(command):
        yield f"!{command.strip()}"[:60]
    for match in _PYTHON.finditer(command):
        what, module = match[1] or "", match[2] or ""
        fine = what in ("--version", "-V") or (what == "-m" and module in _MODULES_OF_COMMANDS)
        if not fine and what.rpartition("/")[2].removesuffix(".py") not in names.read:
            yield f"!{match[0].strip()}"[:60]


def in_magic(function: str, given: Sequence[ast.expr], names: Names) -> Iterator[str]:
    """What is wrong with a call of one of the shell's methods that magics and commands are."""
    if function in ("system", "getoutput", "getsystem"):
        yield from in_command(given[0] if given else None, names)
        return
    texts = [str(argument.value) for argument in given if isinstance(argument, ast.Constant)]
    if len(texts) < len(given):
        yield function
        return
    name, rest = (texts[0] if texts else ""), " ".join(texts[1:])
    if name in _MAGICS:
        yield f"%{name}"
    elif name in SHELLS:
        yield from in_command(ast.Constant(rest), names)
    elif name in ("run", "load_ext", "reload_ext", "aimport"):
        file = without_options(rest).split(" ")[0]
        own = file.rpartition("/")[2].removesuffix(".py")
        if own in names.read:
            return
        if name == "run" or (names.puts_files and not is_installed(own.partition(".")[0])):
            yield f"%{name} {file}"[:60]
