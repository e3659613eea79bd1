"""Each lab, graded as a class is: its solution gets full marks, an empty notebook none, and known mistakes
cost their own tasks alone.

The mistakes of a lab stand in ``<lab>.yml``. By day one of each lab is graded, and its solution once, for a
second student: `test_fair_marks.py` has all mistakes, and the solution for the first.
"""

from __future__ import annotations

import copy
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
import yaml

from radeval_lib.labs import building, lab_sources

OWN = Path(__file__).parent
LABS = [lab.name for lab in lab_sources.labs()]
ADA, GRACE = "ada", "grace"


@cache
def known(lab: str) -> dict[str, Any]:
    """What a lab's file of mistakes, styles and made-up answers holds."""
    return dict(yaml.safe_load((OWN / f"{lab}.yml").read_text(encoding="utf-8")))


def with_id(notebook: nbformat.NotebookNode, student: str) -> nbformat.NotebookNode:
    """A copy of a notebook in which the student's id is entered."""
    made = copy.deepcopy(notebook)
    for cell in made.cells:
        cell.source = cell.source.replace('student_id = "your id"', f'student_id = "{student}"')
    return made


def with_answer(notebook: nbformat.NotebookNode, task: str, code: str) -> nbformat.NotebookNode:
    """A copy of a notebook with another answer to a task."""
    made = copy.deepcopy(notebook)
    next(cell for cell in made.cells if cell["id"] == f"answer-{task}").source = code
    return made


def graded(folder: Path, *options: str) -> pd.DataFrame:
    """The table of a run of ``radbook labs grade``, in a process of its own, by file."""
    output = folder.parent / "grades.csv"
    command = [sys.executable, "-m", "radeval_lib.cli", "labs", "grade", str(folder), "--output", str(output)]
    subprocess.run([*command, *options], check=True, timeout=1800, capture_output=True)
    return pd.read_csv(output, keep_default_na=False).set_index("file")


@cache
def versions(lab: str) -> dict[str, nbformat.NotebookNode]:
    return building.versions(lab_sources.find(lab))


def tasks(lab: str) -> dict[str, float]:
    """The points of each task that tests mark."""
    described = versions(lab)["grader"].metadata["lab"]["tasks"]
    return {task["name"]: task["points"] for task in described if not task["written"]}


def _params(item: pytest.Item) -> dict[str, object]:
    return item.callspec.params if hasattr(item, "callspec") else {}


@pytest.fixture(scope="module")
def grades(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The grades of each lab's solution, empty notebook and known mistakes, of the labs that are tested."""
    folder = tmp_path_factory.mktemp("class") / "submissions"
    chosen = {item.callspec.params["lab"] for item in request.session.items if "lab" in _params(item)}
    every = any(
        item.get_closest_marker("nightly") for item in request.session.items if "lab" in _params(item)
    )
    for lab in chosen & set(LABS):
        made = versions(lab)
        solution = with_id(made["instructor"], ADA)
        submissions = {
            **({"solution": solution} if every else {}),
            "other-seed": with_id(made["instructor"], GRACE),
            "empty": with_id(made["student"], "nobody"),
        }
        for number, wrong in enumerate(known(lab)["wrong"][: None if every else 1]):
            submissions[f"{number}-wrong"] = with_answer(solution, wrong["task"], wrong["code"])
        (folder / lab).mkdir(parents=True)
        for name, notebook in submissions.items():
            nbformat.write(notebook, folder / lab / f"{name}.ipynb")
    return graded(folder, "--trust-submissions")


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize("name", [pytest.param("solution", marks=pytest.mark.nightly), "other-seed"])
def test_solution_gets_full_marks_whoever_hands_it_in(lab: str, name: str, grades: pd.DataFrame) -> None:
    row = grades.loc[f"{lab}/{name}.ipynb"]
    assert {task: float(row[task]) for task in tasks(lab)} == tasks(lab)


@pytest.mark.parametrize("lab", LABS)
def test_empty_notebook_gets_nothing(lab: str, grades: pd.DataFrame) -> None:
    assert float(grades.loc[f"{lab}/empty.ipynb", "points"]) == 0


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize("every", [pytest.param(True, marks=pytest.mark.nightly), False])
def test_a_mistake_costs_its_own_task(lab: str, every: bool, grades: pd.DataFrame) -> None:
    for number, wrong in enumerate(known(lab)["wrong"][: None if every else 1]):
        row = grades.loc[f"{lab}/{number}-wrong.ipynb"]
        lost = {task for task, points in tasks(lab).items() if float(row[task]) < points}
        assert lost == {wrong["task"]}, wrong["mistake"]
