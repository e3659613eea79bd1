"""A submission is kept to itself: each cell here tries one thing, and says what came of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.labs import sandbox

ISOLATED = pytest.mark.skipif(bool(sandbox.missing()), reason=sandbox.missing())
MEMORY = 2_000_000_000


def tried(code: str, handed_in: Path | None = None) -> str:
    """What code prints in the sandbox, after it became nobody and got its limits."""
    begin = f"from radeval_lib.labs import sandbox; sandbox.enter({MEMORY}, {os.getpid()})\n"
    command = [*sandbox.command({}, handed_in), sys.executable, "-s", "-c", begin + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return (done.stdout + done.stderr).strip()


FORBIDDEN = [
    "open('/etc/passwd').read()",
    "open('/etc/shadow').read()",
    "os.listdir('/var')",
    "os.kill(1, 9)",
    "os.setuid(0)",
    "os.chroot('/tmp')",
    "open('/file', 'w')",
    "open('/usr/file', 'w')",
    "open('/dev/file', 'w')",
    "os.chmod(radeval_lib.__file__, 0o777)",
    "os.utime(radeval_lib.__file__, (0, 0))",
    "open(radeval_lib.__file__, 'a')",
    "open(f'{HANDED_IN}/data.csv', 'w')",
    "os.chmod(f'{HANDED_IN}/data.csv', 0)",
    "bytearray(3 * 10**9)",
    "open('/tmp/large', 'wb').write(bytes(60_000_000)) // 60_000_000 or fail",
]
ATTEMPTS = """
import json, os, signal, socket, radeval_lib
from radeval_lib.labs.sandbox import HANDED_IN
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
done = []
for statement in json.loads(%r):
    try:
        exec(statement)
    except BaseException:
        pass
    else:
        done.append(statement)
print(json.dumps([done, open(f"{HANDED_IN}/data.csv").read()]))
"""


@ISOLATED
def test_it_cannot_read_write_or_reach_what_is_not_its_own(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    data = tmp_path / "data.csv"
    data.write_text("a")
    os.utime(data, (5, 5))
    with socket.create_server(("127.0.0.1", 0)) as server:  # which anybody outside could reach
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), 3).close()
        statements = [*FORBIDDEN, f"socket.create_connection(('127.0.0.1', {port}), 3)"]
        assert json.loads(tried(ATTEMPTS % json.dumps(statements), tmp_path)) == [[], "a"]
    found = data.stat()
    assert (data.read_text(), found.st_mtime, found.st_mode & 0o777) == ("a", 5, 0o644)


@ISOLATED
def test_it_sees_neither_sources_of_labs_nor_other_processes() -> None:
    code = (
        "import os, json, radeval_lib\n"
        "root = os.path.dirname(os.path.dirname(radeval_lib.__file__))\n"
        "numbers = [name for name in os.listdir('/proc') if name.isdigit()]\n"
        "print(json.dumps([os.listdir(root), numbers, dict(os.environ)]))"
    )
    beside, processes, environment = json.loads(tried(code))
    assert set(beside) <= {"radeval_lib", "data_manifests", ".venv", "__pycache__"}
    assert len(processes) <= 3
    assert not {"RADEVAL_DATA_ROOT", "SSH_AUTH_SOCK", "PYTHONPATH"} & set(environment)


@ISOLATED
def test_a_shell_line_has_the_python_of_the_notebook() -> None:
    found = tried("import shutil, sys; print(shutil.which('python') == f'{sys.prefix}/bin/python')")
    assert found == "True"


@ISOLATED
def test_a_library_in_the_home_or_in_tmp_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "repository" / "radeval_lib"
    library.mkdir(parents=True)
    (library / "module.py").write_text("here")
    monkeypatch.setattr(sandbox, "ROOT", library.parent)
    monkeypatch.setattr(sandbox, "HOME", str(tmp_path))
    own = tmp_path / "own"
    script = f"cat {library}/module.py; echo own > {own} && cat {own}; echo > {library}/more"
    done = subprocess.run(
        [*sandbox.command({}, None), "sh", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout == "hereown\n"
    assert "Read-only" in done.stderr


@ISOLATED
def test_disk_and_processes_are_limited() -> None:
    fill = (
        "import os\nwritten = 0\n"
        "try:\n"
        "    for number in range(20):\n"
        "        with open(f'/tmp/{number}', 'wb') as file:\n"
        "            written += file.write(bytes(40_000_000))\n"
        "except OSError:\n    pass\nprint(written < 400_000_000)"
    )
    assert tried(fill) == "True"
    fork = (
        "import os, time\nchildren = 0\n"
        "try:\n"
        "    while children < 500:\n"
        "        if os.fork() == 0:\n            time.sleep(5); os._exit(0)\n"
        "        children += 1\n"
        "except OSError:\n    pass\nprint(children < 130)"
    )
    assert tried(fork) == "True"


HOG = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        break
held = b"x" * 10**8
time.sleep(60)
"""
HOLDER = """
import socket, time
held = socket.socket(fileno=%d)
held.send(b"x")
time.sleep(60)
"""


@ISOLATED
def test_what_holds_too_much_memory_together_is_killed() -> None:
    began = time.monotonic()
    with subprocess.Popen([*sandbox.command({}, None), sys.executable, "-s", "-c", HOG]) as process:
        sandbox.MemoryWatch(process, 400_000_000).start()
        process.wait(50)
    assert process.returncode != 0
    assert time.monotonic() - began < 50


@ISOLATED
def test_nothing_outlives_its_parent() -> None:
    ours, theirs = socket.socketpair()
    number = theirs.fileno()
    command = [*sandbox.command({}, None), sys.executable, "-c", HOLDER % number]
    process = subprocess.Popen(command, pass_fds=[number])
    theirs.close()
    assert ours.recv(1) == b"x"
    process.kill()
    process.wait()
    ours.settimeout(20)
    assert ours.recv(1) == b""  # the only other end is gone


def test_without_isolation_nothing_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "a.ipynb").write_text("{}")
    monkeypatch.setattr(sandbox.shutil, "which", lambda _: None)
    arguments = ["labs", "grade", str(tmp_path / "class"), "--output", str(tmp_path / "grades.csv")]
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert "bubblewrap" in done.output
    assert "apt install bubblewrap" in done.output
    assert "--trust-submissions" in done.output
    assert not (tmp_path / "grades.csv").exists()


@ISOLATED
def test_a_library_that_does_not_start_in_isolation_ends_the_grading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "a.ipynb").write_text("{}")
    monkeypatch.setattr(sandbox, "ROOT", tmp_path)
    monkeypatch.setattr(sandbox, "MANIFESTS", tmp_path)
    arguments = ["labs", "grade", str(tmp_path / "class"), "--output", str(tmp_path / "grades.csv")]
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    for said in ("No module named 'radeval_lib'", "installation is incomplete", "no submission was run"):
        assert said in done.output
    assert "--memory" not in done.output
    assert "/" not in done.output
    assert not (tmp_path / "grades.csv").exists()


def test_a_sandbox_that_does_not_start_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "does not work here (No permissions to create new namespace)" in sandbox.missing()
