"""Edits that carry old times: the next build makes what they reach again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from tests.pipeline.conftest import TinyRepository, tiny_repository

_OLD = 978307200  # 1 January 2001, as `touch -d`, `cp -p` and archives leave it

Edit = Callable[[str], str]
SOURCES: dict[str, tuple[str, Edit]] = {
    "a notebook": ("notebooks/facts/one.md", lambda text: text + "\nA word.\n"),
    "a title": ("notebooks/facts/one.md", lambda text: text.replace("\n# ", "\n# The ", 1)),
    "a prose page": ("book/index.md", lambda text: text + "\nA word.\n"),
    "the order of pages": (
        "book/_toc.yml",
        lambda text: re.sub(r"(- .*\n)(- .*\n)", r"\2\1", text, count=1),
    ),
    "a setting of the book": ("_config.yml", lambda text: text.replace("title: ", "title: The ", 1)),
    "a module": ("radeval_lib/study/checks.py", lambda text: text + "# A word.\n"),
    "a manifest": ("data_manifests/papers/facts/paper.yml", lambda text: text + "# A word.\n"),
    "a profile": ("data_manifests/profiles/embedded.yml", lambda text: text.replace("seed: ", "seed: 1", 1)),
}


def made(tiny: TinyRepository) -> dict[str, int]:
    """When each executed page and the book's first page were written last."""
    paths = [*(tiny.build / "executed" / "facts").glob("*.ipynb"), tiny.build / "_build/html/index.html"]
    return {path.name: path.stat().st_mtime_ns for path in paths}


def old_edit(tiny: TinyRepository, kind: str) -> str:
    """Edit a source, give it an old time, build, and say what was not done."""
    name, edit = SOURCES[kind]
    path, before = tiny.path / name, made(tiny)
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    os.utime(path, (_OLD, _OLD))
    done = tiny.radbook("build")
    if done.returncode:
        return f"the build failed: {done.stderr[-200:]}"
    after = made(tiny)
    wanted = {"index.html"}
    if not name.startswith(("book/", "_config")):
        wanted = {"one.ipynb"} if name.startswith("notebooks/") else {"one.ipynb", "two.ipynb"}
    missed = sorted(name for name in wanted if after[name] == before[name])
    return f"not made again: {missed[0]}" if missed else ""


def tries(folder: Path, each: int = 5, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (what was done, what was wrong) of ``each`` edits of every kind."""
    rng, tiny = Random(seed), tiny_repository(folder)
    first = tiny.radbook("build")
    assert first.returncode == 0, first.stderr
    for _ in range(each):
        for kind in rng.sample(list(SOURCES), len(SOURCES)):
            yield f"an edit with an old time: {kind}", old_edit(tiny, kind)
