"""What a process requests before it executes another program."""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl's number of the request


def kill_on_parent_exit() -> None:
    """Ask Linux to kill this process when the thread that started it ends; for ``preexec_fn``. Does nothing
    on other systems."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
