"""Forked processes behave as fresh ones do, and none outlives its caller or the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from radeval_lib.pipeline import forkserver

# Run by the tests: prints what it was started with, then does what its first argument says.
REPORTING = """
import json, os, pkgutil, signal, sys, time

facts = {
    "main": __name__, "arguments": sys.argv[1:], "folder": os.getcwd(), "word": os.environ.get("WORD"),
    "stray": os.environ.get("STRAY"), "first": sys.path[0], "input": sys.stdin.read(),
    "loaded": "seaborn" in sys.modules, "process": os.getpid(),
}
print(json.dumps(facts), flush=True)
print("to the other stream", file=sys.stderr)
task = sys.argv[1]
if task == "exit":
    sys.exit(int(sys.argv[2]))
if task == "raise":
    raise RuntimeError("as asked")
if task == "die":
    os.kill(os.getpid(), signal.SIGKILL)
if task == "wait":
    time.sleep(60)
if task == "names":  # a misspelt library would be left out in silence
    from radeval_lib.pipeline import forkserver
    for name in forkserver.LIBRARIES:
        home, _, last = name.rpartition(".")
        pkgutil.resolve_name(f"{home}:{last}" if last[0].isupper() else name)
"""

needs_forks = pytest.mark.skipif(
    not forkserver.can_fork(), reason="processes are not forked on this system, or beside an accelerator"
)


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with forkserver.run_server() as variables:
        yield variables


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "reporting.py").write_text(REPORTING, encoding="utf-8")
    return tmp_path


def start(folder: Path, server: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    command = forkserver.wrap_command([sys.executable, "-m", "reporting", *arguments])
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, "WORD": "häßlich", **server}, text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def outcome(process: subprocess.Popen[str]) -> tuple[dict[str, object], str, int]:
    """Return what a process was started with, what it wrote to its other stream, and its status."""
    out, err = process.communicate("given", timeout=600)
    return json.loads(out.splitlines()[0]), err, process.returncode


def waiting(folder: Path, server: dict[str, str]) -> tuple[subprocess.Popen[str], psutil.Process]:
    """Return a client and the process behind it, once that waits."""
    client = start(folder, server, "wait")
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.close()
    return client, psutil.Process(json.loads(client.stdout.readline())["process"])


def ended(process: psutil.Process) -> bool:
    limit = time.monotonic() + 60
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > limit:
            return False
        time.sleep(0.1)
    return True


@needs_forks
def test_fork_is_given_what_a_fresh_process_is_given(
    folder: Path, server: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRAY", "set after the server was started")
    fresh, forked = (outcome(start(folder, way, "names", "two words")) for way in ({}, server))
    assert (fresh[0].pop("loaded"), forked[0].pop("loaded")) == (False, True)
    assert fresh[0].pop("process") != forked[0].pop("process")
    assert forked == fresh
    assert forked[1:] == ("to the other stream\n", 0)


@needs_forks
@pytest.mark.parametrize(
    ("arguments", "status", "error"),
    [(("exit", "5"), 5, ""), (("raise",), 1, "RuntimeError: as asked"), (("die",), 1, "")],
)
def test_client_ends_as_its_process_ended(
    folder: Path, server: dict[str, str], arguments: tuple[str, ...], status: int, error: str
) -> None:
    _, printed, ended_with = outcome(start(folder, server, *arguments))
    assert ended_with == status
    assert error in printed


@needs_forks
@pytest.mark.parametrize("killed", ["client", "server"])
def test_process_dies_with_its_client_or_the_server_and_others_begin(folder: Path, killed: str) -> None:
    before = set(psutil.Process().children())
    with forkserver.run_server() as variables:
        client, process = waiting(folder, variables)
        (server,) = set(psutil.Process().children()) - before - {psutil.Process(client.pid)}
        (client if killed == "client" else server).kill()
        assert ended(process)
        client.wait(300)
        facts, _, status = outcome(start(folder, variables, "exit", "0"))
    assert (facts["loaded"], status) == (killed == "client", 0)
