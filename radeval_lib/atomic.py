"""Atomic writes of files and folders, removal of unfinished writes, and file locks.

Content is written to a temporary folder ``.part-*`` beside the target and moved to the target's path when it
is complete. The writer locks this folder; the operating system releases the lock if the writer is killed. The
next writer beside the target removes any ``.part-*`` folder that is not locked.

    with atomic.new_file(target) as path:
        path.write_text("content")
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
_DISPLACED = ".displaced"  # name of the former target in a folder ``.part-*`` while it is replaced
_MIN_AGE = 60  # seconds; a newer folder ``.part-*`` is kept, since it may not be locked yet


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Yield a path to write to. The file replaces ``target`` if the block ends without an error.

    The folder of ``target`` must exist.
    """
    with new_files(target) as (path,):
        yield path


@contextmanager
def new_files(*targets: Path) -> Iterator[list[Path]]:
    """Yield a path to write to for each target.

    The files replace ``targets`` if the block ends without an error. All of them are flushed to disk before
    the first one is moved. ``targets`` must be in one folder, which must exist.
    """
    with _make_part(targets[0].parent) as part:
        paths = [part / target.name for target in targets]
        yield paths
        for path in paths:
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
        for path, target in zip(paths, targets, strict=True):
            os.replace(path, target)


@contextmanager
def new_folder(target: Path, *, replace: bool = True) -> Iterator[Path]:
    """Yield an empty folder to fill. It becomes ``target`` if the block ends without an error.

    If ``replace`` is False, a non-empty target that exists by then is kept and the new folder is removed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _make_part(target.parent) as part:
        path = part / target.name
        path.mkdir()
        yield path
        if replace and target.exists():
            os.replace(target, part / _DISPLACED)
        try:
            os.rename(path, target)
        except OSError:  # the target exists and has files
            if replace or not target.is_dir():
                raise


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder in ``folder``, on the same file system, and remove it at the end.

    ``folder`` is created if it does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _make_part(folder) as part:
        yield part


def write_text(target: Path, text: str) -> None:
    """Write ``text`` to ``target`` atomically, as UTF-8, and create missing parent folders."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with new_file(target) as path:
        path.write_text(text, encoding="utf-8")


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file as a dictionary.

    The dictionary is empty if the file is missing, is not valid JSON, or holds a value of another type.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def clear(folder: Path) -> None:
    """Remove folders ``.part-*`` of killed writers from ``folder``, if they are older than a minute."""
    for part in folder.glob(f"{_PART}*"):
        with suppress(OSError):  # another process is removing it, or its writer still holds the lock
            descriptor = os.open(part, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if time.time() - part.stat().st_mtime > _MIN_AGE:
                    _remove_part(part)
            finally:
                os.close(descriptor)


def _remove_part(part: Path) -> None:
    """Remove a folder ``.part-*``.

    If its writer was killed while replacing a target, the complete new target is first moved into place.
    """
    if (part / _DISPLACED).exists():
        for path in part.iterdir():
            if path.name != _DISPLACED and not (part.parent / path.name).exists():
                os.replace(path, part.parent / path.name)
    shutil.rmtree(part, ignore_errors=True)


def discard(*paths: Path) -> None:
    """Remove files, folders and symbolic links, but not the targets of links.

    Paths that do not exist are ignored.
    """
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def lock(path: Path, *, shared: bool = False) -> TextIO | None:
    """Lock a file and return it, open, or return None if a conflicting lock is held, even by this process.

    The lock is exclusive or, if ``shared``, conflicts only with exclusive locks. It is released when the
    returned file is closed or the process ends. The file and its folder are created if they do not exist.
    Raises OSError if the file system does not support locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stream = stack.enter_context(path.open("a+", encoding="utf-8"))
        with suppress(BlockingIOError):
            fcntl.flock(stream, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            stack.pop_all()
            return stream
    return None


@contextmanager
def _make_part(folder: Path) -> Iterator[Path]:
    """Yield a new, locked folder ``.part-*`` in ``folder``, and remove it at the end."""
    clear(folder)
    part = Path(tempfile.mkdtemp(prefix=_PART, dir=folder))
    descriptor = os.open(part, os.O_RDONLY)
    with ExitStack() as stack:
        stack.callback(os.close, descriptor)
        stack.callback(_remove_part, part)  # runs before the lock is released
        with suppress(OSError):  # where locks are not supported, clear() removes nothing either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield part
