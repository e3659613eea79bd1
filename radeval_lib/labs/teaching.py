"""Slides and quizzes for labs, made from one Markdown source each and from the lab's own metadata.

A source is in ``notebooks/labs/teaching/``, under the lab's name: slides between lines of ``---``, then,
under ``# Quiz``, numbered questions, each with its answer indented below.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from jinja2 import Environment
from markdown_it import MarkdownIt

from radeval_lib import atomic
from radeval_lib.labs.sources import Lab, labs
from radeval_lib.paths import BUILD, LABS, display_path

OUTPUT = BUILD / "labs" / "teaching"
_OBJECTIVES = re.compile(r"^\| \*\*Objectives\*\* \| (.*) \|$", re.MULTILINE)  # | **Objectives** | one; two |
_TASK = re.compile(r"^## (Task \d+: .*)$", re.MULTILINE)  # ## Task 1: clipped precision
_PAGE = Path(__file__).with_name("teaching.html.j2")


def files(lab: Lab) -> dict[str, str]:
    """Return a lab's slides, one self-contained HTML page, and its quiz with and without answers, by file
    name ending."""
    text = lab.source.read_text(encoding="utf-8")
    between, _, quiz = (LABS / "teaching" / lab.source.name).read_text(encoding="utf-8").partition("# Quiz\n")
    objectives = "; ".join(_OBJECTIVES.findall(text)).split("; ")
    first = f"# Lab {lab.number}: {lab.title}\n\n- " + "\n- ".join(objectives)
    last = "# Your tasks\n\n- " + "\n- ".join(_TASK.findall(text))
    render = MarkdownIt("commonmark").enable("table").render
    slides = [render(slide) for slide in (first, *between.split("\n---\n"), last)]
    page = Environment(autoescape=True).from_string(_PAGE.read_text(encoding="utf-8"))
    title = f"# Quiz on lab {lab.number}: {lab.title}\n\n"
    questions = "\n".join(line for line in quiz.strip().splitlines() if not line.startswith(" "))
    return {
        "slides.html": page.render(lab=lab, slides=slides),
        "quiz.md": f"{title}{questions}\n",
        "answers.md": f"{title}{quiz.strip()}\n",
    }


def build(output: Path = OUTPUT) -> list[Path]:
    """Write each lab's teaching files, and return their paths."""
    written = []
    for lab in labs():
        for name, text in files(lab).items():
            written.append(output / f"{lab.name}_{name}")
            atomic.write_text(written[-1], text)
    return written


if __name__ == "__main__":
    made = build(*map(Path, sys.argv[1:2]))
    print(f"{len(made)} files for teaching in {display_path(made[0].parent)}")
