"""Provenance of a result: data, models, code, and versions of packages.

It has no times and no paths of this machine, so that runs on the same inputs give the same bytes.
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

# Packages whose version can change a number. All are listed, whether loaded or not, because those that are
# loaded differ between a forked process and a new one.
_PACKAGES = (
    "krippendorff", "nltk", "numpy", "optuna", "pandas", "peft", "pingouin", "radeval-lib", "radgraph",
    "rouge-score", "scikit-learn", "scipy", "seaborn", "statsmodels", "tokenizers", "torch", "transformers",
)  # fmt: skip
_TRACKED = ("radeval_lib", "notebooks", "data_manifests")
RECORDED_SCORES = "recorded"
"""Name under which a run's reading of stored scores is noted."""

RELEASED = "released"
"""Name, in place of a paper's, under which numbers printed by released code are noted."""

PRINTED: dict[str, dict[str, str]] = {}
"""The files of papers that the current run has read: for each ``rales/table3``, ``rales/paper`` or
``released/settings``, the SHA-256 by path. It is global because functions of :mod:`radeval_lib.papers` have
no access to the run."""


def note_printed(paper: str, path: Path) -> None:
    """Record in :data:`PRINTED` that a file of printed or released numbers was read.

    ``paper`` is the name of the paper, or :data:`RELEASED`.
    """
    PRINTED[f"{paper}/{path.stem}"] = {display_path(path): checksums.of_file(path)}


@dataclass
class Reading:
    """The data files and models that one run has read.

    Attributes
    ----------
    files : for each source (a role, a data set, ``cells/<notebook>`` or :data:`RECORDED_SCORES`), the SHA-256
        of each file by its name.
    models : for each role, the model's ``name``, ``sha256`` and, if it is from the hub, ``revision``.
    """

    files: dict[str, dict[str, str]] = field(default_factory=dict)
    models: dict[str, dict[str, str]] = field(default_factory=dict)

    def note_file(self, source: str, path: Path, name: str = "") -> None:
        """Record that a file of ``source`` was read. Results show ``name``, by default its path."""
        self.files.setdefault(source, {})[name or display_path(path)] = checksums.of_file(path)

    def note_model(self, role: str, name: str, digest: str, revision: str = "") -> None:
        """Record that a role's model was read.

        ``digest`` is the SHA-256 of its files; ``revision`` is empty except for a hub model.
        """
        self.models[role] = {"name": Path(name).name if Path(name).is_absolute() else name, "sha256": digest}
        if revision:
            self.models[role]["revision"] = revision

    def of(self, names: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the files and models read under some names: ``data``, the SHA-256 by file, and ``models`` by
        role.

        Parameters
        ----------
        names : sources, notebooks of jobs, and roles of models. The role of a model that a job trained
            includes the files of that job. None for everything that was read.

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
                remedy = f"Give one of: {', '.join([*sources, *self.models]) or 'none was read'}."
                raise ResultError(f"{name!r} was not read in this run", remedy=remedy)
        return {"data": dict(sorted(data.items())), "models": dict(sorted(models.items()))}


def run_git(*command: str) -> str | None:
    """Run a git command in the repository, and return what it prints; None if it fails or git is missing.

    ``command`` has the arguments of ``git``.
    """
    try:
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


@cache
def read_commit() -> dict[str, Any]:
    """Return the hash of the checked-out ``commit``, and whether the files differ from it (``dirty``).

    ``dirty`` is whether ``radeval_lib``, ``notebooks`` or ``data_manifests`` has a changed or new file. Both
    are None outside a git repository.
    """
    head = run_git("rev-parse", "HEAD")
    if head is None:
        return {"commit": None, "dirty": None}
    return {"commit": head.strip(), "dirty": bool(run_git("status", "--porcelain", "--", *_TRACKED))}


@cache
def package_versions() -> dict[str, str]:
    """Return the version of each installed package that can change a number, by name."""
    versions = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


@cache
def library_digest() -> str:
    """Return one SHA-256, in hexadecimal digits, of all code and data files of this library and the manifests
    of models."""
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
    """Return :func:`environment` with ``code``, the digest of this library, and ``device``, its name."""
    return {"code": library_digest(), "device": device(), **environment()}


def environment() -> dict[str, Any]:
    """Return the version of ``python``, the ``platform``, and the versions of ``packages``, by name."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": package_versions(),
    }
