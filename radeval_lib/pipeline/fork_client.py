"""Represents a process that :mod:`radeval_lib.pipeline.forkserver` forks, and exits as it exited.

    python fork_client.py [OPTIONS OF PYTHON] -m MODULE [ARGUMENTS]

It loads nothing but the standard library. If there is no server it becomes the process itself.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

SERVER = "RADEVAL_FORKS"
"""Environment variable: the path of the server's socket."""


def main(arguments: list[str]) -> int:
    """Have the process forked and wait for its end; return its exit status, 1 if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends this process, and with it the other
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(os.environ.get(SERVER, ""))
    except OSError:  # there is none
        os.execv(sys.executable, [sys.executable, *arguments])
    request = {
        "command": arguments[arguments.index("-m") + 1 :],
        "environment": dict(os.environ),
        "folder": os.getcwd(),
    }
    content = json.dumps(request).encode() + b"\n"
    try:
        sent = socket.send_fds(server, [content], [0, 1, 2])
        server.sendall(content[sent:])
        status = server.makefile().read()  # it ends when the other process has ended
    except OSError:
        status = ""
    if not status:
        print("a process of the build was killed", file=sys.stderr)
    return int(status or 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
