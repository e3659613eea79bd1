"""Sources of the labs, and the functions that build files from them.

Otter makes the student's notebook, the solved notebook and the autograder; this module also makes the page of
the book, the slides and the quiz. A source is a jupytext notebook in ``notebooks/labs/`` (format:
docs/labs.md). The file of the same name in ``teaching/`` has the slides, separated by lines of ``---``, then
``# Quiz`` and numbered questions, each with its answer indented below it.
"""

from __future__ import annotations

import ast
import re
import shutil
import tempfile
from dataclasses import dataclass
from importlib import metadata
from itertools import takewhile
from pathlib import Path

import jupytext
import nbformat
from jinja2 import Environment
from markdown_it import MarkdownIt
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell
from sphinx_external_toc.parsing import parse_toc_yaml

from radeval_lib import atomic
from radeval_lib.errors import NotebookError
from radeval_lib.labs.checks import SOLUTION_FILE
from radeval_lib.paths import BOOK, BUILD, LABS, ROOT, display_path, notebooks

OUTPUT = BUILD / "labs"
WORK = ROOT / "my_labs"
"""Folder of the student's working copies, which are never overwritten or removed."""
UNANSWERED = "_Type your answer here, replacing this text._"
_FOLDER = f"notebooks/{LABS.name}/"
# The library's wheel, which an instructor adds to an archive for Gradescope.
_WHEEL = f"radeval_lib-{metadata.version('radeval-lib')}-py3-none-any.whl"
_ASSIGNMENT = f"""# ASSIGNMENT CONFIG
init_cell: false
export_cell: false
check_all_cell: true
show_question_points: true
strip_solutions_from_all_cells: true
tests: {{ok_format: false}}
autograder_files: [{SOLUTION_FILE}]
plugins: [radeval_lib.labs.time_limit.TimeLimit]
python_version: "3.12"
requirements: ["radeval-lib[labs,models] @ file:///autograder/source/{_WHEEL}"]
"""
_START_OTTER = 'import otter\n\ngrader = otter.Notebook("{}.ipynb")'
_SOLUTION = re.compile(
    r"^(?P<indent> *)# BEGIN SOLUTION(?P<bare> NO PROMPT)?\n(?P<code>.*?)^ *# END SOLUTION(?:\n|$)",
    re.MULTILINE | re.DOTALL,
)
_BOOK_LINK = re.compile(r"\{ref\}`(?:(?P<words>[^`<]+?)\s*<)?(?P<label>[\w-]+)>?`")  # {ref}`words <label>`
_LABEL = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)  # (label)=
_OBJECTIVES = re.compile(r"^\| \*\*Objectives\*\* \| (.*) \|$", re.MULTILINE)  # | **Objectives** | one; two |
_TASK = re.compile(r"^## (Task \d+: .*)$", re.MULTILINE)  # ## Task 1: clipped precision


@dataclass(frozen=True)
class Lab:
    """A lab, with its position among the labs in the table of contents (from 1), its name and title."""

    number: int
    name: str
    title: str

    @property
    def source(self) -> Path:
        """The lab's source file."""
        return LABS / f"{self.name}.md"


@dataclass(frozen=True)
class Task:
    """A task, with its name and points (0 for a stretch task), the cell with its answer, and its test
    cells."""

    name: str
    points: float
    answer: NotebookNode
    tests: tuple[NotebookNode, ...] = ()


def list_labs() -> list[Lab]:
    """Return every lab, in the order of the book's table of contents.

    Raises NotebookError if the folder with the labs' sources is missing, as in an installed wheel, or a lab
    has no title.
    """
    contents = BOOK / "_toc.yml"
    files = parse_toc_yaml(contents) if contents.is_file() else [_FOLDER]
    names = [file.removeprefix(_FOLDER) for file in files if file.startswith(_FOLDER)]
    if names and not LABS.is_dir():
        raise NotebookError(f"{_FOLDER} is missing", "", "Run `radbook labs` in a clone of the repository.")
    return [Lab(number, name, read_title(LABS / f"{name}.md")) for number, name in enumerate(names, start=1)]


def find(number_or_name: str) -> Lab:
    """Return the lab with this number or name; raises NotebookError, which lists all labs, if none has it."""
    all_labs = list_labs()
    for lab in all_labs:
        if number_or_name in (str(lab.number), lab.name):
            return lab
    choices = ", ".join(f"{lab.number} {lab.name}" for lab in all_labs)
    raise NotebookError(f"there is no lab {number_or_name!r}", remedy=f"Choose one of {choices}.")


def read_title(source: Path) -> str:
    """Return the first heading of a Markdown file; raises NotebookError if it has none."""
    match = re.search(r"^# (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise NotebookError("no title", display_path(source), "Begin the text with a line `# Title`.")
    return match[1]


def read_content(lab: Lab) -> list[NotebookNode | Task]:
    """Return a lab's content in order: cells outside tasks, and tasks with their cells.

    The title is prefixed with ``Lab <number>: ``.
    """
    cells = list(jupytext.read(lab.source).cells)
    cells[0].source = cells[0].source.replace("\n# ", f"\n# Lab {lab.number}: ", 1)
    content: list[NotebookNode | Task] = []
    while cells:
        cell = cells.pop(0)
        if "task" not in cell.metadata:
            content.append(new_markdown_cell(cell.source) if cell.cell_type == "markdown" else cell)
            continue
        tests = tuple(takewhile(_is_test, cells))
        del cells[: len(tests)]
        content.append(Task(cell.metadata["task"], float(cell.metadata.get("points", 0)), cell, tests))
    return content


def list_tasks(lab: Lab) -> list[Task]:
    """Return the tasks of a lab that carry points, in order."""
    return [part for part in read_content(lab) if isinstance(part, Task) and part.points]


def make_otter_notebook(lab: Lab) -> NotebookNode:
    """Return a lab as the notebook that ``otter assign`` converts.

    A link to a page of the book is replaced by the link's words, or the page's title if there are none, and
    by the page's file. Raises NotebookError if no page has the link's label.
    """
    cells = [new_raw_cell(_ASSIGNMENT)]
    for part in read_content(lab):
        cells += _make_question(part) if isinstance(part, Task) else [part]
    cells.insert(2, new_code_cell(_START_OTTER.format(lab.name)))  # after the title
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number:03d}"  # the same in every build
        if cell.cell_type == "markdown":
            cell.source = _LABEL.sub("", _BOOK_LINK.sub(_replace_link, cell.source))
    return new_notebook(cells=cells, metadata=jupytext.read(lab.source).metadata)


def make_page(lab: Lab) -> NotebookNode:
    """Return a lab as a page of the book: without solutions, and with a call to the tests of each task that
    has tests."""
    cells = []
    for part in read_content(lab):
        if not isinstance(part, Task):
            cells.append(part)
        elif part.answer.cell_type == "markdown":
            cells.append(new_markdown_cell(UNANSWERED))
        else:
            cells.append(new_code_cell(_SOLUTION.sub(_replace_solution, part.answer.source).rstrip()))
            cells += [new_code_cell(f'grader.check("{part.name}")')] * bool(part.tests)
    cells.insert(1, new_code_cell(_START_OTTER.format(lab.name)))  # after the title
    return new_notebook(cells=cells, metadata=jupytext.read(lab.source).metadata)


def make_solution(lab: Lab) -> str:
    """Return the code of the solved lab as a script, without tests, stretch tasks or the student's id.

    The caller of the script must define ``student_id``.
    """
    needed_parts = (part for part in read_content(lab) if not isinstance(part, Task) or part.points)
    cells = [part.answer if isinstance(part, Task) else part for part in needed_parts]
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    return "\n\n".join(source for source in sources if not source.startswith("student_id =")) + "\n"


def _is_test(cell: NotebookNode) -> bool:
    """Return whether a cell is tagged as a visible or hidden test."""
    return not {"test", "hidden-test"}.isdisjoint(cell.metadata.get("tags", []))


def _replace_solution(solution: re.Match[str]) -> str:
    """Return the code that students get for a solution: ``...`` or, for ``NO PROMPT``, the empty string."""
    return "" if solution["bare"] else f"{solution['indent']}...\n"


def _make_question(task: Task) -> list[NotebookNode]:
    """Return the cells of a task, between Otter's markers.

    Hidden tests share the points of the task; visible tests carry none. A stretch task has only its answer
    cell, without markers.
    """
    if not task.points:
        return [new_code_cell(task.answer.source)]
    hidden = ["hidden-test" in test.metadata["tags"] for test in task.tests]
    point_list = [task.points / sum(hidden) if hidden_test else 0 for hidden_test in hidden]
    grading = f"points: {point_list}" if hidden else f"points: {task.points:g}\nmanual: true"
    to_cell = new_markdown_cell if task.answer.cell_type == "markdown" else new_code_cell
    header = new_raw_cell(f"# BEGIN QUESTION\nname: {task.name}\n{grading}")
    solution = [new_raw_cell("# BEGIN SOLUTION"), to_cell(task.answer.source), new_raw_cell("# END SOLUTION")]
    cells = [header, *solution]
    if task.tests:
        banned = tuple(task.answer.metadata.get("without", ()))
        tests = [new_code_cell(make_otter_test(test, banned)) for test in task.tests]
        cells += [new_raw_cell("# BEGIN TESTS"), *tests, new_raw_cell("# END TESTS")]
    return [*cells, new_raw_cell("# END QUESTION")]


def make_otter_test(cell: NotebookNode, banned: tuple[str, ...]) -> str:
    """Return the code of a test in the form that Otter calls, with Otter's settings above it.

    The test's parameters become answers that :func:`radeval_lib.labs.checks.values_of_names` returns. Its
    docstring becomes the message that students read if a hidden test fails. ``banned`` names packages that
    the task's functions must not call.
    """
    (function,) = ast.parse(cell.source).body
    assert isinstance(function, ast.FunctionDef), cell.source
    names = [argument.arg for argument in function.args.args]
    message = " ".join((ast.get_docstring(function) or "").split())
    if message:
        del function.body[0]
    function.args.args = [ast.arg("env")]
    assignment = f"{', '.join(names)}, = values_of_names(env, {names}, {banned})"
    function.body[:0] = ast.parse(f"from radeval_lib.labs.checks import values_of_names\n{assignment}").body
    config_lines = [f"hidden: {str('hidden-test' in cell.metadata['tags']).lower()}"]
    config_lines += [f"failure_message: {message!r}"] * bool(message)
    header = '""" # BEGIN TEST CONFIG\n{}\n""" # END TEST CONFIG\n'.format("\n".join(config_lines))
    return header + ast.unparse(ast.fix_missing_locations(function))


def _replace_link(link: re.Match[str]) -> str:
    """Return the text that replaces a link: the link's words, or the page's title, and the page's file.

    Raises NotebookError if no page has the link's label.
    """
    for path in (*notebooks().values(), *sorted(BOOK.rglob("*.md"))):
        if f"({link['label']})=\n" in path.read_text(encoding="utf-8"):
            return f"*{link['words'] or read_title(path)}* (`{display_path(path)}`)"
    problem = f"a lab links to the label {link['label']!r}, which does not exist"
    remedy = "Link to a label of a page: a line `(label)=` before a heading."
    raise NotebookError(problem, "notebooks/labs", remedy)


def build(lab: Lab, output: Path = OUTPUT) -> None:
    """Build a lab with Otter, and write its notebooks and autograder to the folder ``output``.

    The files are ``student/<lab>.ipynb``, ``solution/<lab>.ipynb`` and ``autograder/<lab>.zip``. Raises
    NotebookError if the lab links to a label that no page has.
    """
    from otter.assign import main as otter_assign

    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        source, built_folder = folder / f"{lab.name}.ipynb", folder / "made"
        nbformat.write(make_otter_notebook(lab), source)
        (folder / SOLUTION_FILE).write_text(make_solution(lab), encoding="utf-8")
        otter_assign(str(source), str(built_folder), no_pdfs=True, no_run_tests=True)
        student_notebook = nbformat.read(built_folder / "student" / source.name, as_version=4)
        for cell in student_notebook.cells:
            if cell.cell_type == "code":  # so that Run All continues after an error
                cell.metadata["tags"] = [*cell.metadata.get("tags", []), "raises-exception"]
        nbformat.write(student_notebook, built_folder / "student" / source.name)
        (archive,) = (built_folder / "autograder").glob("*.zip")
        for built_file, path in (
            (built_folder / "student" / source.name, output / "student" / source.name),
            (built_folder / "autograder" / source.name, output / "solution" / source.name),
            (archive, output / "autograder" / f"{lab.name}.zip"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(built_file, path)


def write_teaching(lab: Lab, output: Path = OUTPUT) -> None:
    """Write a lab's slides, its quiz and the quiz with answers to ``teaching/`` in the folder ``output``.

    The files are ``<lab>_slides.html``, which loads no other file, ``<lab>_quiz.md`` and
    ``<lab>_answers.md``.
    """
    teaching_text = (LABS / "teaching" / lab.source.name).read_text(encoding="utf-8")
    slides_source, _, quiz = teaching_text.partition("# Quiz\n")
    lab_text = lab.source.read_text(encoding="utf-8")
    objectives = "; ".join(_OBJECTIVES.findall(lab_text)).split("; ")
    first_slide = f"# Lab {lab.number}: {lab.title}\n\n- " + "\n- ".join(objectives)
    last_slide = "# Your tasks\n\n- " + "\n- ".join(_TASK.findall(lab_text))
    render = MarkdownIt("commonmark").enable("table").render
    slides = [render(slide) for slide in (first_slide, *slides_source.split("\n---\n"), last_slide)]
    template = Path(__file__).with_name("teaching.html.j2").read_text(encoding="utf-8")
    page = Environment(autoescape=True).from_string(template).render(lab=lab, slides=slides)
    title = f"# Quiz on lab {lab.number}: {lab.title}\n\n"
    questions = "\n".join(line for line in quiz.strip().splitlines() if not line.startswith(" "))
    atomic.write_text(output / "teaching" / f"{lab.name}_slides.html", page)
    atomic.write_text(output / "teaching" / f"{lab.name}_quiz.md", f"{title}{questions}\n")
    atomic.write_text(output / "teaching" / f"{lab.name}_answers.md", f"{title}{quiz.strip()}\n")
