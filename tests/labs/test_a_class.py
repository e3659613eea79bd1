"""A class from its first grading to Canvas, by the commands that an instructor types."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.labs import lab_sources
from tests.labs.test_labs import graded, versions, with_id

LAB = lab_sources.find("words_are_not_findings")
BY_TESTS, WRITTEN = (
    sum(task.points for task in lab_sources.tasks(LAB) if task.written == written)
    for written in (False, True)
)
JUDGEMENT = next(task.name for task in lab_sources.tasks(LAB) if task.written)
CLASS = """Student,ID,SIS Login ID,Section
"Lovelace, Ada",1,ada,A
"Hopper, Grace",2,grace,A
"Ball, Lucy",3,lucy,A
"""


def radbook(*arguments: object) -> None:
    done = CliRunner().invoke(main, ["labs", *map(str, arguments)])
    assert done.exit_code == 0, done.output


def hand_in(path: Path, student: str, version: str, hour: int) -> None:
    nbformat.write(with_id(versions(LAB.name)[version], student), path)
    os.utime(path, (1_700_000_000 + 3600 * hour,) * 2)


def test_a_class_is_graded_marked_graded_again_and_sent_to_canvas(tmp_path: Path) -> None:
    folder, roster, totals, canvas = (tmp_path / name for name in ("in", "class.csv", "t.csv", "c.csv"))
    folder.mkdir()
    roster.write_text(CLASS, encoding="utf-8")
    hand_in(folder / "ada.ipynb", "Ada ", "student", 1)
    hand_in(folder / "grace.ipynb", "grace", "instructor", 1)
    options = ("--trust-submissions", "--roster", str(roster))
    first = graded(folder, *options)
    assert first["points"].tolist() == ["0.0", str(float(BY_TESTS)), ""]
    assert first["notes"].tolist() == ["", "", "nothing handed in"]

    path = tmp_path / "grades.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table[JUDGEMENT] = [str(WRITTEN), "1,5", ""]
    table.to_csv(path, index=False, sep=";")  # as some spreadsheets save it
    hand_in(folder / "ada-2.ipynb", "ADA", "instructor", 2)
    sent = Path(shutil.make_archive(str(tmp_path / "sent"), "zip", folder))  # as a learning system gives it
    again = graded(sent, *options).set_index("student")
    assert again.loc["ADA", ["points", JUDGEMENT]].tolist() == [str(float(BY_TESTS)), str(WRITTEN)]
    assert again.loc["grace", JUDGEMENT] == "1,5"
    assert "not counted: sent.zip/ada.ipynb (0 points)" in again.loc["ADA", "notes"]
    assert "written marks are those of ada.ipynb" in again.loc["ADA", "notes"]
    pages = {page.name: page.read_text(encoding="utf-8") for page in (tmp_path / "grades_feedback").iterdir()}
    assert set(pages) == {f"ADA-{LAB.name}.html", f"grace-{LAB.name}.html"}

    radbook("totals", path, "--output", totals, "--roster", roster, "--canvas", canvas)
    assert pd.read_csv(totals).set_index("student")["total"].dropna().to_dict() == {
        "ADA": BY_TESTS + WRITTEN,
        "grace": BY_TESTS + 1.5,
    }
    shown = pd.read_csv(canvas).set_index("Student")[f"Lab {LAB.number}: {LAB.title}"]
    assert shown.iloc[0] == BY_TESTS + WRITTEN
    assert shown["Lovelace, Ada"] == BY_TESTS + WRITTEN
    assert shown["Hopper, Grace"] == pytest.approx(BY_TESTS + 1.5)
    assert pd.isna(shown["Ball, Lucy"])
