"""What is said of a cell that failed, and of cells that are not the source's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from papermill.exceptions import PapermillExecutionError

from radeval_lib.data.errors import AbsentDataError
from radeval_lib.errors import ModelError, NotebookError, ParameterError
from radeval_lib.paths import THREAD_VARIABLES
from radeval_lib.pipeline import absent, execute
from radeval_lib.roles import RoleError
from tests.pipeline.conftest import TinyRepository

CORRECT = "correct the cell"


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
    assert (CORRECT in told) == to_mend
    assert "page.failed.ipynb" in told
    assert told.count("\n") == 0


def test_a_long_error_keeps_what_is_wrong(tmp_path: Path) -> None:
    kept = tmp_path / "page.failed.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[]), kept)
    said = str(RoleError("unknown data set 'toy_mark'", "data", f"Data sets: {', '.join(['other'] * 90)}."))
    raised = PapermillExecutionError(0, 1, "run.load(" + "x" * 200, "RoleError", said, [])
    assert "unknown data set 'toy_mark'. Data sets: other" in str(
        execute._failure("a/b", raised, kept, False)
    )


EDITED = """
import sys
from pathlib import Path
from nbclient import NotebookClient
from radeval_lib.study.sources import read_source
notebook = read_source(Path("notebooks/facts/one.md"))
for cell in notebook.cells:
    cell.source = cell.source.replace(*sys.argv[1:])
NotebookClient(notebook, kernel_name="python3").execute()
"""


@pytest.mark.parametrize(
    ("edit", "as_source", "verdict"),
    [
        (("no such text", ""), True, "consistent"),
        (("1 + 1", "1 + 0 + 1"), False, "from an edited notebook"),
    ],
)
def test_cells_that_are_not_the_sources_get_no_verdict(
    tiny: TinyRepository, edit: tuple[str, str], as_source: bool, verdict: str
) -> None:
    subprocess.run([sys.executable, "-c", EDITED, *edit], cwd=tiny.path, env=tiny.environment(), check=True)
    path = tiny.build / "results" / "facts" / "one" / "facts.table1.printed.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["provenance"]["notebook"]["as_source"] is as_source
    assert result["verdict"] == verdict


def _papermill(tiny: TinyRepository, *options: str) -> subprocess.CompletedProcess[str]:
    """Return plain papermill on a page of a repository, as the README has it."""
    command = [sys.executable, "-m", "papermill", "notebooks/facts/one.md", "out.ipynb", *options]
    return subprocess.run(
        command, cwd=tiny.path, env=tiny.environment(), capture_output=True, text=True, check=False
    )


def test_a_misspelt_parameter_is_refused_by_the_notebook_itself(tiny: TinyRepository) -> None:
    done = _papermill(tiny, "-p", "sede", "7")
    assert done.returncode != 0
    assert "unknown parameter 'sede'. Did you mean seed?" in done.stderr.replace("facts/one: ", "")
    assert not list(tiny.path.glob("build/**/*.printed.json"))


@pytest.mark.parametrize(
    ("owned", "error"), [(True, AbsentDataError), (False, AbsentDataError), (True, ValueError)]
)
def test_only_a_build_leaves_out_a_page_that_lacks_data(
    owned: bool, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised = PapermillExecutionError(0, 1, "run.load('pairs')", error.__name__, "RadPref is missing", [])

    def run(source: Path, executed: Path, *_: object, **__: object) -> None:
        shutil.copy(source, executed)
        raise raised

    for name in THREAD_VARIABLES:  # which a run sets
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(execute.pm, "execute_notebook", run)
    monkeypatch.setattr(execute.processes, "is_owned", lambda: owned)
    place = execute.RunFolders(tmp_path, "rales/datasets", is_cell=False)
    parameters = {"profile": "embedded", "seed": 0, "output_dir": "", "data_root": ""}
    if owned and error is AbsentDataError:
        execute.run_notebook("rales/datasets", parameters, place, progress=False)
        assert absent.omission_reason(place.executed) == "RadPref is missing"
        assert not list(place.left.iterdir())
    else:
        with pytest.raises(NotebookError, match="RadPref is missing"):
            execute.run_notebook("rales/datasets", parameters, place, progress=False)
        assert not place.executed.exists()
        assert not place.left.exists()
        assert place.executed.with_suffix(".failed.ipynb").exists()
