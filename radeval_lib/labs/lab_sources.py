"""The labs' sources: which labs there are, and the cells and tasks of each.

A source is a jupytext notebook in ``notebooks/labs/``; docs/labs.md gives its format.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

import jupytext
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from sphinx_external_toc.parsing import parse_toc_yaml

from radeval_lib.errors import NotebookError
from radeval_lib.paths import BOOK, LABS, display_path

_FOLDER = f"notebooks/{LABS.name}/"
_HEADING = re.compile(r"^(#+ .+)$", re.MULTILINE)
_TEST_TAGS = {"test", "hidden-test"}
TEST_FUNCTION = re.compile(r"^def (test_\w+)\(", re.MULTILINE)  # def test_counts(
STUDENT_ID = re.compile(r"^student_id = ", re.MULTILINE)
"""A line of the cell in which students put their id."""


@dataclass(frozen=True)
class LabTest:
    """A test function of a task: hidden ones share its points, the others tell a student what is wrong."""

    name: str
    source: str
    hidden: bool


@dataclass(frozen=True)
class LabTask:
    """What is marked in a lab: by tests, or by the instructor where it is written.

    ``without`` names packages that its functions must not call, since they do the same.
    """

    name: str
    points: float
    written: bool
    tests: tuple[LabTest, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lab:
    """A lab's place in the book's table of contents, name and title."""

    number: int
    name: str
    title: str

    @property
    def source(self) -> Path:
        """The file that all its versions are made of."""
        return LABS / f"{self.name}.md"


def labs() -> list[Lab]:
    """Every lab, in the order of the book's table of contents, which numbers them; a NotebookError without
    the repository, which alone has them."""
    contents = BOOK / "_toc.yml"
    files = parse_toc_yaml(contents) if contents.is_file() else [_FOLDER]
    names = [file.removeprefix(_FOLDER) for file in files if file.startswith(_FOLDER)]
    if names and not LABS.is_dir():
        raise NotebookError(
            "the labs' sources are not here", remedy="Run it in a clone of the repository, which has them."
        )
    return [Lab(number, name, title_of(LABS / f"{name}.md")) for number, name in enumerate(names, start=1)]


def find(wanted: str) -> Lab:
    """The lab of that number or name; a NotebookError, which lists all, for any other."""
    every = labs()
    for lab in every:
        if wanted in (str(lab.number), lab.name):
            return lab
    listed = ", ".join(f"{lab.number} {lab.name}" for lab in every)
    raise NotebookError(f"there is no lab {wanted!r}", remedy=f"Labs: {listed}.")


def title_of(source: Path) -> str:
    """The first heading of a Markdown file; a NotebookError where it has none."""
    match = re.search(r"^# (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise NotebookError("a lab without a title", display_path(source), "Begin it with `# Title`.")
    return match[1]


def tasks(lab: Lab) -> list[LabTask]:
    """What is marked in a lab, in its order; a NotebookError where the source is not of its format."""
    parts = parts_of(jupytext.read(lab.source).cells, lab)
    return [part.task for part in parts if part.task is not None and part.task.points]


@dataclass
class Part:
    """Cells that are given, and the task that follows them, if any, with its solved answer."""

    cells: list[NotebookNode] = field(default_factory=list)
    task: LabTask | None = None
    answer: NotebookNode | None = None


def parts_of(cells: Sequence[NotebookNode], lab: Lab) -> list[Part]:
    """The cells of a lab's source, cut where its tasks are.

    Raises
    ------
    NotebookError
        For a test that follows no task or has no tag, two tasks of one name, or a task or test that is not of
        its form.
    """
    made = [Part()]
    waiting = list(cells)
    names = set[str]()
    while waiting:
        cell = waiting.pop(0)
        name = cell.metadata.get("task")
        if name is None:
            if _TEST_TAGS & set(cell.metadata.get("tags", [])):
                raise NotebookError(
                    "a test that follows no task",
                    display_path(lab.source),
                    "Put it behind the cell of its task.",
                )
            if (untagged := TEST_FUNCTION.search(cell.source)) and cell.cell_type == "code":
                raise NotebookError(
                    f"a test that has no tag: {untagged[1]!r}",
                    display_path(lab.source),
                    "Give its cell the tag test, or hidden-test.",
                )
            made[-1].cells.append(new_markdown_cell(cell.source) if cell.cell_type == "markdown" else cell)
            if STUDENT_ID.search(cell.source) and cell.cell_type == "code":
                made.append(Part())
            continue
        tests = list(takewhile(lambda one: _TEST_TAGS & set(one.metadata.get("tags", [])), waiting))
        del waiting[: len(tests)]
        task = _task(cell, tests, lab)
        if name in names:
            raise NotebookError(f"task {name!r} is there twice", display_path(lab.source), "Rename one.")
        names.add(name)
        if task.points:
            _show_points(task, [one for part in made for one in part.cells if one.cell_type == "markdown"])
        made[-1].task, made[-1].answer = task, cell
        made.append(Part())
    return made


def _task(cell: NotebookNode, tests: Sequence[NotebookNode], lab: Lab) -> LabTask:
    """A task from the cell of its answer and those of its tests."""
    name, points = cell.metadata["task"], float(cell.metadata.get("points", 0))
    lab_tests = []
    for test in tests:
        functions = TEST_FUNCTION.findall(test.source)
        if len(functions) != 1:
            raise NotebookError(
                f"task {name!r}: a test is one function test_...",
                display_path(lab.source),
                f"This cell has {len(functions)}: give each test a cell of its own.",
            )
        hidden = "hidden-test" in test.metadata["tags"]
        if hidden and not ast.get_docstring(_function(test.source)):
            raise NotebookError(
                f"hidden test {functions[0]!r} has no message of its own",
                display_path(lab.source),
                "Begin it with a docstring for students, which gives no answer away.",
            )
        lab_tests.append(LabTest(functions[0], test.source, hidden))
    written = cell.cell_type == "markdown"
    if points and not written and not any(test.hidden for test in lab_tests):
        raise NotebookError(
            f"task {name!r} has points and no hidden test", display_path(lab.source), "Hidden tests mark it."
        )
    return LabTask(name, points, written, tuple(lab_tests), tuple(cell.metadata.get("without", ())))


def _function(source: str) -> ast.FunctionDef:
    return next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))


def _show_points(task: LabTask, before: Sequence[NotebookNode]) -> None:
    """Write a task's points into its heading."""
    for cell in reversed(before):
        if headings := list(_HEADING.finditer(cell.source)):
            place = headings[-1].end()
            points = f" ({task.points:g} point{'s' * (task.points != 1)})"
            cell.source = cell.source[:place] + points + cell.source[place:]
            return
