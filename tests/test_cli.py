"""The `radbook` command: what it prints, and that bad input gets one line and status 2."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from radeval_lib.cli import main
from radeval_lib.data import names
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
    ("change", "says"),
    [
        (["--metric", "nope"], "unknown metric 'nope'"),
        (["--metric", "rouge_l", "--set", "rouge_l.colour=red"], "unknown setting 'colour'"),
        (["--metric", "rouge_l", "--set", "bleu.order=4"], "setting of 'bleu'"),
        (["--metric", "rouge_l", "--set", "nonsense"], "is no setting"),
    ],
)
def test_bad_metrics_and_settings_are_told(change: list[str], says: str, pairs: Path, tmp_path: Path) -> None:
    output = tmp_path / "scores.csv"
    told = _run("score", "--input", str(pairs), "--output", str(output), *change)
    assert told.exit_code == 2
    assert says in told.stderr
    assert told.stderr.count("\n") == 1
    assert not output.exists()


def test_data_status_lists_every_data_set(tmp_path: Path) -> None:
    listed = _run("data", "status", "--data-root", str(tmp_path))
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == names()


def test_credentialed_data_are_not_fetched_but_explained(tmp_path: Path) -> None:
    told = _run("data", "fetch", "rexval", "--data-root", str(tmp_path))
    assert told.exit_code == 2
    assert "physionet.org" in told.stderr
    assert "radbook data add rexval" in told.stderr


def test_data_commands_need_a_root() -> None:
    told = _run("data", "status")
    assert told.exit_code == 2
    assert "RADEVAL_DATA_ROOT" in told.stderr


def test_exhibits_lists_the_ledger() -> None:
    listed = _run("exhibits", "--profile", "full")  # nothing is built for it
    assert len(listed.stdout.splitlines()) == len(ledger())
