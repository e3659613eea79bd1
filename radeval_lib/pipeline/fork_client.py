"""Represents a process that :mod:`radeval_lib.pipeline.forkserver` forks, and exits as it exited.

    python fork_client.py [--models] [OPTIONS OF PYTHON] -m MODULE [ARGUMENTS]

It loads nothing but the standard library. Where there is no server it becomes the process itself.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from contextlib import suppress

SERVER = "RADEVAL_FORKS"
"""Environment variable: the path of the server's socket."""
MODELS = "--models"


def _connected() -> socket.socket | None:
    """Return a connection to the server; None where there is none."""
    if path := os.environ.get(SERVER):
        server = socket.socket(socket.AF_UNIX)
        with suppress(OSError):
            server.connect(path)
            return server
        server.close()
    return None


def main(arguments: list[str]) -> int:
    """Have the process forked, and wait for its end; its exit status."""
    models = arguments[:1] == [MODELS]
    command = arguments[1:] if models else arguments
    server = _connected()
    if server is None:
        os.execv(sys.executable, [sys.executable, *command])
    request = {
        "command": command[command.index("-m") + 1 :],
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "models": models,
    }
    content = json.dumps(request).encode() + b"\n"
    try:
        sent = socket.send_fds(server, [content], [0, 1, 2])
        server.sendall(content[sent:])
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: server.sendall(bytes([number])))
        answer = server.makefile().readline()
    except OSError:
        answer = ""
    if not answer:
        print("the process that starts a build's processes is gone", file=sys.stderr)
        return 1
    status = int(answer)
    if status < 0:  # killed by a signal: end by the same
        with suppress(OSError):  # some cannot be handled anyway
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
