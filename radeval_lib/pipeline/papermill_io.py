"""Lets ``papermill notebooks/<paper>/<name>.md out.ipynb`` read our jupytext sources directly.

Registered under papermill's ``papermill.io`` entry point for paths that begin with ``notebooks/``. papermill
chooses a reader by how a path begins, so that absolute paths and those seen from other folders would miss it:
it takes the place of papermill's reader of local files, which it is for all other files.
"""

from __future__ import annotations

from pathlib import Path, PurePath

import click
import nbformat
from papermill.iorw import LocalHandler, papermill_io

from radeval_lib.study.sources import read_source


class JupytextHandler(LocalHandler):
    """A local file handler for papermill that turns a ``.md`` source into a notebook on reading."""

    def read(self, path: str) -> str:
        """Return the notebook as JSON. Raises ClickException, which papermill prints, if there is no
        source."""
        if not path.endswith(".md"):
            return str(super().read(path))
        if not Path(path).is_file():
            name = "/".join(PurePath(path).with_suffix("").parts[-2:])
            raise click.ClickException(
                f"there is no file {path} below this folder. Give its absolute path, or call "
                f"`radbook run {name}`, which works from anywhere."
            )
        return str(nbformat.writes(read_source(Path(path))))


handler = JupytextHandler()
papermill_io._handlers[:] = [
    (beginning, handler if beginning == "local" else other) for beginning, other in papermill_io._handlers
]
