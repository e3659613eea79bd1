"""Where tests find what the repository does not hold: public data and the papers' texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from radeval_lib.paths import ROOT, THREAD_VARIABLES

# Tests run in as many processes as there are cores: threads of libraries would only wait for one another.
for _name in THREAD_VARIABLES:
    os.environ.setdefault(_name, "1")

# How long an example takes depends on what else the machine does.
settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")

# Beside a checkout there may be a folder `shared` with both.
_BESIDE = ROOT.parent / "shared"


def _folder(variable: str, name: str) -> Path:
    path = Path(os.environ.get(variable) or _BESIDE / name)
    if not path.is_dir():
        pytest.skip(f"set {variable} to a folder that holds them")
    return path


# The longest files, in the order in which they begin: one process builds and reads the book while another
# grades, and none is left alone with one of them at the end.
_FIRST = (
    "end_to_end/test_book.py", "labs/test_marks.py", "labs/test_grading.py", "pipeline/test_build.py",
    "pipeline/test_restricted.py", "end_to_end/test_contrast.py",
    "end_to_end/test_first_edition.py", "pipeline/test_dependencies.py", "test_own_pages.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest files begin first."""
    turn = {Path(__file__).parent / name: position for position, name in enumerate(_FIRST)}
    items.sort(key=lambda item: turn.get(item.path, len(_FIRST)))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: an archive holds its time, and two processes must agree on names."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def data_root() -> Path:
    """Folder of public data files."""
    return _folder("RADEVAL_DATA_ROOT", "data")


@pytest.fixture(scope="session")
def paper_texts() -> Path:
    """Folder of the papers as extracted text."""
    return _folder("RADEVAL_PAPER_TEXTS", "papers")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Run torch on one thread: the tests' models are small, and waiting threads cost more than they do."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
