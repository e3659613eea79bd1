"""Makes the three versions of a lab from its one source: the student's, the instructor's and the grader's.

A source is a jupytext notebook in ``notebooks/labs/``; CONTRIBUTING.md tells its format. Here its tasks
become otter's blocks, and otter-grader takes solutions and hidden tests out.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_raw_cell
from sphinx_external_toc.parsing import parse_toc_yaml

from radeval_lib import atomic
from radeval_lib.errors import NotebookError
from radeval_lib.paths import BOOK, BUILD, LABS, ROOT, display_path, notebooks

OUTPUT = BUILD / "labs"
WORK = ROOT / "my_labs"
"""Where a student's own copies lie, which nothing here overwrites or removes."""
_FOLDER = f"notebooks/{LABS.name}/"
_ROLE = re.compile(r"\{ref\}`(?:(?P<words>[^`<]+?)\s*<)?(?P<label>[\w-]+)>?`")
_FOR_PRINTING = re.compile(r"<!-- (?:BEGIN|END) QUESTION -->\s*|^# Initialize Otter\n")
_HEADING = re.compile(r"^(#+ .+)$", re.MULTILINE)
_LABEL = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
_PARTS = ("test", "hidden-test")
_CONFIG = {
    "init_cell": True,
    "run_tests": False,
    "export_cell": False,
    "generate": False,
    "tests": {"ok_format": False},
}


@dataclass(frozen=True)
class LabTask:
    """What is marked in a lab: by tests, or by the instructor where it is written."""

    name: str
    points: float
    written: bool


@dataclass(frozen=True)
class Lab:
    """A lab's place in the book's table of contents, name and title."""

    number: int
    name: str
    title: str

    @property
    def source(self) -> Path:
        return LABS / f"{self.name}.md"


def labs() -> list[Lab]:
    """Every lab, in the order of the book's table of contents, which numbers them."""
    files = (page for page in parse_toc_yaml(BOOK / "_toc.yml") if page.startswith(_FOLDER))
    names = [file.removeprefix(_FOLDER) for file in files]
    return [Lab(number, name, _title(LABS / f"{name}.md")) for number, name in enumerate(names, start=1)]


def find(wanted: str) -> Lab:
    """The lab of that number or name."""
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
        tests and what is marked in its metadata.

    Raises
    ------
    NotebookError
        Where the source is not of its format.
    """
    from otter.assign import main as assign

    notebook = jupytext.read(lab.source)
    blocks, tasks = _blocks(notebook.cells, lab)
    notebook.cells = [
        new_raw_cell(f"# ASSIGNMENT CONFIG\n{json.dumps(_CONFIG | {'name': lab.name})}"),
        *blocks,
    ]
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        master = Path(folder) / f"{lab.name}.ipynb"
        nbformat.write(notebook, master)
        try:
            assign(str(master), folder, no_run_tests=True, no_pdfs=True)
        except (ValueError, RuntimeError, AssertionError, TypeError) as error:
            raise NotebookError(f"otter refuses it: {error}", display_path(lab.source)) from None
        student, grader = (
            nbformat.read(Path(folder) / version / master.name, as_version=4)
            for version in ("student", "autograder")
        )
    instructor = copy.deepcopy(grader)
    instructor.metadata["otter"] = student.metadata["otter"]  # the hidden tests need the grader's means
    grader.metadata["lab"] = {"title": lab.title, "tasks": [asdict(task) for task in tasks]}
    made = {"student": student, "instructor": instructor, "grader": grader}
    for version in made.values():
        version.metadata.pop("jupytext", None)
        version.cells.insert(1, version.cells.pop(0))  # otter's cell, below the title
        version.cells[0].source = version.cells[0].source.replace("\n# ", f"\n# Lab {lab.number}: ", 1)
        for number, cell in enumerate(version.cells):
            cell.source = _FOR_PRINTING.sub("", cell.source)
            cell["id"] = f"cell-{number:03d}"  # the same at every build
            cell["metadata"] = {key: False for key in ("editable", "deletable") if key in cell.metadata}
    return made


def _show_points(task: LabTask, before: Sequence[NotebookNode]) -> None:
    """Say in the heading that a task stands under what it is worth."""
    for cell in reversed(before):
        if headings := list(_HEADING.finditer(cell.source)):
            place = headings[-1].end()
            points = f" ({task.points:g} point{'s' * (task.points != 1)})"
            cell.source = cell.source[:place] + points + cell.source[place:]
            return


def build(lab: Lab, output: Path = OUTPUT) -> None:
    """Write each version of a lab to ``<version>/<name>.ipynb``, whole or not at all."""
    for version, notebook in versions(lab).items():
        atomic.write_text(output / version / f"{lab.name}.ipynb", as_file(notebook))


def code(notebook: NotebookNode) -> list[str]:
    """The sources of a lab's code cells, without those that otter made."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return [source for source in sources if not source.startswith(("import otter", "grader.check("))]


def as_file(notebook: NotebookNode) -> str:
    """The notebook for a reader who has no book around it: a link to a page of the book becomes its title and
    its file."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _LABEL.sub("", _ROLE.sub(_page, cell.source))
    return f"{nbformat.writes(notebook)}\n"


def _page(link: re.Match[str]) -> str:
    """A page's title, or the words of a link to it, and its file."""
    for path in (*notebooks().values(), *sorted(BOOK.rglob("*.md"))):
        text = path.read_text(encoding="utf-8")
        if f"({link['label']})=\n" in text:
            return f"*{link['words'] or _title(path)}* (`{display_path(path)}`)"
    raise NotebookError(f"a lab links to {link['label']!r}, which is nowhere")


def _hidden_test_config(source: str, lab: Lab) -> str:
    """What tells otter that a test is hidden, and what it says where the test fails: its docstring."""
    body = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    message = " ".join((ast.get_docstring(body[0]) or "").split()) if body else ""
    if not message or '"' in message or "\\" in message:  # otter writes it between quotation marks
        raise NotebookError(
            f"hidden test {body[0].name if body else source[:40]!r} has no message of its own",
            display_path(lab.source),
            "Begin it with a docstring for students, without quotation marks.",
        )
    described = json.dumps({"hidden": True, "failure_message": message}, ensure_ascii=False)
    return f'""" # BEGIN TEST CONFIG\n{described}\n""" # END TEST CONFIG\n'


def _blocks(cells: Sequence[NotebookNode], lab: Lab) -> tuple[list[NotebookNode], list[LabTask]]:
    """The cells with otter's marks around each task: its text, its answer, its tests."""
    made: list[NotebookNode] = []
    tasks: list[LabTask] = []
    waiting = list(cells)
    while waiting:
        cell = waiting.pop(0)
        name = cell.metadata.get("task")
        if name is None:
            if set(_PARTS) & set(cell.metadata.get("tags", [])):
                raise NotebookError("a test that follows no task", display_path(lab.source))
            made.append(cell)
            continue
        tests = list(takewhile(lambda one: set(_PARTS) & set(one.metadata.get("tags", [])), waiting))
        del waiting[: len(tests)]
        task = LabTask(name, float(cell.metadata.get("points", 0)), cell.cell_type == "markdown")
        if (not tests and not task.written and task.points) or name in {one.name for one in tasks}:
            raise NotebookError(f"task {name!r} has no test, or is there twice", display_path(lab.source))
        if task.points:
            tasks.append(task)
            _show_points(task, [one for one in made if one.cell_type == "markdown"])
        described = {"name": name, "points": cell.metadata.get("points", 0), "manual": task.written}
        text = [made.pop()] if made and made[-1].cell_type == "markdown" else []
        for test in tests:
            if "hidden-test" in test.metadata["tags"]:
                test.source = f"{_hidden_test_config(test.source, lab)}{test.source}"
        block: list[Any] = [f"# BEGIN QUESTION\n{json.dumps(described)}", *text]
        block += ["# BEGIN SOLUTION", cell, "# END SOLUTION"]
        block += ["# BEGIN TESTS", *tests, "# END TESTS"] if tests else []
        block.append("# END QUESTION")
        made += [new_raw_cell(part) if isinstance(part, str) else part for part in block]
    return made, tasks
