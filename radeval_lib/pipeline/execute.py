"""Run one notebook with papermill: output whole or absent, failures in one line."""

from __future__ import annotations

import ast
import logging
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import nbformat
import papermill as pm
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from radeval_lib import atomic, data
from radeval_lib.data import restricted
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.data.manifests import restricted_in
from radeval_lib.errors import NotebookError, ParameterError, listed, plain
from radeval_lib.paths import (
    BUILD,
    BUILD_LOCK,
    NOTEBOOKS,
    ROOT,
    STAGE,
    THREAD_VARIABLES,
    display_path,
    notebooks,
)
from radeval_lib.pipeline import forkserver, steps
from radeval_lib.study import jobs, profiles, runs
from radeval_lib.study.jobs import Job
from radeval_lib.study.sources import read_source

INJECTED = "injected-parameters"
COMMON = ("profile", "seed", "output_dir", "data_root")
"""Parameters that every notebook has; what a notebook has beyond them makes it a job."""


def notebook_name(given: str) -> str:
    """Return the notebook that ``given`` names: ``rales/datasets``, or a path to its source.

    Raises
    ------
    NotebookError
        If no notebook has this name; the message suggests similar names.
    """
    bare = given.removesuffix(".md").removeprefix(f"{NOTEBOOKS}/")
    bare = bare.removeprefix("./").removeprefix("notebooks/")
    if bare not in notebooks():
        close = get_close_matches(bare, notebooks(), n=5, cutoff=0.4) or list(notebooks())
        problem = f"unknown notebook {plain(given, 60)!r}"
        raise NotebookError(problem, display_path(NOTEBOOKS), f"Name one of {listed(close)}.")
    return bare


def parse_parameters(notebook: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Return every parameter of a notebook: its defaults, replaced by ``given``. Texts are read as Python
    values of the same types.

    Raises
    ------
    ParameterError
        For a parameter that the notebook does not have, a value of another type than its default, or a
        notebook whose defaults are not plain values.
    """
    every = read_source(NOTEBOOKS / f"{notebook}.md").cells
    source = "\n".join(cell.source for cell in every if "parameters" in cell.metadata.get("tags", []))
    try:
        assigned = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
        values = {ast.unparse(node.targets[0]): ast.literal_eval(node.value) for node in assigned}
    except (SyntaxError, ValueError):
        remedy = "Give each parameter in the `parameters` cell a number, a text, True or False."
        raise ParameterError("the defaults of its parameters cannot be read", notebook, remedy) from None
    for name, text in given.items():
        if name not in values:
            raise ParameterError(f"unknown parameter {name!r}", notebook, f"Use one of {', '.join(values)}.")
        value: Any = text
        wanted: type[Any] = type(values[name])
        if wanted is not str:
            with suppress(SyntaxError, ValueError):
                value = ast.literal_eval(text)
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            problem = f"parameter {name} must be of type {wanted.__name__}, not {text!r}"
            raise ParameterError(problem, notebook, f"Give a value such as the default, {values[name]!r}.")
        values[name] = value
    return values


class ForkedKernelManager(AsyncKernelManager):
    """Starts a kernel as a fork of :mod:`radeval_lib.pipeline.forkserver` if a build runs one, otherwise as a
    new process."""

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """Return the command of the kernel, which reports on standard error only what ends it."""
        command = [*super().format_kernel_cmd(extra_arguments), "--log-level=CRITICAL"]
        return forkserver.through_server(command)

    async def start_kernel(self, **settings: Any) -> None:  # type: ignore[override]
        """Start it, so that it ends with this process, however that ends."""
        await super().start_kernel(preexec_fn=forkserver.kill_on_parent_exit, **settings)


@dataclass(frozen=True)
class NotebookRun:
    """A notebook to run, with all its parameters and the folder of its outputs."""

    notebook: str
    parameters: Mapping[str, Any]
    output_dir: Path

    @property
    def job(self) -> Job | None:
        """The job that it is; None for a page."""
        more = tuple((key, value) for key, value in self.parameters.items() if key not in COMMON)
        return Job(self.notebook, more) if more else None

    @property
    def name(self) -> str:
        """The name of its step in a build."""
        return f"{self.notebook}/{self.job.slug}" if self.job else self.notebook

    @property
    def results(self) -> Path:
        """The folder of a page's results or of a job's outputs."""
        return self.output_dir / ("cells" if self.job else "results") / self.name

    @property
    def executed(self) -> Path:
        """The executed notebook."""
        return jobs.executed_path(self.output_dir, self.name, is_cell=self.job is not None)


def plan_run(notebook: str, parameters: Mapping[str, Any]) -> NotebookRun:
    """Return the run of a notebook with these, all its parameters. Its outputs are among a build's if a build
    runs it with the same ones, otherwise below ``build/runs``.

    Raises
    ------
    ParameterError
        For an ``output_dir`` that is not below ``build/``.
    """
    settings = profiles.profile(str(parameters["profile"]))
    own = {key: value for key, value in parameters.items() if key not in COMMON}
    output_dir = runs.outputs_of(notebook, settings, int(parameters["seed"]), own)
    if given := str(parameters["output_dir"]):
        output_dir = Path(given).resolve()
        if BUILD not in output_dir.parents:
            remedy = "Give a folder below build/, or run papermill itself."
            raise ParameterError(f"output_dir {given!r} is not below build/", notebook, remedy)
    return NotebookRun(notebook, parameters, output_dir)


def run_notebook(run: NotebookRun, *, progress: bool, in_build: bool) -> None:
    """Execute a notebook. Its outputs are put in place whole if it succeeds, and not at all otherwise.

    Parameters
    ----------
    progress : whether papermill's bar is shown, one step per cell.
    in_build : whether it is a step of a build: a notebook that lacks data is then left out; by hand, that is
        an error like others. A run by hand waits for no build, but is refused while one writes to its output
        folder.

    Raises
    ------
    NotebookError
        If a cell raises, the kernel dies, or a notebook of jobs saves nothing. The notebook up to there is
        kept beside its place, as ``*.failed.ipynb``.
    BusyError
        If another process writes to the same place.
    """
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    failed = run.executed.with_suffix(".failed.ipynb")
    failed.unlink(missing_ok=True)
    with ExitStack() as held:
        if not in_build:
            held.enter_context(steps.locked(run.output_dir / BUILD_LOCK, shared=True))
        held.enter_context(steps.locked(run.executed.parent / f".{run.executed.stem}.lock"))
        folder = held.enter_context(atomic.scratch(run.executed.parent))
        executed = folder / "executed.ipynb"
        with atomic.new_folder(run.results) as stage:
            try:
                _execute(run, stage, executed, progress)
            except PapermillExecutionError as error:
                if not (in_build and error.ename == AbsentDataError.__name__ and error.evalue):
                    raise _failure(run, error, executed, failed) from None
                print(f"radbook: {run.name} is left out: {error.evalue}", flush=True)
                atomic.discard(*stage.iterdir())  # what it recorded before it stopped
                omission = nbformat.v4.new_notebook(metadata={steps.OMISSION_KEY: error.evalue})
                nbformat.write(omission, executed)
                if run.job:
                    jobs.write(stage, run.job, {}, {jobs.MISSING_DATA: error.evalue})
            if run.job and not (stage / jobs.FACTS).is_file():
                remedy = "Save its results in its last code cell."
                raise NotebookError("this job saved nothing", f"notebooks/{run.notebook}.md", remedy)
        os.replace(executed, run.executed)
    shutil.rmtree(run.output_dir / jobs.UNFINISHED / run.name, ignore_errors=True)


def _failure(run: NotebookRun, error: PapermillExecutionError, executed: Path, failed: Path) -> NotebookError:
    """Keep a notebook up to the cell that failed in the file ``failed``, and return the error to raise.
    Outputs are not kept if restricted data were within reach."""
    content = nbformat.read(executed, as_version=4)
    secret = bool(restricted_in(data.data_root(run.parameters["data_root"] or None)))
    if secret:
        restricted.without_outputs(content)
    nbformat.write(content, failed)
    code = [cell for cell in content.cells if cell.cell_type == "code"]
    # Counted as in the source: without the cell that papermill puts in.
    counts = [cell.execution_count for cell in code if INJECTED not in cell.metadata.get("tags", [])]
    number = 1 + (counts.index(error.exec_count) if error.exec_count in counts else 0)
    message = steps.without_colours(error.evalue).strip().splitlines() or ["no message"]
    is_ours = restricted.is_safe_error(error.ename)
    problem = message[0] if is_ours or not secret else restricted.WITHHELD
    # One of our errors has its remedy behind what is wrong, as a sentence of its own.
    advice = "" if is_ours and ". " in problem else "; correct the cell and run `radbook build` again"
    line = plain((error.source.strip().splitlines() or [""])[0], 80)
    report = f"code cell {number} ({line!r}) raised {error.ename}: {problem}"
    if is_ours and len(report) > (most := NotebookError.longest[0]):
        report = f"{report[: most - 4]} ..."  # what is wrong comes first, the choices last
    remedy = f"The run up to there is kept in {display_path(failed)}{advice}."
    return NotebookError(report, f"notebooks/{run.notebook}.md", remedy)


def _execute(run: NotebookRun, stage: Path, executed: Path, progress: bool) -> None:
    """Run a notebook's cells with papermill into the notebook ``executed``; its kernel leaves its results in
    the folder ``stage``.

    Raises
    ------
    PapermillExecutionError
        If a cell raises; ``executed`` then holds the cells up to it.
    NotebookError
        If the kernel dies, or a cell runs too long.
    """
    settings = profiles.profile(str(run.parameters["profile"]))
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(settings.threads)))  # before libraries load
    is_builds = run.output_dir == BUILD / settings.name
    where, source = f"notebooks/{run.notebook}.md", executed.with_name("source.ipynb")
    nbformat.write(read_source(NOTEBOOKS / f"{run.notebook}.md"), source)
    # The kernel's sockets are files, since two kernels that start at once may pick the same TCP port; their
    # folder is the system's, because the length of a socket's path is limited.
    with tempfile.TemporaryDirectory(prefix="radbook-") as sockets:
        transport = {"transport": "ipc", "ip": f"{sockets}/kernel"}
        os.environ[STAGE] = str(stage.resolve())  # the kernel inherits it
        try:
            pm.execute_notebook(
                source,
                executed,
                # No folder of this machine if it can be avoided.
                {**run.parameters, "output_dir": "" if is_builds else display_path(run.output_dir)},
                request_save_on_cell_execute=False,  # else it is written twice a cell
                progress_bar=progress,
                cwd=ROOT,
                kernel_name="python3",
                kernel_manager_class=ForkedKernelManager,
                config=Config({"ForkedKernelManager": transport}),
                start_timeout=settings.limits.start_seconds,
                execution_timeout=settings.limits.cell_minutes * 60,
            )
        except CellTimeoutError as error:
            # nbclient's message has the cell in its fifth line, a long cell as a list of its lines.
            line = plain(str(error).splitlines()[4].removeprefix("['").partition("', '")[0], 80)
            problem = f"the cell {line!r} ran for more than {settings.limits.cell_minutes} minutes"
            file = f"data_manifests/profiles/{settings.name}.yml"
            remedy = f"Make the cell faster, or raise `limits: cell_minutes` in {file}."
            raise NotebookError(problem, where, remedy) from None
        except RuntimeError as error:  # nbclient's DeadKernelError is one
            remedy = "Memory may be short; run `radbook build` again."
            raise NotebookError(f"the kernel died: {error}", where, remedy) from None
        finally:
            del os.environ[STAGE]
    _remove_traces(executed)


def _remove_traces(executed: Path) -> None:
    """Remove papermill's times, machine paths and random names from an executed notebook, so that equal
    results are equal bytes."""
    content = nbformat.read(executed, as_version=4)
    content.metadata.pop("papermill", None)
    for cell in content.cells:
        if INJECTED in cell.metadata.get("tags", []):
            cell["id"] = INJECTED
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
    nbformat.write(content, executed)
