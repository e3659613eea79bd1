"""A server that starts the processes of a build by forking, after it has imported their libraries once.

A build starts two processes for each step, papermill and the kernel. Importing their libraries takes seconds
each time, often more than the page itself (benchmarks/page_start.py). Instead:

1. :func:`run_server` starts the server, which listens on a socket.
2. :func:`wrap_command` turns the command of a process into that of a *caller*
   (:mod:`radeval_lib.pipeline.fork_client`), which sends its arguments, environment, folder and standard
   streams to the server.
3. The server forks. The fork runs the command and sends its exit status to the caller, which exits with it.

A fork ends when its caller or the server ends, even if they are killed. The server does not import this
library's own code, so each step runs the code as it is when the step starts. Without a server, or where
forking is unsafe, the caller runs the command itself, with the same results.
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
"""Libraries that most steps import; for lazy ones, the names in them that steps use."""
_ACCELERATORS = ("/dev/nvidiactl", "/dev/kfd")
# Set before Matplotlib and ipykernel are imported: show figures inline, and do not watch the parent process.
_KERNEL_SETTINGS = {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "JPY_PARENT_PID": "1"}
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def can_fork() -> bool:
    """Return whether a process that has imported PyTorch can be forked safely.

    It is safe on Linux without an accelerator (GPU), whose driver would not survive a fork.
    """
    return sys.platform == "linux" and not any(Path(device).exists() for device in _ACCELERATORS)


def kill_on_parent_exit() -> None:
    """Make Linux kill this process when the thread that started it ends; do nothing on other systems.

    Pass this function as ``preexec_fn`` to :class:`subprocess.Popen`.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # 1: PR_SET_PDEATHSIG


@contextmanager
def run_server() -> Iterator[dict[str, str]]:
    """Run a fork server during the block, and yield the environment variables by which processes find it.

    At the end of the block, the server and its forks are killed. If forking is unsafe (:func:`can_fork`), no
    server is started, and an empty dictionary is yielded.
    """
    if not can_fork():
        yield {}
        return
    # The path of a socket must be short, so it is in the system's temporary folder.
    with tempfile.TemporaryDirectory(prefix="radbook-") as folder, socket.socket(socket.AF_UNIX) as listening:
        path = f"{folder}/forks"
        listening.bind(path)
        listening.listen(256)  # callers wait in this queue while the libraries are imported
        server = subprocess.Popen(
            [sys.executable, "-m", "radeval_lib.pipeline.forkserver", str(listening.fileno())],
            cwd=ROOT,
            env={**os.environ, **_ONE_THREAD, **_KERNEL_SETTINGS},
            pass_fds=[listening.fileno()],
            preexec_fn=kill_on_parent_exit,
        )
        listening.close()  # otherwise callers would wait for a server that was killed
        try:
            yield {fork_client.SERVER: path}
        finally:
            server.kill()
            server.wait()


def wrap_command(command: Sequence[str]) -> list[str]:
    """Return a command that runs ``command`` in a fork of the server if there is one, else as a new process.

    ``command`` must be the path of Python, its options, ``-m``, a module and the module's arguments.
    """
    return [command[0], "-I", "-S", fork_client.__file__, *command[1:]]


def _main() -> None:
    """Import the libraries, then fork for each caller; a fork runs its caller's command, and ends.

    The first argument of the process is the file descriptor of the socket on which the server listens.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the build ends this process
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # forks that end leave no zombies
    # Libraries of models would warn that there are no widgets for a progress bar, which pages cannot show.
    warnings.filterwarnings("ignore", message="IProgress not found")
    listening, server = socket.socket(fileno=int(sys.argv[1])), os.getpid()
    for name in LIBRARIES:
        with suppress(ModuleNotFoundError, AttributeError):  # not installed
            pkgutil.resolve_name(name)
    import nbformat

    nbformat.v4.new_notebook()  # compiles the schema of notebooks once
    gc.freeze()  # otherwise garbage collection in a fork would copy the memory
    while True:
        caller, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            os.setpgid(0, 0)  # so that the fork's own child processes are killed with it
            kill_on_parent_exit()
            if os.getppid() == server:  # otherwise the server has ended already
                _run_for_caller(caller)
            return
        caller.close()


def _run_for_caller(caller: socket.socket) -> None:
    """Run the command of a caller in this fork, and send the exit status to the caller, in digits.

    The caller sends command, environment and folder as one line of JSON, and its three standard streams. If
    the caller ends before the line is complete, nothing is run.
    """
    content, streams, _, _ = socket.recv_fds(caller, 1 << 16, 3)
    while not content.endswith(b"\n"):
        if not (chunk := caller.recv(1 << 16)):
            return
        content += chunk
    request = json.loads(content)

    def end_with_caller() -> None:
        with suppress(OSError):  # the caller sends nothing more, so this returns only when it ends
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
