"""Slides and quizzes for labs, made of one Markdown source each and of what the lab says of itself.

A source lies in ``notebooks/labs/teaching/``, under the lab's name: slides between lines of ``---``, then,
under ``# Quiz``, numbered questions, each with its answer below.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from jinja2 import Environment
from markdown_it import MarkdownIt

from radeval_lib import atomic
from radeval_lib.errors import NotebookError
from radeval_lib.labs.sources import Lab, labs
from radeval_lib.paths import BUILD, LABS, display_path

SOURCES = LABS / "teaching"
OUTPUT = BUILD / "labs" / "teaching"
_QUIZ = re.compile(r"^# Quiz\n", re.MULTILINE)
_OBJECTIVES = re.compile(r"^\| \*\*Objectives\*\* \| (.*) \|$", re.MULTILINE)  # | **Objectives** | one; two |
_TASK = re.compile(r"^## (Task \d+: .*)$", re.MULTILINE)  # ## Task 1: clipped precision
_PAGE = Path(__file__).with_name("teaching.html.j2")


def source(lab: Lab) -> Path:
    """Where a lab's slides and quiz are written."""
    return SOURCES / f"{lab.name}.md"


def slides(lab: Lab) -> str:
    """The slides as one page of HTML that needs no other file: one screen each, or one sheet in print.

    Raises
    ------
    NotebookError
        If the lab names no objectives, or its source has no quiz after the slides.
    """
    text = lab.source.read_text(encoding="utf-8")
    objectives = _OBJECTIVES.search(text)
    if objectives is None:
        remedy = "Give it a row `| **Objectives** | ... |`."
        raise NotebookError("a lab without objectives", display_path(lab.source), remedy)
    first = _listed(f"Lab {lab.number}: {lab.title}", objectives[1].split("; "))
    last = _listed("Your tasks", _TASK.findall(text))
    own = _parts(lab)[0].split("\n---\n")
    render = MarkdownIt("commonmark").enable("table").render
    page = Environment(autoescape=True).from_string(_PAGE.read_text(encoding="utf-8"))
    return page.render(lab=lab, slides=[render(text) for text in (first, *own, last)])


def _listed(title: str, points: list[str]) -> str:
    return "\n".join([f"# {title}", "", *(f"- {point}" for point in points)])


def quiz(lab: Lab) -> tuple[str, str]:
    """The quiz as Markdown: without answers, for students, and with them. Lines of answers are indented."""
    title = f"# Quiz on lab {lab.number}: {lab.title}\n\n"
    questions = _parts(lab)[1].strip()
    without = "\n".join(line for line in questions.splitlines() if not line.startswith(" "))
    return f"{title}{without}\n", f"{title}{questions}\n"


def _parts(lab: Lab) -> tuple[str, str]:
    """The slides of a source, and its quiz; a NotebookError where there is not one of each."""
    text = source(lab).read_text(encoding="utf-8")
    parts = _QUIZ.split(text)
    if len(parts) != 2:
        raise NotebookError("no `# Quiz` after the slides", display_path(source(lab)), "Add it, once.")
    return parts[0], parts[1]


def build(output: Path = OUTPUT) -> list[Path]:
    """Write slides and quizzes of each lab that has a source; the places of what was written."""
    written = []
    for lab in labs():
        if not source(lab).is_file():
            continue
        questions, answers = quiz(lab)
        for name, text in (("slides.html", slides(lab)), ("quiz.md", questions), ("answers.md", answers)):
            written.append(output / f"{lab.name}_{name}")
            atomic.write_text(written[-1], text)
    return written


if __name__ == "__main__":
    made = build(*map(Path, sys.argv[1:2]))
    print(f"{len(made)} files for teaching in {display_path(made[0].parent)}")
