"""The `radbook` command: what it prints, and that bad input gets one line and status 2."""

from __future__ import annotations

import csv
import errno
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import radeval_lib
from radeval_lib import registry
from radeval_lib.cli import main
from radeval_lib.data import load_manifest, names
from radeval_lib.labs import sources
from radeval_lib.study import ledger


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), env={"RADEVAL_DATA_ROOT": ""})


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    rows = [
        ("b", "No pleural effusion.", "No pleural effusion."),
        ("a", "Heart is enlarged.", "Lungs are clear."),
    ]
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("id", "reference", "candidate"), *rows])
    return path


def test_score_adds_a_column_and_keeps_the_rest(pairs: Path, tmp_path: Path) -> None:
    output = tmp_path / "scores.csv"
    done = _run("score", "--metric", "rouge_l", "--input", str(pairs), "--output", str(output))
    assert done.exit_code == 0, done.output
    with output.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["id", "reference", "candidate", "rouge_l"]
    assert [row["id"] for row in rows] == ["b", "a"]
    assert [float(row["rouge_l"]) for row in rows] == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize(
    "change",
    [
        ["--metric", "nope"],
        ["--metric", "rouge_l", "--set", "rouge_l.colour=red"],
        ["--metric", "rouge_l", "--set", "bleu.order=4"],
        ["--metric", "rouge_l", "--set", "nonsense"],
        ["--metric", "bleu", "--set", "bleu.order=4", "--set", "bleu.order=4"],
    ],
)
def test_bad_metrics_and_settings_are_refused(change: list[str], pairs: Path, tmp_path: Path) -> None:
    output = tmp_path / "scores.csv"
    done = _run("score", "--input", str(pairs), "--output", str(output), *change)
    assert (done.exit_code, done.stderr.count("\n"), output.exists()) == (2, 1, False)
    assert re.search(r"nope|colour|bleu|nonsense", done.stderr)


def test_what_is_no_metric_is_refused(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys\nsys.exit(0)\n")
    for metric in ([f"{tmp_path}/script.py:f"], [":f"], ["--command", " "], ["--command", "'x"], []):
        done = _run("metric-card", *metric, "--output", str(tmp_path / "card.html"))
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)


def test_scoring_onto_a_full_disk_is_reported_in_one_line(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: str, encoding: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_text", full)
    done = _run("score", "--metric", "rouge_l", "--input", str(pairs), "--output", str(tmp_path / "out.csv"))
    assert done.exit_code == 2
    assert "no space left on device" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_data_status_lists_every_data_set_and_the_steps_to_what_is_missing(tmp_path: Path) -> None:
    listed = _run("data", "status", "--data-root", str(tmp_path))
    assert [row.split()[0] for row in listed.stdout.splitlines()[1:]] == names()
    assert [row.split()[0] for row in _run("data", "status").stdout.splitlines()[2:]] == names()
    one_set = ("data", "status", "stanza_radiology", "--data-root", str(tmp_path))
    assert "(1) Follow the RaLEs repository" in _run(*one_set).stdout
    for file in load_manifest("stanza_radiology").files:
        (tmp_path / file.path).parent.mkdir(exist_ok=True)
        (tmp_path / file.path).write_text("{}")
    assert "(1)" not in _run(*one_set).stdout


def test_data_commands_say_what_they_lack(tmp_path: Path) -> None:
    for arguments, remedy in (
        (["verify"], "RADEVAL_DATA_ROOT"),
        (["verify", "openi", "--data-root", str(tmp_path)], "radbook data status"),
        (["fetch", "rexval", "--data-root", str(tmp_path)], "radbook data add rexval"),
    ):
        done = _run("data", *arguments)
        assert done.exit_code == 2
        assert remedy in done.stderr


def test_exhibits_lists_the_ledger() -> None:
    head, *rows = _run("exhibits", "--profile", "full").stdout.splitlines()  # nothing is built for it
    assert head.split() == ["exhibit", "verdict", "coverage", "evidence", "command", "title"]
    assert len(rows) == len(ledger())
    assert all("radbook run " in row and "-p profile full" in row for row in rows)
    every = json.loads(_run("exhibits", "--profile", "full", "--json").stdout)
    assert [row["exhibit"] for row in every] == list(ledger())
    assert {row["verdict"] for row in every} == {"not checked"}


def test_help_and_the_package_name_every_metric() -> None:
    shown = CliRunner().invoke(main, ["score", "--help"]).output.replace("\n", " ")
    assert {*radeval_lib.METRICS} == {*registry.METRICS}
    assert all(re.search(rf"\b{name}\b", shown) for name in radeval_lib.METRICS)


def test_the_package_offers_its_functions_and_no_internals() -> None:
    assert {"METRICS", "compare", "explain", "metric_card", "score"} <= {*dir(radeval_lib)}
    assert not {"registry", "names_of", "TYPE_CHECKING"} & {*dir(radeval_lib)}
    assert all(hasattr(radeval_lib, name) for name in dir(radeval_lib))


def test_labs_outside_the_repository_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LABS", Path("nowhere"))
    done = _run("labs", "start", "1")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
