"""A mangled submission costs its owner at most what it broke, and nobody else anything."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from radeval_lib.labs import sandbox
from tests.labs.mangling import DECOY, FILES, HIDDEN, LAB, NOTEBOOKS, TASKS, mangled
from tests.labs.test_labs import ADA, graded, tasks, versions, with_id

pytestmark = pytest.mark.skipif(bool(sandbox.missing()), reason=sandbox.missing())
THIEF = "an empty notebook that looks for answers"
FORGER = "an empty notebook that forges verdicts"


def hand_in(folder: Path, name: str, content: bytes | nbformat.NotebookNode) -> None:
    folder.mkdir(exist_ok=True)
    data = content if isinstance(content, bytes) else nbformat.writes(content).encode()
    (folder / f"{name}.ipynb").write_bytes(data)


def empty_with(kind: str) -> bytes:
    """A notebook without answers that begins with the cell of a kind."""
    return mangled(kind, with_id(versions(LAB)["student"], "nobody"))


@pytest.fixture(scope="module")
def decoy() -> Iterator[subprocess.Popen[bytes]]:
    """A process that a submission tries to end."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


@pytest.fixture(scope="module")
def grades(tmp_path_factory: pytest.TempPathFactory, decoy: subprocess.Popen[bytes]) -> pd.DataFrame:
    folder = tmp_path_factory.mktemp("class") / "submissions"
    for kind in NOTEBOOKS:
        content = mangled(kind, with_id(versions(LAB)["instructor"], kind))
        hand_in(folder, kind, content.replace(DECOY.encode(), str(decoy.pid).encode()))
    for kind, content in FILES.items():
        hand_in(folder, kind, content)
    hand_in(folder, THIEF, empty_with("looks for hidden tests"))
    hand_in(folder, FORGER, empty_with("forges messages"))
    hand_in(folder, "sound", with_id(versions(LAB)["instructor"], ADA))
    return graded(folder, "--lab", LAB, "--seconds", "6", "--memory", "4")


@pytest.mark.parametrize("kind", NOTEBOOKS)
def test_costs_what_it_broke_and_no_more(kind: str, grades: pd.DataFrame) -> None:
    row = grades.loc[f"{kind}.ipynb"]
    lost = {task for task, points in tasks(LAB).items() if float(row[task]) < points}
    assert lost <= NOTEBOOKS[kind][1], row["notes"]


def test_costs_nobody_else_anything(grades: pd.DataFrame, decoy: subprocess.Popen[bytes]) -> None:
    assert decoy.poll() is None
    assert float(grades.loc["sound.ipynb", "points"]) == sum(tasks(LAB).values())


@pytest.mark.parametrize("kind", FILES)
def test_what_is_no_notebook_gets_nothing_and_a_note(kind: str, grades: pd.DataFrame) -> None:
    row = grades.loc[f"{kind}.ipynb"]
    assert float(row["points"]) == 0
    assert "not a notebook" in row["notes"]


@pytest.mark.parametrize("name", [THIEF, FORGER])
def test_neither_theft_nor_forgery_pays(name: str, grades: pd.DataFrame) -> None:
    assert float(grades.loc[f"{name}.ipynb", "points"]) == 0


def test_the_thief_would_find_the_answers_outside() -> None:
    names: dict[str, object] = {}
    exec(HIDDEN, names)
    assert "clipped_precision" in names


def test_the_table_of_tasks_is_the_labs() -> None:
    assert set(tasks(LAB)) == TASKS


@pytest.mark.nightly
def test_a_class_of_fifty_takes_less_than_twenty_minutes(tmp_path: Path) -> None:
    folder, kinds = tmp_path / "submissions", list(NOTEBOOKS)[::2][:10]
    for number in range(40):
        hand_in(folder, f"sound-{number}", with_id(versions(LAB)["instructor"], f"student {number}"))
    for kind in kinds:
        hand_in(folder, kind, mangled(kind, with_id(versions(LAB)["instructor"], kind)))
    began = time.monotonic()
    found = graded(folder, "--lab", LAB, "--jobs", "2")
    assert time.monotonic() - began < 20 * 60
    sound = found[found.index.str.startswith("sound")]["points"].astype(float)
    assert (sound == sum(tasks(LAB).values())).all()
