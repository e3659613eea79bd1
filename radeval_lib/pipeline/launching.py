"""Notebooks that others can open with one click, and the links to them.

There are links where ``_config.yml`` names the repository's public home (``repository: url``); the workflow
of the site does so. Binder opens what ``postBuild`` made there, Colab what the workflow pushed to
:data:`BRANCH`.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import yaml

from radeval_lib import atomic
from radeval_lib.paths import DEFAULT_PROFILE, ROOT, display_path, notebooks
from radeval_lib.study.sources import read_source, with_parameters

BRANCH, FOLDER = "launch", "build/launch"


def home() -> str:
    """``owner/name`` of the public repository; empty where none is named."""
    named = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8")).get("repository", {})
    found = re.search(r"github\.com/([\w.-]+/[\w.-]+?)/?$", named.get("url", ""))
    return found[1] if found else ""


def binder(repository: str, path: str) -> str:
    """Link that opens a file of the repository, or one that ``postBuild`` makes there, in JupyterLab."""
    return f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/{path}"


def colab(repository: str, name: str) -> str:
    """Link that opens a page's notebook, such as ``rales/nlu_scores``."""
    return f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/{name}.ipynb"


def buttons(name: str) -> str:
    """Links that open a page's notebook elsewhere; empty without a public repository."""
    if not (repository := home()):
        return ""
    links = {"Binder": binder(repository, f"{FOLDER}/{name}.ipynb"), "Colab": colab(repository, name)}
    buttons = " ".join(f'<a href="{link}">Open in {where}</a>' for where, link in links.items())
    return f'<p class="launch-buttons">{buttons}</p>'


def export(target: Path, repository: str = "", commit: str = "HEAD") -> list[Path]:
    """Write every page's notebook with papermill's parameters set, and return where each stands.

    For a machine that has neither the repository nor its packages, as Colab's, the first cell fetches and
    installs them.
    """
    written = []
    for name, source in notebooks().items():
        notebook = with_parameters(read_source(source), profile=DEFAULT_PROFILE)
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
            "%pip install --quiet --requirement requirements.lock --editable .",
        ]
    )


if __name__ == "__main__":
    import sys

    made = export(Path(sys.argv[1]), *sys.argv[2:])
    print(f"{len(made)} notebooks in {display_path(Path(sys.argv[1]))}")
