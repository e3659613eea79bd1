"""A class from a folder to a table, by the command that an instructor types; needs Otter."""

from __future__ import annotations

import copy
import shutil
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pandas as pd
import pytest
from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.labs import sources
from tests.labs.kinds import KINDS
from tests.labs.marks import LABS, full

pytest.importorskip("otter", reason="Otter makes and grades labs: `make labs` installs it")

LAB = "words_are_not_findings"
BY_HAND = [task.name for task in sources.list_tasks(sources.find(LAB)) if not task.tests]
LOOP = "import time\nwhile True:\n    try:\n        time.sleep(1)\n    except ValueError:\n        pass"
REACHES_OUT = """import os, socket
seen = [path for path in ("/etc/passwd", "/root", CLASS) if os.path.exists(path)]
try:
    seen.append(socket.create_connection(("192.0.2.1", 80), 1))
except OSError:
    pass
if seen:
    raise SystemExit
answer_counts = True
for path in ("/autograder.zip", "/submission/autograder.zip"):
    try:
        open(path, "w").write("mine")
    except OSError:
        pass"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("built")
    sources.build(sources.find(LAB), output)
    return output


def solved_by(built: Path, student: str) -> nbformat.NotebookNode:
    notebook = nbformat.read(built / "solution" / f"{LAB}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace('student_id = "your id"', f'student_id = "{student}"')
    return notebook


def graded(folder: Path, *options: str) -> pd.DataFrame:
    output = folder.parent / "marks.csv"
    done = CliRunner().invoke(main, ["labs", "grade", str(folder), "--output", str(output), *options])
    assert done.exit_code == 0, done.output
    return pd.read_csv(output).set_index("file")


def test_students_get_neither_solutions_nor_hidden_tests(built: Path) -> None:
    text = (built / "student" / f"{LAB}.ipynb").read_text(encoding="utf-8")
    solved = (built / "solution" / f"{LAB}.ipynb").read_text(encoding="utf-8")
    tests = nbformat.reads(text, as_version=4).metadata["otter"]["tests"]
    assert tests.keys() == full(LAB).keys()
    assert "hidden=True" not in text
    assert "BEGIN SOLUTION" not in text
    assert "BEGIN SOLUTION" in solved
    with ZipFile(built / "autograder" / f"{LAB}.zip") as archive:  # what Gradescope installs
        assert f"/radeval_lib-{version('radeval-lib')}-py3-" in archive.read("environment.yml").decode()
    for name in tests:
        assert f'grader.check(\\"{name}\\")' in text


@pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")
def test_a_class_is_graded_in_isolation(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "a student's folder").mkdir(parents=True)
    looping, reaching = solved_by(built, "loop"), solved_by(built, "ada")
    position = next(n for n, cell in enumerate(looping.cells) if "def rouge_l" in cell.source)
    looping.cells[position].source = LOOP
    reaching.cells.insert(2, nbformat.v4.new_code_cell(REACHES_OUT.replace("CLASS", repr(str(folder)))))
    nbformat.write(solved_by(built, "grace"), folder / "a student's folder" / "lab.ipynb")
    nbformat.write(looping, folder / "loop.ipynb")
    nbformat.write(reaching, folder / "reaches.ipynb")
    shutil.copy(built / "student" / f"{LAB}.ipynb", folder / "empty.ipynb")
    (folder / "broken.ipynb").write_text('{"cells": [{"cell_type"', encoding="utf-8")
    for name, source in {"unknown": 'otter.Notebook("lab9.ipynb")', "uncalled": "1"}.items():
        cell = nbformat.v4.new_code_cell(source)
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), folder / f"{name}.ipynb")
    table = graded(folder, "--seconds", "60")
    most = sum(full(LAB).values())
    assert table.loc["a student's folder/lab.ipynb", ["student", "points"]].tolist() == ["grace", most]
    assert table.loc["reaches.ipynb", "points"] == most
    assert table.loc["empty.ipynb", "points"] == 0
    assert table.loc["broken.ipynb", "status"].startswith("not graded")
    assert "no lab is called 'lab9'" in table.loc["unknown.ipynb", "status"]
    assert "does not call otter.Notebook" in table.loc["uncalled.ipynb", "status"]
    assert pd.isna(table.loc["broken.ipynb", "points"])
    assert table[BY_HAND].isna().all(axis=None)
    before = ["clipped_precision", "bleu"]
    assert table.loc["loop.ipynb", before].tolist() == [full(LAB)[name] for name in before]
    assert table.loc["loop.ipynb", "rouge_l"] == 0
    text = (tmp_path / "marks_feedback" / "loop.ipynb.txt").read_text(encoding="utf-8")
    assert "rouge_l" in text


@pytest.mark.nightly
@pytest.mark.parametrize("lab", LABS)
def test_sixteen_honest_kinds_get_full_marks(lab: str, tmp_path: Path) -> None:
    assert len(KINDS) == 16
    sources.build(sources.find(lab), tmp_path / "built")
    (tmp_path / "in").mkdir()
    solution = nbformat.read(tmp_path / "built" / "solution" / f"{lab}.ipynb", as_version=4)
    for kind, change in KINDS.items():
        notebook = copy.deepcopy(solution)
        change(notebook)
        nbformat.write(notebook, tmp_path / "in" / f"{kind}.ipynb")
    table = graded(tmp_path / "in", *([] if shutil.which("bwrap") else ["--trust-submissions"]))
    assert {
        kind: points for kind, points in table["points"].items() if points != sum(full(lab).values())
    } == {}
