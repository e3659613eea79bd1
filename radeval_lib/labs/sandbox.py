"""The isolation of a submission: bubblewrap, which Debian, Ubuntu, Fedora and Arch package, and limits.

A submission sees the library, what Python needs, and two folders in memory that it may write to. It has no
network, no other process in sight, and its files end with it.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from radeval_lib.paths import MANIFESTS, ROOT

HOME = "/home/student"
HANDED_IN = "/handed-in"
"""Where a submission finds the files that came with it."""
_DISK, _SHARED = 300_000_000, 64_000_000  # bytes of HOME and of /tmp each; of shared memory
_FILE, _PROCESSES, _OPEN_FILES = 50_000_000, 128, 256  # bytes of a file; numbers
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime"),
)
_NO_ONE = 1_000_000  # and the process's own number: a user id that nobody else has
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^/:'\"()]*[^\s/:'\"()]/)+")  # before a file's name
_EVERY = 0.2  # seconds between two looks at the memory in use


def missing() -> str:
    """Why submissions cannot be isolated on this machine; empty if they can."""
    if sys.platform != "linux":
        return "bubblewrap, which isolates submissions, needs Linux"
    if not shutil.which("bwrap"):
        return "bubblewrap, which isolates submissions, is not installed"
    tried = subprocess.run(
        [*command({}, None), sys.executable, "-c", ""], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        printed = tried.stderr.strip().splitlines()
        return f"bubblewrap does not work here ({printed[-1] if printed else tried.returncode})"
    return ""


class StartFailure(NamedTuple):
    """Why the process of a submission did not start, and whether it lacked memory."""

    message: str
    lacks_memory: bool


def cannot_start(environment: Mapping[str, str], memory: int) -> StartFailure | None:
    """Why the process of a submission does not start in the sandbox; None where it does."""
    called = [sys.executable, "-s", "-m", "radeval_lib.labs.student", "try", str(memory), str(os.getpid())]
    tried = subprocess.run(
        [*command(environment, None), *called], capture_output=True, text=True, errors="replace", check=False
    )
    return start_failure(tried.stderr) if tried.returncode else None


def start_failure(printed: str) -> StartFailure:
    """What a process that did not start says by the last line that it printed, in which paths lose their
    folders. One that the system killed, for lack of memory, prints nothing."""
    lines = [line for line in printed.splitlines() if line.strip()]
    if not lines:
        return StartFailure("it printed nothing", lacks_memory=True)
    last = _FOLDERS.sub("", lines[-1]).strip()
    return StartFailure(last, any(sign in last for sign in ("MemoryError", "Cannot allocate")))


def command(environment: Mapping[str, str], handed_in: Path | None) -> list[str]:
    """The beginning of a command line that isolates the rest of it."""
    python = map(Path, (sys.prefix, sys.base_prefix))
    needed = [*python, *map(Path, _SYSTEM), ROOT / "radeval_lib", MANIFESTS]
    above = {folder for path in needed for folder in path.parents if folder != Path("/")}
    binds = [part for folder in sorted(above) for part in ("--perms", "0755", "--dir", str(folder))]
    binds += [part for path in needed for part in ("--ro-bind-try", str(path), str(path))]
    if handed_in is not None:
        binds += ["--ro-bind", str(handed_in), HANDED_IN]
    spaces = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.geteuid() == 0:  # it becomes another user inside, see `enter`
        rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        rights = ["--unshare-user", "--disable-userns"]
    path = f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"  # `!python` is the notebook's own
    known = {"PATH": path, "HOME": HOME, "USER": "student", "LANG": "C.UTF-8"}
    variables = [part for pair in {**known, **environment}.items() for part in ("--setenv", *pair)]
    return [
        *("bwrap", "--die-with-parent", "--new-session", *spaces, *rights, "--clearenv", *variables),
        *("--hostname", "lab", "--proc", "/proc", "--dev", "/dev"),
        *("--perms", "1777", "--size", str(_SHARED), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *("--perms", "1777", "--size", str(_DISK), "--tmpfs", "/tmp"),
        *("--perms", "0755", "--dir", str(Path(HOME).parent)),
        *("--perms", "1777", "--size", str(_DISK), "--tmpfs", HOME),
        *(*binds, "--remount-ro", "/", "--chdir", "/", "--"),  # last: the library may lie in /tmp or HOME
    ]


def enter(memory: int, user: int) -> None:
    """Give up what is left of root's rights, and bound what this process and its children may take;
    ``memory`` in bytes of address space each, ``user`` another number for each submission."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(*[_NO_ONE + user] * 3)
        os.setresuid(*[_NO_ONE + user] * 3)
    limit(memory)
    for what, most in (
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_NPROC, _PROCESSES),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ):
        resource.setrlimit(what, (most, most))


def limit(memory: int) -> None:
    """Bound the address space of this process and its children, and leave no dump of it."""
    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):  # a lower one is in force
            resource.setrlimit(what, (most, most))


class MemoryWatch(threading.Thread):
    """Kills a process and its descendants once they together hold more than ``most`` bytes of memory."""

    def __init__(self, process: subprocess.Popen[bytes], most: int) -> None:
        super().__init__(daemon=True)
        self._process, self._most = process, most

    def run(self) -> None:
        """Watch until the process has ended."""
        while self._process.poll() is None:
            if _in_use(self._process.pid) > self._most:
                self._process.kill()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_EVERY)


def _in_use(parent: int) -> int:
    """Bytes of memory that a process and its descendants hold."""
    children = defaultdict[int, list[int]](list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError, ValueError):
                above = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                children[int(above)].append(int(entry.name))
    total, waiting = 0, [parent]
    while waiting:
        process = waiting.pop()
        waiting += children[process]
        with suppress(OSError, IndexError, ValueError):
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    return total
