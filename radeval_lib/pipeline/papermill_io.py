"""Lets ``papermill notebooks/<paper>/<name>.md out.ipynb`` read our jupytext sources directly.

Registered under papermill's ``papermill.io`` entry point for paths that begin with ``notebooks/``.
"""

from __future__ import annotations

from pathlib import Path, PurePath

import click
import nbformat
from papermill.iorw import LocalHandler

from radeval_lib.study.sources import read_source


class JupytextHandler(LocalHandler):
    """papermill's handler of local files, which turns a ``.md`` source into a notebook on reading."""

    def read(self, path: str) -> str:
        """The notebook as JSON."""
        if not path.endswith(".md"):
            return str(super().read(path))
        if not Path(path).is_file():
            name = "/".join(PurePath(path).with_suffix("").parts[-2:])
            raise click.ClickException(
                f"there is no {path} below this folder. Call papermill from the repository's root, or "
                f"`radbook run {name}`, which works from anywhere."
            )
        return str(nbformat.writes(read_source(Path(path))))


handler = JupytextHandler()
