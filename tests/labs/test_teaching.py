"""Slides and quizzes come of their sources; the instructors' page has the labs' numbers."""

from __future__ import annotations

import re
from contextlib import chdir
from pathlib import Path

import pandas as pd
import pytest

from radeval_lib.labs import sources
from radeval_lib.paths import BOOK

LABS = sources.list_labs()
PAGE = (BOOK / "labs_for_instructors.md").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")


def written(lab: sources.Lab, file: str, folder: Path) -> str:
    sources.write_teaching(lab, folder)
    return (folder / "teaching" / f"{lab.name}_{file}").read_text(encoding="utf-8")


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_slides_stand_alone_and_have_the_labs_own_tasks(lab: sources.Lab, tmp_path: Path) -> None:
    page = written(lab, "slides.html", tmp_path)
    assert page.count("<section>") >= 7
    assert not re.search(r"(?:src|href)=", page)
    assert f"Lab {lab.number}: {lab.title}" in page
    assert page.count("<li>Task ") == len(re.findall(r"^## Task", lab.source.read_text(), re.MULTILINE))


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_quiz_has_five_questions_and_students_get_no_answer(lab: sources.Lab, tmp_path: Path) -> None:
    questions, answers = (written(lab, name, tmp_path) for name in ("quiz.md", "answers.md"))
    assert len(re.findall(r"^\d\. ", questions, re.MULTILINE)) == 5
    assert len(re.findall(r"^   .*\*\*", answers, re.MULTILINE)) == 5
    assert "**" not in questions


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_the_instructors_page_links_and_counts_each_lab(lab: sources.Lab) -> None:
    row = re.search(rf"^\| \{{ref\}}`lab-{lab.name}` \|(.*)$", PAGE, re.MULTILINE)
    assert row is not None
    text = lab.source.read_text(encoding="utf-8")
    every = sources.list_tasks(lab)
    by_tests, by_hand = (
        sum(task.points for task in every if bool(task.tests) == tested) for tested in (True, False)
    )
    assert f" {by_tests:g} + {by_hand:g} = {by_tests + by_hand:g} " in row[1]
    minutes = re.search(r"\*\*Time\*\* \| (\d+) minutes", text)
    assert minutes is not None
    assert f" {minutes[1]} min " in row[1]


def test_the_instructors_snippet_keeps_the_best_notebook_of_each_student(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "marks.csv").write_text(
        "file,student,lab,status,points,of\n"
        "a.ipynb,ada,words_are_not_findings,graded,19.5,20\nc.ipynb,ada,words_are_not_findings,graded,3,20\n"
        "b.ipynb,bo,words_are_not_findings,not graded: broken,,\nd.ipynb,,words_are_not_findings,graded,1,9\n"
    )
    (tmp_path / "canvas_export.csv").write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
        '"Lovelace, Ada",1,u1,ada,A\n"Derek, Bo",2,u2,bo,A\n'
    )
    with chdir(tmp_path):
        exec(code, {})
    marks = pd.read_csv(tmp_path / "canvas_import.csv")["Lab 1 (1234)"]
    assert marks[1] == 19.5
    assert marks[[0, 2]].isna().all()
    assert pd.read_csv(tmp_path / "moodle_import.csv")["points"].tolist() == [19.5]
