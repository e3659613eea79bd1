"""What a notebook may write, tried in a process of its own, since the guard cannot be taken back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from radeval_lib.paths import ROOT

_GUARDED = """
import os, shutil, sqlite3, tempfile
from pathlib import Path
from radeval_lib.study.write_guard import refuse_writes_outside
root, own = Path({root!r}), Path({own!r})
refuse_writes_outside("a/b", [own])
"""


def _tried(tmp_path: Path, statement: str) -> str:
    """Return the last line of what a guarded process says on standard error; empty where it may."""
    own = tmp_path / "own"
    own.mkdir()
    code = _GUARDED.format(root=str(ROOT), own=str(own)) + statement
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    return (done.stderr.splitlines() or [""])[-1]


@pytest.mark.parametrize(
    "statement",
    [
        "(root / 'build' / 'written.txt').write_text('a')",
        "open(root / 'README.md', 'a')",
        "os.open(root / 'README.md', os.O_RDWR)",
        "(root / 'build' / 'folder').mkdir()",
        "os.remove(root / 'README.md')",
        "os.rename(own, root / 'moved')",
        "os.symlink(own, root / 'link')",
        "shutil.rmtree(root / 'book')",
        "sqlite3.connect(root / 'written.db')",
    ],
)
def test_a_write_elsewhere_is_refused_where_it_is_tried(tmp_path: Path, statement: str) -> None:
    told = _tried(tmp_path, statement)
    assert "NotebookError: notebooks/a/b.md: it writes " in told
    assert (ROOT / "README.md").is_file()


@pytest.mark.parametrize(
    "statement",
    [
        "(own / 'left.txt').write_text('a')",
        "(own.parent / '.part-own').mkdir()",  # what is begun beside its place
        "tempfile.mkdtemp()",
        "open(root / 'README.md').read()",
        "sqlite3.connect(':memory:').execute('create table a (b)')",
        "open(os.devnull, 'w').write('a')",
    ],
)
def test_what_a_run_leaves_and_what_no_file_holds_may_be_written(tmp_path: Path, statement: str) -> None:
    assert _tried(tmp_path, statement) == ""
