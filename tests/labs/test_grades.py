"""What counts, what is kept when a class is graded again, totals, and pages that are safe to open."""

from __future__ import annotations

import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from radeval_lib.cli import labs
from radeval_lib.errors import LabError
from radeval_lib.labs import gradebook, grades, lab_sources
from radeval_lib.labs.attempts import Attempts
from radeval_lib.labs.grades import Grade, TaskMark
from radeval_lib.labs.grading_rules import SubmissionLimits
from radeval_lib.labs.judge_messages import CellRemark, ProcessKilled
from radeval_lib.labs.resubmissions import counted
from radeval_lib.labs.roster import key, read_roster, read_table
from radeval_lib.labs.submissions import Sender
from radeval_lib.paths import ROOT

LAB = "words_are_not_findings"
MARKED = lab_sources.tasks(lab_sources.find(LAB))
WRITTEN = [task for task in MARKED if task.written]
JUDGEMENT = WRITTEN[0].name
OF = sum(task.points for task in MARKED if not task.written)
LIMITS = SubmissionLimits(seconds=60, memory=10**9)
DAY = datetime(2026, 11, 20).timestamp()


def graded(student: str, file: str, points: float = 1.5, **more: Any) -> Grade:
    """A grade of which one task tells the points."""
    tasks = {task.name: TaskMark(0.0, task.points) for task in MARKED if not task.written}
    tasks["bleu"].points, tasks["bleu"].messages = points, ["<script>alert(1)</script>"]
    written = {task.name: task.points for task in WRITTEN}
    return Grade(file, student, LAB, tasks, written, **{"identified": True, **more})


def saved(table: pd.DataFrame, path: Path, **entered: str) -> pd.DataFrame:
    """A table as it comes back from a spreadsheet, with marks entered into its first row."""
    table = table.astype(object)
    for name, mark in entered.items():
        table.loc[0, name] = mark
    table.to_csv(path, index=False)
    return read_table(path)


def test_a_table_has_points_by_task_and_room_for_written_ones() -> None:
    row = gradebook.table([graded("bob", "b.ipynb")]).iloc[0]
    assert row[["points", "of", "bleu", JUDGEMENT]].tolist() == [1.5, OF, 1.5, ""]


def test_names_are_no_formulas() -> None:
    row = gradebook.table([Grade("=1+1.ipynb", "@SUM(A1)", "lab")]).iloc[0]
    assert (row["student"], row["file"]) == ("'@SUM(A1)", "'=1+1.ipynb")


def test_pages_show_what_submissions_say_as_text() -> None:
    shown = grades.page(graded("<i>", "<b>.ipynb", remarks=["<u>"]))
    assert f"1.5 of {OF:g} points" in " ".join(shown.split())
    assert not any(tag in shown for tag in ("<script>", "<b>", "<i>", "<u>"))


def test_a_page_of_what_was_not_graded_gives_no_points() -> None:
    shown = " ".join(grades.page(graded("ada", "a.ipynb", problem="its process could not begin")).split())
    assert "<strong>not graded</strong>, without" in shown
    assert " points" not in shown.partition("<table>")[0]
    assert "0 of" not in shown


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (b"Traceback\nbwrap: Can't mount proc\n\n", "(bwrap: Can't mount proc)"),
        (b"", "(it printed nothing)"),
        (b"\xff" * 9000 + b"\nMemoryError: all of it", "(MemoryError: all of it)"),
        (
            b"/opt/ada/.venv/bin/python: no radeval_lib in /srv/a b/c.py\n",
            "(python: no radeval_lib in c.py)",
        ),
    ],
)
def test_what_cannot_begin_says_what_its_process_printed(printed: bytes, said: str) -> None:
    grade = graded("ada", "a.ipynb")
    with tempfile.TemporaryFile() as file:
        file.write(printed)
        file.flush()
        attempts = Attempts([], None, Path(), LIMITS, False, grade, file)
        attempts.take(ProcessKilled(None), set(), [])
    assert f"could not begin {said}, and nothing of it was run: no fault of the student" in grade.problem
    assert ("--memory" in grade.problem) == (not printed or b"MemoryError" in printed)


def test_a_remark_names_no_place_of_the_graders() -> None:
    grade = graded("ada", "a.ipynb")
    attempts = Attempts([], None, Path(), LIMITS, False, grade)
    remark = f"OSError: '{ROOT}/radeval_lib/a.py', '/opt/student/b'"
    attempts.take(CellRemark(0, remark), set(), [])
    assert grade.remarks == ["Code cell 1: OSError: 'radeval_lib/a.py', '/opt/student/b'"]


def test_what_was_not_graded_has_neither_marks_nor_totals(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("id,name\nada,Ada L\n", encoding="utf-8")
    roster = read_roster(tmp_path / "class.csv")
    table = gradebook.table([graded("ada", "a.ipynb", 0, problem="its process could not begin")], roster)
    assert set(table.loc[0, ["points", *(task.name for task in MARKED)]]) == {""}
    rows = saved(table, tmp_path / "g.csv", **{task.name: "1" for task in WRITTEN})
    found = gradebook.totals(rows, "g.csv")
    assert found.loc[0, ["points", "total", "of"]].tolist() == ["", "", sum(task.points for task in MARKED)]
    assert "not graded by tests" in found.loc[0, "notes"]
    assert gradebook.canvas(found, roster).iloc[1, -1] == ""
    rows.loc[0, "points"] = "7"
    assert gradebook.totals(rows, "g.csv").loc[0, "total"] == 7 + len(WRITTEN)


def test_pages_are_named_by_student() -> None:
    names = grades.page_names([Grade("f", "../Ada\n", "x"), Grade("g", "ada", "x"), Grade("h", "Ada", "x")])
    assert list(names) == ["_Ada_-x.html", "ada-x.html", "Ada-x-2.html"]


@pytest.mark.parametrize(
    "names", [("ada_1_23_lab.ipynb", "ada_LATE_1_45_lab.ipynb"), ("ada/1.ipynb", "ada/2.ipynb")]
)
def test_of_one_senders_submissions_the_latest_counts(names: tuple[str, str]) -> None:
    senders = [Sender("ada", name[4]) if "/" in name else Sender("", "ada") for name in names]
    first = graded("ada", names[0], 3, sender=senders[0], time=DAY)
    second = graded("ADA", names[1], 1, sender=senders[1], time=DAY + 60)
    other = graded("bob", "bob/lab.ipynb", sender=Sender("bob", "lab"), time=DAY - 60)
    one, _ = counted([second, first, other])
    assert one.file == names[1]
    assert f"not counted: {names[0]} (3 points)" in one.notes[-1]
    one, _ = counted([second, first, other], datetime.fromtimestamp(DAY + 30))
    assert one.file == names[0]


def test_a_strangers_file_with_anothers_name_and_id_costs_nothing() -> None:
    hers = graded("ada", "ada.ipynb", 3, sender=Sender("", "ada"), time=DAY)
    thief = graded("ADA", "ada-2.ipynb", 1, sender=Sender("", "ada"), time=DAY + 60)
    better = graded("ada", "ada-3.ipynb", 3, sender=Sender("", "ada"), time=DAY + 90)
    (one,) = counted([thief, hers])
    assert one.file == "ada.ipynb"
    assert "nothing but their names and ids says who sent them, ada.ipynb" in one.notes[-1]
    assert "not counted: ada-2.ipynb (1 points)" in one.notes[-1]
    (one,) = counted([thief, hers, better])
    assert one.file == "ada-3.ipynb"  # of equals the latest


def test_a_deadline_counts_before_points() -> None:
    first = graded("ada", "ada.ipynb", 1, sender=Sender("", "ada"), time=DAY)
    second = graded("ADA", "ada-2.ipynb", 3, sender=Sender("", "ada"), time=DAY + 60)
    (one,) = counted([second, first], datetime.fromtimestamp(DAY + 30))
    assert one.file == "ada.ipynb"
    (one,) = counted([second, first], datetime.fromtimestamp(DAY - 30))
    assert one.file == "ada-2.ipynb"
    assert "after the deadline" in one.notes[0]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2026-11-20", datetime(2026, 11, 20, 23, 59, 59)),
        ("2026-11-20T00:00", datetime(2026, 11, 20)),
        ("2026-11-20 18:00", datetime(2026, 11, 20, 18)),
    ],
)
def test_a_day_is_a_deadline_to_its_end(given: str, meant: datetime) -> None:
    (deadline,) = (one for one in labs.grade.params if one.name == "deadline")
    assert deadline.type.convert(given, None, None) == meant


def test_nobody_replaces_anothers_work() -> None:
    hers = graded("ada", "ada.ipynb", 3, sender=Sender("", "ada"), time=DAY)
    thief = graded("ada", "bob.ipynb", 0, sender=Sender("", "bob"), time=DAY + 60)
    kept = counted([hers, thief])
    assert {one.file for one in kept} == {"ada.ipynb", "bob.ipynb"}
    assert all("another sender's submission has the same id" in one.notes[-1] for one in kept)
    folders = [
        graded("ada", f"{who}/lab.ipynb", sender=Sender(who, "lab"), time=DAY) for who in ("ada", "bob")
    ]
    assert len(counted(folders)) == 2
    shared = [graded(who, f"lab1/{who}.ipynb", sender=Sender("lab1", who)) for who in ("ada", "bob", "eve")]
    shared[2].student = "ada"
    assert len(counted(shared)) == 3


def test_what_has_no_id_goes_with_what_the_same_sender_sent() -> None:
    ada = Sender("ada", "lab")
    notebook = graded("4711", "ada/lab.ipynb", sender=ada, time=DAY)
    broken = graded("lab-2", "ada/lab-2.ipynb", 0, sender=ada, time=DAY + 60, identified=False)
    other = graded("bob", "bob/lab.ipynb", sender=Sender("bob", "lab"))
    one, _ = counted([broken, notebook, other])
    assert one.student == "4711"
    assert "ada/lab-2.ipynb" in one.notes[-1]


def test_what_has_no_id_is_named_by_folder_or_by_the_class_list(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text("id,name\nada,Ada L\nbob,Bob B\n7,Kim\n", encoding="utf-8")
    without = {"identified": False, "notes": ["not a notebook but a PDF"]}
    handed_in = [
        graded("lab", "ada/lab.pdf", 0, sender=Sender("ada", "lab"), **without),
        graded("lab", "zoe/lab.pdf", 0, sender=Sender("zoe", "lab"), **without),
        graded("bob-2", "all/bob-2.pdf", 0, sender=Sender("all", "bob"), **without),
        graded("eve", "all/eve.pdf", 0, sender=Sender("all", "eve"), **without),
        graded("7", "kim.ipynb", sender=Sender("", "kim")),
        graded("7-old", "7-old.pdf", 0, sender=Sender("", "7"), **without),
    ]
    kept = counted(handed_in)
    assert {one.file: one.student for one in kept} == {
        "ada/lab.pdf": "ada",
        "zoe/lab.pdf": "zoe",
        "all/bob-2.pdf": "bob-2",
        "all/eve.pdf": "eve",
        "kim.ipynb": "7",
        "7-old.pdf": "7-old",
    }
    rows = gradebook.table(kept, read_roster(path)).set_index("file")
    assert rows["student"].to_dict() == {one.file: one.student for one in kept} | {"all/bob-2.pdf": "bob"}
    assert rows.loc[["ada/lab.pdf", "all/bob-2.pdf"], "name"].tolist() == ["Ada L", "Bob B"]
    assert "nothing handed in" not in "".join(rows["notes"])
    assert "not on the class list" in rows.loc["zoe/lab.pdf", "notes"]


def test_grading_again_keeps_what_was_entered(tmp_path: Path) -> None:
    old = gradebook.table([graded("ada", "ada.ipynb"), graded("bob", "bob.ipynb")])
    earlier = saved(old, tmp_path / "grades.csv", **{JUDGEMENT: "2.5", "remark": "well argued"})
    again = gradebook.with_earlier(gradebook.table([graded("ada", "ada.ipynb", 3)]), earlier)
    assert again.loc[0, ["points", JUDGEMENT, "remark"]].tolist() == [3, "2.5", "well argued"]
    gone = gradebook.with_earlier(gradebook.table([graded("bob", "bob.ipynb")]), earlier)
    assert gone.loc[1, ["student", JUDGEMENT]].tolist() == ["ada", "2.5"]
    assert "no longer among the submissions" in gone.loc[1, "notes"]
    other = gradebook.with_earlier(gradebook.table([graded("ada", "ada-2.ipynb")]), earlier)
    assert "written marks are those of ada.ipynb" in other.loc[0, "notes"]
    with pytest.raises(LabError, match="Write to another file"):
        gradebook.with_earlier(old, pd.DataFrame({"a": ["1"]}))


def test_of_two_earlier_rows_neither_mark_is_lost(tmp_path: Path) -> None:
    both = gradebook.table([graded("ada", "one.ipynb"), graded("ada", "two.ipynb")]).astype(object)
    both[JUDGEMENT] = ["2", "3"]
    both.to_csv(tmp_path / "grades.csv", index=False)
    earlier = read_table(tmp_path / "grades.csv")
    again = gradebook.with_earlier(gradebook.table([graded("ada", "three.ipynb")]), earlier)
    assert again[["file", JUDGEMENT]].to_numpy().tolist() == [["three.ipynb", "2"], ["two.ipynb", "3"]]
    assert again["notes"].tolist() == [
        "written marks are those of one.ipynb",
        "no longer among the submissions",
    ]


def test_totals_add_written_marks_and_name_what_lacks_them(tmp_path: Path) -> None:
    table = gradebook.table([graded("ada", "a.ipynb"), graded("bob", "b.ipynb")])
    marks = {task.name: "1,5" for task in WRITTEN}
    found = gradebook.totals(saved(table, tmp_path / "g.csv", **marks), "g.csv")
    assert found["total"].tolist() == [1.5 + 1.5 * len(WRITTEN), ""]
    assert found["of"].tolist() == [sum(task.points for task in MARKED)] * 2
    assert f"not marked yet: {JUDGEMENT}" in found["notes"][1]


@pytest.mark.parametrize("wrong", ["much", "-1", "999", "1e3"])
def test_what_is_no_mark_is_refused_with_its_row(wrong: str, tmp_path: Path) -> None:
    table = saved(gradebook.table([graded("ada", "a.ipynb")]), tmp_path / "g.csv", **{JUDGEMENT: wrong})
    with pytest.raises(LabError, match=rf"g.csv, row 2, {JUDGEMENT}: '{wrong}' is no mark"):
        gradebook.totals(table, "g.csv")


def test_a_table_without_rows_has_no_totals() -> None:
    empty = pd.DataFrame(columns=["student", "lab", "points"])
    totals = gradebook.totals(empty, "grades.csv")
    assert (len(totals), "total" in totals) == (0, True)
    assert gradebook.canvas(totals, {})["Student"].tolist() == ["    Points Possible"]


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("student,lab,points\nada,one,3,\nbob,two,4,\n", ["3", "4"]),  # a separator at the end of each row
        ("student,lab,points,,\nada,one\n", [""]),
        ('"student";"points, raw";points\nada;1,5;"2,5"\n', ["2,5"]),
        ("sep=;\nstudent;points\nada;2,5\n", ["2,5"]),
        ("student,points\nada,3\n\n,\nbob,4\n,\n\n", ["3", "", "", "4"]),
    ],
)
def test_a_table_keeps_its_columns(text: str, points: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    table = read_table(tmp_path / "a.csv")
    assert table["student"].iloc[0] == "ada"
    assert table["points"].tolist() == points


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("student,lab,lab\n", "two columns are called 'lab'"),
        ("student,lab\nada,one\nbob,Doe, Bob\n", "a.csv, row 3: a cell in a column without a name"),
        ("student,lab\n\nada,one\nbob,Doe, Bob\n", "a.csv, row 4: a cell in a column without a name"),
        ("\n", "an empty table"),
        ("\nstudent;lab\nada;one\n", "an empty first row"),
    ],
)
def test_a_table_with_cells_of_no_column_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(LabError, match=said):
        read_table(tmp_path / "a.csv")


def test_ids_are_alike_however_their_letters_are_composed() -> None:
    assert key("Ju\u0308rgen") == key(" jürgen") == key("'JÜRGEN") == key("' jürgen")


def test_two_rows_of_a_student_have_no_total(tmp_path: Path) -> None:
    table = saved(gradebook.table([graded("ada", "a"), graded("ada", "b")]), tmp_path / "g.csv")
    with pytest.raises(LabError, match="row 3: a second row of 'ada'"):
        gradebook.totals(table, "g.csv")


def test_a_class_list_names_students_and_those_who_are_missing(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(
        "\ufeffid;name\n0017;Ada Lovelace\n18;Grace Hopper\n", encoding="utf-8"
    )
    roster = read_roster(tmp_path / "class.csv")
    found = gradebook.table([graded("0017", "a"), graded("eve", "e")], roster).set_index("student")
    assert found["name"].to_dict() == {"0017": "Ada Lovelace", "18": "Grace Hopper", "eve": ""}
    assert found["notes"].to_dict() == {"0017": "", "18": "nothing handed in", "eve": "not on the class list"}
    (tmp_path / "twice.csv").write_text("id,name\na,A\nA,B\n", encoding="utf-8")
    with pytest.raises(LabError, match=r"twice.csv, row 3: 'A' is there twice"):
        read_roster(tmp_path / "twice.csv")
    (tmp_path / "none.csv").write_text("who\na\n", encoding="utf-8")
    with pytest.raises(LabError, match="without ids"):
        read_roster(tmp_path / "none.csv")


_CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("student,student_id\nAna Lopez ,al1\n", {"al1": "Ana Lopez"}),
        ("student,id\nAna Lopez,al1\n", {"al1": "Ana Lopez"}),
        ("student,name\nal1,Ana Lopez\n", {"al1": "Ana Lopez"}),
        ("student\nal1\n", {"al1": ""}),
        ("id,student,name\n,al1,Ana\n", {"al1": "Ana"}),
        (_CANVAS + '"Lopez, Ana",901,u1,,One\n"Student, Test",902,,,One\n', {"u1": "Lopez, Ana"}),
    ],
)
def test_ids_of_a_class_are_those_of_the_first_column_that_has_some(text, people, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(text, encoding="utf-8")
    assert {one.student: one.name for one in read_roster(tmp_path / "class.csv").values()} == people


@pytest.mark.parametrize("text", ["id,name\n", "id,name\n ,Ana\n", _CANVAS + '"Lopez, Ana",901,,,One\n'])
def test_a_class_in_which_nobody_has_an_id_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text(text, encoding="utf-8")
    with pytest.raises(LabError, match="without ids"):
        read_roster(tmp_path / "class.csv")


def test_rows_are_numbered_as_a_spreadsheet_numbers_them(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text('id,name\n\nada,"A\nL"\n\nADA,A\n', encoding="utf-8")
    with pytest.raises(LabError, match=r"class.csv, row 5: 'ADA' is there twice"):
        read_roster(tmp_path / "class.csv")
    (tmp_path / "g.csv").write_text("student,lab,points\n\nada,none,1\n", encoding="utf-8")
    with pytest.raises(LabError, match=r"g.csv, row 3: there is no lab"):
        gradebook.totals(read_table(tmp_path / "g.csv"), "g.csv")


def test_canvas_gets_its_own_columns_and_points_possible(tmp_path: Path) -> None:
    exported = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Old\n"
        "    Points Possible,,,,,5\n"
        '"Lovelace, Ada",901,S1,ada,One,\n"Hopper, Grace",902,S2,grace,One,\n'
    )
    (tmp_path / "class.csv").write_text(exported, encoding="utf-8")
    roster = read_roster(tmp_path / "class.csv")
    table = gradebook.table([graded("ada", "a"), graded("grace", "g")], roster)
    rows = saved(table, tmp_path / "g.csv", **{task.name: "1" for task in WRITTEN})
    found = gradebook.canvas(gradebook.totals(rows, "g.csv"), roster)
    title = f"Lab 1: {lab_sources.find(LAB).title}"
    assert list(found) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    assert found.values.tolist() == [
        ["    Points Possible", "", "", "", "", sum(task.points for task in MARKED)],
        ["Lovelace, Ada", "901", "S1", "ada", "One", 1.5 + len(WRITTEN)],
        ["Hopper, Grace", "902", "S2", "grace", "One", ""],
    ]
