"""What the extras `labs` and `models` bring is enough to make every lab, to solve and to grade it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd
import pytest

from radeval_lib.labs import sources
from tests import fresh

LABS = [lab.name for lab in sources.list_labs()]


@pytest.fixture(scope="module")
def radbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment with these extras alone, in whose clone every lab was made."""
    command = fresh.environment(tmp_path_factory.mktemp("labs"), "[labs,models]", editable=True).with_name(
        "radbook"
    )
    subprocess.run([command, "labs", "build"], cwd=command.parents[2] / "clone", check=True)
    return command


@pytest.mark.parametrize(
    "names",
    # Lab 8 runs papermill. All eight take minutes, in a job of their own.
    [pytest.param(LABS[-1:], id="Lab 8"), pytest.param(LABS, id="all labs", marks=pytest.mark.nightly)],
)
def test_solutions_run_and_get_full_marks(names: list[str], radbook: Path, tmp_path: Path) -> None:
    clone = radbook.parents[2] / "clone"
    (tmp_path / "class").mkdir()
    for name in names:
        solution = (clone / "build" / "labs" / "solution" / f"{name}.ipynb").read_text(encoding="utf-8")
        (tmp_path / "class" / f"{name}.ipynb").write_text(
            solution.replace("your id", "ada"), encoding="utf-8"
        )
    grade = ("labs", "grade", tmp_path / "class", "--output", tmp_path / "marks.csv", "--seconds", "600")
    subprocess.run([radbook, *grade, "--trust-submissions"], cwd=clone, check=True)
    marks = pd.read_csv(tmp_path / "marks.csv")
    assert sorted(marks["lab"]) == sorted(names)
    assert (marks["status"] == "graded").all()
    assert (marks["points"] == marks["of"]).all()
