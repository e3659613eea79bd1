"""What an edit costs: the steps that it makes stale, found by their keys in a copy of the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from radeval_lib.paths import ROOT
from tests.copies import copy_found_out

_PRINT = """
import json, sys
from pathlib import Path
from radeval_lib.pipeline import steps
graph = steps.graph(sys.argv[1], data_root=Path(sys.argv[2]) if sys.argv[2] else None)
print(json.dumps({"keys": graph.keys(), "cells": list(graph.cells)}))
"""


@dataclass(frozen=True)
class Copy:
    """A copy of what steps depend on, for one profile, perhaps with a data root."""

    path: Path
    profile: str = "embedded"
    data_root: Path | None = None

    @classmethod
    def into(cls, path: Path, profile: str = "embedded", data_root: Path | None = None) -> Copy:
        """Copy the repository's sources into a folder."""
        for folder in ("radeval_lib", "data_manifests", "notebooks", "workflow"):
            shutil.copytree(ROOT / folder, path / folder, ignore=shutil.ignore_patterns("__pycache__"))
        copy_found_out(path)
        return cls(path, profile, data_root)

    def graph(self) -> dict[str, dict[str, object]]:
        """Return the keys of every step, and the names of jobs."""
        done = subprocess.run(
            [sys.executable, "-c", _PRINT, self.profile, str(self.data_root or "")],
            cwd=self.path,
            env={"PYTHONPATH": str(self.path), "PATH": os.environ.get("PATH", "")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        graph: dict[str, dict[str, object]] = json.loads(done.stdout)
        return graph

    @cached_property
    def untouched(self) -> dict[str, dict[str, object]]:
        """The graph before any edit."""
        return self.graph()

    def stale(self, changed: str, old: str, new: str) -> set[str]:
        """Return steps whose own key differs once ``old`` is replaced in a file by ``new``, or ``new`` added
        at its end where ``old`` is empty. The file is put back."""
        path, before = self.path / changed, self.untouched["keys"]
        content = path.read_text(encoding="utf-8")
        assert old in content, f"{changed} has no {old!r}"
        edited = content.replace(old, new, 1) if old else content + new
        path.write_text(edited, encoding="utf-8")
        try:
            after = self.graph()["keys"]
        finally:
            path.write_text(content, encoding="utf-8")
        return {name for name in before | after if before.get(name) != after.get(name)}
