"""Restricted data that builds keep, and their removal."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from radeval_lib import atomic
from radeval_lib.paths import BUILD, BUILD_LOCK, IN_REACH, ROOT
from radeval_lib.pipeline import processes

HOLDS = {
    "annotation_task": "texts for annotators",
    "cache": "answers of judges, under hashes of the texts",
    "cells": "tables, and models that may have learned texts by heart",
    "executed": "executed notebooks; of a failed one, what came before",
    "executed_cells": "executed notebooks; of a failed one, what came before",
    "models": "copies of models, none trained on data",
    "unfinished": "trials of searches, and models half trained, of work that has not ended",
}
"""By the folder of a build: what it can hold that comes from data; of any other, pages and results."""
_ENGINE = ROOT / ".snakemake"


class Held(NamedTuple):
    """A part of a build, or the engine's own folder: its bytes, data sets in reach, what it can hold."""

    path: Path
    size: int
    corpora: tuple[str, ...]
    holds: str


def held() -> list[Held]:
    """Return every part of a build or run that had restricted data in reach, and then the engine's logs.

    An OSError where a mark cannot be read.
    """
    marks = {folder: folder / IN_REACH for folder in _marked()}
    marked = {
        folder: mark.read_text(encoding="utf-8", errors="replace").split() for folder, mark in marks.items()
    }
    parts = [(part, names) for folder, names in marked.items() for part in sorted(folder.iterdir())]
    if parts and _ENGINE.is_dir():
        parts.append((_ENGINE, sorted({name for names in marked.values() for name in names})))
    return [
        Held(path, _size(path), tuple(names), HOLDS.get(path.name, "pages, results and logs"))
        for path, names in parts
    ]


def purge() -> None:
    """Remove all that :func:`held` lists; the marks go last, so that it lists what an error leaves.

    Raises
    ------
    BusyError
        Where a build is running in one of the folders; nothing is removed then.
    OSError
        Where something cannot be removed.
    """
    with ExitStack() as locks:
        for folder in (marked := _marked()):
            locks.enter_context(processes.only_build(folder))
        stays = {folder / name for folder in marked for name in (IN_REACH, BUILD_LOCK)}
        atomic.discard(*(part for folder in marked for part in folder.iterdir() if part not in stays))
        if marked:
            atomic.discard(_ENGINE)
        for folder in marked:
            atomic.discard(folder / IN_REACH, folder / BUILD_LOCK)
            folder.rmdir()


def _marked() -> list[Path]:
    """Return folders below ``build/`` that hold the mark, and are in no other that does."""
    every = sorted(mark.parent for mark in BUILD.rglob(IN_REACH))
    return [folder for folder in every if not set(folder.parents) & set(every)]


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())
