"""Slides and quizzes come of their sources; pictures draw; the instructors' page has the labs' numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from radeval_lib.labs import pictures, sources, teaching
from radeval_lib.paths import BOOK, ROOT
from radeval_lib.pipeline import absent
from radeval_lib.pipeline.staging import CONTENTS, pages_of

LABS = sources.labs()
PAGE = (BOOK / "labs_for_instructors.md").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_slides_stand_alone_and_have_the_labs_own_tasks(lab: sources.Lab) -> None:
    page = teaching.slides(lab)
    assert page.count("<section>") >= 7
    assert not re.search(r"(?:src|href)=", page)
    assert f"Lab {lab.number}: {lab.title}" in page
    assert page.count("<li>Task ") == len(re.findall(r"^## Task", lab.source.read_text(), re.MULTILINE))


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_quiz_has_five_questions_and_students_get_no_answer(lab: sources.Lab) -> None:
    questions, answers = teaching.quiz(lab)
    assert len(re.findall(r"^\d\. ", questions, re.MULTILINE)) == 5
    assert len(re.findall(r"^   .*\*\*", answers, re.MULTILINE)) == 5
    assert "**" not in questions


def test_teaching_files_are_written(tmp_path: Path) -> None:
    written = teaching.build(tmp_path)
    assert len(written) == 3 * len(LABS)
    assert all(path.stat().st_size > 300 for path in written)


@pytest.mark.parametrize("name", ["bootstrap", "matching", "reliability_diagrams"])
def test_pictures_draw_and_a_lab_shows_them(name: str) -> None:
    figure = getattr(pictures, name)()
    assert isinstance(figure, Figure)
    assert any(axes.lines or axes.collections or axes.texts for axes in figure.axes)
    assert any(f"pictures.{name}()" in lab.source.read_text(encoding="utf-8") for lab in LABS)


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_the_instructors_page_links_and_counts_each_lab(lab: sources.Lab) -> None:
    row = re.search(rf"^\| \{{ref\}}`lab-{lab.name}` \|(.*)$", PAGE, re.MULTILINE)
    assert row is not None
    text = lab.source.read_text(encoding="utf-8")
    every = sources.tasks(lab)
    by_tests, by_hand = (
        sum(task.points for task in every if bool(task.tests) == tested) for tested in (True, False)
    )
    assert f" {by_tests:g} + {by_hand:g} = {by_tests + by_hand:g} " in row[1]
    minutes = re.search(r"\*\*Time\*\* \| (\d+) minutes", text)
    assert minutes is not None
    assert f" {minutes[1]} min " in row[1]


def test_what_labs_rest_on_is_in_the_default_book() -> None:
    """On pages that show something without a data root."""
    pages = {}
    for name in pages_of(BOOK / CONTENTS):
        path = ROOT / f"{name}.md" if name.startswith("notebooks/") else BOOK / f"{name}.md"
        text = path.read_text(encoding="utf-8")
        pages |= dict.fromkeys(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE), text)
    for lab in LABS:
        first = re.search(r"^\| \*\*Read first\*\* \|(.*)\|$", lab.source.read_text(), re.MULTILINE)
        assert first is not None
        labels = absent.references(first[1])
        assert labels
        for label in labels:
            assert "only_with_data(" not in pages[label], label
