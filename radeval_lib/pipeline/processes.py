"""Locks of a build and of a notebook that runs by itself; they end with the process that holds them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from radeval_lib import atomic
from radeval_lib.errors import RadevalError
from radeval_lib.paths import BUILD_LOCK, display_path
from radeval_lib.study import cells

OWNED = "RADEVAL_BUILD"
"""Environment variable that a build sets for its steps."""


class BusyError(RadevalError):
    """An output folder, or a place in it, that another process is writing."""


@contextmanager
def only_build(output_dir: Path) -> Iterator[None]:
    """Hold the lock of an output folder alone; a BusyError where another process holds it."""
    with _locked(output_dir / BUILD_LOCK, output_dir):
        yield


@contextmanager
def only_run(output_dir: Path, executed: Path) -> Iterator[None]:
    """Hold the lock of what one notebook leaves, while no build writes to its output folder.

    Notebooks with other places may run meanwhile, as where Snakemake was started without ``radbook build``.
    """
    with (
        _locked(output_dir / BUILD_LOCK, output_dir, shared=True),
        _locked(cells.lock_path(executed), executed),
    ):
        yield


@contextmanager
def _locked(path: Path, what: Path, *, shared: bool = False) -> Iterator[None]:
    if (stream := atomic.lock(path, shared=shared)) is None:
        remedy = "Wait for it to end, or stop it."
        raise BusyError("another process writes here", display_path(what), remedy)
    with stream:
        yield


def is_owned() -> bool:
    """Return whether a build started this process."""
    return OWNED in os.environ
