"""What a process requests before it executes another program."""

from __future__ import annotations

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl's number of the request


def kill_on_parent_exit() -> None:
    """Ask the system to kill this process when its parent dies; for ``preexec_fn``, where the system can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
