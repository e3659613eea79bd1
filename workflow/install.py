"""Installs the versions of requirements.lock, or of a file that is named, for the Python that runs this.

Arguments after the file go to uv alone: ``make lock`` asks for what the oldest Python allowed can run.

uv takes seconds where pip takes minutes. It does not read pip's settings (another index, a folder of wheels,
a certificate), so it is given them; where it fails all the same, pip installs.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
SETTINGS = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
}
"""Variables by which uv is given what pip is set to, and what stands between several values."""


def settings_of_pip(lines: Iterable[str]) -> dict[str, str]:
    """The variables for uv that say what ``pip config list`` says, one setting a line.

    Of a setting that stands there twice, the environment's counts, else the last, as for pip.
    """
    found: dict[str, str] = {}
    # The environment's lines come first and are the strongest.
    for line in sorted(lines, key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        if value and (setting := SETTINGS.get(name.rpartition(".")[2])):
            variable, between = setting
            found[variable] = between.join(str(ast.literal_eval(value)).split())
    return found


def main() -> int:
    """Install, with pip where uv could not.

    Returns
    -------
    int
        The exit status of what installed.
    """
    wanted = sys.argv[1] if len(sys.argv) > 1 else str(LOCK)
    pinned = next(line for line in LOCK.read_text(encoding="utf-8").splitlines() if line.startswith("uv=="))
    known = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False).stdout
    by_uv = [sys.executable, "-m", "uv", "pip", "install", "--python", sys.executable]
    # As pip does: the version that is asked for, whichever index has it.
    by_uv += ["--index-strategy", "unsafe-best-match", "--no-progress", "--quiet"]
    environment = {**settings_of_pip(known.splitlines()), **os.environ}
    if subprocess.run([*PIP, "install", "--quiet", pinned], check=False).returncode == 0:
        done = subprocess.run([*by_uv, "--requirement", wanted, *sys.argv[2:]], env=environment, check=False)
        if done.returncode == 0:
            return 0
    print("uv could not install; pip does it, which takes a few minutes", file=sys.stderr)
    # Nothing is compiled ahead: most modules of two hundred packages are never loaded.
    by_pip = [*PIP, "install", "--no-compile", "--progress-bar", "off", "--requirement", wanted]
    return subprocess.run(by_pip, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
