"""Run one notebook with papermill: output whole or absent, failures in one line."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import papermill as pm
from jupyter_client.manager import AsyncKernelManager
from papermill.exceptions import PapermillExecutionError
from traitlets import Bool
from traitlets.config import Config

from radeval_lib import atomic, data
from radeval_lib.child_process import kill_on_parent_exit
from radeval_lib.data import withholding
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.data.manifests import restricted_in
from radeval_lib.errors import NotebookError, ParameterError, plain
from radeval_lib.paths import BUILD, NOTEBOOKS, ROOT, STAGE, THREAD_VARIABLES, display_path
from radeval_lib.pipeline import absent, durations, forkserver, limited, logs, processes
from radeval_lib.pipeline.parameters import COMMON
from radeval_lib.study import beginning, cell_outputs, cells, profiles
from radeval_lib.study.cells import Cell
from radeval_lib.study.sources import declared, read_source

INJECTED = "injected-parameters"


def _without_traces(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Drop papermill's times, machine paths and random names, so that equal results are equal bytes."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        if INJECTED in cell.metadata.get("tags", []):
            cell["id"] = INJECTED
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
    return notebook


def _failure(notebook: str, error: PapermillExecutionError, kept: Path, secret: bool) -> NotebookError:
    """Return what is reported about a cell that failed; ``secret``: restricted data were within its reach."""
    code = [cell for cell in nbformat.read(kept, as_version=4).cells if cell.cell_type == "code"]
    # Counted as in the source: without the cell that papermill puts in.
    own = [c for c in code if INJECTED not in c.metadata.get("tags", [])]
    number = 1 + next((n for n, c in enumerate(own) if c.execution_count == error.exec_count), 0)
    message = logs.without_colours(error.evalue).strip().splitlines() or ["no message"]
    what = withholding.message(error.ename, message[0]) if secret else message[0]
    # One of our errors has its remedy behind what is wrong, as a sentence of its own.
    says_what_to_do = withholding.is_ours(error.ename) and ". " in what
    advice = "" if says_what_to_do else "; correct the cell and run `radbook build` again"
    first = (error.source.strip().splitlines() or [""])[0]
    said = f"code cell {number} ({plain(first, 80)!r}) raised {error.ename}: {what}"
    if withholding.is_ours(error.ename) and len(said) > (most := NotebookError.longest[0]):
        said = f"{said[: most - 4]} ..."  # what is wrong comes first, the choices last
    return NotebookError(
        said,
        f"notebooks/{notebook}.md",
        f"The run up to there is kept in {display_path(kept)}{advice}.",
    )


class ForkedKernelManager(AsyncKernelManager):
    """Starts a kernel as a fork of :mod:`radeval_lib.pipeline.forkserver` where a build has one, else as a
    new process."""

    models = Bool(False, config=True)

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """Return the command of the kernel, which says on standard error only what ends it."""
        command = [*super().format_kernel_cmd(extra_arguments), "--log-level=CRITICAL"]
        return forkserver.through_server(command, self.models)

    async def start_kernel(self, **settings: Any) -> None:  # type: ignore[override]
        """Start it, so that it ends with this process, however that ends."""
        await super().start_kernel(preexec_fn=kill_on_parent_exit, **settings)


@dataclass(frozen=True)
class RunFolders:
    """Where a run leaves what it makes."""

    output_dir: Path
    name: str
    """Of the page or cell, as steps are called."""
    is_cell: bool

    @property
    def left(self) -> Path:
        """The folder of its results, or of what a cell leaves."""
        return self.output_dir / ("cells" if self.is_cell else "results") / self.name

    @property
    def executed(self) -> Path:
        """The executed notebook."""
        return cells.executed_path(self.output_dir, self.name, is_cell=self.is_cell)


def place_of(notebook: str, parameters: Mapping[str, Any]) -> RunFolders:
    """Return where a run with these parameters, every one of its notebook, belongs: among a build's outputs
    if a build runs it just so, else below ``build/runs``.

    Raises
    ------
    ParameterError
        For an ``output_dir`` that is not below ``build/``.
    """
    settings = profiles.profile(str(parameters["profile"]))
    own = {key: value for key, value in parameters.items() if key not in COMMON}
    cell = Cell(notebook, tuple(own.items())) if own else None
    output_dir = beginning.outputs_of(notebook, settings, int(parameters["seed"]), own)
    if given := str(parameters["output_dir"]):
        output_dir = Path(given).resolve()
        if BUILD not in output_dir.parents:
            raise ParameterError(
                f"output_dir {given!r} is not below build/", notebook, "papermill itself writes anywhere."
            )
    name = notebook if cell is None else f"{notebook}/{cell.slug}"
    return RunFolders(output_dir, name, is_cell=cell is not None)


def run_notebook(name: str, parameters: Mapping[str, Any], place: RunFolders, progress: bool) -> None:
    """Execute a notebook; what it leaves takes its place whole when it has succeeded, or not at all.

    Parameters
    ----------
    parameters : every one of the notebook, see :func:`radeval_lib.pipeline.parameters.parse_parameters`.
    progress : whether papermill's bar is shown, one step per cell.

    Raises
    ------
    NotebookError
        If a cell raises, the kernel dies, or a notebook of cells saves nothing. The notebook up to there is
        kept beside its place, as ``*.failed.ipynb``.
    """
    logging.getLogger("papermill").setLevel(logging.ERROR)
    failed = place.executed.with_suffix(".failed.ipynb")
    failed.unlink(missing_ok=True)
    started = time.monotonic()
    with atomic.scratch(place.executed.parent) as folder:
        executed = folder / "executed.ipynb"
        with atomic.new_folder(place.left) as stage:
            try:
                _execute(name, parameters, place, stage, executed, progress)
            except PapermillExecutionError as error:
                # In a build, what lacks data is left out; by hand that is an error like others.
                if not (error.ename == AbsentDataError.__name__ and error.evalue and processes.is_owned()):
                    raise _kept_failure(name, parameters, error, executed, failed) from None
                print(f"radbook: {place.name} is left out: {error.evalue}", flush=True)
                _leave_out(name, parameters, stage, executed, error.evalue)
            else:
                if place.is_cell and not (stage / cell_outputs.FACTS).is_file():
                    raise NotebookError(
                        "this cell ended without `run.save(...)`",
                        f"notebooks/{name}.md",
                        "Save what it found in its last code cell.",
                    )
                nbformat.write(_without_traces(nbformat.read(executed, as_version=4)), executed)
        os.replace(executed, place.executed)
    shutil.rmtree(place.output_dir / cells.UNFINISHED / place.name, ignore_errors=True)
    durations.note(place.output_dir, place.name, time.monotonic() - started)


def _execute(
    name: str, parameters: Mapping[str, Any], place: RunFolders, stage: Path, executed: Path, progress: bool
) -> None:
    """Run a notebook's cells with papermill into the notebook ``executed``; its kernel leaves its results in
    the folder ``stage``.

    Raises
    ------
    PapermillExecutionError
        If a cell raises; ``executed`` then holds the cells up to it.
    NotebookError
        If the kernel dies.
    """
    settings = profiles.profile(str(parameters["profile"]))
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(settings.threads)))  # before libraries load
    source = executed.with_name("source.ipynb")
    nbformat.write(read_source(NOTEBOOKS / f"{name}.md"), source)
    # The kernel's sockets are files, since two kernels that start at once may pick the same TCP port; their
    # folder is the system's, because the length of a socket's path is limited.
    with tempfile.TemporaryDirectory(prefix="radbook-") as sockets:
        manager = {
            "transport": "ipc",
            "ip": f"{sockets}/kernel",
            "models": place.is_cell or declared(name).uses_models,
        }
        os.environ[STAGE] = str(stage.resolve())  # the kernel inherits it
        try:
            pm.execute_notebook(
                source,
                executed,
                _differing(parameters, place),
                request_save_on_cell_execute=False,  # else it is written twice a cell
                progress_bar=progress,
                cwd=ROOT,
                kernel_name="python3",
                kernel_manager_class=ForkedKernelManager,
                config=Config({"ForkedKernelManager": manager}),
                engine_name=limited.NAME,
                where=f"notebooks/{name}.md",
                limits=settings.limits,
            )
        except RuntimeError as error:  # nbclient's DeadKernelError is one
            raise NotebookError(
                f"the kernel died: {error}",
                f"notebooks/{name}.md",
                "Memory may be short; run `radbook build` again.",
            ) from None
        finally:
            del os.environ[STAGE]


def _kept_failure(
    name: str, parameters: Mapping[str, Any], error: PapermillExecutionError, executed: Path, failed: Path
) -> NotebookError:
    """Keep the notebook up to the cell that failed in the file ``failed``, without its outputs where
    restricted data were within reach; the error to raise."""
    secret = bool(restricted_in(data.data_root(parameters["data_root"] or None)))
    notebook = nbformat.read(executed, as_version=4)
    if secret:
        withholding.without_outputs(notebook)
    nbformat.write(notebook, failed)
    return _failure(name, error, failed, secret)


def _leave_out(name: str, parameters: Mapping[str, Any], stage: Path, executed: Path, lack: str) -> None:
    """Leave what a page or cell lacks in its place, and nothing that it recorded before it stopped."""
    atomic.discard(*stage.iterdir())
    notebook = nbformat.v4.new_notebook(metadata={absent.OMISSION_KEY: lack})
    nbformat.write(notebook, executed)
    if own := {key: value for key, value in parameters.items() if key not in COMMON}:
        cell_outputs.write_omission(stage, Cell(name, tuple(own.items())), lack)


def _lasting(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that decide what a run gives: all but its folder."""
    return {key: value for key, value in parameters.items() if key != "output_dir"}


def _differing(parameters: Mapping[str, Any], place: RunFolders) -> dict[str, Any]:
    """Return the parameters that papermill passes on; no folder of this machine where it can be avoided, so
    that equal results are equal bytes."""
    own_place = place.output_dir == BUILD / str(parameters["profile"])
    return {**_lasting(parameters), "output_dir": "" if own_place else display_path(place.output_dir)}
