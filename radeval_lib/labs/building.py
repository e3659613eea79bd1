"""Makes the three versions of a lab from its one source: the student's, the instructor's and the grader's.

A source is a jupytext notebook in ``notebooks/labs/``; book/contributing/labs.md gives its format.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx_external_toc.parsing import parse_toc_yaml

from radeval_lib import __version__, atomic
from radeval_lib.errors import NotebookError
from radeval_lib.paths import BOOK, BUILD, LABS, ROOT, display_path, notebooks

OUTPUT = BUILD / "labs"
WORK = ROOT / "my_labs"
"""Where a student's own copies lie, which nothing here overwrites or removes."""
METADATA = "radeval_lab"
"""The key of a notebook's metadata that names the lab and what made it."""
_FOLDER = f"notebooks/{LABS.name}/"
_LINK = re.compile(r"\{ref\}`(?:(?P<words>[^`<]+?)\s*<)?(?P<label>[\w-]+)>?`")  # {ref}`words <label>`
_HEADING = re.compile(r"^(#+ .+)$", re.MULTILINE)
_LABEL = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)  # (label)=
_TEST_TAGS = {"test", "hidden-test"}
_TEST = re.compile(r"^def (test_\w+)\(", re.MULTILINE)  # def test_counts(
_SOLUTION = re.compile(
    r"^(?P<indent> *)# BEGIN SOLUTION(?P<bare> NO PROMPT)?\n(?P<code>.*?)^ *# END SOLUTION(?:\n|$)",
    re.MULTILINE | re.DOTALL,
)
"""Lines that students do not get: ``...`` stands for them, or with ``NO PROMPT`` nothing."""
_SOLVED_LINE = re.compile(r"^(?P<begin>[^\n=]*=) .*  # SOLUTION$", re.MULTILINE)  # answer = 3  # SOLUTION
_SOLVED_MARK = re.compile(r" +# SOLUTION$", re.MULTILINE)
_ID = re.compile(r"^student_id = ", re.MULTILINE)
_UNANSWERED = "_Type your answer here, replacing this text._"
_GOES_ON = "raises-exception"  # Jupyter's tag: what fails here does not stop Run All
_LOCKED = {"editable": False, "deletable": False}


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
    return [Lab(number, name, _title(LABS / f"{name}.md")) for number, name in enumerate(names, start=1)]


def find(wanted: str) -> Lab:
    """The lab of that number or name; a NotebookError, which lists all, for any other."""
    every = labs()
    for lab in every:
        if wanted in (str(lab.number), lab.name):
            return lab
    listed = ", ".join(f"{lab.number} {lab.name}" for lab in every)
    raise NotebookError(f"there is no lab {wanted!r}", remedy=f"Labs: {listed}.")


def _title(source: Path) -> str:
    match = re.search(r"^# (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise NotebookError("a lab without a title", display_path(source), "Begin it with `# Title`.")
    return match[1]


def versions(lab: Lab) -> dict[str, NotebookNode]:
    """The notebooks made of a lab's source, with the book's roles.

    Returns
    -------
    dict
        ``student``: without solutions and hidden tests; ``instructor``: solved; ``grader``: solved, with all
        tests and what is marked in its metadata. A cell with an answer has the id ``answer-<task>``, one with
        checks ``check-<task>``.

    Raises
    ------
    NotebookError
        Where the source is not of its format.
    """
    notebook = jupytext.read(lab.source)
    parts = _parts(notebook.cells, lab)
    parts[0].cells[0].source = parts[0].cells[0].source.replace("\n# ", f"\n# Lab {lab.number}: ", 1)
    student = _assembled(parts, solved=False)
    version = f"{__version__}-{_digest(student)}"
    marked = [asdict(part.task) for part in parts if part.task and part.task.points]
    made = {"student": student}
    made |= {name: _assembled(parts, solved=True) for name in ("instructor", "grader")}
    begin = f'from radeval_lib.labs.checks import Checks\n\ngrader = Checks("{lab.name}", "{version}")'
    for lab_notebook in made.values():
        lab_notebook.metadata["kernelspec"] = notebook.metadata["kernelspec"]
        lab_notebook.metadata[METADATA] = {"name": lab.name, "version": version}
        lab_notebook.cells.insert(1, new_code_cell(begin, id="checks", metadata=dict(_LOCKED)))
        for number, cell in enumerate(lab_notebook.cells):
            if not cell["id"].startswith(("answer-", "check-", "checks")):
                cell["id"] = f"cell-{number:03d}"  # the same at every build
    made["grader"].metadata["lab"] = {"title": lab.title, "version": version, "tasks": marked}
    return made


def tasks(lab: Lab) -> list[LabTask]:
    """What is marked in a lab, in its order; a NotebookError where the source is not of its format."""
    parts = _parts(jupytext.read(lab.source).cells, lab)
    return [part.task for part in parts if part.task is not None and part.task.points]


def _assembled(parts: Iterable[_Part], *, solved: bool) -> NotebookNode:
    """A version without the cell that begins it."""
    cells: list[NotebookNode] = []
    for part in parts:
        cells += copy.deepcopy(part.cells)
        if part.answer is not None and part.task is not None:
            cells.append(_answer(part.answer, part.task.name, solved))
            cells += _check_cells(part.task)
        if cells[-1].cell_type == "code" and _ID.search(cells[-1].source):
            cells.append(_check_cell("student_id", "grader.check_id(student_id)"))
    for cell in cells:
        if cell.cell_type == "code":
            cell.metadata["tags"] = [_GOES_ON]
    return new_notebook(cells=cells)


def _answer(cell: NotebookNode, task: str, solved: bool) -> NotebookNode:
    """The cell for an answer to a task, with the solution or without."""
    made = copy.deepcopy(cell)
    made["id"], made.metadata = f"answer-{task}", nbformat.NotebookNode()
    if cell.cell_type == "markdown":
        made.source = cell.source if solved else _UNANSWERED
    elif solved:
        made.source = _SOLUTION.sub(r"\g<code>", cell.source).rstrip("\n")
        made.source = _SOLVED_MARK.sub("", made.source)
    else:
        emptied = _SOLUTION.sub(lambda match: "" if match["bare"] else f"{match['indent']}...\n", cell.source)
        made.source = _SOLVED_LINE.sub(r"\g<begin> ...", emptied).rstrip("\n")
    return made


def _check_cells(task: LabTask) -> list[NotebookNode]:
    """The cell of a task's checks, each of which runs where it is defined."""
    shown = [test for test in task.tests if not test.hidden]
    without = f", {list(task.without)}".replace("'", '"') if task.without else ""
    call = f'@grader.check("{task.name}"{without})\n'
    sources = [_TEST.sub(lambda match: call + match[0], test.source) for test in shown]
    return [_check_cell(task.name, "\n\n\n".join(sources))] if shown else []


def _check_cell(task: str, source: str) -> NotebookNode:
    return new_code_cell(source, id=f"check-{task}", metadata=dict(_LOCKED))


def _digest(student: NotebookNode) -> str:
    """Of what students are given to read and to run, but for its checks."""
    given = [cell.source for cell in student.cells if not cell["id"].startswith("check-")]
    return hashlib.sha256(json.dumps(given).encode()).hexdigest()[:8]


def _show_points(task: LabTask, before: Sequence[NotebookNode]) -> None:
    """Write a task's points into its heading."""
    for cell in reversed(before):
        if headings := list(_HEADING.finditer(cell.source)):
            place = headings[-1].end()
            points = f" ({task.points:g} point{'s' * (task.points != 1)})"
            cell.source = cell.source[:place] + points + cell.source[place:]
            return


def build(lab: Lab, output: Path = OUTPUT) -> None:
    """Write each of a lab's :func:`versions` to ``<version>/<name>.ipynb``, whole or not at all."""
    for version, notebook in versions(lab).items():
        atomic.write_text(output / version / f"{lab.name}.ipynb", as_file(notebook))


def code(notebook: NotebookNode) -> list[str]:
    """The sources of a lab's code cells, without its checks."""
    own = (cell for cell in notebook.cells if cell.cell_type == "code")
    return [cell.source for cell in own if not cell["id"].startswith("check")]


def as_file(notebook: NotebookNode) -> str:
    """The notebook for a reader who has no book around it: a link to a page of the book becomes its title and
    its file; a NotebookError for a link to no page."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LABEL.sub("", _LINK.sub(_page, cell.source))
    return f"{nbformat.writes(notebook)}\n"


def _page(link: re.Match[str]) -> str:
    """A page's title, or the words of a link to it, and its file."""
    for path in (*notebooks().values(), *sorted(BOOK.rglob("*.md"))):
        text = path.read_text(encoding="utf-8")
        if f"({link['label']})=\n" in text:
            return f"*{link['words'] or _title(path)}* (`{display_path(path)}`)"
    raise NotebookError(
        f"a lab links to {link['label']!r}, which is nowhere",
        "notebooks/labs",
        "Link to a label of a notebook or of the book, `(label)=` before a heading.",
    )


@dataclass
class _Part:
    """Cells that are given, and the task that follows them, if any, with its solved answer."""

    cells: list[NotebookNode] = field(default_factory=list)
    task: LabTask | None = None
    answer: NotebookNode | None = None


def _parts(cells: Sequence[NotebookNode], lab: Lab) -> list[_Part]:
    """A source's cells, cut where its tasks are."""
    made = [_Part()]
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
            made[-1].cells.append(new_markdown_cell(cell.source) if cell.cell_type == "markdown" else cell)
            if _ID.search(cell.source) and cell.cell_type == "code":
                made.append(_Part())
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
        made.append(_Part())
    return made


def _task(cell: NotebookNode, tests: Sequence[NotebookNode], lab: Lab) -> LabTask:
    """A task from the cell of its answer and those of its tests."""
    name, points = cell.metadata["task"], float(cell.metadata.get("points", 0))
    lab_tests = []
    for test in tests:
        functions = _TEST.findall(test.source)
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
