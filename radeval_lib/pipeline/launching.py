"""Notebooks that open with one click, and the links to them.

There are links where ``_config.yml`` names the repository's public home (``repository: url``); the workflow
of the site does so. Binder opens a page that ``postBuild`` made there, Colab one that the workflow pushed to
:data:`BRANCH`. Labs need the library alone: both open them from that branch, which has its wheel.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import nbformat

from radeval_lib import atomic, own_yaml
from radeval_lib.labs import building, lab_sources
from radeval_lib.paths import BUILD, DEFAULT_PROFILE, MANIFESTS, ROOT, display_path, notebooks
from radeval_lib.pipeline import durations, steps
from radeval_lib.study import cell_outputs, cells
from radeval_lib.study.cells import Cell
from radeval_lib.study.declarations import ALL, declared
from radeval_lib.study.profiles import command
from radeval_lib.study.sources import read_source, with_parameters

BRANCH, FOLDER, LABS = "launch", "build/launch", "labs"
CPU_WHEELS = "--extra-index-url https://download.pytorch.org/whl/cpu"
"""Where pip finds a torch for the CPU, of 200 MB in place of 3 GB; its version counts as the newer."""
PATIENCE = 300
"""Seconds of training, on two cores, that a page may need before it shows something where it was opened with
one click; one that needs more has no button."""
_INSTALL = """# Installs the library where it is missing: a minute, once.
import importlib.util

if importlib.util.find_spec("radeval_lib") is None:
    %pip install --quiet {wheels} "{needed}"
"""
_MAKE = """# Trains what this page reads: about {minutes} min on two cores, once.
from radeval_lib.pipeline import launching

launching.make_cells("{name}")
"""
_COMMIT = re.compile(r"<td>commit</td>\s*<td>([0-9a-f]{40})\b")  # in a table of provenance


@cache
def home() -> str:
    """``owner/name`` of the public repository; empty where none is named."""
    named = own_yaml.read(ROOT / "_config.yml").get("repository", {})
    match = re.search(r"github\.com/([\w.-]+/[\w.-]+?)/?$", named.get("url", ""))
    return match[1] if match else ""


def binder(repository: str, path: str, commit: str) -> str:
    """Link that opens a file of the repository, or one that ``postBuild`` makes there, in JupyterLab."""
    return f"https://mybinder.org/v2/gh/{repository}/{commit}?urlpath=lab/tree/{path}"


def colab(repository: str, name: str) -> str:
    """Link that opens a page's notebook, such as ``rales/nlu_scores``."""
    return f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/{name}.ipynb"


def lab_links(repository: str, lab: str) -> dict[str, str]:
    """Links that open a lab with nothing installed but the library's wheel, by where they lead."""
    path = f"{LABS}/{lab}.ipynb"
    return {
        "Binder": f"https://mybinder.org/v2/gh/{repository}/{BRANCH}?urlpath=lab/tree/{path}",
        "Colab": colab(repository, path.removesuffix(".ipynb")),
    }


def export_labs(target: Path, repository: str, wheel: Path) -> list[Path]:
    """Write every lab for students, the wheel, and what Binder installs; the notebooks' places are returned.

    The first cell installs the library where it is missing, as on Colab.
    """
    folder = target / LABS
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(wheel, folder)
    needed = f"radeval-lib[labs,models] @ https://github.com/{repository}/raw/{BRANCH}/{LABS}/{wheel.name}"
    atomic.write_text(
        target / "requirements.txt", f"{CPU_WHEELS}\njupyterlab\n./{LABS}/{wheel.name}[labs,models]\n"
    )
    atomic.write_text(target / "runtime.txt", "python-3.11\n")
    written = []
    for lab in lab_sources.labs():
        notebook = nbformat.reads(building.as_file(building.versions(lab)["student"]), as_version=4)
        source = _INSTALL.format(needed=needed, wheels=CPU_WHEELS)
        notebook.cells.insert(1, nbformat.v4.new_code_cell(source, id="set-up"))
        path = folder / f"{lab.name}.ipynb"
        atomic.write_text(path, f"{nbformat.writes(notebook)}\n")
        written.append(path)
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


def cells_of(name: str) -> list[Cell]:
    """The cells that a page reads, and those that these read, each after what it reads itself."""
    graph = steps.graph(DEFAULT_PROFILE, (name,))
    return [graph.cells[step] for step in reversed(graph.names) if step in graph.cells]


def seconds_of(name: str) -> float:
    """About how long it takes to make them, one after another on two cores."""
    graph = steps.graph(DEFAULT_PROFILE, (name,))
    return sum(durations.listed(step) for step in graph.names if step in graph.cells)


def runs_alone(name: str) -> bool:
    """Whether a page shows something soon where nothing was built: it does not read what every other page
    recorded, and its training does not keep a reader waiting (:data:`PATIENCE`)."""
    return ALL not in declared(name).results and seconds_of(name) <= PATIENCE


def make_cells(name: str) -> None:
    """Make what a page reads where it was not made yet, one after another."""
    for cell in cells_of(name):
        if not (cells.folder(BUILD / DEFAULT_PROFILE, cell) / cell_outputs.FACTS).is_file():
            own = [text for key, value in cell.items for text in ("-p", key, str(value))]
            print(command(cell.notebook, DEFAULT_PROFILE, cell.items), flush=True)
            subprocess.run(
                [sys.executable, "-m", "radeval_lib.cli", "run", cell.notebook, *own, "--quiet"], check=True
            )


def built_from(notebook: nbformat.NotebookNode) -> str:
    """The commit that an executed page's provenance names; else the repository's newest."""
    shown = (
        "".join(output.get("data", {}).get("text/html", ""))
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )
    return next((match[1] for html in shown if (match := _COMMIT.search(html))), "HEAD")


def buttons(name: str, commit: str) -> str:
    """Links that open a page's notebook elsewhere, at the commit that it was built from; empty without a
    public repository, and where :func:`runs_alone` says that a reader would see nothing."""
    if not (repository := home()) or not runs_alone(name):
        return ""
    links = {
        "Binder": binder(repository, f"{FOLDER}/{name}.ipynb", commit),
        "Colab": colab(repository, name),
    }
    anchors = " ".join(f'<a href="{link}">Open in {where}</a>' for where, link in links.items())
    return f'<p class="launch-buttons">{anchors}</p>'


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
            f"%pip install --quiet {CPU_WHEELS} --requirement requirements.lock --editable .",
        ]
    )


if __name__ == "__main__":
    made = export(Path(sys.argv[1]), *sys.argv[2:])
    if len(sys.argv) > 2:  # elsewhere than where the repository is installed
        with tempfile.TemporaryDirectory() as folder:
            made += export_labs(Path(sys.argv[1]), sys.argv[2], build_wheel(Path(folder)))
    print(f"{len(made)} notebooks in {display_path(Path(sys.argv[1]))}")
