"""Where a result comes from: data, code, settings and package versions, without times or machine paths.

A provenance holds nothing that changes between two runs on the same inputs, so that the same inputs give the
same bytes.
"""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from radeval_lib import checksums
from radeval_lib.paths import display_path

# Distribution names of the packages whose version can change a number, by the module that shows their use.
_PACKAGES = {
    "numpy": "numpy",
    "pandas": "pandas",
    "scipy": "scipy",
    "pingouin": "pingouin",
    "krippendorff": "krippendorff",
    "nltk": "nltk",
    "optuna": "optuna",
    "rouge_score": "rouge-score",
    "sklearn": "scikit-learn",
    "seaborn": "seaborn",
    "torch": "torch",
    "transformers": "transformers",
    "radeval_lib": "radeval-lib",
}

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


def package_versions() -> dict[str, str]:
    """Version of every package that is loaded and can change a number."""
    return {name: _version(name) for module, name in _PACKAGES.items() if module in sys.modules}


@cache
def _version(name: str) -> str:
    return version(name)


def device() -> str:
    """The device that models run on: the first CUDA device if torch is loaded and has one, else the CPU."""
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        if torch.cuda.is_available():
            return str(torch.cuda.get_device_name(0))
    return "cpu"


def environment() -> dict[str, Any]:
    """Interpreter, platform, device and package versions of this process."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "device": device(),
        "packages": package_versions(),
    }
