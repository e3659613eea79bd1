"""One set of versions: make, CI, conda and Binder install the lock, which fits what pyproject.toml allows."""

from __future__ import annotations

import re
import runpy
import tomllib
from importlib.metadata import distributions, metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from radeval_lib.paths import ROOT

INSTALL = runpy.run_path(str(ROOT / "workflow" / "install.py"))
LOCKS = {
    "readers": INSTALL["READERS"],
    **{name: INSTALL["lock_path"](name) for name in ("developers", "labs", "torch")},
}


def _pins(path: Path) -> dict[str, Requirement]:
    """Return what a lock asks for on this system and Python, by name."""
    lines = [
        line.rstrip("\\ ") for line in path.read_text(encoding="utf-8").splitlines() if line[0] not in "#- "
    ]
    pins = [pin for pin in map(Requirement, lines) if pin.marker is None or pin.marker.evaluate()]
    return {canonicalize_name(pin.name): pin for pin in pins}


PINS = {name: _pins(path) for name, path in LOCKS.items()}
LOCK = {name: pin for pins in PINS.values() for name, pin in pins.items()}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
IN_LOCK = ("book", "dev", "labs", "models")
WANTED = [
    Requirement(line) for lines in (PROJECT["dependencies"], *map(EXTRAS.get, IN_LOCK)) for line in lines
]


def test_what_is_installed_is_what_the_locks_say() -> None:
    wanted = PINS["readers"] | PINS["torch"] | PINS["developers"]
    installed = {dist.metadata["Name"]: Version(dist.version).public for dist in distributions()}
    installed = {canonicalize_name(name): number for name, number in installed.items()}
    assert {name: f"=={installed.get(name)}" for name in wanted} == {
        name: str(pin.specifier) for name, pin in wanted.items()
    }


def test_readers_can_install_on_the_first_python_that_the_readme_allows() -> None:
    # Debian 12 has 3.11.2: a package that asks for 3.11.5 stops the first command of the README there.
    assert PROJECT["requires-python"].startswith(">=3.11,")
    asked = {name: metadata(name).get("Requires-Python") or "" for name in PINS["readers"]}
    assert not [name for name, python in asked.items() if not SpecifierSet(python).contains("3.11.0")]


def test_the_locks_have_what_the_project_wants() -> None:
    for requirement in WANTED:
        (pin,) = LOCK[canonicalize_name(requirement.name)].specifier
        assert requirement.specifier.contains(pin.version), requirement.name


def test_every_lock_but_that_of_torch_has_hashes() -> None:
    for name, path in LOCKS.items():
        packages = re.split(r"^(?=[a-z])", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        assert packages
        assert all(("--hash=sha256:" in lines) == (name != "torch") for lines in packages)


def test_readers_install_few_packages_and_none_for_cuda() -> None:
    # With torch, and uv, pip and this library, which come beside the locks.
    assert len(PINS["readers"] | PINS["torch"]) + 3 <= 190
    assert not [name for name in LOCK if name.startswith(("nvidia-", "cuda-", "triton"))]
    assert not {"netcal", "pytest", "ruff", "jupyterlab"} & set(PINS["readers"])


def test_uv_is_given_what_pip_is_set_to() -> None:
    lines = [
        ":env:.disable-pip-version-check='1'",
        ":env:.find-links='/wheels\\n/more'",
        "global.extra-index-url='https://one.example/simple https://two.example/simple'",
        "global.find-links='/elsewhere'",
        "global.index-url='https://mirror.example/simple'",
        "install.index-url='https://nearer.example/simple'",
    ]
    assert INSTALL["convert_settings"](lines) == {
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
        "UV_DEFAULT_INDEX": "https://nearer.example/simple",
    }
