"""A lab's marks without a kernel: its cells and its tests run in this process, as Otter runs them."""

from __future__ import annotations

import contextlib
import io
import symtable
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import yaml

from radeval_lib.labs import checks, sources
from radeval_lib.labs.sources import Task

OWN = Path(__file__).parent
LABS = [lab.name for lab in sources.list_labs()]
ADA, GRACE = "ada", "grace"


@cache
def known(lab: str) -> dict[str, Any]:
    """Return what a lab's file of mistakes, styles and made-up answers holds."""
    return dict(yaml.safe_load((OWN / f"{lab}.yml").read_text(encoding="utf-8")))


@cache
def tasks(lab: str) -> dict[str, Task]:
    """Return a lab's tasks that tests mark."""
    return {task.name: task for task in sources.list_tasks(sources.find(lab)) if task.tests}


@dataclass(frozen=True)
class Cell:
    """A code cell that is no test; ``task`` is empty where it is given."""

    source: str
    task: str = ""


@cache
def cells(lab: str) -> list[Cell]:
    """Return the cells of a lab in their order, without the student's id and stretch tasks."""
    result = []
    for part in sources.read_content(sources.find(lab)):
        if isinstance(part, Task):
            if part.tests:
                result.append(Cell(part.answer.source, part.name))
        elif part.cell_type == "code" and not part.source.startswith("student_id ="):
            result.append(Cell(part.source))
    return result


@cache
def solved(lab: str, student: str = ADA) -> dict[str, Any]:
    """Return what a solved lab defines."""
    names: dict[str, Any] = {"student_id": student, "display": lambda *_: None}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in cells(lab):
            exec(compile(cell.source, lab, "exec"), names)
    plt.close("all")
    return names


def defined(source: str) -> set[str]:
    """Return the names that a cell gives a value to."""
    top = symtable.symtable(source, "cell", "exec").get_symbols()
    return {
        item.get_name() for item in top if item.is_assigned() or item.is_imported() or item.is_namespace()
    }


def used(source: str) -> set[str]:
    """Return the names of the notebook that a cell reads, in its functions too."""
    result, waiting = set[str](), [symtable.symtable(source, "cell", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        inside = table.get_type() != "module"
        symbols = table.get_symbols()
        result |= {
            symbol.get_name()
            for symbol in symbols
            if symbol.is_referenced() and (symbol.is_global() or not inside)
        }
    return result


def run(lab: str, answers: dict[str, str]) -> dict[str, Any]:
    """Return what a solved lab defines with some tasks answered otherwise: these cells run, and those that
    read a name which one of these gives a value to."""
    changed, again, kept = set[str](), list[str](), set[str]()
    for cell in cells(lab):
        source = answers.get(cell.task, cell.source)
        if cell.task in answers or used(source) & changed:
            changed |= defined(source) | defined(cell.source)
            again.append(source)
        else:
            kept |= defined(cell.source)
    names = {name: value for name, value in solved(lab).items() if name in kept or name not in changed}
    with contextlib.redirect_stdout(io.StringIO()):
        for source in again:
            with contextlib.suppress(NameError):  # what a solution's helpers were for
                exec(compile(source, lab, "exec"), names)
    plt.close("all")
    return names


@cache
def functions(lab: str) -> dict[str, list[tuple[bool, Callable[..., None]]]]:
    """Return a lab's tests by task, as Otter calls them, and whether each is hidden."""
    made: dict[str, list[tuple[bool, Callable[..., None]]]] = {}
    for task in tasks(lab).values():
        for test in task.tests:
            names: dict[str, Any] = {}
            exec(sources.make_otter_test(test, tuple(task.answer.metadata.get("without", ()))), names)
            function = next(value for name, value in names.items() if name.startswith("test_"))
            made.setdefault(task.name, []).append(("hidden-test" in test.metadata["tags"], function))
    return made


def outcomes(lab: str, env: dict[str, Any], hidden: bool, task: str) -> list[str]:
    """Return what each visible or hidden test of a task says of a notebook's names; empty where it passes."""
    right = SimpleNamespace(**solved(lab, env["student_id"]))
    text = []
    with contextlib.redirect_stdout(io.StringIO()), _solution(right):
        for is_hidden, test in functions(lab)[task]:
            if is_hidden == hidden:
                try:
                    test(env)
                    text.append("")
                except Exception as error:  # a made-up answer may raise anything
                    text.append(f"{type(error).__name__}: {error}")
    return text


@contextlib.contextmanager
def _solution(right: SimpleNamespace):  # type: ignore[no-untyped-def]
    values, checks._run_solution = checks._run_solution, lambda _: right
    try:
        yield
    finally:
        checks._run_solution = values


def earned(lab: str, env: dict[str, Any]) -> dict[str, float]:
    """Return the points of each task: its hidden tests share them."""
    points = {}
    for name, task in tasks(lab).items():
        text = outcomes(lab, env, True, name)
        points[name] = task.points * text.count("") / len(text)
    return points


def full(lab: str) -> dict[str, float]:
    return {name: task.points for name, task in tasks(lab).items()}
