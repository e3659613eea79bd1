"""Processes of a build: one build at a time for an output folder, and none that outlives it.

A build holds a lock on its folder, which the system lets go when it dies, however it dies. What it started
dies with it: the engine by the system's own means where it has them, each step by looking after the lock.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from radeval_lib.errors import RadevalError
from radeval_lib.paths import shown

OWNER = "RADEVAL_OWNER"
"""Environment variable of a build's steps: the lock's file, a colon, and what the build wrote into it."""
_LOCK = ".lock"
_WAIT = 0.5  # seconds between two looks
_PR_SET_PDEATHSIG = 1


class BusyError(RadevalError):
    """An output folder that another build is writing."""


@contextmanager
def only_build(output_dir: Path) -> Iterator[dict[str, str]]:
    """Hold the lock of an output folder.

    Yields
    ------
    dict
        Environment variables for the processes that the build starts.

    Raises
    ------
    BusyError
        Where another process holds it.
    """
    path = output_dir / _LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            stream.seek(0)
            who = stream.read().partition(" ")[0]
            raise BusyError(
                f"another build is running here (process {who or 'unknown'})",
                shown(output_dir),
                "Wait for it to end, or stop it.",
            ) from None
        token = f"{os.getpid()} {secrets.token_hex(8)}"
        stream.seek(0)
        stream.truncate()
        stream.write(token)
        stream.flush()
        yield {OWNER: f"{path.resolve()}:{token}"}


def end_with_owner() -> None:
    """End this process soon after the build that started it, if one did; call it once."""
    path, found, token = os.environ.get(OWNER, "").rpartition(":")
    if found:
        threading.Thread(target=_watch, args=(Path(path), token), daemon=True).start()


def is_owned() -> bool:
    """Whether a build started this process."""
    return OWNER in os.environ


def _watch(path: Path, token: str) -> None:
    while _held(path, token):
        time.sleep(_WAIT)
    os._exit(128 + signal.SIGTERM)  # kernels notice that their parent is gone


def _held(path: Path, token: str) -> bool:
    with suppress(OSError), path.open(encoding="utf-8") as stream:
        if stream.read() != token:
            return False
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def die_with_parent() -> None:
    """Ask the system to kill this process when its parent dies; for ``preexec_fn``, where the system can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
