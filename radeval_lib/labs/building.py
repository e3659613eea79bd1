"""Makes the three versions of a lab from its one source: the student's, the instructor's and the grader's."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from radeval_lib import __version__, atomic
from radeval_lib.errors import NotebookError, plain
from radeval_lib.labs.lab_sources import STUDENT_ID, TEST_FUNCTION, Lab, LabTask, Part, parts_of, title_of
from radeval_lib.paths import BOOK, BUILD, ROOT, display_path, notebooks

OUTPUT = BUILD / "labs"
WORK = ROOT / "my_labs"
"""Where a student's own copies lie, which nothing here overwrites or removes."""
METADATA = "radeval_lab"
"""The key of a notebook's metadata that names the lab and what made it."""
_LINK = re.compile(r"\{ref\}`(?:(?P<words>[^`<]+?)\s*<)?(?P<label>[\w-]+)>?`")  # {ref}`words <label>`
_LABEL = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)  # (label)=
_SOLUTION = re.compile(
    r"^(?P<indent> *)# BEGIN SOLUTION(?P<bare> NO PROMPT)?\n(?P<code>.*?)^ *# END SOLUTION(?:\n|$)",
    re.MULTILINE | re.DOTALL,
)
"""Lines that students do not get: ``...`` stands for them, or with ``NO PROMPT`` nothing."""
_MARK = re.compile(r"\bSOLUTION\b|(?i:#\s*(begin|end)\s+solution\b|#\s*solution\s*$)")
"""What an author may take for a mark of a solution, in a line."""
_UNANSWERED = "_Type your answer here, replacing this text._"
_GOES_ON = "raises-exception"  # Jupyter's tag: what fails here does not stop Run All
_LOCKED = {"editable": False, "deletable": False}


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
        Where the source is not of its format, as where students would get a solution by a mark that is none.
    """
    notebook = jupytext.read(lab.source)
    if "kernelspec" not in notebook.metadata:
        raise NotebookError(
            "no kernelspec in its header", display_path(lab.source), "Begin it as another lab begins."
        )
    for number, cell in enumerate(notebook.cells, start=1):
        _check_marks(cell, f"{display_path(lab.source)}, cell {number}")
    parts = parts_of(notebook.cells, lab)
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


def _assembled(parts: Iterable[Part], *, solved: bool) -> NotebookNode:
    """A version without the cell that begins it."""
    cells: list[NotebookNode] = []
    for part in parts:
        cells += copy.deepcopy(part.cells)
        if part.answer is not None and part.task is not None:
            cells.append(_answer(part.answer, part.task.name, solved))
            cells += _check_cells(part.task)
        if cells[-1].cell_type == "code" and STUDENT_ID.search(cells[-1].source):
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
    else:
        made.source = _SOLUTION.sub(_in_its_place, cell.source).rstrip("\n")
    return made


def _in_its_place(solution: re.Match[str]) -> str:
    return "" if solution["bare"] else f"{solution['indent']}...\n"


def _check_marks(cell: NotebookNode, where: str) -> None:
    """A NotebookError, which names the line, unless all marks of solutions are of their form, an answer has
    one, and the code is Python with solutions and without."""
    is_answer = "task" in cell.metadata
    if cell.cell_type == "markdown" and is_answer:
        return
    # Line for line, so that places are those of the source.
    solved = without = cell.source
    if is_answer:
        solved = _SOLUTION.sub(lambda match: f"\n{match['code']}\n", cell.source)
        without = _SOLUTION.sub(
            lambda match: _in_its_place(match).rstrip("\n") + "\n" * match[0].count("\n"), cell.source
        )
    for line, text in enumerate(solved.split("\n"), start=1):
        if _MARK.search(text):
            raise NotebookError(
                f"a mark of a solution that is not of its form: {plain(text.strip(), 60)!r}",
                f"{where}, line {line}",
                "Put `# BEGIN SOLUTION` and `# END SOLUTION` on lines of their own, in the cell of a task.",
            )
    if is_answer and solved == cell.source:
        raise NotebookError(
            f"task {cell.metadata['task']!r} has no solution to take out",
            where,
            "Put it between `# BEGIN SOLUTION` and `# END SOLUTION`.",
        )
    for source, which in ((solved, "with its solution"), (without, "without its solution")):
        try:
            if cell.cell_type == "code":
                ast.parse(source)
        except SyntaxError as error:
            remedy = "Let whole statements stand between the marks of a solution."
            raise NotebookError(
                f"no Python {which}: {error.msg}", f"{where}, line {error.lineno}", remedy
            ) from None


def _check_cells(task: LabTask) -> list[NotebookNode]:
    """The cell of a task's checks, each of which runs where it is defined."""
    shown = [test for test in task.tests if not test.hidden]
    without = f", {list(task.without)}".replace("'", '"') if task.without else ""
    call = f'@grader.check("{task.name}"{without})\n'
    sources = [TEST_FUNCTION.sub(lambda match: call + match[0], test.source) for test in shown]
    return [_check_cell(task.name, "\n\n\n".join(sources))] if shown else []


def _check_cell(task: str, source: str) -> NotebookNode:
    return new_code_cell(source, id=f"check-{task}", metadata=dict(_LOCKED))


def _digest(student: NotebookNode) -> str:
    """Of what students are given to read and to run, but for its checks."""
    given = [cell.source for cell in student.cells if not cell["id"].startswith("check-")]
    return hashlib.sha256(json.dumps(given).encode()).hexdigest()[:8]


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
            return f"*{link['words'] or title_of(path)}* (`{display_path(path)}`)"
    raise NotebookError(
        f"a lab links to {link['label']!r}, which is nowhere",
        "notebooks/labs",
        "Link to a label of a notebook or of the book, `(label)=` before a heading.",
    )
