"""Installs the packages of the locks, and this library, for the Python that runs this script.

    python workflow/install.py                     # for readers, including torch
    python workflow/install.py developers labs     # also the packages that these locks add

uv needs seconds where pip needs minutes. uv does not read pip's settings (such as another index, a folder of
wheels, or a certificate), so they are passed to it. If uv fails nevertheless, pip installs.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
READERS = ROOT / "requirements.lock"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
SETTINGS = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
}
"""For each setting of pip, uv's environment variable and the separator of its values."""


def lock_path(name: str) -> Path:
    """Return the path of an additional lock."""
    return ROOT / "workflow" / f"{name}.lock"


def convert_settings(lines: Iterable[str]) -> dict[str, str]:
    """Return uv's environment variables for the settings that ``pip config list`` prints, one per line.

    If a setting occurs twice, that of the environment is used, otherwise the last one, as by pip.
    """
    settings: dict[str, str] = {}
    # Lines of the environment come first, but must take precedence, so they are read last.
    for line in sorted(lines, key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        if value and (setting := SETTINGS.get(name.rpartition(".")[2])):
            variable, separator = setting
            settings[variable] = separator.join(str(ast.literal_eval(value)).split())
    return settings


def make_environment() -> dict[str, str]:
    """Return the environment variables of this process, with those that pass pip's settings to uv."""
    output = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False).stdout
    return {**convert_settings(output.splitlines()), **os.environ}


def install(*requirements: str | Path, quiet: bool = False) -> bool:
    """Install packages with uv, or with pip if uv fails; return whether they were installed.

    Parameters
    ----------
    requirements : arguments of ``pip install`` that uv accepts, too.
    quiet : whether to print nothing, and not to try pip, if uv fails.
    """
    # Like pip, use the best version of all indexes, and not only of the first one that has the package.
    by_uv = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable, "--no-progress"]
    by_uv += ["--index-strategy", "unsafe-best-match", "--quiet", *(["--quiet"] if quiet else [])]
    if subprocess.run([*by_uv, *requirements], env=make_environment(), check=False).returncode == 0:
        return True
    if quiet:
        return False
    print("uv failed; installing with pip, which takes a few minutes", file=sys.stderr)
    # Modules are not compiled, since most of those of two hundred packages are never imported.
    by_pip = [*PIP, "install", "--no-compile", "--progress-bar", "off", *requirements]
    return subprocess.run(by_pip, check=False).returncode == 0


def install_torch() -> bool:
    """Install torch, and return whether that worked.

    The version for CPUs is installed if there is no NVIDIA driver and its index can be reached, otherwise
    PyPI's.
    """
    version = lock_path("torch").read_text(encoding="utf-8").split()[-1]
    has_driver = shutil.which("nvidia-smi") is not None
    return (not has_driver and install("--requirement", lock_path("torch"), quiet=True)) or install(version)


def main(added: list[str]) -> int:
    """Install the packages of the locks, and the library; return the exit status.

    ``added`` are the names of locks beyond that of readers.
    """
    uv = re.search(r"^uv==\S+", lock_path("developers").read_text(encoding="utf-8"), re.MULTILINE)
    subprocess.run([*PIP, "install", "--quiet", *([uv[0]] if uv else [])], check=False)
    locks = (READERS, *map(lock_path, added))
    installed = all(install("--no-deps", "--require-hashes", "--requirement", path) for path in locks)
    library = [*PIP, "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    if not (installed and install_torch()):
        return 1
    return subprocess.run(library, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
