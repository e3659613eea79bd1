"""Installs what the locks name, and this library, for the Python that runs this.

    python workflow/install.py                     # what readers need, torch among it
    python workflow/install.py developers labs     # and what these locks add

uv takes seconds where pip takes minutes. It does not read pip's settings (another index, a folder of wheels,
a certificate), so it is given them; where it fails all the same, pip installs.
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
"""Variables by which uv is given what pip is set to, and what stands between several values."""


def lock(name: str) -> Path:
    """Return the file of a lock beside that of readers."""
    return ROOT / "workflow" / f"{name}.lock"


def settings_of_pip(lines: Iterable[str]) -> dict[str, str]:
    """Return the variables for uv that say what ``pip config list`` says, one setting a line.

    Of a setting that stands there twice, the environment's counts, else the last, as for pip.
    """
    settings: dict[str, str] = {}
    # The environment's lines come first and are the strongest.
    for line in sorted(lines, key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        if value and (setting := SETTINGS.get(name.rpartition(".")[2])):
            variable, between = setting
            settings[variable] = between.join(str(ast.literal_eval(value)).split())
    return settings


def settings_for_uv() -> dict[str, str]:
    """Return the environment in which uv does as pip is set to."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False).stdout
    return {**settings_of_pip(listed.splitlines()), **os.environ}


def install(*wanted: str | Path, quiet: bool = False) -> bool:
    """Install, with pip where uv cannot; return whether that worked.

    Parameters
    ----------
    wanted : arguments of ``pip install`` that uv takes as well.
    quiet : say nothing, and do without pip, where uv cannot.
    """
    # As pip does: the version that is asked for, whichever index has it.
    by_uv = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable, "--no-progress"]
    by_uv += ["--index-strategy", "unsafe-best-match", "--quiet", *(["--quiet"] if quiet else [])]
    if subprocess.run([*by_uv, *wanted], env=settings_for_uv(), check=False).returncode == 0:
        return True
    if quiet:
        return False
    print("uv could not install; pip does it, which takes a few minutes", file=sys.stderr)
    # Nothing is compiled ahead: most modules of two hundred packages are never loaded.
    by_pip = [*PIP, "install", "--no-compile", "--progress-bar", "off", *wanted]
    return subprocess.run(by_pip, check=False).returncode == 0


def install_torch() -> bool:
    """Install torch for the CPU where that index answers and no NVIDIA driver is there, else PyPI's."""
    version = lock("torch").read_text(encoding="utf-8").split()[-1]
    has_driver = shutil.which("nvidia-smi") is not None
    return (not has_driver and install("--requirement", lock("torch"), quiet=True)) or install(version)


def main(added: list[str]) -> int:
    """Install the locks and the library; return the exit status."""
    uv = re.search(r"^uv==\S+", lock("developers").read_text(encoding="utf-8"), re.MULTILINE)
    subprocess.run([*PIP, "install", "--quiet", *([uv[0]] if uv else [])], check=False)
    locks = (READERS, *map(lock, added))
    installed = all(install("--no-deps", "--require-hashes", "--requirement", path) for path in locks)
    library = [*PIP, "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    if not (installed and install_torch()):
        return 1
    return subprocess.run(library, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
