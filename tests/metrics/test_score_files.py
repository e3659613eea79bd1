"""Scoring files: what stays, what is added, and what is said of bad ones."""

from __future__ import annotations

import csv
import errno
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from radeval_lib import atomic
from radeval_lib.categories import TYPES
from radeval_lib.errors import FileError
from radeval_lib.metrics import MetricError, create, parquet_files, score_file, score_files, table_files


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
    monkeypatch.setattr(score_files, "CHUNK", chunk)
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


def test_json_lines_have_null_for_numbers_that_json_lacks(tmp_path) -> None:
    (tmp_path / "in.jsonl").write_text('{"n": NaN, "of": [{"a": -Infinity}], ' + PAIR[1:])
    score_file({"rouge_1": {}}, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    first = '{"n": null, "of": [{"a": null}], "reference": "x", "candidate": "y", "rouge_1": 0.0}\n'
    assert (tmp_path / "out.jsonl").read_text() == first
    assert parquet_files.text([1.5, float("inf")]) == "[1.5, null]"


def test_blank_lines_are_no_rows(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("\nreference,candidate\nx,y\n\nx\n")
    with pytest.raises(MetricError, match=r"in.csv, row 2: 1 values for 2 columns"):
        score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv")


def test_a_file_that_is_gone_is_named(tmp_path) -> None:
    gone = tmp_path / "gone.csv"
    for read in (
        lambda: table_files.survey(gone, []),
        lambda: table_files.table(gone),
        lambda: list(table_files.rows(gone, table_files.FileContent(), [])),
        lambda: table_files.version(gone),
    ):
        with pytest.raises(MetricError, match=r"gone.csv: no such file"):
            read()


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
        ("a.csv", b"reference,candidate\n\xff,y\n", "a.csv, line 2: not UTF-8"),
        (  # beyond the first chunk that is decoded
            "a.csv",
            b"reference,candidate\n" + b"x,y\n" * 5_000 + b"x,\xe9\n",
            "a.csv, line 5002: not UTF-8",
        ),
        ("a.csv", b"PK\x03\x04\xff", "a workbook or an archive"),
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
        (
            "a.jsonl",
            PAIR + '{"reference": "x", "candidate": "y", "candidate:z": 3}\n',
            "a.jsonl, line 2: a column 'candidate:z', which rows before it lack",
        ),
        (
            "a.jsonl",
            '{"reference": "x", "candidate:z": "y"}\n{"reference": "x", "candidate:z": "y", "candidate": ""}',
            "a.jsonl, line 2: a column 'candidate', which rows before it lack",
        ),
        (
            "a.jsonl",
            '{"reference": "x", "candidate": "y", "candidate:z": "y"}\n' + PAIR,
            "a.jsonl, line 2: no column 'candidate:z'",
        ),
        ("a.jsonl", "{\n", "a.jsonl, line 1, column 1: not JSON"),
        ("a.jsonl", "[1]\n", "must be a JSON dict, not list"),
        ("a.jsonl", '{"reference": "x", "reference": "y"}', "line 1: a key stands twice"),
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
    assert about["metrics"]["rouge_l"]["settings"]["stem"] == "no"
    assert about["rows"] == scored.rows == 3
    assert "the candidate is empty: 1 row (2)" in about["cautions"]
    assert "numpy" in about["packages"]
    assert about["metrics"]["rouge_l"]["device"] == "cpu"


def test_observations_say_where_they_have_nothing_to_go_by(tmp_path) -> None:
    _write(
        tmp_path / "in.csv", [["reference", "candidate"], ["Small effusion.", "Torn ligament of the knee."]]
    )
    scored = score_file({"observations": {}}, tmp_path / "in.csv", tmp_path / "out.csv")
    (said,) = scored.cautions
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
    monkeypatch.setattr(score_files, "CHUNK", 5)
    score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "whole.csv")
    asked: list[int] = []
    bleu = create("bleu")
    whole = type(bleu)._score_pairs

    def counting(self, pairs):
        asked.append(len(pairs))
        return whole(self, pairs)

    monkeypatch.setattr(type(bleu), "_score_pairs", counting)

    def stop(done: int, rows: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv", progress=stop)
    assert not (tmp_path / "out.csv").exists()
    scored = score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv")
    assert scored.kept == 10
    assert asked == [5] * 8
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def _write_many(folder: Path) -> None:
    rows = [(f"the lungs are clear {n}", f"clear {n}") for n in range(8)]
    _write(folder / "in.csv", [("reference", "candidate"), *rows])


def _stop(done: int, rows: int) -> None:
    raise KeyboardInterrupt


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_run_resumes_another_that_had_other_packages_loaded(tmp_path, monkeypatch) -> None:
    _write_many(tmp_path)
    code = (
        "import os\nfrom radeval_lib.metrics import score_file, score_files\nscore_files.CHUNK = 4\n"
        "score_file({'rouge_l': {}}, 'in.csv', 'out.csv', progress=lambda *done: os._exit(9))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 9
    import torch  # noqa: F401

    monkeypatch.setattr(score_files, "CHUNK", 4)
    assert score_file({"rouge_l": {}}, tmp_path / "in.csv", tmp_path / "out.csv").kept == 4
    assert _names(tmp_path) == ["in.csv", "out.csv", "out.csv.about.json"]


def test_changed_settings_and_code_do_not_resume(tmp_path, monkeypatch) -> None:
    _write_many(tmp_path)
    for change in (None, {"order": "3"}, "code"):
        with pytest.raises(KeyboardInterrupt):
            score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv", progress=_stop)
        if change == "code":
            monkeypatch.setattr("radeval_lib.provenance.own_files", lambda: "other")
        settings = change if isinstance(change, dict) else {}
        scored = score_file({"bleu": settings}, tmp_path / "in.csv", tmp_path / "out.csv")
        assert scored.kept == (0 if change else 8)


def test_two_runs_do_not_write_one_output(tmp_path) -> None:
    _write_many(tmp_path)

    def second(done: int, rows: int) -> None:
        with pytest.raises(MetricError, match=r"out.csv: another run is writing this output"):
            score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv")

    assert score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv", progress=second).rows == 8


def test_a_block_that_was_damaged_is_scored_anew(tmp_path) -> None:
    _write_many(tmp_path)
    score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "whole.csv")
    for spoil in (
        lambda old: old[:100],
        lambda old: old.replace(b"0.", b"1."),
        lambda old: old[:4] + b"other" + old[9:],
        lambda old: b"",
    ):
        with pytest.raises(KeyboardInterrupt):
            score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv", progress=_stop)
        (path,) = tmp_path.glob(".scoring-*/bleu/*")
        path.write_bytes(spoil(path.read_bytes()))
        assert score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv").damaged
        assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize("kept", [False, True])
def test_a_full_disk_leaves_what_can_be_resumed(tmp_path, monkeypatch, kept) -> None:
    _write_many(tmp_path)
    monkeypatch.setattr(score_files, "CHUNK", 4)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def refuse(done: int, rows: int) -> None:
        raise full

    if not kept:
        monkeypatch.setattr("radeval_lib.metrics.blocks._check", lambda content: refuse(0, 8))
    with pytest.raises(FileError, match=r"out.csv: no space left on device") as told:
        score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv", progress=refuse)
    assert ("What was scored is kept" in str(told.value)) == kept
    assert [name.startswith(".scoring-") for name in _names(tmp_path)] == [True, False][not kept :]
    if kept:
        assert score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv").kept == 4


def test_what_is_said_beside_the_output_comes_with_it_or_not_at_all(tmp_path, monkeypatch) -> None:
    _write_many(tmp_path)
    monkeypatch.setattr(score_files, "_about", lambda *rest: os.stat(tmp_path / "gone"))
    with pytest.raises(FileError):
        score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv")
    assert not [name for name in _names(tmp_path) if name.startswith("out.csv")]


def test_an_input_that_changes_meanwhile_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(score_files, "CHUNK", 4)
    for text in ("reference\nx\n", "reference,candidate\n" + "x,y\n" * 8):
        _write_many(tmp_path)
        survey = table_files.survey

        def changing(*given, text=text, survey=survey):
            found = survey(*given)
            atomic.write_text(given[0], text)
            return found

        monkeypatch.setattr(table_files, "survey", changing)
        with pytest.raises(MetricError, match=r"changed while it was scored|no column 'candidate'"):
            score_file({"bleu": {}}, tmp_path / "in.csv", tmp_path / "out.csv")
        assert not (tmp_path / "out.csv").exists()
        monkeypatch.setattr(table_files, "survey", survey)


def test_what_is_no_file_is_reported_before_anything_is_scored(tmp_path, monkeypatch) -> None:
    _write_many(tmp_path)
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    Path("kernel.csv").symlink_to("/proc/self/status")
    Path("taken.csv.about.json").mkdir()
    before = _names(tmp_path)
    for source, target, said in (
        ("pipe.csv", "out.csv", "pipe.csv: not a regular file. .* save to one first"),
        ("in.csv", "pipe.csv", "pipe.csv: not a regular file"),
        ("kernel.csv", "out.csv", "kernel.csv: not a regular file"),
        ("/proc/self/status", "out.csv", "status: not a regular file"),
        ("-", "out.csv", "not a regular file"),
        (".", "out.csv", "this is a folder"),
        ("in.csv", "/", "this is a folder"),
        ("in.csv", "taken.csv", "taken.csv.about.json: this is a folder"),
        ("in.csv", "out", "the name has no known ending"),
    ):
        with pytest.raises(MetricError, match=said):
            score_file({"bleu": {}}, source, target)
    assert _names(tmp_path) == before


def test_all_models_and_weights_decide_how_scores_are_called(tmp_path) -> None:
    assert set(create("radcliq", label_encoder="a").models()) == {"graph_model", "encoder", "label_encoder"}
    signatures = set()
    for penalty in (0.5, 0.6):
        weights = {f"{a}_{b}": 0.5 for a in TYPES for b in TYPES}
        (tmp_path / "mine.json").write_text(json.dumps({**weights, "neg_weight": penalty}))
        signatures.add(create("ratescore", weights=str(tmp_path / "mine.json")).signature())
    assert len(signatures) == 2
    with pytest.raises(MetricError, match=r"bertscore.device: unknown device 'tpu'"):
        score_files.device_name(create("bertscore", device="tpu"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"PK\x03\x04\x14\x00\xff\xff", "a workbook or an archive, not a text. Save it as CSV."),
        (b"reference;candidate\na;b\n", "Put commas between columns."),
        (b"Reference,Candidate\na,b\n", "Rename 'Reference' to 'reference'."),
        (b"reference,Candidate\na,b\n", "Rename 'Candidate' to 'candidate'."),
    ],
)
def test_a_slip_with_a_file_is_named_with_its_remedy(content: bytes, told: str, tmp_path) -> None:
    source = tmp_path / "pairs.csv"
    source.write_bytes(content)
    with pytest.raises(MetricError) as raised:
        score_file("rouge_l", source, tmp_path / "out.csv")
    assert told in str(raised.value)


def test_silence_of_the_rules_is_no_praise(tmp_path) -> None:
    source = tmp_path / "pairs.csv"
    source.write_text("reference,candidate\nCat.,Dog.\nNo pneumothorax.,No pneumothorax.\n", encoding="utf-8")
    scored = score_file("green_rules_errors", source, tmp_path / "out.csv")
    assert scored.cautions == [
        f"green_rules_errors: the rules can read nothing of the {side}: 1 row (1)"
        for side in ("reference", "candidate")
    ]


def test_rows_without_a_group_are_named(tmp_path) -> None:
    rows = [("group", "reference", "candidate"), ("a", "x", "x"), ("", "x", "y"), (" ", "x", "y")]
    _write(tmp_path / "in.csv", rows)
    scored = score_file("rouge_1", tmp_path / "in.csv", tmp_path / "out.csv")
    assert {part: means["rouge_1"] for part, means in scored.means.items()} == {
        "all": pytest.approx(1 / 3),
        "group a": 1,
        "group without a name": 0,
    }


def test_a_row_without_a_case_is_named_where_errors_are_counted_by_case(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("case,reference,candidate\n1,No effusion.,Effusion.\n,Clear.,Clear.\n")
    with pytest.raises(MetricError, match="no case") as refused:
        score_file({"green_rules_errors": {}}, tmp_path / "in.csv", tmp_path / "out.csv", explain=True)
    assert "row 2" in str(refused.value)
    assert not (tmp_path / "out.csv").exists()


def test_a_case_that_only_some_json_lines_name_is_missed_in_the_others(tmp_path) -> None:
    pair = {"reference": "No effusion.", "candidate": "Effusion."}
    lines = [json.dumps({"case": "2", **pair}), json.dumps(pair)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    with pytest.raises(MetricError, match=r"row 2: no case"):
        score_file({"green_rules_errors": {}}, tmp_path / "in.jsonl", tmp_path / "out.csv", explain=True)


def test_a_misspelt_metric_is_guessed() -> None:
    with pytest.raises(MetricError, match="Did you mean 'green_rules_errors'"):
        create("green_rule_error")


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2"])
def test_a_number_of_workers_that_is_none_is_refused(workers, tmp_path) -> None:
    (tmp_path / "in.csv").write_text("reference,candidate\na,b\n", encoding="utf-8")
    with pytest.raises(MetricError, match=rf"^workers: {workers!r} workers. Give a whole number, 1 or more"):
        score_file("rouge_1", tmp_path / "in.csv", tmp_path / "out.csv", workers=workers)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        ("a", "a"),
        (True, "true"),
        ([1, None], "[1, null]"),
        (date(2020, 1, 2), "2020-01-02"),
        (2.5, "2.5"),
    ],
)
def test_values_in_a_column_of_texts(value, text) -> None:
    assert parquet_files.text(value) == text
