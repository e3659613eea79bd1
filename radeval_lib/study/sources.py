"""Notebooks from their jupytext sources, and papermill's parameters in them."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import jupytext
import nbformat


def read_source(path: Path) -> nbformat.NotebookNode:
    """Return a jupytext source as a notebook whose cell ids depend on their place alone, so that builds
    repeat."""
    notebook = jupytext.read(path)
    for place, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{place:03d}"
    return notebook


def with_parameters(notebook: nbformat.NotebookNode, **parameters: Any) -> nbformat.NotebookNode:
    """Return a copy with papermill's cell of injected parameters."""
    # Papermill loads its readers, of which ours imports this module.
    from papermill.parameterize import parameterize_notebook

    notebook = deepcopy(notebook)
    notebook.metadata.setdefault("papermill", {})  # as papermill's own reader has it
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])
    return parameterize_notebook(notebook, parameters, kernel_name="python3", language="python")
