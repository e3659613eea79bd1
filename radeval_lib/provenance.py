"""Provenance of a result: data, models, code, and versions of packages.

It contains no times and no paths of this machine, so that runs on the same inputs give the same bytes.
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
from radeval_lib.registry import JOB_MODEL

# Packages whose version can change a number. All are listed, whether loaded or not, because a forked process
# and a new one load different packages.
_PACKAGES = (
    "krippendorff", "nltk", "numpy", "optuna", "pandas", "peft", "pingouin", "radeval-lib", "radgraph",
    "rouge-score", "scikit-learn", "scipy", "seaborn", "statsmodels", "tokenizers", "torch", "transformers",
)  # fmt: skip
_TRACKED = ("radeval_lib", "notebooks", "data_manifests")
RECORDED_SCORES = "recorded"
"""The source under which a run records that it read stored scores."""

RELEASED = "released"
"""The name, in place of a paper's, under which numbers from released code are recorded."""

PRINTED: dict[str, dict[str, str]] = {}
"""The papers' files that the current run has read: a mapping from source, such as ``rales/table3``,
``rales/paper`` or ``released/settings``, to ``{path: SHA-256}``. It is global because functions of
:mod:`radeval_lib.papers` have no access to the run."""


def note_printed(paper: str, path: Path) -> None:
    """Record in :data:`PRINTED` that a file of printed or released numbers was read.

    ``paper`` is the name of the paper, or :data:`RELEASED`.
    """
    PRINTED[f"{paper}/{path.stem}"] = {display_path(path): checksums.of_file(path)}


@dataclass
class Inputs:
    """The data files and models that one run has read.

    Attributes
    ----------
    files : a mapping from source (a role, a data set, ``jobs/<notebook>`` or :data:`RECORDED_SCORES`) to
        ``{file name: SHA-256}``.
    models : a mapping from role to the model's ``name``, ``sha256`` and, for a model from the Hugging Face
        Hub, ``revision``.
    """

    files: dict[str, dict[str, str]] = field(default_factory=dict)
    models: dict[str, dict[str, str]] = field(default_factory=dict)

    def note_file(self, source: str, path: Path, name: str = "") -> None:
        """Record that a file of ``source`` was read, under ``name`` or, by default, its path."""
        self.files.setdefault(source, {})[name or display_path(path)] = checksums.of_file(path)

    def note_model(self, role: str, name: str, digest: str, revision: str = "") -> None:
        """Record that a role's model was read.

        ``digest`` is the SHA-256 of the model's files; ``revision`` is empty except for a model from the
        Hugging Face Hub.
        """
        self.models[role] = {"name": Path(name).name if Path(name).is_absolute() else name, "sha256": digest}
        if revision:
            self.models[role]["revision"] = revision

    def of(self, names: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the files and models read under these names.

        ``data`` is a mapping from file name to SHA-256; ``models`` has the entries of :attr:`models`.

        Parameters
        ----------
        names : sources, notebooks of jobs, and roles of models; by default, everything that was read. The
            role of a model that a job trained includes the files of that job.

        Raises
        ------
        ResultError
            If one of the names was not read in this run.
        """
        sources, data, models = {**PRINTED, **self.files}, dict[str, str](), dict[str, dict[str, str]]()
        for name in [*sources, *self.models] if names is None else names:
            if name in self.models:
                models[name] = self.models[name]
                data |= sources.get(f"jobs/{models[name]['name'].removeprefix(JOB_MODEL)}", {})
            elif name in sources:
                data |= sources[name]
            elif f"jobs/{name}" in sources:
                data |= sources[f"jobs/{name}"]
            else:
                remedy = f"Read it first; read so far: {', '.join([*sources, *self.models]) or 'nothing'}."
                raise ResultError(f"{name!r} was not read in this run", "rests_on", remedy)
        return {"data": dict(sorted(data.items())), "models": dict(sorted(models.items()))}


def run_git(*arguments: str) -> str | None:
    """Run git with these arguments in the repository.

    Return its standard output, or None if the command fails or git is missing.
    """
    try:
        process = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return process.stdout


@cache
def read_commit() -> dict[str, Any]:
    """Return the checked-out commit, and whether the working tree differs from it.

    ``commit`` is the commit's hash. ``dirty`` is whether ``radeval_lib``, ``notebooks`` or ``data_manifests``
    has a changed or new file. Both are None outside a git repository or without git.
    """
    head = run_git("rev-parse", "HEAD")
    if head is None:
        return {"commit": None, "dirty": None}
    return {"commit": head.strip(), "dirty": bool(run_git("status", "--porcelain", "--", *_TRACKED))}


@cache
def package_versions() -> dict[str, str]:
    """Return a mapping from each installed package that can change a number to its version."""
    versions = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


@cache
def library_digest() -> str:
    """Return one SHA-256, as hexadecimal digits, of this library's code and data files and the model
    manifests."""
    files = [
        path
        for folder in (Path(__file__).parent, MODELS)
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".yml", ".json", ".csv", ".tsv")
    ]
    return checksums.of_text("\n".join(f"{path.name} {checksums.of_file(path)}" for path in files))


def device(setting: str = "auto") -> str:
    """Return the name of the device on which models run: the name of the first CUDA device, or ``cpu``.

    ``setting`` is the profile's device: ``auto``, ``cpu`` or ``cuda``. If torch has not been imported, or
    there is no CUDA device, ``cpu`` is returned.
    """
    if setting != "cpu" and "torch" in sys.modules:
        torch = sys.modules["torch"]
        if torch.cuda.is_available():
            return str(torch.cuda.get_device_name(0))
    return "cpu"


def conditions() -> dict[str, Any]:
    """Return the result of :func:`environment` with two more keys: ``code``, the digest of this library, and
    ``device``."""
    return {"code": library_digest(), "device": device(), **environment()}


def environment() -> dict[str, Any]:
    """Return the version of ``python``, the ``platform``, and :func:`package_versions` as ``packages``."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": package_versions(),
    }
