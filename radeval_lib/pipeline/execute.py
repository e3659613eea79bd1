"""Run one notebook with papermill: parameters checked first, output whole or absent, failures in one line."""

from __future__ import annotations

import logging
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import papermill as pm
import yaml
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from radeval_lib.errors import NotebookError, ParameterError
from radeval_lib.paths import NOTEBOOKS, ROOT, shown
from radeval_lib.pipeline.papermill_io import read_source

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def notebooks() -> list[str]:
    """Every notebook, as its path below ``notebooks/`` without the ending."""
    return sorted(path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in NOTEBOOKS.glob("*/*.md"))


def notebook_name(given: str) -> str:
    """The notebook that ``given`` names: ``rales/datasets``, or a path to its source.

    Raises
    ------
    NotebookError
        Where there is none.
    """
    bare = given.removesuffix(".md").removeprefix("./").removeprefix("notebooks/")
    path = Path(given)
    if path.is_absolute() and path.is_relative_to(NOTEBOOKS):
        bare = path.relative_to(NOTEBOOKS).with_suffix("").as_posix()
    if bare not in notebooks():
        raise NotebookError(
            f"unknown notebook {given!r}", shown(NOTEBOOKS), f"Notebooks: {', '.join(notebooks())}."
        )
    return bare


def _same_type(default: Any, value: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    return isinstance(value, type(default))


def parse_parameters(notebook: str, given: Mapping[str, str], source: Path) -> dict[str, Any]:
    """Values of ``given`` in the types of the notebook's own defaults.

    Raises
    ------
    ParameterError
        Where the notebook has no such parameter, or the value is of another type.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # papermill warns of sources that do not end in .ipynb
        known = {
            name: yaml.safe_load(fact["default"]) for name, fact in pm.inspect_notebook(str(source)).items()
        }
    values = {}
    for name, text in given.items():
        if name not in known:
            raise ParameterError(f"unknown parameter {name!r}", notebook, f"Parameters: {', '.join(known)}.")
        value = text if isinstance(known[name], str) else yaml.safe_load(text)
        if not _same_type(known[name], value):
            wanted = type(known[name]).__name__
            raise ParameterError(f"parameter {name} must be of type {wanted}, not {text!r}", notebook)
        values[name] = value
    return values


def _without_traces(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Drop papermill's times and machine paths, so that equal results are equal bytes."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
    return notebook


def _failure(notebook: str, error: PapermillExecutionError, kept: Path) -> NotebookError:
    code = [cell for cell in nbformat.read(kept, as_version=4).cells if cell.cell_type == "code"]
    # Counted as in the source: without the cell that papermill puts in.
    own = [c for c in code if "injected-parameters" not in c.metadata.get("tags", [])]
    number = 1 + next((n for n, c in enumerate(own) if c.execution_count == error.exec_count), 0)
    message = ANSI.sub("", error.evalue).strip().splitlines() or ["no message"]
    first = (error.source.strip().splitlines() or [""])[0]
    return NotebookError(
        f"code cell {number} ({first!r}) raised {error.ename}: {message[0]}",
        f"notebooks/{notebook}.md",
        f"The run up to there is kept in {shown(kept)}; mend the cell and run `radbook build` again.",
    )


def _sockets() -> tempfile.TemporaryDirectory[str]:
    """A folder for a kernel's socket files: two kernels that start at once may pick the same TCP port.

    It stands in the system's temporary folder because the length of a socket's path is limited.
    """
    return tempfile.TemporaryDirectory(prefix="radbook-")


def run_notebook(
    given: str, output: Path, parameters: Mapping[str, str] | None = None, progress: bool = True
) -> Path:
    """Execute a notebook and write it, executed, to ``output``.

    Parameters
    ----------
    given : see :func:`notebook_name`.
    output : the executed notebook; replaced as a whole when the run succeeded.
    parameters : values by parameter name, as text.
    progress : show papermill's progress bar, one step a cell.

    Raises
    ------
    NotebookError
        Where a cell failed: names the notebook, the cell, and where the run so far is kept.
    ParameterError
        See :func:`parse_parameters`.
    """
    name = notebook_name(given)
    output = output.resolve()
    output.parent.mkdir(parents=True, exist_ok=True)
    logging.getLogger("papermill").setLevel(logging.ERROR)
    kept = output.with_suffix(".failed.ipynb")
    kept.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".run-") as folder, _sockets() as sockets:
        source, executed = Path(folder) / "source.ipynb", Path(folder) / "executed.ipynb"
        nbformat.write(read_source(NOTEBOOKS / f"{name}.md"), source)
        values = parse_parameters(name, parameters or {}, source)
        try:
            pm.execute_notebook(
                source,
                executed,
                values,
                progress_bar=progress,
                cwd=ROOT,
                kernel_name="python3",
                config=Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}}),
            )
        except PapermillExecutionError as error:
            shutil.copyfile(executed, kept)
            raise _failure(name, error, kept) from None
        except (DeadKernelError, RuntimeError) as error:
            raise NotebookError(
                f"the kernel died: {error}",
                f"notebooks/{name}.md",
                "Memory may be short; run `radbook build` again.",
            ) from None
        nbformat.write(_without_traces(nbformat.read(executed, as_version=4)), executed)
        os.replace(executed, output)
    return output
