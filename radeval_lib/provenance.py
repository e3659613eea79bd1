"""Provenance of a result: data, code, settings and package versions, without times or machine paths.

A provenance holds nothing that changes between two runs on the same inputs, so that the same inputs give the
same bytes.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from radeval_lib import checksums
from radeval_lib.errors import ResultError
from radeval_lib.paths import MODELS, ROOT, display_path
from radeval_lib.registry import CELL_MODEL

# Packages whose version can change a number. Every run reports all of them, because those that are loaded
# depend on the steps that were done before and on whether the process is a fork.
_PACKAGES = (
    "krippendorff", "nltk", "numpy", "optuna", "pandas", "peft", "pingouin", "radeval-lib", "radgraph",
    "rouge-score", "scikit-learn", "scipy", "seaborn", "statsmodels", "tokenizers", "torch", "transformers",
)  # fmt: skip
_TRACKED = ("radeval_lib", "notebooks", "data_manifests")
RECORDED_SCORES = "recorded"
"""The source of stored scores of public test sets."""

RELEASED = "released"
"""In place of a paper's name: the source of numbers that released code prints."""

PRINTED: dict[str, dict[str, str]] = {}
"""The files of papers that this process has read since its run began: SHA-256 by file, by ``rales/table3``,
``rales/paper`` or ``released/settings``. It is global because functions of :mod:`radeval_lib.papers` take no
run."""


def note_printed(paper: str, path: Path) -> None:
    """Record that a file of printed or released numbers was read."""
    PRINTED[f"{paper}/{path.stem}"] = {display_path(path): checksums.of_file(path)}


@dataclass
class Reading:
    """Everything that one run has read.

    Attributes
    ----------
    files : SHA-256 by name, by source: a role, a data set, ``cells/<notebook>`` or :data:`RECORDED_SCORES`.
    models : name, SHA-256 and perhaps revision, by role.
    """

    files: dict[str, dict[str, str]] = field(default_factory=dict)
    models: dict[str, dict[str, str]] = field(default_factory=dict)

    def note_file(self, source: str, path: Path, name: str = "") -> None:
        """Record that ``path`` was read; results name it ``name`` (default: its path in the repository)."""
        self.files.setdefault(source, {})[name or display_path(path)] = checksums.of_file(path)

    def note_model(self, role: str, name: str, digest: str, revision: str = "") -> None:
        """Record the model of a role: the SHA-256 of its files, and for a hub model the revision or
        ``unpinned``."""
        self.models[role] = {"name": Path(name).name if Path(name).is_absolute() else name, "sha256": digest}
        if revision:
            self.models[role]["revision"] = revision

    def of(self, names: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the provenance of some inputs: ``data``, SHA-256 by file, and ``models`` by role.

        Parameters
        ----------
        names : sources, notebooks of jobs and roles of models; a role includes the files of the job that made
            its model. By default, everything that was read.

        Raises
        ------
        ResultError
            If one of the names was not read in this run.
        """
        sources, data, models = {**PRINTED, **self.files}, dict[str, str](), dict[str, dict[str, str]]()
        for name in [*sources, *self.models] if names is None else names:
            if name in self.models:
                models[name] = self.models[name]
                data |= sources.get(f"cells/{models[name]['name'].removeprefix(CELL_MODEL)}", {})
            elif name in sources:
                data |= sources[name]
            elif f"cells/{name}" in sources:
                data |= sources[f"cells/{name}"]
            else:
                remedy = f"Name something that the run read: {', '.join([*sources, *self.models]) or 'none'}."
                raise ResultError(f"{name!r} was not read in this run", remedy=remedy)
        return {"data": dict(sorted(data.items())), "models": dict(sorted(models.items()))}


def git(*command: str) -> str | None:
    """Return the output of a git command in the study's repository; None outside one, or without git."""
    try:
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


@cache
def commit() -> dict[str, Any]:
    """Return the checked-out commit, and whether code, notebooks or manifests differ from it; both are None
    outside a git repository."""
    head = git("rev-parse", "HEAD")
    if head is None:
        return {"commit": None, "dirty": None}
    return {"commit": head.strip(), "dirty": bool(git("status", "--porcelain", "--", *_TRACKED))}


@cache
def package_versions() -> dict[str, str]:
    """Return the version of every installed package that can change a number."""
    versions = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


@cache
def library_digest() -> str:
    """Return one SHA-256 of this library's code and data and of the manifests of models."""
    files = [
        path
        for folder in (Path(__file__).parent, MODELS)
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".yml", ".json", ".csv", ".tsv")
    ]
    return checksums.of_text("\n".join(f"{path.name} {checksums.of_file(path)}" for path in files))


def device(setting: str = "auto") -> str:
    """Return the device that models run on under a profile's setting (``auto``, ``cpu``, ``cuda``): the first
    CUDA device's name if torch is loaded and has one, otherwise ``cpu``."""
    if setting != "cpu" and "torch" in sys.modules:
        torch = sys.modules["torch"]
        if torch.cuda.is_available():
            return str(torch.cuda.get_device_name(0))
    return "cpu"


def conditions() -> dict[str, Any]:
    """Return a result's inputs besides settings, data and models: code, packages and device."""
    return {"code": library_digest(), "device": device(), **environment()}


def environment() -> dict[str, Any]:
    """Return interpreter, platform and package versions."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": package_versions(),
    }
