"""What a student sees: checks that run wherever the notebook lies, and a Run All that goes on."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

from radeval_lib import __version__
from radeval_lib.cli import main
from radeval_lib.labs import building, lab_sources
from radeval_lib.labs.checks import Checks
from tests.labs.test_labs import LABS, versions, with_id

CHECKED = """
@grader.check("answer")
def test_positive(answer):
    assert answer > 0, "it is positive"


@grader.check("double")
def test_of_two(double):
    assert double(2) == 4, "twice two is four"
"""


def checked(folder: Path, *answers: str, student: str = '"ada"') -> Result:
    """What `radbook labs check` says of a small notebook, saved under a name of the student's own."""
    sources = [
        f'from radeval_lib.labs.checks import Checks\ngrader = Checks("small", "{__version__}-1")',
        f"student_id = {student}",
        "grader.check_id(student_id)",
        *answers,
        CHECKED,
    ]
    path = folder / "my own name.ipynb"
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources]), path
    )
    before = path.read_bytes()
    done = CliRunner().invoke(main, ["labs", "check", str(path)])
    assert path.read_bytes() == before
    return done


def test_a_saved_notebook_is_checked_in_a_fresh_kernel(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("3")
    done = checked(tmp_path, "answer = int(open('data.txt').read())", "def double(x):\n    return x + x")
    assert done.exit_code == 0, done.output
    assert "your id is 'ada'" in done.output
    assert "3 of 3 pass" in done.output


def test_what_fails_is_said(tmp_path: Path) -> None:
    done = checked(tmp_path, "answer = ...", "def double(x):\n    return 1 / 0", "undefined", student="[1]")
    assert done.exit_code == 1
    for said in (
        "an id is a text or a whole number, not a list",
        "answer (positive): answer: it has no answer yet",
        "ZeroDivisionError: division by zero",
        "code cell 6 (`undefined`): NameError: name 'undefined' is not defined",
        "0 of 4 pass",
    ):
        assert said in done.output


def test_the_placeholder_is_said(tmp_path: Path) -> None:
    done = checked(tmp_path, "answer = 1", "def double(x):\n    return 2 * x", student='"your id"')
    assert done.output.splitlines()[-2] == "2 of 3 pass"
    assert done.output.splitlines()[-1].startswith(
        "Mind your id, in the first cell: put your own id in place"
    )


def test_a_kernel_that_is_killed_is_said_in_a_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = checked(tmp_path, "import os\nos.kill(os.getpid(), 9)")
    assert done.output.splitlines()[-2:] == [
        "FAILS   a cell ended the kernel: the rest did not run",
        "1 of 2 pass",
    ]
    assert capfd.readouterr().err == ""

    whole = NotebookClient.execute

    def clears_up(client: NotebookClient) -> None:
        whole(client)
        raise AssertionError

    monkeypatch.setattr(NotebookClient, "execute", clears_up)
    assert "a cell ended the kernel" in checked(tmp_path).output


def test_a_kernel_that_does_not_start_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = [sys.executable, "-c", ""]
    monkeypatch.setattr(KernelManager, "format_kernel_cmd", lambda *given, **named: ends)
    done = checked(tmp_path)
    assert (done.exit_code, done.output.splitlines()) == (
        1,
        ["FAILS   the kernel did not start: no cell ran", "0 of 1 pass"],
    )


def test_what_has_no_check_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), path)
    done = CliRunner().invoke(main, ["labs", "check", str(path)])
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    path.write_text("%PDF")
    done = CliRunner().invoke(main, ["labs", "check", str(path)])
    assert (done.exit_code, done.output.count("\n")) == (2, 1)


def test_another_release_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"release 0\.0\.9 of radeval-lib made this notebook"):
        Checks("small", "0.0.9-1")


@pytest.mark.parametrize(
    "lab", [LABS[0], *(pytest.param(lab, marks=pytest.mark.nightly) for lab in LABS[1:])]
)
def test_run_all_of_an_unsolved_notebook_reaches_its_end(lab: str, tmp_path: Path) -> None:
    notebook = with_id(versions(lab)["student"], "ada")
    notebook.cells.append(nbformat.v4.new_code_cell("reached = 'the end'\nreached"))
    NotebookClient(
        notebook,
        timeout=300,
        startup_timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    assert "the end" in str(notebook.cells[-1].outputs)


def test_a_change_of_what_students_get_is_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = lab_sources.find("1")
    before = building.versions(lab)["student"].metadata[building.METADATA]["version"]
    assert building.versions(lab)["grader"].metadata["lab"]["version"] == before
    monkeypatch.setattr(building, "_UNANSWERED", "_Your answer._")
    assert building.versions(lab)["student"].metadata[building.METADATA]["version"] != before
