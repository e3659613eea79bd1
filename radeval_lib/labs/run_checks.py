"""Runs a student's saved notebook from its beginning, and reports its own checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError

from radeval_lib.errors import LabError, plain
from radeval_lib.labs import notebook_files
from radeval_lib.labs.checks import MIME

_STARTUP_SECONDS = 300  # for a kernel to answer: a cold disk or a busy machine takes long


@dataclass(frozen=True)
class CheckOutcome:
    """What one check said, or, where ``task`` is empty, that a cell failed."""

    task: str
    passed: bool
    message: str


def run_checks(path: Path, seconds: int) -> list[CheckOutcome]:
    """What the checks of a notebook say in a fresh kernel, in the order in which they ran.

    The file is not changed. A cell may take so many seconds.

    Raises
    ------
    LabError
        For a file that is no notebook, or holds no check.
    """
    try:
        cells = notebook_files.read(path).cells
    except (OSError, ValueError) as error:
        raise LabError(plain(str(error), 120), path.name, "Name the notebook that you saved.") from None
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    started: list[object] = []
    client = NotebookClient(
        notebook,
        timeout=seconds,
        startup_timeout=_STARTUP_SECONDS,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.resolve().parent)}},
        extra_arguments=["--log-level=ERROR"],
        on_notebook_start=lambda notebook: started.append(notebook),
    )
    stopped = ""
    try:
        client.execute()
    except CellTimeoutError:
        stopped = f"a cell took longer than {seconds} seconds: the rest did not run"
    except (AssertionError, RuntimeError):  # nbclient's own clearing up may fail as well
        ended = "a cell ended the kernel: the rest did not run"
        stopped = ended if started else "the kernel did not start: no cell ran"
    outcomes = []
    for number, cell in enumerate(notebook.cells, start=1):
        first_line = cell.source.strip().partition("\n")[0]
        for output in cell.outputs:
            outcomes += _outcomes(f"code cell {number} (`{plain(first_line, 60)}`)", output)
    if stopped:
        outcomes.append(CheckOutcome("", False, stopped))
    elif not any(outcome.task for outcome in outcomes):
        raise LabError("no check ran", path.name, "Check a lab's notebook, with its first cell as it was.")
    return outcomes


def _outcomes(place: str, output: Mapping[str, Any]) -> list[CheckOutcome]:
    """What one output of a cell says: an error, a check, or nothing of either."""
    if output["output_type"] == "error":
        return [CheckOutcome("", False, f"{place}: {output['ename']}: {plain(output['evalue'], 200)}")]
    content = output.get("data", {}).get(MIME)
    return [CheckOutcome(content["task"], content["passed"], content["message"])] if content else []
