"""A small process that asks :mod:`radeval_lib.pipeline.forkserver` to run a command, and exits with the
command's status.

    python fork_client.py [OPTIONS OF PYTHON] -m MODULE [ARGUMENTS]

It imports only the standard library. Without a server, it runs the command itself.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

SERVER = "RADEVAL_FORKS"
"""Environment variable with the path of the server's socket."""


def main(arguments: list[str]) -> int:
    """Have the server run a command in a fork, wait until it ends, and return its exit status; 1 if killed.

    ``arguments`` are the arguments of Python, including ``-m``. Without a server, the command replaces this
    process.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends this process, and thereby the fork
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(os.environ.get(SERVER, ""))
    except OSError:  # no server
        os.execv(sys.executable, [sys.executable, *arguments])
    request = {
        "command": arguments[arguments.index("-m") + 1 :],
        "environment": dict(os.environ),
        "folder": os.getcwd(),
    }
    content = json.dumps(request).encode() + b"\n"
    try:
        bytes_sent = socket.send_fds(server, [content], [0, 1, 2])
        server.sendall(content[bytes_sent:])
        status = server.makefile().read()  # the server closes it when the fork has ended
    except OSError:
        status = ""
    if not status:
        print("a process of the build was killed", file=sys.stderr)
    return int(status or 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
