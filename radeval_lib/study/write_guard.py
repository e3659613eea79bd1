"""What a notebook that a build runs may write: what it leaves, caches, and temporary files.

Python reports to an audit hook every file that it opens, moves or removes. A write elsewhere is refused where
it is tried. Libraries that open files in C or Rust, and other processes, are not seen.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from radeval_lib import atomic
from radeval_lib.errors import NotebookError
from radeval_lib.paths import ROOT, display_path

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Of audit events: where their arguments name what is written.
_WRITTEN = {
    "open": (0,), "os.truncate": (0,), "os.mkdir": (0,), "os.remove": (0,), "os.rmdir": (0,),
    "os.rename": (0, 1), "os.link": (1,), "os.symlink": (1,), "shutil.rmtree": (0,), "sqlite3.connect": (0,),
}  # fmt: skip
_CACHE = re.compile(r"CACHE|_HOME$|DIR$")  # how variables are called that name folders for caches


def _below(folders: Iterable[str | Path]) -> tuple[str, ...]:
    """Return how the paths of these folders and of all below them begin."""
    return tuple(f"{Path(folder).resolve()}{os.sep}" for folder in folders)


def refuse_writes_outside(notebook: str, places: Iterable[Path]) -> None:
    """From now on, refuse in this process to write outside ``places``, temporary files, hidden folders of the
    user's home, folders that the environment names for caches, devices, and compiled modules. It cannot be
    taken back. The write raises a NotebookError."""
    caches = [value for name, value in os.environ.items() if _CACHE.search(name) and os.path.isabs(value)]
    places = list(places)
    # What is left whole or not at all is begun beside its place.
    begun = (f"{place.resolve().parent}{os.sep}{atomic.PART}" for place in places)
    own, shared = (*_below(places), *begun), _below([tempfile.gettempdir(), "/dev", *caches])
    repository, hidden = _below([ROOT]), f"{Path.home().resolve()}{os.sep}."

    def check(event: str, given: tuple[Any, ...]) -> None:
        if event not in _WRITTEN or (event == "open" and not given[2] & _WRITING):
            return
        for path in (given[place] for place in _WRITTEN[event]):
            # A name in an open folder, as rmtree has it, was reported with the folder.
            inner = isinstance(given[-1], int) and given[-1] != -1 and event not in ("open", "os.truncate")
            if not isinstance(path, str | bytes | os.PathLike) or (inner and not os.path.isabs(path)):
                continue
            if event == "sqlite3.connect" and path in (":memory:", ""):  # a database without a file
                continue
            where = os.path.realpath(os.fsdecode(path))
            if event == "os.mkdir" and os.path.isdir(where):
                continue
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
