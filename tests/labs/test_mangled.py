"""A mangled submission costs its owner at most what it broke, and nobody else anything."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
import pandas as pd
import pytest

from radeval_lib import __version__
from radeval_lib.labs import sandbox
from tests.labs.mangling import (
    BY_HAND,
    CLASS_FOLDER,
    DECOY,
    FILES,
    GATE,
    HIDDEN,
    LAB,
    NOTEBOOKS,
    PORT,
    TASKS,
    mangled,
)
from tests.labs.test_labs import ADA, graded, tasks, versions, with_id

pytestmark = pytest.mark.skipif(bool(sandbox.missing()), reason=sandbox.missing())
THIEF = "an empty notebook that looks for answers"
ZIPPED, WITH_DATA = "zipped.zip/deep/renamed by me.ipynb", "with-data/lab.ipynb"
AUTOSAVED, LATER = "autosaved/.ipynb_checkpoints/a-checkpoint.ipynb", "twice (1).ipynb"
FORGER = "an empty notebook that forges verdicts"


def hand_in(folder: Path, name: str, content: bytes | nbformat.NotebookNode) -> None:
    folder.mkdir(exist_ok=True, parents=True)
    data = content if isinstance(content, bytes) else nbformat.writes(content).encode()
    (folder / f"{name}.ipynb").write_bytes(data)


def empty_with(kind: str) -> bytes:
    """A notebook without answers that begins with the cell of a kind."""
    return mangled(kind, with_id(versions(LAB)["student"], "nobody"))


@pytest.fixture(scope="module")
def decoy() -> Iterator[subprocess.Popen[bytes]]:
    """A process that a submission tries to end."""
    with subprocess.Popen(["sleep", "infinity"]) as process:
        yield process
        process.kill()


KINDS = [kind if kind in GATE else pytest.param(kind, marks=pytest.mark.nightly) for kind in NOTEBOOKS]
SCRIPT = "by-percent.py"
AT_NIGHT = ("by-light.py", "by-myst.md", "v3.ipynb", ZIPPED, AUTOSAVED, LATER)
"""Forms of sound work that `test_submissions.py` and `test_a_class.py` have found and read by day."""
SECONDS = 10 * 60
"""For a class with every kind, on two cores with nothing beside it, as the nightly job has them."""


@dataclass
class GradedClass:
    """A class after its grading: its table, how long that took, and whether its folder changed."""

    rows: pd.DataFrame
    seconds: float
    changed: bool


def state(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Content, mode and time of all files of a folder."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns) for path in files}


def solved(student: str) -> nbformat.NotebookNode:
    return with_id(versions(LAB)["instructor"], student)


def hand_in_other_forms(folder: Path) -> None:
    """Sound work that came as no plain notebook, and what is none."""
    for kind, content in FILES.items():
        hand_in(folder, kind, content)
    (folder / SCRIPT).write_text(jupytext.writes(solved(SCRIPT), fmt="py:percent"), encoding="utf-8")
    current, older = (f'", \\"{version}-' for version in (__version__, "0.0.1"))
    whole = nbformat.writes(solved("older"))
    assert current in whole
    hand_in(folder, "older", whole.replace(current, older).encode())
    hand_in(
        folder,
        "no id",
        nbformat.writes(solved("x")).replace('student_id = \\"x\\"', "student_id = x").encode(),
    )
    (folder / "nothing").mkdir()
    (folder / "essay.pdf").write_bytes(b"%PDF-1.7")
    hand_in(folder / "with-data", "lab", nbformat.writes(_reads_a_file()).encode())
    (folder / "with-data" / "own.txt").write_text("with data")


def hand_in_forms_at_night(folder: Path) -> None:
    """Sound work in the forms of :data:`AT_NIGHT`."""
    for name, form in {"by-light.py": "py:light", "by-myst.md": "md:myst"}.items():
        (folder / name).write_text(jupytext.writes(solved(name), fmt=form), encoding="utf-8")
    old = [
        {"cell_type": "code", "input": cell.source} for cell in solved("v3").cells if cell.cell_type == "code"
    ]
    hand_in(
        folder, "v3", json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": old}]}).encode()
    )
    with zipfile.ZipFile(folder / "zipped.zip", "w") as archive:
        archive.writestr("deep/renamed by me.ipynb", nbformat.writes(solved("zipped")))
    hand_in(folder / "autosaved" / ".ipynb_checkpoints", "a-checkpoint", solved("autosaved"))
    hand_in(folder, "twice", with_id(versions(LAB)["student"], "twice"))
    os.utime(folder / "twice.ipynb", (1_700_000_000,) * 2)
    hand_in(folder, "twice (1)", solved("twice"))


def _reads_a_file() -> nbformat.NotebookNode:
    notebook = solved("x")
    cell = next(cell for cell in notebook.cells if cell.source.startswith("student_id ="))
    cell.source = 'student_id = open("own.txt").read()'
    return notebook


@pytest.fixture(scope="module")
def graded_class(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, decoy: subprocess.Popen[bytes]
) -> GradedClass:
    """The grades of all kinds that are tested, in one run."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return _graded_class(request, tmp_path_factory.mktemp("class"), decoy, server.getsockname()[1])


def _graded_class(
    request: pytest.FixtureRequest, place: Path, decoy: subprocess.Popen[bytes], port: int
) -> GradedClass:
    folder, secret = place / "submissions", place / "secret.ipynb"
    params = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    for kind in sorted({str(one["kind"]) for one in params if "kind" in one} & set(NOTEBOOKS)):
        content = mangled(kind, solved(kind)).replace(DECOY.encode(), str(decoy.pid).encode())
        content = content.replace(PORT.encode(), str(port).encode())
        hand_in(folder, kind, content.replace(CLASS_FOLDER.encode(), f"'{folder}'".encode()))
    hand_in_other_forms(folder)
    own = [item for item in request.session.items if item.path == Path(__file__)]
    if any(item.get_closest_marker("nightly") for item in own):
        hand_in_forms_at_night(folder)
    hand_in(folder, THIEF, empty_with("looks for hidden tests"))
    hand_in(folder, FORGER, empty_with("forges messages"))
    hand_in(folder, "sound", solved(ADA))
    secret.write_text(nbformat.writes(solved("secret")), encoding="utf-8")
    (folder / "link.ipynb").symlink_to(secret)
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.ipynb", bytes(400_000_000))
    before, began = state(folder), time.monotonic()
    rows = graded(folder, "--lab", LAB, "--seconds", "20", "--memory", "4")
    return GradedClass(rows, time.monotonic() - began, state(folder) != before)


@pytest.fixture(scope="module")
def grades(graded_class: GradedClass) -> pd.DataFrame:
    return graded_class.rows


@pytest.mark.parametrize("kind", KINDS)
def test_costs_what_it_broke_and_no_more(kind: str, grades: pd.DataFrame) -> None:
    row = grades.loc[f"{kind}.ipynb"]
    lost = {task for task, points in tasks(LAB).items() if float(row[task] or 0) < points}
    assert lost <= NOTEBOOKS[kind][1], row["notes"]


def test_tasks_to_be_written_by_hand_count_nothing_with_a_workaround(
    grades: pd.DataFrame,
) -> None:
    row = grades.loc["looks for hidden tests.ipynb"]
    assert {task for task in tasks(LAB) if float(row[task]) == 0} == BY_HAND
    assert "Code cell 1 uses `gc.get_objects`" in row["notes"]
    assert all(f"{task} ({tasks(LAB)[task]:g} points)" in row["notes"] for task in BY_HAND)


@pytest.mark.parametrize("kinds", [pytest.param("all", marks=pytest.mark.nightly), "the gate's"])
def test_costs_nobody_else_anything(
    kinds: str, graded_class: GradedClass, decoy: subprocess.Popen[bytes]
) -> None:
    assert decoy.poll() is None
    assert not graded_class.changed
    assert float(graded_class.rows.loc["sound.ipynb", "points"]) == sum(tasks(LAB).values())
    assert kinds != "all" or graded_class.seconds < SECONDS


@pytest.mark.parametrize(
    "name", [SCRIPT, WITH_DATA, *(pytest.param(name, marks=pytest.mark.nightly) for name in AT_NIGHT)]
)
def test_sound_work_in_another_form_gets_its_marks(name: str, grades: pd.DataFrame) -> None:
    row = grades.loc[name]
    assert float(row["points"]) == sum(tasks(LAB).values()), row["notes"]


@pytest.mark.parametrize(
    ("kind", "student"),
    [
        pytest.param("a number for an id", "1234567", marks=pytest.mark.nightly),
        ("an id that code makes", "ada lovelace"),
        pytest.param("the placeholder for an id", "the placeholder for an id", marks=pytest.mark.nightly),
    ],
)
def test_the_id_is_what_ran(kind: str, student: str, grades: pd.DataFrame) -> None:
    assert grades.loc[f"{kind}.ipynb", "student"] == student


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("older.ipynb", "--accept-version"),
        ("no id.ipynb", "its id cannot be read"),
        ("nothing", "an empty folder"),
        ("essay.pdf", "not a notebook but a PDF"),
        ("link.ipynb", "a link, which is not followed"),
        ("bomb.zip", "a zip of more than 300 MB"),
        ("half a notebook.ipynb", "a notebook that is cut off or damaged"),
        ("too deep.ipynb", "a notebook that is cut off or damaged"),
        *((f"{kind}.ipynb", "not a notebook") for kind in ("empty", "no notebook", "not even a dict")),
    ],
)
def test_what_cannot_be_graded_gets_a_note(name: str, said: str, grades: pd.DataFrame) -> None:
    row = grades.loc[name]
    assert row["points"] in ("", "0.0")
    assert said in row["notes"]


@pytest.mark.parametrize("name", ["older", "no id"])
def test_what_is_not_graded_has_no_marks(name: str, grades: pd.DataFrame) -> None:
    assert set(grades.loc[f"{name}.ipynb", ["points", *tasks(LAB)]]) == {""}
    assert grades.loc[f"{name}.ipynb", "student"] == name


@pytest.mark.nightly
def test_of_two_submissions_of_a_student_the_later_counts(grades: pd.DataFrame) -> None:
    assert "twice.ipynb" not in grades.index
    assert "not counted: twice.ipynb (0 points)" in grades.loc[LATER, "notes"]


@pytest.mark.parametrize("name", [THIEF, FORGER])
def test_neither_theft_nor_forgery_pays(name: str, grades: pd.DataFrame) -> None:
    assert float(grades.loc[f"{name}.ipynb", "points"] or 0) == 0  # a forger may have no id, and no marks


def test_the_thief_would_find_the_answers_outside() -> None:
    names: dict[str, object] = {}
    exec(HIDDEN, names)
    assert "clipped_precision" in names


def test_the_table_of_tasks_is_the_labs() -> None:
    assert set(tasks(LAB)) == TASKS


def test_a_fault_of_the_grader_is_told_as_such(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "sound", with_id(versions(LAB)["instructor"], ADA))
    code = """
import sys
from pathlib import Path
from radeval_lib.labs import grading, judge
from radeval_lib.labs.grading_rules import GradingRules, SubmissionLimits
def fail(*_): raise KeyError("hidden")
judge.judge = fail
rules = GradingRules(SubmissionLimits(seconds=60, memory=6 * 10**9), trusted=True)
row = grading.grade(Path(sys.argv[1]), Path(sys.argv[2]), rules).iloc[0]
print(row["notes"], [row["points"], row["bleu"], row["student"]])
"""
    command = [sys.executable, "-c", code, str(tmp_path / "class"), str(tmp_path / "grades.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"the grader itself failed (KeyError): mark this one by hand ['', '', '{ADA}']" in done.stdout
    assert "hidden" not in done.stdout


@pytest.mark.nightly
def test_a_class_of_fifty_takes_less_than_ten_minutes(tmp_path: Path) -> None:
    folder, kinds = tmp_path / "submissions", list(NOTEBOOKS)[::2][:10]
    for number in range(40):
        hand_in(folder, f"sound-{number}", with_id(versions(LAB)["instructor"], f"student {number}"))
    for kind in kinds:
        hand_in(folder, kind, mangled(kind, with_id(versions(LAB)["instructor"], kind)))
    began = time.monotonic()
    found = graded(folder, "--lab", LAB, "--jobs", "2")
    assert time.monotonic() - began < 10 * 60
    sound = found[found.index.str.startswith("sound")]["points"].astype(float)
    assert (sound == sum(tasks(LAB).values())).all()
