"""Scoring files: what stays, what is added, and what is said of bad ones."""

from __future__ import annotations

import csv
import json

import pytest

from radeval_lib.metrics import MetricError, files, score_file


def _write(path, rows) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)


ROWS = [
    ["id", "candidate", "note", "reference"],
    ["7", "clear lungs, no effusion", 'a "quoted"\nline', "clear lungs, no effusion"],
    ["3", "", "é 中", "clear lungs"],
    ["7", "clear lungs, no effusion", "", "clear lungs, no effusion"],
]


@pytest.mark.parametrize("chunk", [1, 2, 5_000])
def test_columns_and_rows_stay(tmp_path, monkeypatch, chunk) -> None:
    monkeypatch.setattr(files, "CHUNK", chunk)
    source, target = tmp_path / "pairs.csv", tmp_path / "scores.csv"
    _write(source, ROWS)
    assert score_file("rouge_l", {"stem": "false"}, source, target) == 3
    with target.open(newline="", encoding="utf-8") as stream:
        found = list(csv.reader(stream))
    assert [row[:-1] for row in found] == ROWS
    assert [row[-1] for row in found] == ["rouge_l", "1.0", "0.0", "1.0"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.csv", "scores.csv"]


def test_json_lines(tmp_path) -> None:
    source, target = tmp_path / "pairs.jsonl", tmp_path / "scores.jsonl"
    source.write_text('{"n": [1], "reference": "a b", "candidate": "a b"}\n\n', encoding="utf-8")
    assert score_file("rouge_1", {}, source, target) == 1
    assert json.loads(target.read_text()) == {
        "n": [1],
        "reference": "a b",
        "candidate": "a b",
        "rouge_1": 1.0,
    }


def test_empty_table(tmp_path) -> None:
    _write(tmp_path / "in.csv", [["reference", "candidate"]])
    assert score_file("bleu", {}, tmp_path / "in.csv", tmp_path / "out.csv") == 0
    assert (tmp_path / "out.csv").read_text() == "reference,candidate,bleu\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "reference,text\nx,y\n", r"a.csv: no column 'candidate'. Columns found: reference, text"),
        ("a.csv", "", "no column 'reference'. Columns found: none"),
        ("a.csv", "reference,candidate\nx\n", "a.csv, row 1: 1 values for 2 columns"),
        ("a.csv", 'reference,candidate\n"x,y\n', "not a CSV file"),
        ("a.csv", "reference,candidate,bleu\nx,y,1\n", "already a column 'bleu'"),
        ("a.csv", "reference,candidate,candidate\nx,y,1\n", "two columns are called 'candidate'"),
        ("a.csv", b"reference,candidate\n\xff,y\n", "not UTF-8"),
        ("a.jsonl", '{"reference": "x"}\n', "no column 'candidate'. Columns found: reference"),
        (
            "a.jsonl",
            '{"reference": "x", "candidate": 3}\n',
            "a.jsonl, line 1: 'candidate' is missing or not a text",
        ),
        ("a.jsonl", "{\n", "a.jsonl, line 1: not JSON"),
        ("a.jsonl", "[1]\n", "must be an object"),
        ("a.txt", "", "unknown format '.txt'"),
    ],
)
def test_bad_files_are_named_and_leave_nothing(tmp_path, name, content, said) -> None:
    source = tmp_path / name
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(MetricError, match=said):
        score_file("bleu", {}, source, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_missing_file_metric_and_setting(tmp_path) -> None:
    _write(tmp_path / "in.csv", ROWS)
    for name, settings, source, said in (
        ("bleu", {}, "gone.csv", "gone.csv: no such file"),
        ("blau", {}, "in.csv", "unknown metric 'blau'"),
        ("bleu", {"size": "3"}, "in.csv", "unknown setting 'size'. Settings: order"),
    ):
        with pytest.raises(MetricError, match=said):
            score_file(name, settings, tmp_path / source, tmp_path / "out.csv")
