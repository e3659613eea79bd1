"""One set of versions: make, CI, conda and Binder install the lock, which fits what pyproject.toml allows."""

from __future__ import annotations

import runpy
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, version

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from radeval_lib.paths import ROOT

LOCK = {
    canonicalize_name(requirement.name): requirement
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
    for requirement in [Requirement(line)]
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALL = runpy.run_path(str(ROOT / "workflow" / "install.py"))
EXTRAS = PROJECT["optional-dependencies"]
IN_LOCK = ("book", "dev", "models")
WANTED = [
    Requirement(line) for lines in (PROJECT["dependencies"], *map(EXTRAS.get, IN_LOCK)) for line in lines
]


@pytest.mark.parametrize("requirement", LOCK.values(), ids=list(LOCK))
def test_the_lock_names_exact_versions_that_are_installed(requirement: Requirement) -> None:
    (pin,) = requirement.specifier
    assert pin.operator == "=="
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        pytest.fail(f"{requirement.name} is in requirements.lock but not installed: run make")
    assert Version(installed).public == pin.version


@pytest.mark.parametrize("name", LOCK)
def test_the_lock_installs_on_the_first_python_that_the_readme_allows(name: str) -> None:
    # Debian 12 has 3.11.2: a package that asks for 3.11.5 stops the first command of the README there.
    assert PROJECT["requires-python"].startswith(">=3.11,")
    assert SpecifierSet(metadata(name).get("Requires-Python") or "").contains("3.11.0")


@pytest.mark.parametrize("requirement", WANTED, ids=[requirement.name for requirement in WANTED])
def test_the_lock_has_what_the_project_wants(requirement: Requirement) -> None:
    (pin,) = LOCK[canonicalize_name(requirement.name)].specifier
    assert requirement.specifier.contains(pin.version)


def test_the_lock_is_made_of_the_extras_that_a_build_takes() -> None:
    assert set(EXTRAS) - set(IN_LOCK) == {"hub", "labs", "parquet"}
    assert {*EXTRAS["hub"], *EXTRAS["labs"]} <= {
        *EXTRAS["book"],
        *EXTRAS["models"],
    }  # what the lock has already
    assert f"'.[{','.join(IN_LOCK)}]'" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "pyarrow" not in LOCK


def test_conda_and_binder_install_the_lock() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, rest = environment["dependencies"]
    cpu = "--extra-index-url https://download.pytorch.org/whl/cpu"
    assert (pip, rest) == ("pip", {"pip": [cpu, "-r requirements.lock", "-e ."]})
    assert Version(python.partition("=")[2]) in Requirement(f"python{PROJECT['requires-python']}").specifier
    # Binder takes environment.yml from the root unless one of these stands in its way.
    assert not (ROOT / "binder").exists()
    assert not (ROOT / ".binder").exists()


def test_make_installs_the_lock_and_ci_calls_make() -> None:
    assert "python workflow/install.py" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert INSTALL["LOCK"] == ROOT / "requirements.lock"
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith("\nmake test")
    assert ".ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in {"3.11", "3.12"}


def test_the_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make book" in readme
    assert "make test" in readme


def test_uv_is_given_what_pip_is_set_to() -> None:
    lines = [
        ":env:.disable-pip-version-check='1'",
        ":env:.find-links='/wheels\\n/more'",
        "global.extra-index-url='https://one.example/simple https://two.example/simple'",
        "global.find-links='/elsewhere'",
        "global.index-url='https://mirror.example/simple'",
        "install.index-url='https://nearer.example/simple'",
        "global.cert='/certificates.pem'",
    ]
    assert INSTALL["settings_of_pip"](lines) == {
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
        "UV_DEFAULT_INDEX": "https://nearer.example/simple",
        "SSL_CERT_FILE": "/certificates.pem",
    }
    assert INSTALL["settings_of_pip"]([]) == {}
