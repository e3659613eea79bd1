"""A reader for papermill, so that ``papermill notebooks/<paper>/<name>.md out.ipynb`` runs a jupytext source.

It is registered as a ``papermill.io`` entry point for paths that begin with ``notebooks/``. Since papermill
chooses a reader by the beginning of the path, this module also replaces papermill's reader of local files,
for absolute paths and paths from other folders. All other files are read as before.
"""

from __future__ import annotations

from pathlib import Path, PurePath

import click
import nbformat
from papermill.iorw import LocalHandler, papermill_io

from radeval_lib.study.sources import read_source


class JupytextHandler(LocalHandler):
    """Papermill's reader of local files, which converts a ``.md`` source to a notebook."""

    def read(self, path: str) -> str:
        """Return the notebook at ``path`` as JSON; a path that ends in ``.md`` is converted.

        Raises ClickException, which papermill prints, if there is no such ``.md`` file.
        """
        if not path.endswith(".md"):
            return str(super().read(path))
        if not Path(path).is_file():
            name = "/".join(PurePath(path).with_suffix("").parts[-2:])
            raise click.ClickException(
                f"{path}: no such file. Pass an absolute path, or run "
                f"`radbook run {name}`, which works from any folder."
            )
        return str(nbformat.writes(read_source(Path(path))))


handler = JupytextHandler()
papermill_io._handlers[:] = [
    (scheme, handler if scheme == "local" else previous) for scheme, previous in papermill_io._handlers
]
