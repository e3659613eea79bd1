"""Starts the processes of a build by forking one that has already loaded the libraries.

A build starts two processes for each step, papermill and the kernel. Loading their libraries takes seconds
each time, often longer than the page itself (benchmarks/page_start.py). A server loads them once per build:

1. :func:`serving` starts the server, which listens on a socket.
2. :func:`through_server` turns the command of a process into that of a *caller*
   (:mod:`radeval_lib.pipeline.fork_client`), which sends its arguments, environment, folder and standard
   streams to the server.
3. The server forks. The fork runs the command and sends its exit status to the caller, which exits with it.

A fork ends when its caller or the server ends, for whatever reason. The code that a step runs is not loaded
before the fork, so that a step runs the code as it is when the step starts. If there is no server, or forking
is unsafe, the caller becomes the process itself; the results are the same.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from radeval_lib.paths import ROOT
from radeval_lib.pipeline import fork_client

LIBRARIES = (
    "papermill", "jupytext", "nbformat", "ipykernel.kernelapp", "IPython.display",
    "pydantic.BaseModel", "pydantic.Field", "pydantic.model_validator",
    "pandas", "scipy.stats", "matplotlib.pyplot", "seaborn",
    "torch", "safetensors.torch", "sklearn.linear_model", "sklearn.metrics", "sklearn.model_selection",
    "statsmodels.stats.proportion", "nltk.stem.porter", "pingouin",
    "transformers.AutoModel", "transformers.AutoModelForTokenClassification", "transformers.BertModel",
    "transformers.PreTrainedTokenizerFast", "transformers.optimization", "transformers.set_seed",
)  # fmt: skip
"""Libraries that most steps load; for a module that loads names lazily, the name."""
_ACCELERATORS = ("/dev/nvidiactl", "/dev/kfd")
# Read when Matplotlib and ipykernel are loaded: figures are shown inline, no kernel looks after its parent.
_OF_KERNELS = {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "JPY_PARENT_PID": "1"}
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def is_possible() -> bool:
    """Return whether a process that has loaded PyTorch may be forked. Neither an accelerator's driver nor
    macOS's system libraries survive a fork."""
    return sys.platform == "linux" and not any(Path(device).exists() for device in _ACCELERATORS)


def kill_on_parent_exit() -> None:
    """Ask Linux to kill this process when the thread that started it ends; for ``preexec_fn``. Does nothing
    on other systems."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """Run a fork server during a build, and yield the environment variables by which processes find it. On
    exit, the server and its forks end."""
    if not is_possible():
        yield {}
        return
    # A socket's path is limited in length, so it is in the system's temporary folder.
    with tempfile.TemporaryDirectory(prefix="radbook-") as folder, socket.socket(socket.AF_UNIX) as listening:
        path = f"{folder}/forks"
        listening.bind(path)
        listening.listen(256)  # callers wait while the libraries are loaded
        server = subprocess.Popen(
            [sys.executable, "-m", "radeval_lib.pipeline.forkserver", str(listening.fileno())],
            cwd=ROOT,
            env={**os.environ, **_ONE_THREAD, **_OF_KERNELS},
            pass_fds=[listening.fileno()],
            preexec_fn=kill_on_parent_exit,
        )
        listening.close()  # else callers would go on waiting for a server that was killed
        try:
            yield {fork_client.SERVER: path}
        finally:
            server.kill()
            server.wait()


def through_server(command: Sequence[str]) -> list[str]:
    """Return the equivalent of ``command`` (Python with ``-m``) that runs as a fork if there is a server."""
    return [command[0], "-I", "-S", fork_client.__file__, *command[1:]]


def _main() -> None:
    """Load the libraries, then fork for each caller; a fork runs what its caller asks for, and ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; the build ends this process itself
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing waits for forks, so they must leave no zombies
    # Model libraries ask for a progress bar of widgets, which no page could show.
    warnings.filterwarnings("ignore", message="IProgress not found")
    listening, server = socket.socket(fileno=int(sys.argv[1])), os.getpid()
    for name in LIBRARIES:
        with suppress(ModuleNotFoundError, AttributeError):  # what is not installed is left out
            pkgutil.resolve_name(name)
    import nbformat

    nbformat.v4.new_notebook()  # compiles the schema by which every process checks notebooks
    gc.freeze()  # else a collection in a fork would copy all of it
    while True:
        caller, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            os.setpgid(0, 0)  # so that what the fork starts can be killed with it
            kill_on_parent_exit()
            if os.getppid() == server:  # else the server ended before this fork could ask to end with it
                _run_for(caller)
            return
        caller.close()


def _run_for(caller: socket.socket) -> None:
    """Run, in a fork, the command that its caller sends as one line of JSON with three standard streams; send
    the exit status back. Nothing is run for a caller that has left."""
    content, streams, _, _ = socket.recv_fds(caller, 1 << 16, 3)
    while not content.endswith(b"\n"):
        if not (more := caller.recv(1 << 16)):
            return
        content += more
    request = json.loads(content)

    def end_with_caller() -> None:
        with suppress(OSError):  # it sends nothing more, so this returns, or is reset, when it is gone
            caller.recv(1)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end_with_caller, daemon=True).start()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    sys.argv = request["command"]
    status = 1
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        raise
    finally:
        caller.sendall(str(status).encode())


if __name__ == "__main__":
    _main()
