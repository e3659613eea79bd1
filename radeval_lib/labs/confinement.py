"""What keeps a student's process to itself: limits, and what the system offers to hide the rest of it.

Linux hides processes, networks (namespaces) and files (Landlock, from 5.13 on); where a system offers less,
less is hidden, and :func:`hides_files` and :func:`hides_processes` say so.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from radeval_lib.paths import MANIFESTS, ROOT

_LIBC = ctypes.CDLL(None, use_errno=True)
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls of Landlock, whose numbers all processors share
_READ, _ON_FILES = 0b1101, 0b100 | 0b10  # execute, read files, list folders; read and write a file
_FILES_BY_VERSION = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF}
# Of users, processes, network, and memory between processes.
_NAMESPACES = 0x10000000 | 0x20000000 | 0x40000000 | 0x08000000
_SIGNAL_OF_PARENTS_DEATH, _NO_NEW_PRIVILEGES = 1, 38
_FILE_BYTES, _PROCESSES = 50_000_000, 256
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev")


def hides_files() -> bool:
    """Whether this system can keep a process from reading files."""
    return sys.platform == "linux" and _LIBC.syscall(_CREATE, None, 0, 1) > 0


def hides_processes() -> bool:
    """Whether this system can keep a process from other processes and from networks; a child tries it."""
    if sys.platform != "linux":
        return False
    child = os.fork()
    if child == 0:
        os._exit(0 if _LIBC.unshare(_NAMESPACES) == 0 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def limit(memory: int) -> None:
    """Bound what this process and its children may take; ``memory`` in bytes of address space."""
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, _PROCESSES),
    ):
        with suppress(ValueError, OSError):  # a lower one is in force
            resource.setrlimit(what, (most, most))


def die_with_parent() -> None:
    """Have the system kill this process when its parent dies, where it can."""
    if sys.platform == "linux":
        _LIBC.prctl(_SIGNAL_OF_PARENTS_DEATH, signal.SIGKILL)


def isolate(folder: Path) -> None:
    """Let this process see only the library, what it needs to run, and ``folder``, which it may write to.

    Returns in a child; this process waits for it.
    """
    if sys.platform == "linux" and _LIBC.unshare(_NAMESPACES) == 0 and (child := os.fork()):
        os.waitpid(child, 0)
        os._exit(0)
    die_with_parent()
    if hides_files():
        needed = map(Path, (sys.prefix, sys.base_prefix, *_SYSTEM))
        _hide_files([*needed, ROOT / "radeval_lib", MANIFESTS], folder)


def _hide_files(readable: Iterable[Path], writable: Path) -> None:
    version = _LIBC.syscall(_CREATE, None, 0, 1)
    files = _FILES_BY_VERSION.get(version, 0xFFFF)
    wanted = struct.pack("=QQQ", files, 0b11 if version >= 4 else 0, 0b11 if version >= 6 else 0)
    rules = _LIBC.syscall(_CREATE, wanted, 8 if version < 4 else 16 if version < 6 else 24, 0)
    for path, rights in (
        *((path, _READ) for path in readable),
        (writable, files),
        (Path(os.devnull), _ON_FILES),
    ):
        with suppress(FileNotFoundError):
            place = os.open(path, os.O_PATH)
            _LIBC.syscall(_ADD, rules, 1, struct.pack("=Qi", rights, place), 0)
            os.close(place)
    _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if _LIBC.syscall(_RESTRICT, rules, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot hide files")
    os.close(rules)
