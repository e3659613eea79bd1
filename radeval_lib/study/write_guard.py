"""What a notebook that a build runs may write: what it leaves, caches, and temporary files.

Python tells an audit hook of every file that it opens, moves or removes. A write elsewhere is refused where
it is tried. Libraries that open files in C or Rust, and other processes, are not seen.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from radeval_lib.errors import NotebookError
from radeval_lib.paths import ROOT, display_path

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MOVES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"}


def _below(folders: Iterable[str | Path]) -> tuple[str, ...]:
    """How the paths of these folders and of all below them begin."""
    return tuple(f"{Path(folder).resolve()}{os.sep}" for folder in folders)


def refuse_writes_outside(notebook: str, places: Iterable[Path]) -> None:
    """From now on, refuse in this process to write outside ``places``; it cannot be taken back.

    Besides these, a notebook may write temporary files, hidden folders of the user's home, where libraries
    keep caches and settings, devices, and compiled modules.

    Parameters
    ----------
    notebook : path below ``notebooks/`` without the ending, for the message.

    Raises
    ------
    NotebookError
        Later, where a file elsewhere is opened for writing, moved, made or removed.
    """
    own, shared = _below(places), _below([tempfile.gettempdir(), "/dev"])
    repository, hidden = _below([ROOT]), f"{Path.home().resolve()}{os.sep}."

    def check(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            paths = given[:1] if isinstance(given[2], int) and given[2] & _WRITING else ()
        elif event in _MOVES:
            paths = given[: 2 if event == "os.rename" else 1]
        else:
            return
        for path in paths:
            if isinstance(path, int) or path is None:
                continue
            where = os.path.realpath(os.fsdecode(path))
            folder = f"{where}{os.sep}"
            # The repository may stand in a folder for temporary files itself.
            fits = shared if not folder.startswith(repository) else ()
            if not (folder.startswith((*own, *fits)) or where.startswith(hidden) or "__pycache__" in where):
                raise NotebookError(
                    f"it writes {display_path(Path(where))!r}, outside what a run may write",
                    f"notebooks/{notebook}.md",
                    'Leave results by `run.exhibit` or `run.save`, caches in `run.output_dir / "cache"`.',
                )

    sys.addaudithook(check)
