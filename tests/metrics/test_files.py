"""Scoring files: what stays, what is added, and what is said of bad ones."""

from __future__ import annotations

import csv
import json

import pytest

from radeval_lib.metrics import MetricError, create, files, score_file


def _write(path, rows) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)


PAIR = '{"reference": "x", "candidate": "y"}\n'
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
    assert score_file({"rouge_l": {"stem": "false"}}, source, target).rows == 3
    with target.open(newline="", encoding="utf-8") as stream:
        found = list(csv.reader(stream))
    assert [row[:-1] for row in found] == ROWS
    assert [row[-1] for row in found] == ["rouge_l", "1.0", "0.0", "1.0"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "pairs.csv",
        "scores.csv",
        "scores.csv.about.json",
    ]


def test_json_lines(tmp_path) -> None:
    source, target = tmp_path / "pairs.jsonl", tmp_path / "scores.jsonl"
    source.write_text('{"n": [1], "reference": "a b", "candidate": "a b"}\n\n', encoding="utf-8")
    assert score_file({"rouge_1": {}}, source, target).rows == 1
    assert json.loads(target.read_text()) == {
        "n": [1],
        "reference": "a b",
        "candidate": "a b",
        "rouge_1": 1.0,
    }


def test_empty_table(tmp_path) -> None:
    _write(tmp_path / "in.csv", [["reference", "candidate"]])
    assert score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv").rows == 0
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
        (
            "a.jsonl",
            '{"reference": "x"}\n',
            "a.jsonl, line 1: no column 'candidate'. Columns found: reference",
        ),
        (
            "a.jsonl",
            '{"reference": "x", "candidate": 3}\n',
            "a.jsonl, line 1: 'candidate' is not a text",
        ),
        ("a.jsonl", "{\n", "a.jsonl, line 1: not JSON"),
        ("a.jsonl", "[1]\n", "must be an object"),
        ("a.jsonl", '{"reference": "x", "reference": "y"}', "line 1: .*the key 'reference' stands twice"),
        ("a.jsonl", PAIR + '{"reference": "x", "candidate": "y", "bleu": 1}', "already a column 'bleu'"),
        ("a.jsonl", r'{"reference": "x", "candidate": "\ud800"}', "line 1: holds half of a surrogate pair"),
        ("a.jsonl", "[" * 100_000, "nested too deep"),
        ("a.csv", "A whole report stands where the header should be.,x\n", "a text of 49 characters, x"),
        ("a.txt", "", "unknown format '.txt'"),
    ],
)
def test_bad_files_are_named_and_leave_nothing(tmp_path, name, content, said) -> None:
    source = tmp_path / name
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(MetricError, match=said):
        score_file({"bleu": {}}, source, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_missing_file_metric_and_setting(tmp_path) -> None:
    _write(tmp_path / "in.csv", ROWS)
    for name, settings, source, said in (
        ("bleu", {}, "gone.csv", "gone.csv: no such file"),
        ("blau", {}, "in.csv", "unknown metric 'blau'"),
        ("bleu", {"size": "3"}, "in.csv", "unknown setting 'size'. Settings: order"),
    ):
        with pytest.raises(MetricError, match=said):
            score_file({name: settings}, tmp_path / source, tmp_path / "out.csv")


def test_fields_that_csv_must_quote_come_back(tmp_path) -> None:
    rows = [["reference", "candidate", "n"], ["a\rb", "c", "d\r\n"], [' "', ",", "\x00\u2028"]]
    _write(tmp_path / "in.csv", rows[:1])
    with (tmp_path / "in.csv").open("a", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(rows[1:])
    score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as stream:
        assert [row[:-1] for row in csv.reader(stream, strict=True)] == rows


def test_json_lines_keep_the_keys_that_only_a_later_row_has(tmp_path) -> None:
    (tmp_path / "in.jsonl").write_text(PAIR + '{"reference": "x", "candidate": "x", "note": {"a": 1}}\n')
    score_file({"rouge_1": {}}, tmp_path / "in.jsonl", tmp_path / "out.csv")
    found = (tmp_path / "out.csv").read_text().splitlines()
    assert found == ["reference,candidate,note,rouge_1", "x,y,,0.0", 'x,x,"{""a"": 1}",1.0']


def test_several_metrics_give_several_columns_and_a_file_that_says_how(tmp_path) -> None:
    _write(tmp_path / "in.csv", ROWS)
    scored = score_file({"rouge_l": {"stem": "no"}, "bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "id,candidate,note,reference,rouge_l,bleu"
    about = json.loads((tmp_path / "out.csv.about.json").read_text())
    assert about["metrics"]["rouge_l"]["settings"]["stem"] == "False"
    assert about["rows"] == scored.rows == 3
    assert about["remarks"] == {"an empty reference or candidate": "1 pair(s), in row(s) 2"}
    assert "numpy" in about["packages"]


def test_observations_say_where_they_have_nothing_to_go_by(tmp_path) -> None:
    _write(
        tmp_path / "in.csv", [["reference", "candidate"], ["Small effusion.", "Torn ligament of the knee."]]
    )
    scored = score_file({"observations": {}}, tmp_path / "in.csv", tmp_path / "out.csv")
    (said,) = scored.remarks
    assert "fit chest reports alone" in said


def test_output_may_not_be_the_input_or_a_folder(tmp_path) -> None:
    _write(tmp_path / "in.csv", ROWS)
    (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
    (tmp_path / "folder.csv").mkdir()
    for name, said in (("in.csv", "one file"), ("link.csv", "one file"), ("folder.csv", "a folder")):
        with pytest.raises(MetricError, match=said):
            score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / name)


def test_scoring_goes_on_where_it_stopped(tmp_path, monkeypatch) -> None:
    rows = [(f"the lungs are clear {n % 7}", f"lungs clear {n % 3}") for n in range(40)]
    _write(tmp_path / "in.csv", [("reference", "candidate"), *rows])
    monkeypatch.setattr(files, "CHUNK", 5)
    score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "whole.csv")
    asked: list[int] = []
    bleu = create("bleu")
    whole = type(bleu)._score_pairs

    def counting(self, pairs):
        asked.append(len(pairs))
        return whole(self, pairs)

    monkeypatch.setattr(type(bleu), "_score_pairs", counting)

    def stop(done: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv", progress=stop)
    assert not (tmp_path / "out.csv").exists()
    scored = score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv")
    assert scored.kept >= 10
    assert sum(asked) == len(set(rows))
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
