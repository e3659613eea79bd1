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


@dataclass(frozen=True)
class Check:
    """What one check said, or, where ``task`` is empty, that a cell failed."""

    task: str
    passed: bool
    message: str


def check(path: Path, seconds: int) -> list[Check]:
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
        startup_timeout=300,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.resolve().parent)}},
        extra_arguments=["--log-level=ERROR"],
        on_notebook_start=lambda notebook: started.append(notebook),
    )
    stopped: list[Check] = []
    try:
        client.execute()
    except CellTimeoutError:
        stopped.append(Check("", False, f"a cell took longer than {seconds} seconds: the rest did not run"))
    except (AssertionError, RuntimeError):  # nbclient's own clearing up may fail as well
        ended = "a cell ended the kernel: the rest did not run"
        stopped.append(Check("", False, ended if started else "the kernel did not start: no cell ran"))
    outputs = [(number, one) for number, cell in enumerate(notebook.cells, 1) for one in cell.outputs]
    begin = ["", *(plain(cell.strip().partition("\n")[0], 60) for cell in cells)]
    found = [one for n, output in outputs for one in _said(f"code cell {n} (`{begin[n]}`)", output)] + stopped
    if not any(one.task for one in found) and not stopped:
        raise LabError("no check ran", path.name, "Check a lab's notebook, with its first cell as it was.")
    return found


def _said(cell: str, output: Mapping[str, Any]) -> list[Check]:
    if output["output_type"] == "error":
        return [Check("", False, f"{cell}: {output['ename']}: {plain(output['evalue'], 200)}")]
    content = output.get("data", {}).get(MIME)
    return [Check(content["task"], content["passed"], content["message"])] if content else []
