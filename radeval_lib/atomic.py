"""Atomic writes of files and folders, removal of leftovers of killed writers, and locks.

Unfinished writes are in a folder ``.part-*`` next to the target, under a lock of the writer, which the system
releases when the writer dies. A later writer in the same place removes every such folder whose lock is free.

    with atomic.new_file(path) as part:
        part.write_text("all of it")
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

_PART = ".part-"
_DISPLACED = ".displaced"  # in a part: the folder that stood at the target, while it is replaced
_JUST_MADE = 60  # seconds, within which the writer of a part may not have locked it yet


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield a path to write to, which replaces ``target`` if the block ends without an error."""
    with new_files(target) as (path,):
        yield path


@contextmanager
def new_files(*targets: Path) -> Iterator[list[Path]]:
    """Yield paths in one folder, which replace ``targets`` if the block ends without an error. All are on the
    disk before the first is moved."""
    with _part(targets[0].parent) as part:
        paths = [part / target.name for target in targets]
        yield paths
        for path in paths:
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
        for path, target in zip(paths, targets, strict=True):
            os.replace(path, target)


@contextmanager
def new_folder(target: Path, *, replace: bool = True) -> Iterator[Path]:
    """Yield an empty folder, which becomes ``target`` if the block ends without an error. Without
    ``replace``, a filled folder that another process has put there meanwhile is kept."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with _part(target.parent) as part:
        path = part / target.name
        path.mkdir()
        yield path
        if replace and target.exists():
            os.replace(target, part / _DISPLACED)
        try:
            os.rename(path, target)
        except OSError:  # nothing replaces a filled folder
            if replace or not target.is_dir():
                raise


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder in ``folder``, made if needed, from which a rename moves finished work to its
    place."""
    folder.mkdir(parents=True, exist_ok=True)
    with _part(folder) as part:
        yield part


def write_text(target: Path, text: str) -> None:
    """Write ``text`` as UTF-8, whole or not at all; missing parent folders are made."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_file(target) as path:
        path.write_text(text, encoding="utf-8")


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file of notes; empty if the file is missing or damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def clear(folder: Path) -> None:
    """Remove leftovers of killed writers from ``folder``."""
    for part in folder.glob(f"{_PART}*"):
        with suppress(OSError):  # another process clears it, or its writer is alive
            descriptor = os.open(part, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if time.time() - part.stat().st_mtime > _JUST_MADE:
                    _remove(part)
            finally:
                os.close(descriptor)


def _remove(part: Path) -> None:
    """Remove a part. If it was to replace a folder that is already displaced, it is complete and is put
    there."""
    if (part / _DISPLACED).exists():
        for whole in part.iterdir():
            if whole.name != _DISPLACED and not (part.parent / whole.name).exists():
                os.replace(whole, part.parent / whole.name)
    shutil.rmtree(part, ignore_errors=True)


def discard(*paths: Path) -> None:
    """Remove files, folders and links if they exist, but not the targets of links."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def lock(path: Path, *, shared: bool = False) -> TextIO | None:
    """Return a file, made if needed, that this process holds alone or shared until it closes it or ends; None
    if another process holds it. Raises OSError if the file system has no locks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as unless_held:
        stream = unless_held.enter_context(path.open("a+", encoding="utf-8"))
        with suppress(BlockingIOError):
            fcntl.flock(stream, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            unless_held.pop_all()
            return stream
    return None


@contextmanager
def _part(folder: Path) -> Iterator[Path]:
    """Yield a locked folder ``.part-*`` in ``folder``, removed at the end."""
    clear(folder)
    part = Path(tempfile.mkdtemp(prefix=_PART, dir=folder))
    descriptor = os.open(part, os.O_RDONLY)
    with ExitStack() as stack:
        stack.callback(os.close, descriptor)
        stack.callback(_remove, part)  # first, under the lock
        with suppress(OSError):  # a file system without locks, on which nobody clears
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield part
