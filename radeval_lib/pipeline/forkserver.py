"""Starts the processes of a build by forking one that has already loaded the libraries.

A build starts two processes for each step, papermill and the kernel. Loading their libraries takes seconds
each time, often longer than the page itself (benchmarks/page_start.py). Here one process loads them once per
build, and every process that is requested (see :mod:`radeval_lib.pipeline.fork_client`) is a fork of it, with
the caller's arguments, environment, folder and standard streams. It ends when its caller ends, for whatever
reason, and the caller exits with its status. The code that a step runs is not loaded before the fork, so that
a step runs the code as it is when the step starts.

Where forking is unsafe or impossible, each process is started from nothing; the results are the same.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from radeval_lib.child_process import kill_on_parent_exit
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import fork_client

LIBRARIES = (
    "papermill", "jupytext", "nbformat", "ipykernel.kernelapp", "IPython.display",
    "pydantic.BaseModel", "pydantic.Field", "pydantic.model_validator",
    "pandas", "scipy.stats", "matplotlib.pyplot", "seaborn",
)  # fmt: skip
"""What every step loads; a name in a module that loads it when asked."""

MODEL_LIBRARIES = (
    "torch", "safetensors.torch", "sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection",
    "statsmodels.stats.proportion", "nltk.stem.porter", "pingouin",
    "transformers.AutoModel", "transformers.AutoModelForTokenClassification", "transformers.BertModel",
    "transformers.PreTrainedTokenizerFast", "transformers.optimization", "transformers.set_seed",
)  # fmt: skip
"""What steps load that train or use models, beside the above."""

_GRACE = 3.0  # seconds
_ACCELERATORS = ("/dev/nvidiactl", "/dev/kfd")
# Read when Matplotlib and ipykernel are loaded: figures are shown inline, no kernel looks after its parent.
_OF_KERNELS = {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "JPY_PARENT_PID": "1"}
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def is_possible() -> bool:
    """Return whether processes may be forked from one that has loaded PyTorch: a driver of an accelerator
    does not survive it, and neither do the system libraries of macOS."""
    return (
        sys.platform == "linux"
        and hasattr(os, "pidfd_open")
        and not any(Path(device).exists() for device in _ACCELERATORS)
    )


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """Have a server while a build runs; when this ends, what it has started ends too. Processes that are
    ending, as after an interrupt from the keyboard, get a few seconds to put things in order.
    """
    if not is_possible():
        yield {}
        return
    # A socket's path is limited in length, so it stands in the system's temporary folder.
    with tempfile.TemporaryDirectory(prefix="radbook-") as folder, socket.socket(socket.AF_UNIX) as listening:
        path = f"{folder}/forks"
        listening.bind(path)
        listening.listen(256)  # who calls while libraries are being loaded waits
        server = subprocess.Popen(
            [sys.executable, "-m", "radeval_lib.pipeline.forkserver", str(listening.fileno())],
            cwd=ROOT,
            env={**os.environ, **dict.fromkeys(_ONE_THREAD, "1"), **_OF_KERNELS},
            pass_fds=[listening.fileno()],
            preexec_fn=kill_on_parent_exit,
        )
        listening.close()  # else callers would go on waiting for a server that was killed
        try:
            yield {fork_client.SERVER: path}
        finally:
            limit = time.monotonic() + _GRACE
            while _has_processes(server.pid) and time.monotonic() < limit:
                time.sleep(0.05)
            server.kill()
            server.wait()


def _has_processes(server: int) -> bool:
    with suppress(OSError):
        return bool(Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii").strip())
    return False


def through_server(command: Sequence[str], models: bool) -> list[str]:
    """Return a command that does what ``command`` does, by a fork where there is a server; ``models``: with
    :data:`MODEL_LIBRARIES` loaded. A ValueError for a command that runs no module of Python."""
    if "-m" not in command:
        raise ValueError(f"a command of Python that runs a module is wanted, not {' '.join(command)}")
    client = [command[0], "-I", "-S", fork_client.__file__]
    return [*client, *([fork_client.MODELS] if models else []), *command[1:]]


def _serve(listening: socket.socket) -> dict[str, Any]:
    """Fork for each process that is asked for; returns in each fork, with what it is to become."""
    while True:
        client, _ = listening.accept()
        if request := _received(client):
            if request["models"]:
                load(MODEL_LIBRARIES)
            if _fork() == 0:
                listening.close()
                _wait_beside(client, request)
                return request
            for stream in request["streams"]:
                os.close(stream)
        client.close()


def _received(client: socket.socket) -> dict[str, Any] | None:
    """Return what a client asks for, with its standard streams; None where it went before it had said it."""
    content, streams, _, _ = socket.recv_fds(client, 1 << 16, 3)
    while not content.endswith(b"\n"):
        if not (more := client.recv(1 << 16)):
            for stream in streams:
                os.close(stream)
            return None
        content += more
    return {**json.loads(content), "streams": streams}


def _fork() -> int:
    """Fork a process that is killed when this one ends, for whatever reason."""
    own = os.getpid()
    process = os.fork()
    if process == 0:
        kill_on_parent_exit()
        if os.getppid() != own:  # it died before this one asked to die with it
            os._exit(1)
    return process


def _wait_beside(client: socket.socket, request: dict[str, Any]) -> None:
    """Fork once more, and return in that fork. The other one passes on the signals that the client got,
    reports to it how the fork ended, and ends; a client that is gone takes the fork with it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = _fork()
    with suppress(PermissionError, ProcessLookupError):
        os.setpgid(process, process)  # in both of them: killed with all that it starts, from now on
    if process == 0:
        client.close()
        return
    for stream in request["streams"]:
        os.close(stream)
    ended = os.pidfd_open(process)
    waiting = select.poll()
    waiting.register(client, select.POLLIN)
    waiting.register(ended, select.POLLIN)
    while (events := waiting.poll()) and ended not in dict(events):
        try:
            numbers = client.recv(16)
        except ConnectionError:
            numbers = b""
        if not numbers:
            waiting.unregister(client)
        for number in numbers or [signal.SIGKILL]:
            with suppress(ProcessLookupError):
                os.killpg(process, number)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with suppress(OSError):
        client.sendall(f"{status}\n".encode())
    os._exit(0)


@cache
def load(names: tuple[str, ...]) -> None:
    """Import modules, and names from modules that load them when asked; what is not installed is left out.

    Once for the same names: it is called for every process that asks for them.
    """
    for name in names:
        with suppress(ModuleNotFoundError, AttributeError):
            pkgutil.resolve_name(name)
    gc.freeze()  # else a collection in a fork would copy all of it


def _become(request: dict[str, Any]) -> None:
    """Be, in a fork, the process that a client asks for."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(request["streams"]):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    module, *arguments = request["command"]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _main() -> None:
    """Load the libraries, serve, and become in each fork what was asked for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; the build ends this process itself
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for forks: they leave nothing behind
    # Model libraries ask for a progress bar of widgets, which no page could show.
    warnings.filterwarnings("ignore", message="IProgress not found")
    listening = socket.socket(fileno=int(sys.argv[1]))
    load(LIBRARIES)
    import nbformat

    nbformat.v4.new_notebook()  # compiles the schema by which every process checks notebooks
    _become(_serve(listening))


if __name__ == "__main__":
    _main()
