"""A lab needs the installed library and nothing of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from radeval_lib.labs import sources
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import exporting

LABS = [
    pytest.param(lab, id=lab.name, marks=() if lab.name == "reproduce_a_table" else pytest.mark.nightly)
    for lab in sources.labs()
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
def test_a_solved_lab_runs_on_the_wheel_alone(lab: sources.Lab, library: Path, tmp_path: Path) -> None:
    begin = ["import radeval_lib", "where = radeval_lib.__file__", "display = print", 'student_id = "ada"']
    end = f"assert where.startswith({str(library)!r}), where"
    (tmp_path / "lab.py").write_text("\n\n".join([*begin, sources.solution(lab), end]), encoding="utf-8")
    done = outside(["lab.py"], library, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert str(ROOT) not in done.stderr


def test_what_needs_the_repository_says_so_in_one_line(library: Path, tmp_path: Path) -> None:
    for arguments in (["start", "1"], ["build"]):
        done = outside(["-m", "radeval_lib.cli", "labs", *arguments], library, tmp_path)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
