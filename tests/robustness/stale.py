"""Edits that carry old times, and rendered files that were damaged: the next build makes all of it again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from radeval_lib import checksums
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


def _flip(path: Path, rng: Random) -> None:
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


DAMAGES: dict[str, Callable[[Path, Random], object]] = {
    "a bit flipped": _flip,
    "deleted": lambda path, rng: path.unlink(),
    "cut short": lambda path, rng: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "emptied": lambda path, rng: path.write_bytes(b""),
}


def made(tiny: TinyRepository) -> dict[str, int]:
    """When each executed page and the book's first page were written last."""
    paths = [*(tiny.build / "executed" / "facts").glob("*.ipynb"), tiny.build / "_build/html/index.html"]
    return {path.name: path.stat().st_mtime_ns for path in paths}


def old_edit(tiny: TinyRepository, what: str) -> str:
    """Edit a source, give it an old time, build, and say what was not done."""
    name, edit = SOURCES[what]
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


def damage(tiny: TinyRepository, how: str, rng: Random) -> str:
    """Damage a file of the rendered book, build, and name the first file that does not stand as it did.

    The book is then rendered from nothing: what edits before had left to be rendered shows here too.
    """
    top = tiny.build / "_build" / "html"
    path = rng.choice(sorted(path for path in top.rglob("*") if path.is_file() and path.stat().st_size))
    before = checksums.of_folder(top)
    DAMAGES[how](path, rng)
    done = tiny.radbook("build")
    if done.returncode:
        return f"the build failed: {done.stderr[-200:]}"
    after = checksums.of_folder(top)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return f"{changed[0]} is not as it was" if changed else ""


def tries(folder: Path, each: int = 5, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (what was done, what was wrong): ``each`` edits and damages of every kind, a damage after two
    edits."""
    rng, tiny = Random(seed), tiny_repository(folder)
    first = tiny.radbook("build")
    assert first.returncode == 0, first.stderr
    for _ in range(each):
        hows = iter(DAMAGES)
        for number, what in enumerate(rng.sample(list(SOURCES), len(SOURCES))):
            yield f"an edit with an old time: {what}", old_edit(tiny, what)
            if number % 2:
                how = next(hows)
                yield f"a file of the rendered book {how}", damage(tiny, how, rng)
