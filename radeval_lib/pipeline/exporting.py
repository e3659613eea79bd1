"""Exports notebooks for machines that have neither the study nor its packages: every page's, and the labs'.

    python -m radeval_lib.pipeline.exporting FOLDER [OWNER/NAME COMMIT]

With a repository, notebooks fetch it at that commit, and the labs are exported too, which need the library's
wheel alone; see :mod:`radeval_lib.pipeline.launching` for the links to them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

from radeval_lib import atomic
from radeval_lib.labs import building, sources
from radeval_lib.paths import DEFAULT_PROFILE, MANIFESTS, ROOT, display_path, notebooks
from radeval_lib.pipeline.launching import BRANCH, LABS, seconds_of
from radeval_lib.study.sources import read_source, with_parameters

_CPU_WHEELS = "--extra-index-url https://download.pytorch.org/whl/cpu"
"""Where pip finds a torch for the CPU, of 200 MB in place of 3 GB; its version counts as the newer."""
_INSTALL = """# Installs the library where it is missing: a minute, once.
import importlib.util

if importlib.util.find_spec("radeval_lib") is None:
    %pip install --quiet {wheels} "{needed}"
"""
_TESTS = """#@title The checks of this lab
from pathlib import Path

folder = Path("tests/{lab}")
folder.mkdir(parents=True, exist_ok=True)
for name, text in {tests!r}.items():
    (folder / f"{{name}}.py").write_text(text, encoding="utf-8")
"""
_MAKE = """# Trains what this page reads: about {minutes} min on two cores, once.
from radeval_lib.pipeline import launching

launching.make_cells("{name}")
"""


def export_labs(target: Path, repository: str, wheel: Path) -> list[Path]:
    """Write every lab for students, the wheel, and what Binder installs; return the notebooks' places.

    Colab has neither the library nor files beside a notebook: one cell installs what is missing, the next
    writes the visible tests, and Otter reads them there.
    """
    folder = target / LABS
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(wheel, folder)
    needed = f"radeval-lib[labs,models] @ https://github.com/{repository}/raw/{BRANCH}/{LABS}/{wheel.name}"
    atomic.write_text(
        target / "requirements.txt", f"{_CPU_WHEELS}\njupyterlab\n./{LABS}/{wheel.name}[labs,models]\n"
    )
    atomic.write_text(target / "runtime.txt", "python-3.11\n")
    written = []
    with tempfile.TemporaryDirectory() as built:
        for lab in sources.labs():
            building.build(lab, Path(built))
            notebook = nbformat.read(Path(built) / "student" / f"{lab.name}.ipynb", as_version=4)
            install = _INSTALL.format(needed=needed, wheels=_CPU_WHEELS)
            tests = _TESTS.format(lab=lab.name, tests=dict(notebook.metadata["otter"].pop("tests")))
            begin = f'import otter\n\ngrader = otter.Notebook(tests_dir="tests/{lab.name}")'
            notebook.cells[1] = nbformat.v4.new_code_cell(begin, id="grader")
            set_up = {"set-up": install, "tests": tests}
            notebook.cells[1:1] = [nbformat.v4.new_code_cell(text, id=name) for name, text in set_up.items()]
            written.append(folder / f"{lab.name}.ipynb")
            atomic.write_text(written[-1], f"{nbformat.writes(notebook)}\n")
    return written


def build_wheel(folder: Path) -> Path:
    """Build the library's wheel in a folder, from a copy, for setuptools leaves things where it builds."""
    source = folder / "source"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("radeval_lib", MANIFESTS.name):
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(source)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def export(target: Path, repository: str = "", commit: str = "HEAD") -> list[Path]:
    """Write every page's notebook with papermill's parameters set, and return where each stands.

    For a machine that has neither the repository nor its packages, as Colab's, the first cell fetches and
    installs them.
    """
    written = []
    for name, source in notebooks().items():
        notebook = with_parameters(read_source(source), profile=DEFAULT_PROFILE)
        if needed := seconds_of(name):
            minutes = max(1, round(needed / 60))
            make = nbformat.v4.new_code_cell(_MAKE.format(name=name, minutes=minutes), id="make-cells")
            notebook.cells.insert(0, make)
        if repository:
            notebook.cells.insert(0, nbformat.v4.new_code_cell(_set_up(repository, commit), id="set-up"))
        path = target / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_text(path, f"{nbformat.writes(notebook)}\n")
        written.append(path)
    return written


def _set_up(repository: str, commit: str) -> str:
    return "\n".join(
        [
            "# Fetches the study and installs its packages: some minutes, once.",
            f"!git clone --quiet https://github.com/{repository} study",
            "%cd study",
            f"!git checkout --quiet {commit}",
            "!python workflow/install.py",
        ]
    )


if __name__ == "__main__":
    made = export(Path(sys.argv[1]), *sys.argv[2:])
    if len(sys.argv) > 2:  # elsewhere than where the repository is installed
        with tempfile.TemporaryDirectory() as folder:
            made += export_labs(Path(sys.argv[1]), sys.argv[2], build_wheel(Path(folder)))
    print(f"{len(made)} notebooks in {display_path(Path(sys.argv[1]))}")
