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
from radeval_lib.paths import BUILD
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
        (["--metric", "rouge_l", "--set", "nonsense"], "is not a setting"),
        (["--metric", "bleu", "--set", "bleu.order=4", "--set", "bleu.order=2"], "set twice"),
    ],
)
def test_bad_metrics_and_settings_are_refused(
    change: list[str], says: str, pairs: Path, tmp_path: Path
) -> None:
    output = tmp_path / "scores.csv"
    done = _run("score", "--input", str(pairs), "--output", str(output), *change)
    assert done.exit_code == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert not output.exists()


def test_a_metric_that_ends_python_while_it_is_imported_is_refused(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys\nsys.exit(0)\n")
    for metric, says in ((f"{tmp_path}/script.py:f", "SystemExit"), (":f", "not named"), ("f:", "not named")):
        done = _run("metric-card", metric, "--output", str(tmp_path / "card.html"))
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert says in done.stderr


def test_options_that_exclude_each_other_are_refused() -> None:
    done = _run("record", "radpref", "--check", "--unfreeze")
    assert done.exit_code == 2
    assert "exclude each other" in done.stderr


def test_an_unknown_profile_leaves_no_folder() -> None:
    done = _run("render", "--profile", "nope")
    assert (done.exit_code, (BUILD / "nope").exists()) == (2, False)


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


def test_data_status_lists_every_data_set(tmp_path: Path) -> None:
    listed = _run("data", "status", "--data-root", str(tmp_path))
    assert listed.exit_code == 0
    head, *rows = listed.stdout.splitlines()
    assert head.split() == ["data", "set", "access", "redistributable", "files"]
    assert [row.split()[0] for row in rows] == names()
    without = _run("data", "status")
    assert without.exit_code == 0
    assert "RADEVAL_DATA_ROOT" in without.stdout
    assert [row.split()[0] for row in without.stdout.splitlines()[2:]] == names()


def test_data_status_tells_the_steps_to_what_is_missing(tmp_path: Path) -> None:
    done = _run("data", "status", "stanza_radiology", "--data-root", str(tmp_path))
    assert done.exit_code == 0
    assert "(1) Follow the RaLEs repository" in done.stdout
    for file in load_manifest("stanza_radiology").files:
        path = tmp_path / file.path
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    there = _run("data", "status", "stanza_radiology", "--data-root", str(tmp_path))
    assert "(1)" not in there.stdout


def test_data_verify_fails_where_there_is_nothing_to_check(tmp_path: Path) -> None:
    for arguments in ([], ["openi"]):
        done = _run("data", "verify", *arguments, "--data-root", str(tmp_path))
        assert done.exit_code == 2
        assert "is there. `radbook data status" in done.stderr


def test_credentialed_data_are_not_fetched_but_explained(tmp_path: Path) -> None:
    done = _run("data", "fetch", "rexval", "--data-root", str(tmp_path))
    assert done.exit_code == 2
    assert "physionet.org" in done.stderr
    assert "radbook data add rexval" in done.stderr


def test_a_data_set_that_is_not_fetched_leaves_no_data_root(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("radeval_lib.cli.data_files.DATA", tmp_path / "data")
    monkeypatch.setattr("radeval_lib.data.manifests.DATA", tmp_path / "data")
    for name in ("opnei", "rexval"):
        assert _run("data", "fetch", name).exit_code == 2
        assert not (tmp_path / "data").exists()


def test_data_commands_need_a_root() -> None:
    done = _run("data", "verify")
    assert done.exit_code == 2
    assert "RADEVAL_DATA_ROOT" in done.stderr


def test_exhibits_lists_the_ledger() -> None:
    listed = _run("exhibits", "--profile", "full")  # nothing is built for it
    head, *rows = listed.stdout.splitlines()
    assert head.split() == ["exhibit", "verdict", "coverage", "evidence", "command", "title"]
    assert len(rows) == len(ledger())
    assert all("radbook run " in row and "-p profile full" in row for row in rows)


def test_exhibits_are_given_as_json() -> None:
    every = json.loads(_run("exhibits", "--profile", "full", "--json").stdout)
    assert [row["exhibit"] for row in every] == list(ledger())
    (first,) = json.loads(_run("exhibits", "rales.table3", "--profile", "full", "--json").stdout)
    assert (first["exhibit"], first["verdict"]) == ("rales.table3", "not checked")


def test_help_and_the_package_name_every_metric() -> None:
    shown = CliRunner().invoke(main, ["score", "--help"]).output.replace("\n", " ")
    assert {*radeval_lib.METRICS} == {*registry.METRICS}
    assert all(re.search(rf"\b{name}\b", shown) for name in radeval_lib.METRICS)


def test_the_package_offers_its_functions_and_no_internals() -> None:
    assert {"METRICS", "compare", "explain", "metric_card", "score"} <= {*dir(radeval_lib)}
    assert not {"lazy", "names_of", "TYPE_CHECKING"} & {*dir(radeval_lib)}
    assert all(hasattr(radeval_lib, name) for name in dir(radeval_lib))
