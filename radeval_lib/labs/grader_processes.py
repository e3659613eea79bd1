"""The processes of a grading: one per submission, in each a judge's, and the student's with its limits."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import BinaryIO

from radeval_lib.child_process import kill_on_parent_exit
from radeval_lib.labs import sandbox, student

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
"""Variables of every process of a grading: submissions are graded side by side."""
STUDENT_ENVIRONMENT = ENVIRONMENT | {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PIP_NO_INDEX": "1",
}


def run_in_processes(jobs: Sequence[Callable[[], None]], at_once: int) -> None:
    """Run each job in a forked process of its own, at most so many at once; 0: one per core.

    A job that fails is not reported: it says so on standard error, and leaves nothing where its result is
    looked for.
    """
    at_once = at_once or os.cpu_count() or 1
    waiting, running = list(jobs), dict[int, multiprocessing.process.BaseProcess]()
    while waiting or running:
        while waiting and len(running) < at_once:
            process = multiprocessing.get_context("fork").Process(
                target=_in_own_group, args=(waiting.pop(0),), daemon=True
            )
            process.start()
            running[process.sentinel] = process
        for ended in wait(list(running)):
            assert isinstance(ended, int)
            running.pop(ended).join()


def forked(job: Callable[[], None]) -> int:
    """The id of a process that does a job, in a group of its own, and ends."""
    child = os.fork()
    if child == 0:
        try:
            _in_own_group(job)
        except Exception:  # the grader's fault: what a submission raises is caught where it runs
            traceback.print_exc()
        finally:
            os._exit(0)
    return child


def _in_own_group(job: Callable[[], None]) -> None:
    os.setsid()
    kill_on_parent_exit()
    job()


def serve_trusted(channel: socket.socket, folder: Path, files: Path | None, memory: int) -> None:
    """Run a submission in this process, with limits and no isolation."""
    home = dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR"), str(folder))
    kept = {"PATH": os.environ.get("PATH", ""), **STUDENT_ENVIRONMENT, **home}
    os.environ.clear()  # it may name what is not a student's to know
    os.environ.update(kept)
    sandbox.limit(memory)
    own = os.dup2(channel.detach(), 3)
    os.closerange(4, 65536)
    student.run(socket.socket(fileno=own), folder, files)


def start_isolated(channel: socket.socket, files: Path | None, memory: int, printed: BinaryIO) -> int:
    """The id of a process that runs a submission in a sandbox, in a group of its own; what it prints until it
    silences itself goes into a file."""
    number = channel.fileno()
    called = [sys.executable, "-s", "-m", "radeval_lib.labs.student", number, memory, os.getpid()]
    with open(os.devnull, "r+b") as null:
        process = subprocess.Popen(
            [*sandbox.command(STUDENT_ENVIRONMENT, files), *map(str, called)],
            pass_fds=[number],
            stdin=null,
            stdout=null,
            stderr=printed,
            start_new_session=True,
        )
    sandbox.MemoryWatch(process, memory).start()
    return process.pid


def kill_groups(*groups: int) -> None:
    """Kill the processes of each group that is still there."""
    for group in groups:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
