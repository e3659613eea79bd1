"""Writes the lock files: requirements.lock for readers and, in workflow/, the packages that developers and
labs add.

    make lock                      # keeps the versions in the lock files
    make lock UPGRADE=--upgrade    # uses the newest versions that pyproject.toml and Python 3.11 allow

The lock file of torch has no hashes, because its wheel for CPUs differs from PyPI's. The CUDA packages that
PyPI's wheel needs are in no lock file.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from install import ROOT, make_environment

READERS = ("book", "models")
ADDED = {"developers": ("dev",), "labs": ("labs",)}
"""A mapping from each additional lock file to the extras of pyproject.toml that it adds to
:data:`READERS`."""
JUPYTERLAB = "jupyterlab"
"""Package with which `make lab` opens notebooks. It is not a dependency, since students may use another
program."""
CPU = "--extra-index-url https://download.pytorch.org/whl/cpu"
_OTHER_INDEXES = ("UV_INDEX", "UV_FIND_LINKS")
_LEFT_OUT = re.compile(r"torch|triton|nvidia-.*|cuda-.*")


def resolve(target: Path, extras: tuple[str, ...], *options: str | Path) -> dict[str, str]:
    """Resolve the packages of some extras for every supported system and Python; write them to ``target``.

    Versions that ``target`` already has are kept, unless ``options``, additional arguments of
    ``uv pip compile``, have ``--upgrade``. Raises CalledProcessError if the packages cannot be resolved.

    Returns
    -------
    dict
        A mapping from the name of each package in ``target`` to its lines, hashes included.
    """
    uv = (sys.executable, "-m", "uv", "--quiet", "pip", "compile")
    files = ("pyproject.toml", "-", "--output-file", target)
    resolution = ("--universal", "--python-version", "3.11.0", "--index-strategy", "unsafe-best-match")
    contents = ("--generate-hashes", "--no-header", "--no-annotate")
    extra_options = [part for extra in extras for part in ("--extra", extra)]
    extra_package = JUPYTERLAB if "labs" in extras else ""
    # Only one index is used, since another may lack some files of a release and therefore their hashes.
    environment = {key: value for key, value in make_environment().items() if key not in _OTHER_INDEXES}
    command = (*uv, *files, *resolution, *contents, *extra_options, *options)
    subprocess.run(command, cwd=ROOT, env=environment, input=extra_package, text=True, check=True)
    packages: dict[str, str] = {}
    for lines in re.split(r"^(?=\S)", target.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name = re.split("[=; ]", lines, maxsplit=1)[0]
        packages[name] = packages.get(name, "") + lines
    return packages


def main() -> None:
    """Write the four lock files."""
    readers = ROOT / "requirements.lock"
    locks = {name: Path(__file__).with_name(f"{name}.lock") for name in (*ADDED, "torch")}
    with tempfile.TemporaryDirectory() as folder:
        everything = Path(folder, "everything.txt")  # the versions in all lock files
        earlier = [path.read_text(encoding="utf-8") for path in (readers, *locks.values()) if path.exists()]
        everything.write_text("".join(line for line in "".join(earlier).splitlines(True) if line[0] != "-"))
        added = tuple(extra for extras in ADDED.values() for extra in extras)
        resolve(everything, (*READERS, *added), *sys.argv[1:])
        constrained = ("--constraint", everything)
        base = resolve(Path(folder, "readers.txt"), READERS, *constrained)
        _write(readers, "What a reader's build of the book installs", base)
        for name, extras in ADDED.items():
            packages = resolve(Path(folder, f"{name}.txt"), (*READERS, *extras), *constrained)
            new = {package: lines for package, lines in packages.items() if lines != base.get(package)}
            _write(locks[name], f"What {name} install in addition to requirements.lock", new)
    torch = base["torch"].partition(" ")[0].partition("+")[0]
    head = f"# torch for CPUs if this index can be reached, otherwise PyPI's; see workflow/lock.py.\n{CPU}\n"
    locks["torch"].write_text(f"{head}{torch}\n", encoding="utf-8")


def _write(path: Path, title: str, packages: dict[str, str]) -> None:
    """Write the lines of packages, except torch and the packages of CUDA, below a title."""
    lines = "".join(lines for name, lines in packages.items() if not _LEFT_OUT.fullmatch(name))
    path.write_text(f"# {title}; written by `make lock`.\n{lines}", encoding="utf-8")


if __name__ == "__main__":
    main()
