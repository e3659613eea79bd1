"""A lab needs the installed library and nothing of the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from radeval_lib.labs import building, lab_sources
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import exporting

LABS = [
    pytest.param(lab, id=lab.name, marks=() if lab.name == "reproduce_a_table" else pytest.mark.nightly)
    for lab in lab_sources.labs()
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds."""
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(exporting.build_wheel(folder)) as wheel:
        wheel.extractall(folder / "installed")
    return folder / "installed"


def outside(arguments: list[str], library: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Python in a folder that knows the wheel's content and nothing of the repository."""
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(library), "MPLBACKEND": "Agg", "HOME": str(folder)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("lab", LABS)
def test_a_solved_lab_runs_on_the_wheel_alone(lab: lab_sources.Lab, library: Path, tmp_path: Path) -> None:
    notebook: nbformat.NotebookNode = building.versions(lab)["instructor"]
    begin = ["import radeval_lib", "where = radeval_lib.__file__", "display = print"]
    end = f"assert where.startswith({str(library)!r}), where"
    sources = [source.replace("your id", "ada") for source in building.code(notebook)]
    (tmp_path / "lab.py").write_text("\n\n".join([*begin, *sources, end]), encoding="utf-8")
    done = outside(["lab.py"], library, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert str(ROOT) not in done.stderr


def test_a_student_checks_a_saved_notebook_on_the_wheel_alone(library: Path, tmp_path: Path) -> None:
    lab = lab_sources.find("reproduce_a_table")
    text = building.as_file(building.versions(lab)["instructor"]).replace("your id", "ada")
    (tmp_path / "mine.ipynb").write_text(text, encoding="utf-8")
    done = outside(["-m", "radeval_lib.cli", "labs", "check", "mine.ipynb"], library, tmp_path)
    assert "your id is 'ada'" in done.stdout, done.stderr[-2000:]
    passed, of = re.findall(r"^(\d+) of (\d+) pass$", done.stdout, re.MULTILINE)[-1]
    assert passed == of
    assert int(of) > 10


def test_what_needs_the_repository_says_so_in_one_line(library: Path, tmp_path: Path) -> None:
    for arguments in (["start", "1"], ["build"]):
        done = outside(["-m", "radeval_lib.cli", "labs", *arguments], library, tmp_path)
        assert done.returncode == 2
        assert done.stderr == (
            "radbook: the labs' sources are not here. Run it in a clone of the repository, which has them.\n"
        )
