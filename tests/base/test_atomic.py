"""Whole or not at all: under errors, under kill -9, and beside one another."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from radeval_lib import atomic


def half(path: Path) -> None:
    path.write_text("half of the n")
    raise ZeroDivisionError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def killed(folder: Path, body: str) -> None:
    """Run ``body`` in a process that kills itself in the middle, with ``target`` set."""
    code = "import os, signal, shutil\nfrom pathlib import Path\nfrom radeval_lib import atomic\n"
    code += f"target = Path({str(folder / 'target')!r})\ndie = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
    done = subprocess.run([sys.executable, "-c", code + body], check=False)
    assert done.returncode == -signal.SIGKILL


def test_a_file_appears_with_its_content_and_ordinary_permissions(tmp_path):
    atomic.write_text(tmp_path / "a" / "target", "é\n")
    assert (tmp_path / "a" / "target").read_bytes() == b"\xc3\xa9\n"
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "a" / "target").stat().st_mode & 0o777 == 0o666 & ~umask
    assert names(tmp_path / "a") == ["target"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "target"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic.new_file(target) as path:
        half(path)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["target"]


def test_a_folder_is_replaced_whole(tmp_path):
    target = tmp_path / "target"
    for content in (["a", "b"], ["c"]):
        with atomic.new_folder(target) as folder:
            for name in content:
                (folder / name).write_text(name)
        assert names(target) == content
    with pytest.raises(ZeroDivisionError), atomic.new_folder(target) as folder:
        half(folder / "d")
    assert names(target) == ["c"]
    assert names(tmp_path) == ["target"]


def test_a_folder_that_is_not_to_be_replaced_stays(tmp_path):
    for content in "ab":
        with atomic.new_folder(tmp_path / "target", replace=False) as folder:
            (folder / content).write_text("")
    assert names(tmp_path / "target") == ["a"]
    assert names(tmp_path) == ["target"]


def test_what_a_killed_writer_left_is_cleared_by_the_next(tmp_path):
    (tmp_path / "target").write_text("old")
    killed(tmp_path, "with atomic.new_file(target) as path:\n    path.write_text('half')\n    die()\n")
    assert (tmp_path / "target").read_text() == "old"
    (part,) = tmp_path.glob(".part-*")
    os.utime(part, (0, 0))  # a younger one may be of a writer that is about to lock it
    atomic.write_text(tmp_path / "other", "")
    assert names(tmp_path) == ["other", "target"]


def test_a_writer_killed_while_it_replaces_a_folder_loses_nothing(tmp_path):
    with atomic.new_folder(tmp_path / "target") as folder:
        (folder / "old").write_text("")
    body = """
replace = os.replace
def dying(source, target):
    replace(source, target)
    die()
os.replace = dying
with atomic.new_folder(target) as folder:
    (folder / "new").write_text("")
"""
    killed(tmp_path, body)
    assert not (tmp_path / "target").exists()
    (part,) = tmp_path.glob(".part-*")
    os.utime(part, (0, 0))
    atomic.clear(tmp_path)
    assert names(tmp_path) == ["target"]
    assert names(tmp_path / "target") == ["new"]


def test_a_living_writer_is_left_alone(tmp_path):
    with atomic.new_file(tmp_path / "one") as path:
        path.write_text("1")
        atomic.write_text(tmp_path / "two", "2")
        with atomic.scratch(tmp_path) as folder:
            (folder / "passing").write_text("")
    assert names(tmp_path) == ["one", "two"]
    assert (tmp_path / "one").read_text() == "1"


def test_files_that_belong_together_are_written_together(tmp_path: Path) -> None:
    targets = tmp_path / "one", tmp_path / "two"
    with pytest.raises(FileNotFoundError), atomic.new_files(*targets) as (first, _):
        first.write_text("1")
    assert list(tmp_path.iterdir()) == []
    with atomic.new_files(*targets) as (first, second):
        first.write_text("1")
        second.write_text("2")
    assert [target.read_text() for target in targets] == ["1", "2"]


def test_notes_that_are_lost_or_damaged_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    assert atomic.read_mapping(path) == {}
    for content in ("", '{"a": 1', "[1]", "[" * 100_000):
        path.write_text(content, encoding="utf-8")
        assert atomic.read_mapping(path) == {}
    path.write_text('{"a": 1}', encoding="utf-8")
    assert atomic.read_mapping(path) == {"a": 1}


def test_a_link_is_discarded_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    atomic.discard(tmp_path / "link", tmp_path / "nowhere")
    assert names(tmp_path) == ["folder"]
    atomic.discard(tmp_path / "folder")
    assert names(tmp_path) == []


def test_a_lock_is_held_by_one_process(tmp_path: Path) -> None:
    with atomic.lock(tmp_path / "lock"):
        assert atomic.lock(tmp_path / "lock") is None
