"""Scores and explanations of tables and files: what stays, what is added, what is kept, what is refused."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from radeval_lib import explain, score
from radeval_lib.cli import main
from radeval_lib.metrics import MetricError, by_name, file_scoring, score_file
from radeval_lib.models import pretrained

RULES = "green_rules_errors"
METRICS = ["bleu", RULES]
ROWS = [
    ["id", "candidate", "note", "reference"],
    ["7", "clear lungs, no effusion", 'a "quoted"\nline', "clear lungs, no effusion"],
    ["3", "", "é 中", "clear lungs"],
    ["9", "clear lungs,\r\nno effusion", "", "clear lungs, no effusion"],
]
SYSTEMS = pd.DataFrame(
    {
        "id": ["one", "two", "three"],
        "reference": ["Small left effusion.", "No pneumothorax.", "Cardiomegaly."],
        "candidate:x": ["Small right effusion.", "No pneumothorax.", "Heart size is normal."],
        "candidate:y": ["Small left effusion.", "Pneumothorax.", "Cardiomegaly."],
        "group": ["a", "b", "b"],
    }
)


def _write(path: Path, rows: list[list[str]], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)
    return path


def _read(path: Path, delimiter: str = ",") -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream, delimiter=delimiter))


@pytest.mark.parametrize("chunk", [1, 2, 500])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_columns_and_rows_stay(tmp_path, monkeypatch, chunk, delimiter) -> None:
    monkeypatch.setattr(file_scoring, "CHUNK_ROWS", chunk)
    source, target = _write(tmp_path / "pairs.csv", ROWS, delimiter), tmp_path / "scores.csv"
    assert score_file({"rouge_l": {"stem": "false"}}, source, target).rows == 3
    rows = _read(target)
    assert [row[:-1] for row in rows] == ROWS
    assert [row[-1] for row in rows] == ["rouge_l", "1.0", "0.0", "1.0"]
    beside = ["pairs.csv", "scores.csv", "scores.csv.about.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == beside


def test_json_lines_keep_types_and_have_null_for_what_is_no_number(tmp_path) -> None:
    source, target = tmp_path / "pairs.jsonl", tmp_path / "scores.jsonl"
    source.write_text('{"n": [1], "x": NaN, "id": 3, "reference": "a b", "candidate": "a b"}\n\n')
    assert score_file("rouge_1", source, target).rows == 1
    row = {"n": [1], "x": None, "id": 3, "reference": "a b", "candidate": "a b", "rouge_1": 1.0}
    assert json.loads(target.read_text()) == row
    score_file("rouge_1", source, tmp_path / "scores.tsv")
    assert _read(tmp_path / "scores.tsv", "\t")[1] == ["[1]", "", "3", "a b", "a b", "1.0"]


@pytest.mark.parametrize(
    ("name", "content", "where"),
    [
        ("in.csv", "", "in.csv"),
        ("in.csv", "Reference,Candidate\nx,y\n", "in.csv"),
        ("in.csv", "reference,edited\nx,y\n", "in.csv"),
        ("in.csv", "reference,candidate\nx,y\n\nx\n", "in.csv, row 2"),
        ("in.csv", "reference,candidate\nx,y,z\n", "in.csv, row 1"),
        ("in.csv", 'reference,candidate\n"x,y\n', "in.csv, line 2"),
        ("in.csv", b"reference,candidate\nx,\xff\n", "in.csv, line 2"),
        ("in.csv", b"PK\x03\x04\x00\xff", "in.csv, line 1"),
        ("in.csv", "reference,reference,candidate\nx,y,z\n", "in.csv"),
        ("in.csv", "reference,candidate,bleu\nx,y,1\n", "in.csv"),
        ("in.jsonl", '{"reference": "x"', "in.jsonl, line 1"),
        ("in.jsonl", '{"reference": "x", "candidate": "y"}\n{"reference": "x"}\n', "in.jsonl, row 2"),
        ("in.jsonl", '{"reference": "x", "candidate": 3}\n', "in.jsonl, row 1"),
        ("in.jsonl", '{"reference": "\\ud83d\\ude00", "candidate": "\\uD83D x"}\n', "in.jsonl, line 1"),
        ("in.parquet", b"PAR1", "in.parquet"),
    ],
)
def test_bad_files_are_named_and_leave_nothing(tmp_path, name, content, where) -> None:
    source = tmp_path / name
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(MetricError) as caught:
        score_file("bleu", source, tmp_path / "out.csv")
    assert caught.value.where == where
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_errors_repeat_no_text(tmp_path) -> None:
    (tmp_path / "in.csv").write_text("Ms Smith has a large mass in the lung.,candidate\nx,y\n")
    with pytest.raises(MetricError) as caught:
        score_file("bleu", tmp_path / "in.csv", tmp_path / "out.csv")
    assert "Smith" not in str(caught.value)


def test_output_may_not_be_the_input_or_a_folder(tmp_path) -> None:
    source, output = _write(tmp_path / "pairs.csv", ROWS), tmp_path / "out.csv"
    for name in ("pairs.csv", ".", "none/out.csv"):
        with pytest.raises(MetricError):
            score_file("bleu", source, tmp_path / name)
    for name in ("pairs.csv", "out.csv", "out.csv.about.json"):
        with pytest.raises(MetricError):
            score_file("bleu", source, output, report=tmp_path / name)
    for path, workers in ((tmp_path / "gone.csv", 1), (source, 0)):
        with pytest.raises(MetricError):
            score_file("bleu", path, output, workers=workers)


def test_each_system_gets_its_columns_and_each_pair_its_line(tmp_path) -> None:
    source = tmp_path / "systems.csv"
    SYSTEMS.to_csv(source, index=False)
    scored = score_file([RULES, "rouge_l"], source, tmp_path / "out.csv", explain=True)
    table = pd.read_csv(tmp_path / "out.csv")
    assert list(table.columns[-4:]) == [f"{RULES}:x", f"{RULES}:y", "rouge_l:x", "rouge_l:y"]
    assert table[f"{RULES}:x"].tolist()[:2] == [0.25, 0.0]
    assert scored.means["all"][f"{RULES}:x"] == pytest.approx(table[f"{RULES}:x"].mean())
    assert scored.means["group a"] == pytest.approx(table.iloc[0, -4:].astype(float).to_dict())
    lines = [json.loads(line) for line in (tmp_path / "out.csv.explained.jsonl").read_text().splitlines()]
    assert [(line["row"], line["id"], line["candidate"]) for line in lines[:3]] == [
        (1, "one", "candidate:x"),
        (1, "one", "candidate:y"),
        (2, "two", "candidate:x"),
    ]
    assert lines[0]["reasons"][0]["candidate"]["words"] == "effusion"
    about = json.loads((tmp_path / "out.csv.about.json").read_text())
    assert about["means"] == scored.means


def test_lists_and_tables_give_tables() -> None:
    lists = score(SYSTEMS["reference"].tolist(), SYSTEMS["candidate:x"].tolist(), metrics=METRICS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = score(SYSTEMS.set_axis([5, 6, 7]), metrics=METRICS)
    assert table[f"{RULES}:x"].tolist() == lists[RULES].tolist()
    assert list(table.index) == [5, 6, 7]
    assert list(score([], [])[RULES]) == []
    columns = list(explain(["Small left effusion."], ["Small right effusion."]))
    assert "candidate_sentence" in columns
    assert all(list(explain(nothing, nothing)) == columns for nothing in ([], ["Clear."]))
    reasons = explain(SYSTEMS, texts=False)
    assert "candidate_words" not in reasons
    assert reasons["score"].iloc[0] == 0.25


def test_warnings_name_the_line_of_the_script() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        score([""], ["No effusion."])
    assert {warning.filename for warning in caught} == {__file__}


# --- models that are not there ---


@pytest.fixture
def nothing_available(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without a hub, with nothing in its cache and no build."""

    monkeypatch.setattr(pretrained, "can_reach_hub", lambda: False)
    monkeypatch.setattr(pretrained, "is_available", lambda name: not pretrained.needs_torch(name))
    monkeypatch.setattr(
        pretrained, "find_substitute", lambda role: "packaged-minilm" if role == "encoder" else None
    )


@pytest.mark.usefixtures("nothing_available")
def test_all_takes_what_can_score_and_says_what_cannot() -> None:
    chosen = by_name.choose({"all": {}, "bleu": {"order": "2"}})
    assert chosen.metrics["bleu"].settings() == {"order": 2}
    assert {"rouge_l", "meteor", "observations", "green_rules", RULES, "bertscore"} <= set(chosen.metrics)
    assert "bertscore" in chosen.substitutes
    assert chosen.metrics["bertscore"].settings()["layer"] is None
    assert set(chosen.left_out) == {"f1_radgraph", "green", "radgraph_combined", "radcliq", "ratescore"}
    named = {"bertscore": {"encoder": "packaged-minilm"}}
    assert by_name.choose(named).metrics["bertscore"].settings()["layer"] is None
    named["bertscore"]["layer"] = 5
    assert by_name.choose(named).metrics["bertscore"].settings()["layer"] == 5
    assert "green" in by_name.choose("green").substitutes
    with pytest.raises(MetricError):
        by_name.choose("ratescore")


def test_a_metric_that_fails_does_not_cost_the_others_scores(tmp_path) -> None:
    source = _write(tmp_path / "pairs.csv", ROWS)
    graphs = tmp_path / "graphs.json"  # of no text that is scored
    graphs.write_text("{}")
    wanted = {"bleu": {}, "f1_radgraph": {"graph_model": str(graphs)}}
    for workers in (1, 2):
        scored = score_file(wanted, source, tmp_path / "out.csv", workers=workers)
        assert list(scored.chosen.metrics) == ["bleu"]
        assert "f1_radgraph" in scored.chosen.left_out
    with pytest.raises(MetricError):
        score_file({"f1_radgraph": wanted["f1_radgraph"]}, source, tmp_path / "other.csv")
    options = f"--metric bleu --metric f1_radgraph --set f1_radgraph.graph_model={graphs}".split()
    files = ["--input", str(source), "--output", str(tmp_path / "last.csv")]
    done = CliRunner().invoke(main, ["score", *options, *files])
    assert done.exit_code == 2
    assert "bleu" in (tmp_path / "last.csv").read_text()


# --- chunks and processes ---


def test_later_chunks_keep_the_first_columns_and_groups_named_as_columns_their_rows(tmp_path) -> None:
    first = '{"reference": "a", "candidate": "b", "note": 1, "group": "note"}\n'
    later = '{"group": "candidate", "candidate": "a", "reference": "a"}\n'
    (tmp_path / "in.jsonl").write_text(first * file_scoring.CHUNK_ROWS + later)
    scored = score_file("rouge_l", tmp_path / "in.jsonl", tmp_path / "out.csv")
    assert {name: means["rouge_l"] for name, means in scored.means.items()} == {
        "all": pytest.approx(1 / (file_scoring.CHUNK_ROWS + 1)),
        "group note": 0,
        "group candidate": 1,
    }
    rows = (tmp_path / "out.csv").read_text().splitlines()
    assert [rows[0], rows[-1]] == ["reference,candidate,note,group,rouge_l", "a,a,,candidate,1.0"]


def _pairs(folder: Path, rows: int) -> Path:
    texts = ["Small left effusion.", "No pneumothorax.", "Heart size is normal.", "Right pneumonia."]
    frame = pd.DataFrame({"reference": [f"{texts[row % 4]} Node of {row} mm." for row in range(rows)]})
    frame["candidate"] = frame["reference"].str.replace("left", "right")
    frame.to_csv(folder / "in.csv", index=False)
    return folder / "in.csv"


RUN = """
import signal, sys, time
from radeval_lib.metrics import file_scoring, score_file
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background job
file_scoring.CHUNK_ROWS = 10
def progress(done, share):
    print(done, flush=True)
    time.sleep(300 * (done == int(sys.argv[2])))
settings = dict(explain=True, report="page.html", workers=int(sys.argv[1]), progress=progress)
print(score_file(["bleu", "green_rules_errors"], "in.csv", "out.csv", **settings).kept_rows)
"""
OUTPUTS = ("out.csv", "out.csv.about.json", "out.csv.explained.jsonl", "page.html")


def _run(folder: Path, workers: int, stops_after: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, str(workers), str(stops_after)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("how", "workers"), [(signal.SIGKILL, 1), (signal.SIGINT, 2)])
def test_a_run_that_is_killed_resumes_after_its_last_chunk(tmp_path, how, workers) -> None:
    _pairs(tmp_path, 60)
    first = _run(tmp_path, 1)
    assert first.communicate(timeout=300)[0].split()[-1] == "0"
    whole = [(tmp_path / name).read_bytes() for name in OUTPUTS]
    for name in OUTPUTS:
        (tmp_path / name).unlink()
    second = _run(tmp_path, workers, stops_after=30)
    assert second.stdout is not None
    assert [second.stdout.readline() for _ in range(3)] == ["10\n", "20\n", "30\n"]
    os.kill(second.pid, how)
    second.communicate(timeout=300)
    assert not [name for name in OUTPUTS if (tmp_path / name).exists()]
    third = _run(tmp_path, workers)
    kept = int(third.communicate(timeout=300)[0].split()[-1])
    assert kept >= 20
    assert [(tmp_path / name).read_bytes() for name in OUTPUTS] == whole
    assert not list(tmp_path.glob(".scoring-*"))


def test_other_settings_keep_nothing(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(file_scoring, "CHUNK_ROWS", 10)
    source = _pairs(tmp_path, 40)

    def stop(done: int, share: float) -> None:
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_file("bleu", source, tmp_path / "out.csv", progress=stop)
    assert score_file({"bleu": {"order": 2}}, source, tmp_path / "out.csv").kept_rows == 0


PEAK = """
import resource, sys
from radeval_lib.metrics import score_file
score_file(sys.argv[1], "in.csv", "out.csv", explain=True, report="page.html")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@pytest.mark.nightly
def test_memory_does_not_grow_with_the_file(tmp_path) -> None:
    peaks = []
    for rows in (4_000, 16_000):
        _pairs(tmp_path, rows)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, RULES], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True
        )
        peaks.append(float(done.stdout))
    assert peaks[1] < 1.1 * peaks[0] + 10, peaks


def test_scoring_by_words_and_by_rules_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom radeval_lib import score\nimport radeval_lib.cli.scoring\n"
        "score(['Effusion.'], ['Effusion.'], metrics=['rouge_l', 'green_rules_errors'])\n"
        "print([name for name in ('torch', 'transformers', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
