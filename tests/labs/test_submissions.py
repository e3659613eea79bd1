"""Whatever a student hands in is found, read as a person would, or refused with what to ask for."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import jupytext
import nbformat
import pytest

from radeval_lib.labs import archives, grading
from radeval_lib.labs.notebook_files import read, written_id
from radeval_lib.labs.submissions import Sender, Submission, collect

BEGIN = 'from radeval_lib.labs.checks import Checks\n\ngrader = Checks("a_lab", "0.1.0-abc")'
NOTEBOOK = nbformat.v4.new_notebook(
    cells=[
        nbformat.v4.new_code_cell(BEGIN, id="a"),
        nbformat.v4.new_markdown_cell("text", id="b"),
        nbformat.v4.new_code_cell('student_id = "ada"', id="c"),
        nbformat.v4.new_code_cell("%matplotlib inline\nx = 'ä'", id="d"),
    ]
)
TEXT = nbformat.writes(NOTEBOOK)
CELLS = [cell.source for cell in NOTEBOOK.cells if cell.cell_type == "code"]


def found(folder: Path, tmp_path: Path) -> dict[str, Submission]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return {one.name: one for one in collect(folder, scratch, [])}


def put(path: Path, content: str | bytes = TEXT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zipped(path: Path, **members: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_notebooks_of_any_encoding(encoding: str, tmp_path: Path) -> None:
    notebook = read(put(tmp_path / "a.ipynb", json.dumps(NOTEBOOK, ensure_ascii=False).encode(encoding)))
    assert (notebook.cells, notebook.lab, notebook.version) == (CELLS, "a_lab", "0.1.0-abc")
    assert bool(notebook.notes) == (encoding == "cp1252")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "cp1252"])
def test_the_lab_of_a_notebook_is_known_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    path = put(tmp_path / "a.ipynb", 'Checks("write_a_judge", "1")'.encode(encoding))
    submission = Submission("a.ipynb", Sender("", ""), path, 0.0)
    assert [lab.name for lab in grading._labs_in_use([submission], "")] == ["write_a_judge"]


def test_texts_of_jupytext(tmp_path: Path) -> None:
    for name, form in (("a.py", "py:percent"), ("b.py", "py:light"), ("c.md", "md:myst"), ("d.Rmd", "Rmd")):
        notebook = read(put(tmp_path / name, jupytext.writes(NOTEBOOK, fmt=form)))
        assert [cell.strip() for cell in notebook.cells] == CELLS, name
        assert (notebook.lab, notebook.version) == ("a_lab", "0.1.0-abc")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "---\njupyter: [\n---\nstudent_id = 1\n"),  # damaged YAML
        ("a.qmd", "---\ntitle: a\n---\n```{python}\nstudent_id = 1\n```\n"),  # quarto is not installed
    ],
)
def test_a_text_that_jupytext_cannot_read_is_refused(name: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="jupytext cannot read"):
        read(put(tmp_path / name, text.encode()))


def test_an_old_format_and_stripped_metadata(tmp_path: Path) -> None:
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {},
        "worksheets": [{"cells": [{"cell_type": "code", "input": cell.splitlines(True)} for cell in CELLS]}],
    }
    notebook = read(put(tmp_path / "old.ipynb", json.dumps(old)))
    assert (notebook.cells, notebook.lab) == (CELLS, "a_lab")
    colab = json.loads(TEXT) | {"metadata": {"colab": {"provenance": []}}}
    assert read(put(tmp_path / "colab.ipynb", json.dumps(colab))).version == "0.1.0-abc"
    without_versions = {"cells": [], "metadata": {"otter": {"assignment_name": "a_lab"}}}
    notebook = read(put(tmp_path / "older.ipynb", json.dumps(without_versions)))
    assert (notebook.lab, notebook.version) == ("a_lab", "before versions")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "an empty file"),
        (b"%PDF-1.7", "a PDF"),
        (b"<html>", "a web page"),
        (b"PK\x03\x04", "a zip"),
        (b"[1]", "not a notebook"),
        (b"{}", "not a notebook"),
        (b'{"cells": ' + b"[" * 200_000, "a notebook that is cut off or damaged"),
        (TEXT.encode()[:50], "a notebook that is cut off or damaged"),
    ],
)
def test_what_is_no_notebook_says_what_it_is(content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        read(put(tmp_path / "a.ipynb", content))


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["a = 1", "student_id = 'ada'  # mine"], "ada"),
        (["student_id = 17"], "17"),
        (["student_id = 'your id'", "student_id = ' ada '"], "ada"),
        (["student_id = 'ada'", "student_id = 'bob'"], ""),
        (["student_id = 'your id'", "%magic", "student_id = name()", "student_id = []"], ""),
    ],
)
def test_the_id_that_is_written_names_what_did_not_run(cells: list[str], wanted: str) -> None:
    assert written_id(cells) == wanted


def test_each_student_has_a_folder(tmp_path: Path) -> None:
    base = tmp_path / "class"
    put(base / "ada" / "lab.ipynb")
    put(base / "ada" / "helper.py", "x = 1")
    put(base / "ada" / "parts" / "more" / "words.py", "y = 2")
    put(base / "ada" / "parts" / "data.csv", "1")
    put(base / "ada" / "venv" / "pyvenv.cfg", "")
    put(base / "ada" / "venv" / "lib" / "abc.py", "")
    put(base / "ada" / ".ipynb_checkpoints" / "lab-checkpoint.ipynb")
    put(base / "bob" / "answers.pdf", b"%PDF")
    put(base / "eve" / ".ipynb_checkpoints" / "lab-checkpoint.ipynb")
    (base / "zoe").mkdir()
    put(base / "kim" / "lab.py", jupytext.writes(NOTEBOOK, fmt="py:percent"))
    every = found(base, tmp_path)
    assert {name: one.sender[0] for name, one in every.items()} == {
        "ada/lab.ipynb": "ada",
        "bob/answers.pdf": "bob",
        "eve/.ipynb_checkpoints/lab-checkpoint.ipynb": "eve",
        "kim/lab.py": "kim",
        "zoe": "",
    }
    files = every["ada/lab.ipynb"].files
    assert files is not None
    copied = [path.relative_to(files) for path in files.rglob("*") if path.is_file()]
    assert sorted(map(str, copied)) == ["helper.py", "parts/data.csv", "parts/more/words.py"]
    assert {path.stat().st_mode & 0o777 for path in [files, *files.rglob("*")] if path.is_dir()} == {0o755}
    assert "a PDF" in every["bob/answers.pdf"].notes[0]
    assert "autosave" in every["eve/.ipynb_checkpoints/lab-checkpoint.ipynb"].notes[0]
    assert "an empty folder" in every["zoe"].notes[0]


def test_a_folder_beside_several_notebooks_is_a_submission(tmp_path: Path) -> None:
    base = tmp_path / "class" / "lab-1"
    put(base / "ada.ipynb")
    put(base / "bob.ipynb")
    put(base / "cleo" / "answers.pdf", b"%PDF")
    assert set(found(tmp_path / "class", tmp_path)) == {
        "lab-1/ada.ipynb",
        "lab-1/bob.ipynb",
        "lab-1/cleo/answers.pdf",
    }


def test_file_names_say_who_sent_them(tmp_path: Path) -> None:
    base = tmp_path / "class"
    for name in (
        "ada",
        "ada-2",
        "ada (1)",
        "ada_v3_final",
        "lovelaceada_12_345_lab-1",
        "lovelaceada_LATE_12_9_x",
        "bob_2",
        "bob_3",
        "s1234567",
        "s7654321",
        "ag",
        "agnew",
    ):
        put(base / f"{name}.ipynb")
    senders = {name.removesuffix(".ipynb"): one.sender for name, one in found(base, tmp_path).items()}
    assert {senders[name] for name in ("ada", "ada-2", "ada (1)", "ada_v3_final")} == {("", "ada")}
    assert senders["bob_2"] == ("", "bob_2")
    assert senders["bob_3"] == ("", "bob_3")  # who are two students, as nobody is called bob
    assert senders["s1234567"] == ("", "s1234567")
    assert senders["agnew"] == ("", "agnew")
    assert senders["lovelaceada_12_345_lab-1"] == senders["lovelaceada_LATE_12_9_x"] == ("", "lovelaceada")


def test_what_labs_write_beside_notebooks_is_no_submission(tmp_path: Path) -> None:
    put(tmp_path / "in/a.ipynb")
    put(tmp_path / "in/leaderboard.csv", "name,f1")
    put(tmp_path / "in/other.csv", "name,f1")
    assert set(found(tmp_path / "in", tmp_path)) == {"a.ipynb", "other.csv"}


def test_links_and_other_files_are_named(tmp_path: Path) -> None:
    base, secret = tmp_path / "class", put(tmp_path / "secret.ipynb")
    put(base / "ada.ipynb")
    put(base / "report.html", "<html>")
    put(base / ".DS_Store", b"x")
    (base / "bob.ipynb").symlink_to(secret)
    os.mkfifo(base / "pipe.ipynb")
    every = found(base, tmp_path)
    assert set(every) == {"ada.ipynb", "report.html", "bob.ipynb", "pipe.ipynb"}
    assert [name for name, one in every.items() if one.path] == ["ada.ipynb"]
    assert "a link" in every["bob.ipynb"].notes[0]


def test_a_whole_class_in_one_zip(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", **{"lab.ipynb": TEXT}).read_bytes()
    base = tmp_path / "class"
    zipped(base / "all.zip", **{"ada__lab.ipynb": TEXT, "bob__lab.zip": inner, "__MACOSX__ada__._lab": b"x"})
    every = found(base, tmp_path)
    assert {name: one.sender[0] for name, one in every.items()} == {
        "all.zip/ada/lab.ipynb": "ada",
        "all.zip/bob/lab.zip/lab.ipynb": "bob",
    }


def test_zips_write_nowhere_else(tmp_path: Path) -> None:
    base = tmp_path / "class"
    path = zipped(base / "evil.zip", **{"../../out.ipynb": TEXT, "good.ipynb": TEXT})
    link = zipfile.ZipInfo("link.ipynb")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("/abs.ipynb", TEXT)
        archive.writestr("..\\win.ipynb", TEXT)
        archive.writestr(link, "/etc/passwd")
    every = found(base, tmp_path)
    assert set(every) == {"evil.zip/good.ipynb"}
    (note,) = every["evil.zip/good.ipynb"].notes
    assert note == (
        "left out of the zip, as they lead out of it: ../../out.ipynb, /abs.ipynb, ..\\win.ipynb, and 1 more"
    )
    assert not list(tmp_path.rglob("out.ipynb")) + list(tmp_path.rglob("win.ipynb"))


def test_zips_that_cannot_be_opened_or_burst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "class"
    put(base / "broken.zip", b"PK\x03\x04 no zip")
    zeros = b"\0" * 5_000_000
    zipped(base / "bomb.zip", **{"zeros.bin": zeros, "bomb.ipynb": zeros, "z_lab.ipynb": TEXT})
    liar = zipped(tmp_path / "liar.zip", **{"a.ipynb": zeros}).read_bytes()
    put(base / "liar.zip", liar.replace(len(zeros).to_bytes(4, "little"), (9).to_bytes(4, "little")))
    monkeypatch.setattr(archives, "LARGEST", 1_000_000)
    every = found(base, tmp_path)
    assert "cannot be opened" in every["broken.zip"].notes[0]
    bomb = every["bomb.zip/z_lab.ipynb"]
    assert bomb.path is not None
    assert bomb.notes[0] == "a zip of more than 1 MB: left out of it bomb.ipynb, zeros.bin"
    (note,) = {note for name, one in every.items() if name.startswith("liar.zip") for note in one.notes}
    assert "Bad CRC-32" in note
    assert (
        sum(path.stat().st_size for path in (tmp_path / "scratch").rglob("*") if path.is_file()) < 1_000_000
    )


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_zip_does_not_end_the_search(tmp_path: Path, method: int) -> None:
    base = tmp_path / "class"
    put(base / "bob.ipynb")
    path = base / "ada.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("lab.ipynb", TEXT)
    whole = path.read_bytes()
    start = 30 + len("lab.ipynb") + (9 if method == zipfile.ZIP_LZMA else 0)
    path.write_bytes(whole[:start] + b"\xff" * 12 + whole[start + 12 :])
    every = found(base, tmp_path)
    assert every["bob.ipynb"].path is not None
    assert any("cannot be opened: lab.ipynb" in note for note in every["ada.zip"].notes)
    assert not list((tmp_path / "scratch").rglob("lab.ipynb"))


def test_damaged_members_use_up_the_bytes_of_a_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wrong.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(5):
            archive.writestr(f"{number}.bin", bytes([65 + number]) * 400_000)
    path.write_bytes(path.read_bytes().replace(b"AAA", b"AAZ").replace(b"BBB", b"BBZ"))
    monkeypatch.setattr(archives, "LARGEST", 1_000_000)
    too_large, closed = archives.unpack(path, tmp_path / "out")
    assert too_large.endswith("left out of it 2.bin, 3.bin, 4.bin")
    assert closed.count("Bad CRC-32") == 2
    assert not list((tmp_path / "out").rglob("*.bin"))


def test_zips_lose_what_is_at_fault_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "class"
    path = zipped(base / "many.zip", **{f"{number}.txt": "" for number in range(30)}, **{"lab.ipynb": TEXT})
    zipped(base / "twice.zip", **{"lab.ipynb": "{}"})
    with zipfile.ZipFile(base / "twice.zip", "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("lab.ipynb", TEXT)
    zipped(base / "clash.zip", **{"a": "", "a/b.txt": "", "lab.ipynb": TEXT})
    locked = path.read_bytes().replace(b"PK\x03\x04\x14\0\0", b"PK\x03\x04\x14\0\1")
    put(base / "locked.zip", locked.replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1"))
    monkeypatch.setattr(archives, "MOST_FILES", 20)
    every = found(base, tmp_path)
    assert every["many.zip/lab.ipynb"].notes == ["of the zip's 31 files only 20 were looked at"]
    for name in ("twice", "clash"):
        notebook = every[f"{name}.zip/lab.ipynb"].path
        assert notebook is not None
        assert read(notebook).cells == CELLS
    assert every["clash.zip/lab.ipynb"].notes[0].startswith("in the zip cannot be opened: a/b.txt (")
    assert str(tmp_path) not in every["clash.zip/lab.ipynb"].notes[0]
    (_, note) = every["locked.zip"].notes
    assert "password required" in note
    assert note.endswith(", and 17 more; ask for the .ipynb")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["lab.ipynb.txt", "lab.json", "lab.ipynb (1)", "lab"])
def test_a_notebook_is_known_under_another_name(name: str, encoding: str, tmp_path: Path) -> None:
    put(tmp_path / "class" / "ada" / name, TEXT.encode(encoding))
    put(tmp_path / "class" / "bob" / "lab.json", "[1]")
    every = found(tmp_path / "class", tmp_path)
    path = every[f"ada/{name}"].path
    assert path is not None
    assert read(path).cells == CELLS
    assert every["bob/lab.json"].path is None


def test_an_autosave_does_not_replace_a_renamed_notebook(tmp_path: Path) -> None:
    own = put(tmp_path / "class" / "ada" / "renamed.ipynb")
    put(tmp_path / "class" / "ada" / ".ipynb_checkpoints" / "lab-checkpoint.ipynb")
    os.utime(own, (5, 5))
    times = {name: one.time for name, one in found(tmp_path / "class", tmp_path).items()}
    assert times["ada/.ipynb_checkpoints/lab-checkpoint.ipynb"] < times["ada/renamed.ipynb"] == 5
