"""Links that open notebooks with one click, and what such a page needs where nothing was built.

There are links where ``_config.yml`` names the repository's public home (``repository: url``); the workflow
of the site does so. Binder opens a page that ``postBuild`` made there, Colab one that the workflow pushed to
:data:`BRANCH`. Labs need the library alone: both open them from that branch, which has its wheel.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache

import nbformat

from radeval_lib import own_yaml
from radeval_lib.paths import BUILD, DEFAULT_PROFILE, ROOT
from radeval_lib.pipeline import durations, steps
from radeval_lib.study import cell_outputs, cells
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import command
from radeval_lib.study.sources import ALL, declared

BRANCH = "launch"
"""The branch that the site's workflow pushes notebooks to."""
FOLDER = "build/launch"
"""Where ``postBuild`` exports pages on Binder."""
LABS = "labs"
"""The folder of labs on the branch."""
PATIENCE = 300
"""Seconds of training, on two cores, that a page may need before it shows something where it was opened with
one click; one that needs more has no button."""
_COMMIT = re.compile(r"<td>commit</td>\s*<td>([0-9a-f]{40})\b")  # in a table of provenance


@cache
def home() -> str:
    """Return ``owner/name`` of the public repository; empty where none is named."""
    named = own_yaml.read(ROOT / "_config.yml").get("repository", {})
    match = re.search(r"github\.com/([\w.-]+/[\w.-]+?)/?$", named.get("url", ""))
    return match[1] if match else ""


def binder(repository: str, path: str, commit: str) -> str:
    """Link that opens a file in JupyterLab: of the repository at a commit or branch, or made there by
    ``postBuild``."""
    return f"https://mybinder.org/v2/gh/{repository}/{commit}?urlpath=lab/tree/{path}"


def colab(repository: str, name: str) -> str:
    """Link that opens a page's notebook, such as ``rales/nlu_scores``."""
    return f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/{name}.ipynb"


def lab_links(repository: str, lab: str) -> dict[str, str]:
    """Return links that open a lab with nothing installed but the library's wheel, by where they lead."""
    path = f"{LABS}/{lab}.ipynb"
    return {
        "Binder": binder(repository, path, BRANCH),
        "Colab": colab(repository, path.removesuffix(".ipynb")),
    }


def cells_of(name: str) -> list[Cell]:
    """Return the cells that a page reads, and those that these read, each after what it reads itself."""
    graph = steps.graph(DEFAULT_PROFILE, (name,))
    return [graph.cells[step] for step in reversed(graph.names) if step in graph.cells]


def seconds_of(name: str) -> float:
    """Return about how long it takes to make them, one after another on two cores."""
    graph = steps.graph(DEFAULT_PROFILE, (name,))
    return sum(durations.listed(step) for step in graph.names if step in graph.cells)


def runs_alone(name: str) -> bool:
    """Return whether a page shows something soon where nothing was built: it does not read what every other
    page recorded, and its training does not keep a reader waiting (:data:`PATIENCE`)."""
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
    """Return the commit that an executed page's provenance names; else the repository's newest."""
    shown = (
        "".join(output.get("data", {}).get("text/html", ""))
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )
    return next((match[1] for html in shown if (match := _COMMIT.search(html))), "HEAD")


def buttons(name: str, commit: str) -> str:
    """Return links that open a page's notebook elsewhere, at the commit that it was built from; empty without
    a public repository, and where :func:`runs_alone` says that a reader would see nothing."""
    if not (repository := home()) or not runs_alone(name):
        return ""
    links = {
        "Binder": binder(repository, f"{FOLDER}/{name}.ipynb", commit),
        "Colab": colab(repository, name),
    }
    anchors = " ".join(f'<a href="{link}">Open in {where}</a>' for where, link in links.items())
    return f'<p class="launch-buttons">{anchors}</p>'
