"""What a copy of the project, or of its parts, takes over from builds of the project itself."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from radeval_lib.data import recorded
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import steps
from radeval_lib.study import recordings

_FOUND_OUT = ("sources.json", "behaviours.json")


def copy_found_out(target: Path) -> None:
    """Give a copy of the project what builds have found out about the project's code.

    All of it goes by the content of files, so that it holds until one of them is edited: compiled modules,
    what is in sources, and scores of the probe.
    """
    _find_out()
    folders = (ROOT / "radeval_lib", ROOT / "notebooks")
    compiled = [path for folder in folders for path in folder.rglob("__pycache__/*.pyc")]
    for path in (*compiled, *(ROOT / "build" / "cache" / name for name in _FOUND_OUT)):
        values = target / path.relative_to(ROOT)
        values.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, values)


@cache
def _find_out() -> None:
    """Find it out where no build has."""
    graph = steps.graph("embedded")
    for step in graph.with_jobs(graph.pages):
        graph.cache_key(step)
    for name in recorded.names():
        recordings.out_of_date(name)
