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
import json, os, signal, sys, time

facts = {
    "main": __name__, "arguments": sys.argv[1:], "folder": os.getcwd(), "word": os.environ.get("WORD"),
    "stray": os.environ.get("STRAY"), "first": sys.path[0], "loaded": "seaborn" in sys.modules,
    "input": sys.stdin.read(), "process": os.getpid(),
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
if task == "names":
    import pkgutil
    from radeval_lib.pipeline import forkserver
    for name in forkserver.LIBRARIES:
        home, _, last = name.rpartition(".")
        pkgutil.resolve_name(f"{home}:{last}" if last[0].isupper() else name)
"""

needs_forks = pytest.mark.skipif(
    not forkserver.is_possible(), reason="processes are not forked on this system, or beside an accelerator"
)


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with forkserver.serving() as variables:
        yield variables


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "reporting.py").write_text(REPORTING, encoding="utf-8")
    return tmp_path


def start(folder: Path, server: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    command = forkserver.through_server([sys.executable, "-m", "reporting", *arguments])
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, "WORD": "häßlich", **server}, text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def outcome(process: subprocess.Popen[str]) -> tuple[dict[str, object], str, int]:
    out, err = process.communicate("given", timeout=600)
    return json.loads(out.splitlines()[0]), err, process.returncode


def ended(process: int) -> bool:
    for _ in range(600):
        if not psutil.pid_exists(process) or psutil.Process(process).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False


def begun(process: subprocess.Popen[str]) -> int:
    """Return the number of the process that stands behind a client, once it has told what it was started
    with."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    return int(json.loads(process.stdout.readline())["process"])


def test_afresh_where_there_is_no_server(folder: Path) -> None:
    facts, err, status = outcome(start(folder, {}, "exit", "3"))
    assert (facts["arguments"], facts["word"], status) == (["exit", "3"], "häßlich", 3)
    assert not facts["loaded"]
    assert "to the other stream" in err


@needs_forks
def test_fork_is_given_what_a_fresh_process_is_given(
    folder: Path, server: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRAY", "set after the server was started")
    fresh, _, _ = outcome(start(folder, {}, "exit", "0", "two words"))
    forked, err, status = outcome(start(folder, server, "exit", "0", "two words"))
    assert status == 0
    assert "to the other stream" in err
    apart = {"process", "loaded"}
    assert {key: forked[key] for key in forked if key not in apart} == {
        key: fresh[key] for key in fresh if key not in apart
    }
    assert forked["loaded"]


@needs_forks
def test_every_library_named_can_be_loaded(folder: Path, server: dict[str, str]) -> None:
    """A misspelt one would be left out in silence, and each process would load it for itself."""
    _, errors, status = outcome(start(folder, server, "names"))
    assert status == 0, errors


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
def test_process_dies_with_its_client_and_the_others_go_on(folder: Path, server: dict[str, str]) -> None:
    clients = [start(folder, server, "exit", str(status)) for status in range(3)]
    waiting = start(folder, server, "wait")
    process = begun(waiting)
    waiting.kill()
    assert ended(process)
    assert [outcome(client)[2] for client in reversed(clients)] == [2, 1, 0]


@needs_forks
def test_processes_die_with_the_server_and_others_begin_afresh(folder: Path) -> None:
    before = set(psutil.Process().children())
    with forkserver.serving() as variables:
        client = start(folder, variables, "wait")
        process = begun(client)
        (server,) = set(psutil.Process().children()) - before - {psutil.Process(client.pid)}
        server.kill()
        assert ended(process)
        assert client.wait(300) == 1
        facts, _, status = outcome(start(folder, variables, "exit", "0"))
    assert (facts["loaded"], status) == (False, 0)


def test_no_server_beside_an_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forkserver, "_ACCELERATORS", ("/dev/null",))
    with forkserver.serving() as variables:
        assert variables == {}
