"""Environments that hold the library and what one way to install it brings, and nothing else."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path

from radeval_lib.paths import ROOT

INSTALL = runpy.run_path(str(ROOT / "workflow" / "install.py"))
FOLDERS = ("book", "data_manifests", "notebooks", "radeval_lib")
FILES = ("LICENSE", "README.md", "pyproject.toml", "setup.py")


def environment(folder: Path, extras: str = "", *, editable: bool = False) -> Path:
    """Install a copy of the repository in ``folder/clone``, as ``pip install .`` does.

    Parameters
    ----------
    folder : an empty folder; the copy keeps out of the repository what setuptools leaves.
    extras : of ``pyproject.toml``, such as ``[labs,models]``. All versions are those of the locks.
    editable : as ``pip install -e .`` does: for commands that need the repository.

    Returns
    -------
    Path
        Its Python.
    """
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.ipynb")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / "clone" / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, folder / "clone")
    locks = (INSTALL["READERS"], INSTALL["lock_path"]("labs"), INSTALL["lock_path"]("torch"))
    pins = [re.findall(r"^[a-z][^\\\n]*", lock.read_text(encoding="utf-8"), re.MULTILINE) for lock in locks]
    (folder / "pins.txt").write_text("\n".join(chain.from_iterable(pins)), encoding="utf-8")
    made, settings = folder / "environment", INSTALL["make_environment"]()
    uv = [sys.executable, "-m", "uv", "--quiet", "--no-progress"]
    subprocess.run([*uv, "venv", "--python", sys.executable, made], env=settings, check=True)
    install = [*uv, "pip", "install", "--index-strategy", "unsafe-best-match", "--python", made]
    install += ["--constraint", folder / "pins.txt", *(["--editable"] if editable else [])]
    subprocess.run([*install, f"{folder / 'clone'}{extras}"], env=settings, check=True)
    return made / "bin" / "python"
