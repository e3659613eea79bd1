"""Where a result comes from: data, code, settings and package versions, without times or machine paths.

A provenance holds nothing that changes between two runs on the same inputs, so that the same inputs give the
same bytes.
"""

from __future__ import annotations

import platform
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from radeval_lib import checksums
from radeval_lib.paths import MODELS, display_path

# Packages whose version can change a number. All are told of every run: which of them are loaded at a moment
# depends on what a run found done already, and on whether its process was forked from another.
_PACKAGES = (
    "krippendorff", "nltk", "numpy", "optuna", "pandas", "peft", "pingouin", "radeval-lib", "radgraph",
    "rouge-score", "scikit-learn", "scipy", "seaborn", "statsmodels", "tokenizers", "torch", "transformers",
)  # fmt: skip

_used: dict[str, str] = {}
_models: dict[str, str] = {}


def note_use(path: Path, name: str | None = None) -> None:
    """Remember that this run read ``path``, which results call ``name`` (default: its path here)."""
    _used[name or display_path(path)] = checksums.of_file(path)


def note_model(role: str, name: str, digest: str) -> None:
    """Remember which model filled a role; ``digest`` is the SHA-256 of its files."""
    _models[role] = f"{name}, sha256 {digest}"


def used_models() -> dict[str, str]:
    """Name and SHA-256 of every model used so far, by role."""
    return dict(sorted(_models.items()))


def used_data() -> dict[str, str]:
    """SHA-256 of every data file read so far, by name."""
    return dict(sorted(_used.items()))


@cache
def package_versions() -> dict[str, str]:
    """Version of every package that is installed and can change a number."""
    found = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@cache
def own_files() -> str:
    """SHA-256 of this library's code and data, and of what is known of models, such as their revisions."""
    files = [
        path
        for folder in (Path(__file__).parent, MODELS)
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".yml", ".json", ".csv", ".tsv")
    ]
    return checksums.of_text("\n".join(f"{path.name} {checksums.of_file(path)}" for path in files))


def device() -> str:
    """The device that models run on: the first CUDA device if torch is loaded and has one, else the CPU."""
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        if torch.cuda.is_available():
            return str(torch.cuda.get_device_name(0))
    return "cpu"


def conditions() -> dict[str, Any]:
    """What decides a result beside settings, data and models: code, packages and device."""
    return {"code": own_files(), "device": device(), **environment()}


def environment() -> dict[str, Any]:
    """Interpreter, platform and package versions."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": package_versions(),
    }
