"""What is told of a cell that failed."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from papermill.exceptions import PapermillExecutionError

from radeval_lib.errors import ModelError, ParameterError
from radeval_lib.pipeline import execute
from radeval_lib.roles import RoleError

MEND = "mend the cell"


@pytest.mark.parametrize(
    ("error", "to_mend"),
    [
        (
            RoleError("'rexval' gives no pair", "data", "`radbook data status rexval` says what is missing."),
            False,
        ),
        (ModelError("the package radgraph is not installed", "radgraph", "Run: pip install radgraph"), False),
        (ParameterError("profile 'full' needs data files", "a/b", "Name their folder."), False),
        (RoleError("profile 'full' fills no role 'pairs'"), True),
        (ValueError("broken. Really."), True),
    ],
)
@pytest.mark.parametrize("secret", [False, True])
def test_a_remedy_of_its_own_is_the_only_one(
    error: Exception, to_mend: bool, secret: bool, tmp_path: Path
) -> None:
    kept = tmp_path / "page.failed.ipynb"
    cell = nbformat.v4.new_code_cell("run.load('pairs')", execution_count=1)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), kept)
    raised = PapermillExecutionError(0, 1, cell.source, type(error).__name__, str(error), [])
    told = str(execute._failure("facts/one", raised, kept, secret))
    assert (MEND in told) == to_mend
    assert "page.failed.ipynb" in told
    assert told.count("\n") == 0
