"""Processes of a build: one build at a time per output folder, and none that outlives it.

A build holds a lock on its folder, which the system lets go when it dies, however it dies. What it started
dies with it: the engine by the system's own means where it has them, each step by looking after the lock.
A notebook that is run without a build shares that lock with others and holds one of its own place.
"""

from __future__ import annotations

import os
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from radeval_lib import atomic
from radeval_lib.errors import RadevalError
from radeval_lib.paths import BUILD_LOCK, display_path
from radeval_lib.study import cells

OWNER = "RADEVAL_OWNER"
"""Environment variable of a build's steps: the lock's file, a colon, and what the build wrote into it."""
_WAIT = 0.5  # seconds between two looks


class BusyError(RadevalError):
    """An output folder, or a place in it, that another process is writing."""


@contextmanager
def only_build(output_dir: Path) -> Iterator[dict[str, str]]:
    """Hold the lock of an output folder alone."""
    path = output_dir / BUILD_LOCK
    with _locked(path, output_dir) as stream:
        yield {OWNER: f"{path.resolve()}:{_sign(stream)}"}


@contextmanager
def only_run(output_dir: Path, executed: Path) -> Iterator[None]:
    """Hold the lock of what one notebook leaves, while no build writes to its output folder.

    Notebooks with other places may run meanwhile, as where Snakemake was started without ``radbook
    build``.
    """
    with (
        _locked(output_dir / BUILD_LOCK, output_dir, shared=True),
        _locked(cells.lock_path(executed), executed) as stream,
    ):
        _sign(stream)
        yield


@contextmanager
def _locked(path: Path, what: Path, *, shared: bool = False) -> Iterator[TextIO]:
    """Hold a lock; a BusyError, which names what is being written, where another process holds it."""
    if (stream := atomic.lock(path, shared=shared)) is None:
        who = path.read_text(encoding="utf-8").partition(" ")[0]
        named = f" (process {who})" if _runs(who) else ""
        where, remedy = display_path(what), "Wait for it to end, or stop it."
        raise BusyError(f"another process writes here{named}", where, remedy)
    with stream:
        yield stream


def _sign(stream: TextIO) -> str:
    """Say in a lock's file who holds it; returned is what was written."""
    token = f"{os.getpid()} {secrets.token_hex(8)}"
    stream.seek(0)
    stream.truncate()
    stream.write(token)
    stream.flush()
    return token


def _runs(process: str) -> bool:
    """Whether there is a process of this number: a lock's file also names who held it last."""
    try:
        os.kill(int(process), 0)
    except PermissionError:  # another user's
        return True
    except (ValueError, OSError):
        return False
    return True


def end_with_owner() -> None:
    """End this process soon after the build that started it, if one did; call it once."""
    path, colon, token = os.environ.get(OWNER, "").rpartition(":")
    if colon:
        threading.Thread(target=_watch, args=(Path(path), token), daemon=True).start()


def is_owned() -> bool:
    """Whether a build started this process."""
    return OWNER in os.environ


def _watch(path: Path, token: str) -> None:
    """Wait until no build holds the lock, and end this process."""
    while _held(path, token):
        time.sleep(_WAIT)
    os._exit(128 + signal.SIGTERM)  # kernels notice that their parent is gone


def _held(path: Path, token: str) -> bool:
    """Whether the build that wrote a token into a lock's file still holds it."""
    with suppress(OSError):
        if path.read_text(encoding="utf-8") == token:
            if not (free := atomic.lock(path, shared=True)):
                return True
            free.close()
    return False
