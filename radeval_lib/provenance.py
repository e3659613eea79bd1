"""Provenance of a result: data, code, settings and package versions, without times or machine paths.

A provenance holds nothing that changes between two runs on the same inputs, so that the same inputs give the
same bytes.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from radeval_lib import checksums
from radeval_lib.errors import NotebookError
from radeval_lib.paths import MODELS, display_path

# Packages whose version can change a number. Every run reports all: which of them are loaded at a moment
# depends on what a run found done already, and on whether its process was forked from another.
_PACKAGES = (
    "krippendorff", "nltk", "numpy", "optuna", "pandas", "peft", "pingouin", "radeval-lib", "radgraph",
    "rouge-score", "scikit-learn", "scipy", "seaborn", "statsmodels", "tokenizers", "torch", "transformers",
)  # fmt: skip
RECORDED_SCORES = "recorded"
"""The source of stored scores of public test sets."""

RELEASED = "released"
"""The source of what papers' released code prints; what a paper prints has the source ``papers/<paper>``."""


@dataclass
class Reading:
    """What one run has read.

    Attributes
    ----------
    files : SHA-256 by name, by source: a role, a data set, ``cells/<notebook>``, ``papers/<paper>``,
        :data:`RELEASED` or :data:`RECORDED_SCORES`.
    models : name, SHA-256 and perhaps revision, by role.
    papers : those that it may read; None: any.
    """

    files: dict[str, dict[str, str]] = field(default_factory=dict)
    models: dict[str, dict[str, str]] = field(default_factory=dict)
    papers: frozenset[str] | None = None

    def note_file(self, source: str, path: Path, name: str = "") -> None:
        """Record that ``path`` was read; results call it ``name`` (default: its place in the repository)."""
        self.files.setdefault(source, {})[name or display_path(path)] = checksums.of_file(path)

    def note_model(self, role: str, name: str, digest: str, revision: str = "") -> None:
        """Record which model filled a role: the SHA-256 of its files, and of a hub model the revision, or
        ``unpinned``."""
        self.models[role] = {"name": Path(name).name if Path(name).is_absolute() else name, "sha256": digest}
        if revision:
            self.models[role]["revision"] = revision

    def data(self, sources: Iterable[str] | None = None) -> dict[str, str]:
        """Return SHA-256 by name of every file read from these sources; default: from all."""
        chosen = self.files if sources is None else set(sources) & self.files.keys()
        return dict(sorted(item for source in chosen for item in self.files[source].items()))

    def of_cells(self) -> tuple[str, ...]:
        """Return the sources that cells left."""
        return tuple(source for source in self.files if source.startswith("cells/"))

    def reached(self) -> set[str] | None:
        """Return files and roles of models that the running statement of a notebook rests on; None where that
        is not known, as outside of a notebook."""
        return None

    def used_models(self, roles: Iterable[str] | None = None) -> dict[str, dict[str, str]]:
        """Name and SHA-256 of the models in these roles; default: of all that were used."""
        chosen = self.models if roles is None else set(roles) & self.models.keys()
        return {role: self.models[role] for role in sorted(chosen)}


_current = Reading()


def record_into(reading: Reading) -> None:
    """Record in this run's reading, from now on, which printed and released numbers are read: functions of
    :mod:`radeval_lib.papers` take no run."""
    global _current
    _current = reading


def note_printed(paper: str, path: Path) -> None:
    """Record in the current run that a file of what a paper prints, or of what was released, was read."""
    permit_paper(paper)
    _current.note_file(RELEASED if paper == RELEASED else f"papers/{paper}", path)


def permit_paper(paper: str) -> None:
    """Refuse a paper (or :data:`RELEASED`) that the notebook of the current run does not declare."""
    if _current.papers is not None and paper not in _current.papers:
        raise NotebookError(
            f"{paper!r} is not among the papers that it declares",
            "the notebook",
            "Add it to `papers` under `study` in its front matter.",
        )


@cache
def package_versions() -> dict[str, str]:
    """Return version of every package that is installed and can change a number."""
    versions = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


@cache
def own_files() -> str:
    """Return SHA-256 of this library's code and data, and of what is known of models, such as their
    revisions."""
    files = [
        path
        for folder in (Path(__file__).parent, MODELS)
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".yml", ".json", ".csv", ".tsv")
    ]
    return checksums.of_text("\n".join(f"{path.name} {checksums.of_file(path)}" for path in files))


def device(setting: str = "auto") -> str:
    """Return the device that models run on under a profile's setting (``auto``, ``cpu``, ``cuda``): the name
    of the first CUDA device where torch is loaded and has one, else ``cpu``."""
    if setting != "cpu" and "torch" in sys.modules:
        torch = sys.modules["torch"]
        if torch.cuda.is_available():
            return str(torch.cuda.get_device_name(0))
    return "cpu"


def conditions() -> dict[str, Any]:
    """Return what decides a result beside settings, data and models: code, packages and device."""
    return {"code": own_files(), "device": device(), **environment()}


def environment() -> dict[str, Any]:
    """Return interpreter, platform and package versions."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": package_versions(),
    }
