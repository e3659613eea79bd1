"""What an instructor and a student read is text, whatever a submission is called or says."""

from __future__ import annotations

from radeval_lib.labs import grades
from radeval_lib.labs.grades import Grade

TASKS = {"bleu": {"points": 1.5, "of": 3.0, "messages": ["<script>alert(1)</script>"]}}


def test_a_table_has_points_by_task_and_room_for_written_ones() -> None:
    rows = grades.table([Grade("b.ipynb", "bob", "lab", dict(TASKS), {"judgement": 4.0})])
    assert rows.iloc[0][["points", "of", "bleu", "judgement"]].tolist() == [1.5, 3.0, 1.5, ""]


def test_names_are_no_formulas() -> None:
    row = grades.table([Grade("=1+1.ipynb", "@SUM(A1)", "lab")]).iloc[0]
    assert (row["student"], row["file"]) == ("'@SUM(A1)", "'=1+1.ipynb")


def test_pages_show_what_submissions_say_as_text() -> None:
    shown = grades.page(Grade("<b>.ipynb", "<i>", "lab", dict(TASKS), errors=["<u>"]))
    assert "1.5 of 3 points" in " ".join(shown.split())
    assert not any(tag in shown for tag in ("<script>", "<b>", "<i>", "<u>"))


def test_pages_have_names_that_any_system_takes() -> None:
    assert grades.page_name(Grade("f", "../Ada Lovelace\n"), 3) == "_Ada_Lovelace_-3.html"


def test_who_shares_an_id_is_remarked_on() -> None:
    both = [Grade("a.ipynb", "Ada", "lab"), Grade("b.ipynb", "ada", "lab"), Grade("c.ipynb", "ada", "other")]
    grades.note_same_ids(both)
    assert [len(one.notes) for one in both] == [1, 1, 0]
