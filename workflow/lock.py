"""Writes the locks: requirements.lock for readers, and beside this file what developers and labs add to it.

    make lock                      # versions that the locks have are kept
    make lock UPGRADE=--upgrade    # the newest that pyproject.toml and the first Python 3.11 allow

torch has a file without hashes, because its wheel for the CPU is another than PyPI's; what that one needs for
CUDA is in no lock.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from install import ROOT, settings_for_uv

READERS = ("book", "models")
ADDED = {"developers": ("dev",), "labs": ("labs",)}
"""By lock, the extras that it adds to those of readers."""
JUPYTERLAB = "jupyterlab"
"""What `make lab` opens notebooks with, and a student's own installation need not have."""
CPU = "--extra-index-url https://download.pytorch.org/whl/cpu"
_OTHER_PLACES = ("UV_INDEX", "UV_FIND_LINKS")
_LEFT_OUT = re.compile(r"torch|triton|nvidia-.*|cuda-.*")


def resolved(target: Path, extras: tuple[str, ...], *options: str | Path) -> dict[str, str]:
    """Resolve extras for every system and Python allowed; versions that ``target`` has already are kept.

    Returns
    -------
    dict
        The lines of each package, with its hashes, by its name.
    """
    uv = (
        sys.executable,
        "-m",
        "uv",
        "--quiet",
        "pip",
        "compile",
        "pyproject.toml",
        "-",
        "--output-file",
        target,
    )
    how = ("--universal", "--python-version", "3.11.0", "--index-strategy", "unsafe-best-match")
    shown = ("--generate-hashes", "--no-header", "--no-annotate")
    wanted = [part for extra in extras for part in ("--extra", extra)]
    more = JUPYTERLAB if "labs" in extras else ""
    # From one index, which has every file of a release: another might have some, and hashes of these alone.
    environment = {key: value for key, value in settings_for_uv().items() if key not in _OTHER_PLACES}
    command = (*uv, *how, *shown, *wanted, *options)
    subprocess.run(command, cwd=ROOT, env=environment, input=more, text=True, check=True)
    packages: dict[str, str] = {}
    for lines in re.split(r"^(?=\S)", target.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name = re.split("[=; ]", lines, maxsplit=1)[0]
        packages[name] = packages.get(name, "") + lines
    return packages


def main() -> None:
    """Write the four files."""
    readers = ROOT / "requirements.lock"
    locks = {name: Path(__file__).with_name(f"{name}.lock") for name in (*ADDED, "torch")}
    with tempfile.TemporaryDirectory() as folder:
        everything = Path(folder, "everything.txt")
        earlier = [path.read_text(encoding="utf-8") for path in (readers, *locks.values()) if path.exists()]
        everything.write_text("".join(line for line in "".join(earlier).splitlines(True) if line[0] != "-"))
        added = tuple(extra for extras in ADDED.values() for extra in extras)
        resolved(everything, (*READERS, *added), *sys.argv[1:])
        constrained = ("--constraint", everything)
        base = resolved(Path(folder, "readers.txt"), READERS, *constrained)
        _write(readers, "What a reader's build of the book installs", base)
        for name, extras in ADDED.items():
            packages = resolved(Path(folder, f"{name}.txt"), (*READERS, *extras), *constrained)
            more = {package: lines for package, lines in packages.items() if lines != base.get(package)}
            _write(locks[name], f"What {name} install beside requirements.lock", more)
    torch = base["torch"].partition(" ")[0].partition("+")[0]
    head = f"# torch for the CPU where that index answers, and else PyPI's; see workflow/lock.py.\n{CPU}\n"
    locks["torch"].write_text(f"{head}{torch}\n", encoding="utf-8")


def _write(path: Path, title: str, packages: dict[str, str]) -> None:
    lines = "".join(lines for name, lines in packages.items() if not _LEFT_OUT.fullmatch(name))
    path.write_text(f"# {title}; written by `make lock`.\n{lines}", encoding="utf-8")


if __name__ == "__main__":
    main()
