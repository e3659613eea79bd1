"""The code behind a result: the commit, the modules that its notebook can reach, and the cells that ran."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from typing import Any

from radeval_lib import checksums
from radeval_lib.paths import NOTEBOOKS, ROOT, display_path
from radeval_lib.study import dependencies, profiles
from radeval_lib.study.parsed import code_cells
from radeval_lib.study.profiles import Profile

INJECTED = "# Parameters"
"""How papermill's cell of injected parameters begins."""
_TRACKED = ("radeval_lib", "notebooks", "data_manifests")


@cache
def commit() -> dict[str, Any]:
    """Return the commit that is checked out, and whether code, notebooks or manifests differ from it; both
    None outside of a git repository."""
    head = git("rev-parse", "HEAD")
    if head is None:
        return {"commit": None, "dirty": None}
    return {"commit": head.strip(), "dirty": bool(git("status", "--porcelain", "--", *_TRACKED))}


def git(*command: str) -> str | None:
    """Return what a command of git prints about the study's repository; None outside of one, or without
    git."""
    try:
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


def identity(notebook: str, settings: Profile) -> dict[str, Any]:
    """Return the commit, and the digest of every module that the notebook's numbers can depend on."""
    return {**commit(), "modules": _modules(notebook, settings.name, settings.digest)}


@cache
def _modules(notebook: str, profile: str, _digest: str) -> str:
    return dependencies.modules_digest(dependencies.modules_of(notebook, profiles.profile(profile)))


def source_cells(notebook: str) -> list[str]:
    """Return the code cells of a notebook's source, in order."""
    lines = (NOTEBOOKS / f"{notebook}.md").read_text(encoding="utf-8").split("\n")
    return ["\n".join(lines[cell]).strip() for cell in code_cells(lines)]


def running_shell() -> Any:
    """Return the IPython shell of the kernel that runs this code, with its history; None where no kernel
    does."""
    if "IPython" not in sys.modules:  # which every kernel has imported; metric cards do without it
        return None
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    has_history = hasattr(shell, "kernel") and getattr(shell, "history_manager", None) is not None
    return shell if has_history else None


def executed_cells() -> list[str] | None:
    """Return the cells that ran in this kernel so far, in order; None where no kernel runs this code."""
    shell = running_shell()
    return None if shell is None else [cell.strip() for cell in shell.history_manager.input_hist_raw[1:]]


def assigned(cell: str) -> list[str]:
    """Return the names that a cell of parameters assigns, one by one, in order."""
    nodes = [node for node in ast.parse(cell).body if isinstance(node, ast.Assign | ast.AnnAssign)]
    targets = [node.targets if isinstance(node, ast.Assign) else [node.target] for node in nodes]
    return [name.id for names in targets for name in names if isinstance(name, ast.Name)]


def notebook(name: str) -> dict[str, Any]:
    """Return the notebook of a run: its source's path, the SHA-256 of the cells that ran, and whether they
    are the source's (None where no kernel ran them).

    Cells count as the source's if, papermill's cell of parameters apart, they are its first cells in order.
    """
    ran = executed_cells()
    own = source_cells(name)
    if ran is None:
        return {"path": display_path(NOTEBOOKS / f"{name}.md"), "cells": None, "as_source": None}
    kept = [cell for cell in ran if not cell.startswith(INJECTED)]
    return {
        "path": display_path(NOTEBOOKS / f"{name}.md"),
        "cells": checksums.of_text("\n\n".join(kept)),
        "as_source": kept == own[: len(kept)],
    }
