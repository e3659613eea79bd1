"""Execution of single notebooks with papermill; outputs are complete or absent, and errors are one line."""

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
from radeval_lib.data.manifests import list_restricted
from radeval_lib.errors import NotebookError, ParameterError, list_names, to_line
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

INJECTED_TAG = "injected-parameters"
COMMON = ("profile", "seed", "output_dir", "data_root")
"""Parameters that every notebook has. A notebook with further parameters is run as a job."""


def resolve_notebook(name_or_path: str) -> str:
    """Return the name of a notebook, such as ``rales/datasets``, from this name or the path of its source.

    Raises
    ------
    NotebookError
        If there is no such notebook; the message suggests similar names.
    """
    name = name_or_path.removesuffix(".md").removeprefix(f"{NOTEBOOKS}/")
    name = name.removeprefix("./").removeprefix("notebooks/")
    if name not in notebooks():
        similar = get_close_matches(name, notebooks(), n=5, cutoff=0.4) or list(notebooks())
        problem = f"unknown notebook {to_line(name_or_path, 60)!r}"
        raise NotebookError(problem, display_path(NOTEBOOKS), f"Name one of {list_names(similar)}.")
    return name


def parse_parameters(notebook: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return all parameters of a notebook: the values in ``texts``, and the defaults of the others.

    ``texts`` maps parameters to values as strings; each is converted to the type of the parameter's default.

    Raises
    ------
    ParameterError
        If the notebook has no such parameter, a string cannot be converted to the default's type, or a
        default is not a Python literal.
    """
    cells = read_source(NOTEBOOKS / f"{notebook}.md").cells
    source = "\n".join(cell.source for cell in cells if "parameters" in cell.metadata.get("tags", []))
    try:
        assignments = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
        values = {ast.unparse(node.targets[0]): ast.literal_eval(node.value) for node in assignments}
    except (SyntaxError, ValueError) as error:
        remedy = "Give each parameter in the `parameters` cell a number, a string, True or False."
        problem = f"its parameters cannot be read: {str(error).partition(': <')[0]}"
        raise ParameterError(problem, notebook, remedy) from None
    for name, text in texts.items():
        if name not in values:
            raise ParameterError(f"unknown parameter {name!r}", notebook, f"Use one of {', '.join(values)}.")
        value: Any = text
        kind: type[Any] = type(values[name])
        if kind is not str:
            with suppress(SyntaxError, ValueError):
                value = ast.literal_eval(text)
        if type(value) is not kind and not (kind is float and type(value) is int):
            problem = f"parameter {name} must be of type {kind.__name__}, not {text!r}"
            raise ParameterError(problem, notebook, f"Pass a value such as the default, {values[name]!r}.")
        values[name] = value
    return values


class ForkedKernelManager(AsyncKernelManager):
    """Starts a kernel as a fork of the server of :mod:`radeval_lib.pipeline.forkserver`.

    If no server runs, it starts the kernel as a new process.
    """

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """Return the command that starts the kernel, which logs only critical errors."""
        command = [*super().format_kernel_cmd(extra_arguments), "--log-level=CRITICAL"]
        return forkserver.wrap_command(command)

    async def start_kernel(self, **settings: Any) -> None:  # type: ignore[override]
        """Start the kernel so that it ends when this process ends, even if that is killed."""
        await super().start_kernel(preexec_fn=forkserver.kill_on_parent_exit, **settings)


@dataclass(frozen=True)
class NotebookRun:
    """A notebook with its parameters and output folder.

    Attributes
    ----------
    notebook : name of the notebook, such as ``rales/datasets``.
    parameters : all parameters of the notebook.
    output_dir : output folder, either that of the profile's build or this run's own.
    """

    notebook: str
    parameters: Mapping[str, Any]
    output_dir: Path

    @property
    def job(self) -> Job | None:
        """The job that is run; None for a page, which has no parameters other than :data:`COMMON`."""
        job_parameters = tuple((key, value) for key, value in self.parameters.items() if key not in COMMON)
        return Job(self.notebook, job_parameters) if job_parameters else None

    @property
    def name(self) -> str:
        """The name of the step in a build: the notebook's name and, for a job, ``/`` and its slug."""
        return f"{self.notebook}/{self.job.slug}" if self.job else self.notebook

    @property
    def results(self) -> Path:
        """The folder of a page's results, or of a job's outputs."""
        return self.output_dir / ("jobs" if self.job else "results") / self.name

    @property
    def executed(self) -> Path:
        """The path of the executed notebook."""
        return jobs.executed_path(self.output_dir, self.name, is_job=self.job is not None)


def plan_run(notebook: str, parameters: Mapping[str, Any]) -> NotebookRun:
    """Return the run of a notebook with ``parameters``, which must have a value for each of its parameters.

    The output folder is the parameter ``output_dir``. If the parameter is empty, the output folder is that of
    the profile's build if the build runs the notebook with the same parameters, otherwise a folder below
    ``build/runs``.

    Raises
    ------
    ParameterError
        If the parameter ``output_dir`` is neither empty nor a folder below ``build/``, or the notebook is
        that of jobs, of which the profile has none.
    ProfileError
        If there is no such profile, or it is not valid.
    """
    settings = profiles.profile(str(parameters["profile"]))
    job_parameters = {key: value for key, value in parameters.items() if key not in COMMON}
    output_dir = runs.outputs_of(notebook, settings, int(parameters["seed"]), job_parameters)
    if folder := str(parameters["output_dir"]):
        output_dir = Path(folder).resolve()
        if BUILD not in output_dir.parents:
            remedy = "Use a folder below build/, or run the notebook with papermill instead of radbook."
            raise ParameterError(f"output_dir {folder!r} is not below build/", notebook, remedy)
    return NotebookRun(notebook, parameters, output_dir)


def run_notebook(run: NotebookRun, *, progress: bool, in_build: bool) -> None:
    """Execute a notebook, and move its outputs to their place if it succeeds.

    Parameters
    ----------
    progress : whether to show papermill's progress bar.
    in_build : whether the run is a step of a build. If its data are missing, such a run leaves the notebook
        out and prints the reason; any other run fails. While a build writes to the same folder, any other run
        fails, too.

    Raises
    ------
    NotebookError
        If a cell raises an error or runs too long, the kernel dies or does not start in time, or a job saves
        nothing. After an error in a cell, the notebook up to this cell is kept as ``*.failed.ipynb`` in the
        folder of ``run.executed``.
    BusyError
        If another process is writing to the same folder or file.
    """
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    failed = run.executed.with_suffix(".failed.ipynb")
    failed.unlink(missing_ok=True)
    with ExitStack() as stack:
        if not in_build:
            stack.enter_context(steps.hold_lock(run.output_dir / BUILD_LOCK, shared=True))
        stack.enter_context(steps.hold_lock(run.executed.parent / f".{run.executed.stem}.lock"))
        folder = stack.enter_context(atomic.scratch(run.executed.parent))
        executed = folder / "executed.ipynb"
        with atomic.new_folder(run.results) as stage:
            try:
                _execute(run, stage, executed, progress)
            except PapermillExecutionError as error:
                if not (in_build and error.ename == AbsentDataError.__name__ and error.evalue):
                    raise _keep_failed(run, error, executed, failed) from None
                print(f"radbook: {run.name} is left out: {error.evalue}", flush=True)
                atomic.discard(*stage.iterdir())  # results recorded before the notebook stopped
                omission = nbformat.v4.new_notebook(metadata={steps.OMISSION_KEY: error.evalue})
                nbformat.write(omission, executed)
                if run.job:
                    jobs.write(stage, run.job, {}, {jobs.MISSING_DATA: error.evalue})
            if run.job and not (stage / jobs.FACTS).is_file():
                remedy = "Save its results in its last code cell."
                raise NotebookError("this job saved nothing", f"notebooks/{run.notebook}.md", remedy)
        os.replace(executed, run.executed)
    shutil.rmtree(run.output_dir / jobs.UNFINISHED / run.name, ignore_errors=True)


def _keep_failed(run: NotebookRun, error: PapermillExecutionError, source: Path, path: Path) -> NotebookError:
    """Copy a notebook that failed from ``source`` to ``path``, and return the error to raise.

    If the data root has a restricted data set, the outputs of cells are removed, and an error's message that
    may quote these data is withheld.
    """
    content = nbformat.read(source, as_version=4)
    can_leak = bool(list_restricted(data.data_root(run.parameters["data_root"] or None)))
    if can_leak:
        restricted.withhold_outputs(content)
    nbformat.write(content, path)
    code = [cell for cell in content.cells if cell.cell_type == "code"]
    # Cells are counted as in the source, which lacks the cell that papermill inserts.
    counts = [cell.execution_count for cell in code if INJECTED_TAG not in cell.metadata.get("tags", [])]
    number = 1 + (counts.index(error.exec_count) if error.exec_count in counts else 0)
    message = steps.remove_colours(error.evalue).strip().splitlines() or ["no message"]
    is_safe = restricted.is_safe_error(error.ename)
    problem = message[0] if is_safe or not can_leak else restricted.WITHHELD
    # The message of a RadevalError already ends with a remedy, in a separate sentence.
    advice = "" if is_safe and ". " in problem else "; correct the cell, and run the notebook again"
    line = to_line((error.source.strip().splitlines() or [""])[0], 80)
    report = f"code cell {number} ({line!r}) raised {error.ename}: {problem}"
    if is_safe and len(report) > (limit := NotebookError.longest[0]):
        report = f"{report[: limit - 4]} ..."  # the end only lists choices, so it is cut, not the middle
    remedy = f"The run up to there is kept in {display_path(path)}{advice}."
    return NotebookError(report, f"notebooks/{run.notebook}.md", remedy)


def _execute(run: NotebookRun, stage: Path, executed: Path, progress: bool) -> None:
    """Run a notebook with papermill, in the folder of the repository.

    Parameters
    ----------
    stage : folder to which the notebook writes its results.
    executed : path to which the executed notebook is written.
    progress : whether to show papermill's progress bar.

    Raises
    ------
    PapermillExecutionError
        If a cell raises an error; ``executed`` then has the cells up to it.
    NotebookError
        If the kernel dies or does not start in time, or a cell runs too long.
    """
    settings = profiles.profile(str(run.parameters["profile"]))
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(settings.threads)))  # before libraries are imported
    is_build_folder = run.output_dir == BUILD / settings.name
    source_name, source = f"notebooks/{run.notebook}.md", executed.with_name("source.ipynb")
    nbformat.write(read_source(NOTEBOOKS / f"{run.notebook}.md"), source)
    # The kernel's sockets are files, because two kernels that start at the same time may choose the same TCP
    # port. They are in the system's temporary folder, because the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="radbook-") as sockets:
        transport = {"transport": "ipc", "ip": f"{sockets}/kernel"}
        os.environ[STAGE] = str(stage.resolve())  # the kernel inherits it
        try:
            pm.execute_notebook(
                source,
                executed,
                # A relative path, if possible, so that the notebook names no folder of this machine.
                {**run.parameters, "output_dir": "" if is_build_folder else display_path(run.output_dir)},
                request_save_on_cell_execute=False,  # otherwise the notebook is saved twice per cell
                progress_bar=progress,
                cwd=ROOT,
                kernel_name="python3",
                kernel_manager_class=ForkedKernelManager,
                config=Config({"ForkedKernelManager": transport}),
                start_timeout=settings.limits.start_seconds,
                execution_timeout=settings.limits.cell_minutes * 60,
            )
        except CellTimeoutError as error:
            # The fifth line of nbclient's message has the cell's code, for a long cell as a list of lines.
            line = to_line(str(error).splitlines()[4].removeprefix("['").partition("', '")[0], 80)
            problem = f"the cell {line!r} ran for more than {settings.limits.cell_minutes} minutes"
            file = f"data_manifests/profiles/{settings.name}.yml"
            remedy = f"Make the cell faster, or raise `limits: cell_minutes` in {file}."
            raise NotebookError(problem, source_name, remedy) from None
        except RuntimeError as error:  # the kernel died, or did not start in time
            remedy = "Free memory or, if it started too slowly, raise `limits: start_seconds` in the profile."
            raise NotebookError(f"the kernel failed: {error}", source_name, remedy) from None
        finally:
            del os.environ[STAGE]
    _remove_traces(executed)


def _remove_traces(executed: Path) -> None:
    """Remove times, paths of this machine and random ids from an executed notebook, in place.

    Runs with the same results then give the same bytes.
    """
    content = nbformat.read(executed, as_version=4)
    content.metadata.pop("papermill", None)
    for cell in content.cells:
        if INJECTED_TAG in cell.metadata.get("tags", []):
            cell["id"] = INJECTED_TAG
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
    nbformat.write(content, executed)
