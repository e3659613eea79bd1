"""A notebook's source: the declarations in its front matter, its cells, and the cells that ran.

::

    study:
      data: [rated_pairs, openi]        # roles of data, and data sets whose files it reads itself
      settings: [ratescore]             # sections under `experiments` of a profile
      papers: [rales, released]         # printed numbers beyond its own exhibits' papers; `all`: every paper
      cells: [ratescore/ner_training]   # all jobs of that notebook
      models: [ner_model, encoder]      # roles of models, used directly or through a metric
      metrics: [ratescore, rouge_l]     # metrics by name
      results: [rales/nlu_scores]       # what other notebooks recorded; `all` for every page's
      trains: true                      # it trains a model of its own, though it is a page

The workflow waits for what is declared, and a run refuses to read anything else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel

from radeval_lib import checksums, own_yaml
from radeval_lib.errors import NotebookError
from radeval_lib.paths import NOTEBOOKS, display_path

if TYPE_CHECKING:
    import nbformat

ALL = "all"
"""Under ``results``: what every page recorded that does not itself read them all; under ``papers``: every
paper."""
INJECTED = "# Parameters"
"""How papermill's cell of injected parameters begins."""


class Declared(BaseModel, extra="forbid", frozen=True):
    """The inputs of one notebook, and whether it trains; every list may be empty."""

    data: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    trains: bool = False

    @property
    def uses_models(self) -> bool:
        """Whether it uses models: its own, those of jobs, or those of metrics."""
        return bool(self.cells or self.models or self.metrics or self.trains)


def path_of(notebook: str) -> Path:
    """Return the source of a notebook, named by its path below ``notebooks/`` without the ending."""
    return NOTEBOOKS / f"{notebook}.md"


def front_matter(text: str) -> dict[str, object]:
    """Return the YAML between the two ``---`` at the top of a source; empty if there are none.

    Raises
    ------
    ValueError
        If it is no mapping of keys; a :class:`yaml.YAMLError` if it is not YAML.
    """
    if not text.startswith("---\n"):
        return {}
    head, end, _ = text[4:].partition("\n---\n")
    content = (own_yaml.parse(head) or {}) if end else {}
    if not isinstance(content, dict):
        raise ValueError("it is not a mapping of keys")
    return content


def declared(notebook: str) -> Declared:
    """Return the declarations of a notebook; raises NotebookError if its front matter is wrong."""
    path = path_of(notebook)
    try:
        return _declared(path, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise NotebookError("this is not UTF-8 text", display_path(path), "Save the file as UTF-8.") from None


@lru_cache(maxsize=256)
def _declared(path: Path, text: str) -> Declared:
    try:
        return Declared.model_validate(front_matter(text).get("study") or {})
    except (ValueError, yaml.YAMLError) as error:  # of pydantic, too
        lines = str(error).splitlines()
        lists = ", ".join(name for name in Declared.model_fields if name != "trains")
        raise NotebookError(
            f"the front matter is wrong: {' '.join(lines[1:3]) or lines[0]}",
            display_path(path),
            f"Under `study:`, give lists of names ({lists}) and `trains: true`, if any.",
        ) from None


def code_cells(lines: list[str]) -> Iterator[slice]:
    """Yield the code lines of each cell in a MyST notebook, without its options. Raises SyntaxError if a cell
    or its options between two ``---`` have no end."""
    start: int | None = None
    for number, line in enumerate(lines):
        if start is None and line.startswith("```{code-cell}"):
            start = number + 1
        elif start is not None and line == "```":
            if lines[start] == "---":
                if "---" not in lines[start + 1 : number]:
                    raise SyntaxError(f"the options in line {start + 1} have no closing ---")
                start = lines.index("---", start + 1) + 1
            while start < number and (lines[start].startswith(":") or not lines[start].strip()):
                start += 1
            yield slice(start, number)
            start = None
    if start is not None:
        raise SyntaxError(f"the code cell in line {start} has no closing ```")


def code_of(text: str) -> str:
    """Return the code cells of a MyST notebook as one program, without their options."""
    lines = text.split("\n")  # no form feed within a string ends a line
    return "".join(f"{line}\n" for cell in code_cells(lines) for line in lines[cell])


def source_cells(notebook: str) -> list[str]:
    """Return the code cells of a notebook's source, in order."""
    lines = path_of(notebook).read_text(encoding="utf-8").split("\n")
    return ["\n".join(lines[cell]).strip() for cell in code_cells(lines)]


def executed_cells() -> list[str] | None:
    """Return the cells run so far in this kernel, in order; None if no kernel runs this code."""
    if "IPython" not in sys.modules:  # which every kernel has imported; metric cards do without it
        return None
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if not hasattr(shell, "kernel") or getattr(shell, "history_manager", None) is None:
        return None
    return [cell.strip() for cell in shell.history_manager.input_hist_raw[1:]]


def identity(notebook: str) -> dict[str, Any]:
    """Return a run's notebook: its source's path, the SHA-256 of the cells that ran, and whether they are the
    source's. The last two are None if no kernel ran them.

    Cells count as the source's if, papermill's cell of parameters apart, they are its first cells in order.
    """
    path = display_path(path_of(notebook))
    if (ran := executed_cells()) is None:
        return {"path": path, "cells": None, "as_source": None}
    kept = [cell for cell in ran if not cell.startswith(INJECTED)]
    as_source = kept == source_cells(notebook)[: len(kept)]
    return {"path": path, "cells": checksums.of_text("\n\n".join(kept)), "as_source": as_source}


def read_source(path: Path) -> nbformat.NotebookNode:
    """Return a jupytext source as a notebook with cell ids that depend only on their order, so that builds
    repeat."""
    import jupytext

    notebook = jupytext.read(path)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:03d}"
    return notebook


def with_parameters(notebook: nbformat.NotebookNode, **values: Any) -> nbformat.NotebookNode:
    """Return a copy with papermill's cell of injected parameters."""
    # Papermill loads its readers, and ours imports this module.
    from papermill.parameterize import parameterize_notebook

    notebook = deepcopy(notebook)
    notebook.metadata.setdefault("papermill", {})  # as papermill's own reader has it
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])
    return parameterize_notebook(notebook, values, kernel_name="python3", language="python")
