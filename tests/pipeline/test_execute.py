"""Parameters of a run, what is reported of a cell that failed, and of cells that are not the source's."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from papermill.exceptions import PapermillExecutionError

from radeval_lib.data.errors import AbsentDataError
from radeval_lib.errors import ModelError, NotebookError, ParameterError
from radeval_lib.paths import THREAD_VARIABLES
from radeval_lib.pipeline import execute, steps
from radeval_lib.pipeline.execute import parse_parameters, resolve_notebook
from tests.pipeline.conftest import TinyRepository

PAGE = "rales/nlu_scores"
PARAMETERS = {"profile": "embedded", "seed": 0, "output_dir": "", "data_root": ""}
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
    ("error", "to_mend"),
    [
        (ModelError("the package radgraph is not installed", "radgraph", "Run: pip install x"), False),
        (ValueError("broken. Really."), True),
    ],
)
@pytest.mark.parametrize("secret", [False, True])
def test_an_error_with_a_remedy_gets_no_other(
    error: Exception, to_mend: bool, secret: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "list_restricted", lambda _: ["rexval"] if secret else [])
    executed, kept = tmp_path / "page.ipynb", tmp_path / "page.failed.ipynb"
    cell = nbformat.v4.new_code_cell("run.load('pairs')", execution_count=1)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), executed)
    raised = PapermillExecutionError(0, 1, cell.source, type(error).__name__, str(error), [])
    run = execute.NotebookRun("facts/one", PARAMETERS, tmp_path)
    report = str(execute._keep_failed(run, raised, executed, kept))
    assert ("correct the cell" in report) == to_mend
    assert kept.is_file()
    assert "\n" not in report


def test_cells_that_are_not_the_sources_get_no_verdict(tiny: TinyRepository) -> None:
    path = tiny.build / "results" / "facts" / "one" / "facts.table1.printed.json"
    verdicts = {}
    for edit in (("no such text", ""), ("1 + 1", "1 + 0 + 1")):
        assert tiny.run([sys.executable, "-c", EDITED, *edit]).returncode == 0
        result = json.loads(path.read_text(encoding="utf-8"))
        verdicts[result["provenance"]["notebook"]["matches_source"]] = result["verdict"]
    assert verdicts == {True: "consistent", False: "from an edited notebook"}


@pytest.mark.parametrize(
    ("in_build", "error"), [(True, AbsentDataError), (False, AbsentDataError), (True, ValueError)]
)
def test_only_a_build_leaves_out_a_page_that_lacks_data(
    in_build: bool, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised = PapermillExecutionError(0, 1, "run.load('pairs')", error.__name__, "RadPref is missing", [])

    def run(source: Path, executed: Path, *_: object, **__: object) -> None:
        shutil.copy(source, executed)
        raise raised

    for name in THREAD_VARIABLES:  # which a run sets
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(execute.pm, "execute_notebook", run)
    planned = execute.NotebookRun("rales/datasets", PARAMETERS, tmp_path)
    if in_build and error is AbsentDataError:
        execute.run_notebook(planned, progress=False, in_build=in_build)
        kept = nbformat.read(planned.executed, as_version=4)
        assert kept.metadata[steps.OMISSION_KEY] == "RadPref is missing"
        assert not list(planned.results.iterdir())
    else:
        with pytest.raises(NotebookError):
            execute.run_notebook(planned, progress=False, in_build=in_build)
        assert not planned.executed.exists()
        assert not planned.results.exists()
        assert planned.executed.with_suffix(".failed.ipynb").exists()


def test_a_parameter_has_its_own_type_and_a_name() -> None:
    values = parse_parameters(PAGE, {"seed": "7", "profile": "7"})
    assert values == {**PARAMETERS, "profile": "7", "seed": 7}
    for given in ({"seed": "x"}, {"seed": "7.0"}, {"seed": ""}, {"sede": "1"}):
        with pytest.raises(ParameterError):
            parse_parameters(PAGE, given)
    with pytest.raises(NotebookError, match="rales/nlu_scores"):
        resolve_notebook("rales/nlu_score")
    assert resolve_notebook("./notebooks/rales/nlu_scores.md") == PAGE
