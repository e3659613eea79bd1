"""Reads a submission's code, without running it, for workarounds: what reaches into the grading, or for a
package's code where a function is to be written by hand.

:func:`radeval_lib.labs.by_hand.by_hand` sees which functions run, but in the student's own process, where a
submission could switch it off. To do that it has to name something that ordinary answers have no use for;
this module finds such names, in the grader's process. It knows what ordinary answers import, since no list of
what could do harm is ever complete. It is no proof: whoever hides a name well is not found.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from radeval_lib.labs.submitted_code import Parsed, as_python_reads, parse
from radeval_lib.labs.submitted_constructs import constructs
from radeval_lib.labs.submitted_names import Names
from radeval_lib.labs.time_limits import OutOfTimeError, at_most

_RUN_TEXTS = {"exec", "eval", "compile", "__import__", "__builtins__", "__loader__", "__spec__"}
"""Built-in names by which texts run as code."""
_MAY_BE_OWN = {"eval", "compile"}
"""Those of them that a student may call a function of their own."""
_COMPILED = (".pyc", ".so", ".pyd")
_MOST_CHARACTERS = 2_000_000
"""Of code in a submission: what is longer is not read."""


@dataclass(frozen=True)
class Workaround:
    """A construct that ordinary answers have no use for, and the cell or file in which it stands."""

    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.where} uses `{self.what}`"


def find_workarounds(
    cells: Sequence[str], files: Mapping[str, bytes], given: Sequence[str], seconds: int
) -> list[Workaround]:
    """The workarounds in a submission, each once.

    Parameters
    ----------
    cells : the sources of the submission's code cells.
    files : what came with it, by path.
    given : the sources of the cells of the student's version of the lab; what they use may be used.
    seconds : of processor time, after which code counts as one that cannot be read.
    """
    whole = sum(map(len, cells)) + sum(len(data) for name, data in files.items() if name.endswith(".py"))
    if whole > _MOST_CHARACTERS:
        return [Workaround(f"more than {_MOST_CHARACTERS} characters of code", "The notebook")]
    known = parse({str(number): source for number, source in enumerate(given)})
    by_name = any(_asks_by_name(node) for _, _, tree in known for node in ast.walk(tree))
    granted = {one.what for one in _in_sources(known, Names(known, known, by_name=by_name))}
    sources = {f"Code cell {number}": source for number, source in enumerate(cells, start=1)}
    workarounds = [Workaround(name, "A file") for name in files if name.endswith(_COMPILED)]
    for name, data in files.items():
        if name.endswith(".py"):
            try:
                sources[f"The file {name}"] = as_python_reads(data)
            except (SyntaxError, ValueError):
                workarounds.append(Workaround(name, "A file"))
    try:
        with at_most(seconds):
            own = parse(sources)
            workarounds += _in_sources(own, Names([*known, *own], known, by_name=by_name, files=files))
    except (OutOfTimeError, RecursionError, MemoryError):
        workarounds.append(Workaround("code that cannot be read", "The notebook"))
    return list({one.what: one for one in reversed(workarounds) if one.what not in granted}.values())[::-1]


def _in_sources(parsed: Sequence[Parsed], names: Names) -> list[Workaround]:
    """The workarounds in parsed sources, not yet what the lab's own cells use."""
    own = _own_names([tree for _, _, tree in parsed])
    workarounds = []
    for where, text, tree in parsed:
        workarounds += [Workaround(what, where) for what in _built_in(text) if what not in own]
        workarounds += [Workaround(what, where) for what in constructs(tree, names)]
    return workarounds


def _built_in(text: str) -> Iterator[str]:
    """What of Python a cell takes that runs texts as code; local variables may have any name."""
    waiting = [symtable.symtable(text, "cell", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        inside = table.get_type() != "module"
        for symbol in table.get_symbols():
            is_built_in = symbol.is_referenced() and (symbol.is_global() or not inside)
            if is_built_in and symbol.get_name() in _RUN_TEXTS:
                yield symbol.get_name()


def _own_names(trees: Sequence[ast.Module]) -> set[str]:
    """Names of built-in functions that a notebook gives a value of its own before anything else is done with
    them, as who calls an evaluation ``eval``."""
    first: dict[str, bool] = {}
    for statement in (one for tree in trees for one in tree.body):
        used = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name)}
        match statement:
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                own = {name} - {
                    one.id
                    for one in ast.walk(statement)
                    if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
                }
            case _:
                own = set()
        for name in _MAY_BE_OWN & (used | own):
            first.setdefault(name, name in own)
    return {name for name, own in first.items() if own}


def _asks_by_name(node: ast.AST) -> bool:
    """Whether an attribute is asked for by a name that is not written there."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, key, *_]):
            return not isinstance(key, ast.Constant)
    return False
