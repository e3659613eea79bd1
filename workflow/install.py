"""Installs the packages of the lock files, and this library, for the Python that runs this script.

    python workflow/install.py                     # for readers, including torch
    python workflow/install.py developers labs     # also the packages that these lock files add

uv needs seconds where pip needs minutes. Since uv does not read pip's settings (such as an index, a folder of
wheels, or a certificate), they are passed to it. If uv still fails, pip is used.
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
"""A mapping from each pip setting to uv's environment variable and the separator of its values."""


def lock_path(name: str) -> Path:
    """Return the path of the lock file ``name`` in ``workflow/``."""
    return ROOT / "workflow" / f"{name}.lock"


def convert_settings(lines: Iterable[str]) -> dict[str, str]:
    """Return uv's environment variables for the settings that ``pip config list`` prints, one per line.

    If a setting occurs twice, the one from the environment is used, or else the last one, as pip does.
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
    requirements : arguments of ``pip install`` that uv also accepts.
    quiet : whether to print nothing, and not to try pip, if uv fails.
    """
    # Like pip, use the best version in all indexes, not only in the first that has the package.
    by_uv = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable, "--no-progress"]
    by_uv += ["--index-strategy", "unsafe-best-match", "--quiet", *(["--quiet"] if quiet else [])]
    if subprocess.run([*by_uv, *requirements], env=make_environment(), check=False).returncode == 0:
        return True
    if quiet:
        return False
    print("uv failed; installing with pip, which takes a few minutes", file=sys.stderr)
    # Modules are not compiled, since most modules of the two hundred packages are never imported.
    by_pip = [*PIP, "install", "--no-compile", "--progress-bar", "off", *requirements]
    return subprocess.run(by_pip, check=False).returncode == 0


def install_torch() -> bool:
    """Install torch, and return whether that worked.

    If there is no NVIDIA driver and the index of CPU wheels can be reached, its version is installed,
    otherwise PyPI's.
    """
    version = lock_path("torch").read_text(encoding="utf-8").split()[-1]
    has_driver = shutil.which("nvidia-smi") is not None
    return (not has_driver and install("--requirement", lock_path("torch"), quiet=True)) or install(version)


def main(additional: list[str]) -> int:
    """Install the packages of the lock files, and the library; return the exit status.

    ``additional`` has the names of lock files to install in addition to the readers' one.
    """
    uv = re.search(r"^uv==\S+", lock_path("developers").read_text(encoding="utf-8"), re.MULTILINE)
    subprocess.run([*PIP, "install", "--quiet", *([uv[0]] if uv else [])], check=False)
    locks = (READERS, *map(lock_path, additional))
    installed = all(install("--no-deps", "--require-hashes", "--requirement", path) for path in locks)
    library = [*PIP, "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    if not (installed and install_torch()):
        return 1
    return subprocess.run(library, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
