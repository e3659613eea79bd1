"""What builds hold of restricted data, and its removal."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from radeval_lib.paths import BUILD, IN_REACH, ROOT, RUNS
from radeval_lib.pipeline import processes

HOLDS = {
    "annotation_task": "texts for annotators",
    "cache": "vectors of texts, and answers of judges, under hashes of the texts",
    "cells": "tables, and models that may have learned texts by heart",
    "executed": "executed notebooks; of a failed one, what came before",
    "executed_cells": "executed notebooks; of a failed one, what came before",
    "models": "copies of models, none trained on data",
    "unfinished": "trials of searches, and models half trained, of work that has not ended",
}
"""By the folder of a build: what it can hold that comes from data; of any other, pages and results."""


@dataclass(frozen=True)
class Held:
    """A part of a build, or the engine's own folder: its bytes, and the data sets that were in its reach."""

    path: Path
    size: int
    corpora: tuple[str, ...]

    @property
    def holds(self) -> str:
        """What it can hold."""
        return HOLDS.get(self.path.name, "pages, results and logs")


def held() -> list[Held]:
    """Every part of a build or run that had restricted data in reach, and then the engine's logs."""
    found = [part for folder in _marked() for part in _parts(folder, _corpora(folder))]
    engine = ROOT / ".snakemake"
    if found and engine.is_dir():
        corpora = sorted({one for part in found for one in part.corpora})
        found.append(Held(engine, _size(engine), tuple(corpora)))
    return found


def purge() -> None:
    """Remove all that :func:`held` lists.

    Raises
    ------
    BusyError
        Where a build is running.
    """
    marked = list(_marked())
    for folder in marked:
        with processes.only_build(folder):
            shutil.rmtree(folder)
    if marked:
        shutil.rmtree(ROOT / ".snakemake", ignore_errors=True)


def _marked() -> Iterator[Path]:
    for above in (BUILD, RUNS):
        yield from sorted(mark.parent for mark in above.glob(f"*/{IN_REACH}"))


def _corpora(folder: Path) -> tuple[str, ...]:
    return tuple((folder / IN_REACH).read_text(encoding="utf-8").split())


def _parts(folder: Path, corpora: tuple[str, ...]) -> list[Held]:
    return [Held(part, _size(part), corpora) for part in sorted(folder.iterdir())]


def _size(path: Path) -> int:
    return sum(one.stat().st_size for one in (path, *path.rglob("*")) if one.is_file())
