"""A lab needs the installed library and nothing of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

from radeval_lib.labs import building
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import launching

LABS = [
    pytest.param(lab, id=lab.name, marks=() if lab.name == "reproduce_a_table" else pytest.mark.nightly)
    for lab in building.labs()
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds."""
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(launching.build_wheel(folder)) as wheel:
        wheel.extractall(folder / "installed")
    return folder / "installed"


@pytest.mark.parametrize("lab", LABS)
def test_a_solved_lab_runs_on_the_wheel_alone(lab: building.Lab, library: Path, tmp_path: Path) -> None:
    notebook: nbformat.NotebookNode = building.versions(lab)["instructor"]
    begin = ["import radeval_lib", "where = radeval_lib.__file__", "display = print"]
    end = f"assert where.startswith({str(library)!r}), where"
    sources = [source.replace("your id", "ada") for source in building.code(notebook)]
    (tmp_path / "lab.py").write_text("\n\n".join([*begin, *sources, end]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "lab.py"],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(library),
            "MPLBACKEND": "Agg",
            "HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert str(ROOT) not in done.stderr
