"""A notebook's source: the declarations in its front matter, its cells, and the comparison with the cells
that ran.

::

    study:
      data: [rated_pairs, openi]        # data roles, and data sets whose files it reads itself
      settings: [ratescore]             # sections under `experiments` of a profile
      papers: [rales, released]         # papers besides those of its exhibits; `all`: every paper
      jobs: [ratescore/ner_training]    # all jobs of that notebook
      models: [ner_model, encoder]      # model roles, used directly or through a metric
      metrics: [ratescore, rouge_l]     # metrics by name
      results: [rales/nlu_scores]       # results of other notebooks; `all`: of every page
      trains: true                      # the page itself trains a model

The workflow runs the declared notebooks first, and a run raises an error if it reads anything else.
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
"""The word that stands, under ``results``, for every page that does not itself declare it and, under
``papers``, for every paper."""
INJECTED = "# Parameters"
"""The beginning of the cell in which papermill injects parameters."""


class Declared(BaseModel, extra="forbid", frozen=True):
    """The inputs that a notebook declares, and whether it trains a model; see this module's example."""

    data: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    trains: bool = False

    @property
    def uses_models(self) -> bool:
        """Whether the notebook uses models: its own, those of jobs, or those of metrics."""
        return bool(self.jobs or self.models or self.metrics or self.trains)


def path_of(notebook: str) -> Path:
    """Return the path of a notebook's source; ``notebook`` is its path below ``notebooks/`` without the
    extension."""
    return NOTEBOOKS / f"{notebook}.md"


def front_matter(text: str) -> dict[str, object]:
    """Return the front matter of a source, the YAML between two ``---`` at the top; empty if there is none.

    Raises
    ------
    yaml.YAMLError
        If the front matter is not valid YAML.
    ValueError
        If the front matter is not a mapping, or has an impossible date.
    """
    if not text.startswith("---\n"):
        return {}
    head, end, _ = text[4:].partition("\n---\n")
    content = (own_yaml.parse(head) or {}) if end else {}
    if not isinstance(content, dict):
        raise ValueError(f"the front matter is a {type(content).__name__}, not a mapping")
    return content


def declared(notebook: str) -> Declared:
    """Return the declarations of a notebook; raise NotebookError if its front matter is not valid."""
    path = path_of(notebook)
    try:
        return _parse_declarations(path, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise NotebookError("this is not UTF-8 text", display_path(path), "Save the file as UTF-8.") from None


@lru_cache(maxsize=256)
def _parse_declarations(path: Path, text: str) -> Declared:
    """Return the declarations in ``text``, the content of a source; errors name ``path``."""
    try:
        return Declared.model_validate(front_matter(text).get("study") or {})
    except (ValueError, yaml.YAMLError) as error:  # pydantic's ValidationError is a ValueError
        lines = str(error).splitlines()
        lists = ", ".join(name for name in Declared.model_fields if name != "trains")
        raise NotebookError(
            f"the front matter is not valid: {' '.join(lines[1:3]) or lines[0]}",
            display_path(path),
            f"Correct the YAML; under `study:`, write only lists of names ({lists}) and `trains: true`.",
        ) from None


def code_cells(lines: list[str]) -> Iterator[slice]:
    """Yield the range of lines of each code cell of a MyST notebook, without the cell's options, as a slice.

    The slices index ``lines``, the lines of the notebook without line breaks. Raises SyntaxError if a cell,
    or its options between two ``---``, are not closed.
    """
    start: int | None = None
    for number, line in enumerate(lines):
        if start is None and line.startswith("```{code-cell}"):
            start = number + 1
        elif start is not None and line == "```":
            if lines[start] == "---":
                if "---" not in lines[start + 1 : number]:
                    raise SyntaxError(f"cell options in line {start + 1} are not closed; add ---")
                start = lines.index("---", start + 1) + 1
            while start < number and (lines[start].startswith(":") or not lines[start].strip()):
                start += 1
            yield slice(start, number)
            start = None
    if start is not None:
        raise SyntaxError(f"the code cell in line {start} is not closed; add ```")


def code_of(text: str) -> str:
    """Return the code cells of a MyST notebook as one program, without their options; raise SyntaxError if
    a cell is not closed."""
    lines = text.split("\n")  # splitlines would also split at form feeds within strings
    return "".join(f"{line}\n" for cell in code_cells(lines) for line in lines[cell])


def source_cells(notebook: str) -> list[str]:
    """Return the code cells of a notebook's source, in order; raise SyntaxError if one is not closed."""
    lines = path_of(notebook).read_text(encoding="utf-8").split("\n")
    return ["\n".join(lines[cell]).strip() for cell in code_cells(lines)]


def executed_cells() -> list[str] | None:
    """Return the cells that have run in this kernel, in order; None outside a kernel."""
    if "IPython" not in sys.modules:  # every kernel has imported it; metric cards must not import it
        return None
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if not hasattr(shell, "kernel") or getattr(shell, "history_manager", None) is None:
        return None
    return [cell.strip() for cell in shell.history_manager.input_hist_raw[1:]]


def describe_notebook(notebook: str) -> dict[str, Any]:
    """Return the identity of a running notebook, for its provenance.

    ``path`` is the path of the source, ``cells`` the SHA-256 of the cells that ran, and ``matches_source``
    whether these are the first cells of the source, in the same order. The last two ignore the cell that
    papermill injects; outside a kernel, they are None.
    """
    path = display_path(path_of(notebook))
    if (executed := executed_cells()) is None:
        return {"path": path, "cells": None, "matches_source": None}
    cells = [cell for cell in executed if not cell.startswith(INJECTED)]
    matches_source = cells == source_cells(notebook)[: len(cells)]
    return {"path": path, "cells": checksums.of_text("\n\n".join(cells)), "matches_source": matches_source}


def read_source(path: Path) -> nbformat.NotebookNode:
    """Return a jupytext source as a notebook, with cell ids numbered in order so that builds are
    reproducible."""
    import jupytext

    notebook = jupytext.read(path)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:03d}"
    return notebook


def with_parameters(notebook: nbformat.NotebookNode, **values: Any) -> nbformat.NotebookNode:
    """Return a copy of a notebook with these parameters in papermill's injected cell."""
    # Imported here because papermill loads this library's reader, which imports this module.
    from papermill.parameterize import parameterize_notebook

    notebook = deepcopy(notebook)
    notebook.metadata.setdefault("papermill", {})  # papermill expects this key, which its own reader sets
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])
    return parameterize_notebook(notebook, values, kernel_name="python3", language="python")
