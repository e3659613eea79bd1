"""A card of a function, a name, a command and a file: what it says first, and what it refuses."""

from __future__ import annotations

import csv
import inspect
import io
import json
import math
import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.data import recorded
from radeval_lib.jobs import green
from radeval_lib.metric_cards import measurements, pairs
from radeval_lib.metric_cards.card import Card, metric_card
from radeval_lib.metrics.base import MetricError

RADPREF, MTS = (recorded.load(name).table for name in pairs.RATED)


def overlap(reference: str, candidate: str) -> float:
    first, other = set(reference.lower().split()), set(candidate.lower().split())
    return len(first & other) / max(1, len(first | other))


@pytest.fixture(autouse=True)
def no_data_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RADEVAL_DATA_ROOT", raising=False)
    monkeypatch.setattr("radeval_lib.metric_cards.card.DATA", Path("there is none"))


@pytest.fixture(scope="module")
def rated_card() -> Card:
    """Of a function whose scores of rated pairs are known."""
    rated = {"radpref": RADPREF["rouge_l"].to_numpy() + 0.01, "mts_dialog": MTS["rouge_l"].to_numpy()}
    return metric_card(
        overlap, quick=True, rated_scores=rated, value_range=(0, 1), tuned="no", data_root=None
    )


def _words(card: Card) -> int:
    return len(re.sub(r"<style.*?</style>|<[^>]+>", " ", card.html(), flags=re.DOTALL).split())


def test_the_first_sentence_has_verdict_difference_interval_and_p(rated_card: Card) -> None:
    first = rated_card.sentences()[len(rated_card.data["faults"])]
    best = max(rated_card.rivals(), key=lambda row: row["value"])
    assert best["metric"] in first
    for number in (best["difference"], best["difference_low"], best["difference_high"]):
        assert f"{number:+.2f}" in first
    assert f"p = {best['p_holm']:.2g}" in first
    ceiling = rated_card.row("one radiologist")["others"]
    assert f"{ceiling:.2f}" in rated_card.paragraph
    # The looks of the rules at RadPref, beside the author's declaration.
    assert f"{green.read_freeze()['scored']} times" in rated_card.paragraph


def test_a_card_is_short_and_its_tables_can_be_pasted(rated_card: Card, tmp_path: Path) -> None:
    assert _words(rated_card) <= 600
    written = rated_card.write(tmp_path / "card.html")
    assert [path.suffix for path in written] == [".html", ".json", ".csv", ".tex", ".bib"]
    assert json.loads((tmp_path / "card.json").read_text())["schema"] == rated_card.data["schema"]
    rows = list(csv.reader(io.StringIO((tmp_path / "card.csv").read_text())))
    assert rows[1][0] == "overlap"
    assert len(rows) == len(rated_card.data["radpref"]["rows"]) + 1
    assert (tmp_path / "card.tex").read_text().count(r"\\") >= len(rows)
    assert (tmp_path / "card.bib").read_text().count("@") == 2
    assert rated_card._repr_html_().count("<table") == 2


def test_the_page_loads_nothing_and_escapes_names() -> None:
    html = metric_card(overlap, quick=True, name="<b>&").html()
    assert not re.search(r"<script|<link|<img|src=|@import|url\(", html)
    assert "<h1>Metric card: &lt;b&gt;&amp;</h1>" in html


_CALLS = {"count": 0}


def _stateful(references: list[str], candidates: list[str]) -> list[float]:
    _CALLS["count"] += 1
    return [overlap(*pair) + _CALLS["count"] for pair in zip(references, candidates, strict=True)]


_RANDOM = Random(0)


@pytest.mark.parametrize(
    ("metric", "more", "fault"),
    [
        (lambda reference, candidate: _RANDOM.random(), {}, "Not repeatable"),
        (_stateful, {"batched": True}, "Not repeatable"),
        (_stateful, {"batched": True}, "Dependent on the batch"),
        (lambda reference, candidate: 0.5, {}, "Nearly constant"),
        (lambda reference, candidate: -overlap(reference, candidate), {}, "The direction looks wrong"),
        (lambda reference, candidate: math.nan if candidate.isupper() else 1.0, {}, "No score"),
        (lambda reference, candidate: 2 * overlap(reference, candidate), {"value_range": (0, 1)}, "Outside"),
        (overlap, {}, "Made with --quick"),
    ],
)
def test_a_fault_is_in_the_first_lines(metric: Any, more: dict[str, Any], fault: str) -> None:
    made = metric_card(metric, quick=True, name="mine", **more)
    result = [sentence for sentence in made.data["faults"] if sentence.startswith(fault)]
    assert result
    first = made.sentences()[: len(made.data["faults"])]
    assert set(result) <= set(first)
    assert made.html().index(result[0].split(":")[0]) < made.html().index("<p><strong>")


def test_failures_on_radpref_are_told_apart_from_all() -> None:
    rated = {"radpref": np.where(np.arange(len(RADPREF)) < 3, np.nan, RADPREF["rouge_l"])}
    made = metric_card(overlap, quick=True, rated_scores=rated)
    (fault,) = [first for first in made.data["faults"] if first.startswith("No score")]
    assert "3 pairs of RadPref" in fault
    assert "0 of" in fault


def test_a_direction_is_turned_by_the_flag_that_is_named() -> None:
    turned = metric_card(
        lambda first, second: -overlap(first, second), quick=True, name="x", higher_is_better=False
    )
    assert not any("direction" in fault for fault in turned.data["faults"])
    wrong = metric_card(overlap, quick=True, higher_is_better=False)
    assert any("leave out --lower-is-better" in fault for fault in wrong.data["faults"])


def test_a_function_of_candidate_and_reference_gets_them_by_name() -> None:
    turned = metric_card(lambda candidate, reference: float(len(candidate)), quick=True, name="x")
    same = metric_card(lambda reference, candidate: float(len(candidate)), quick=True, name="x")
    assert turned.scores["score"].equals(same.scores["score"])


# --- scores ---


def test_edits_that_words_cannot_see_cost_nothing() -> None:
    rows = metric_card(overlap, quick=True).edit_costs()
    assert (
        rows["order reversed"]["value"] == rows["in capitals"]["value"] == rows["lines wrapped"]["value"] == 0
    )
    assert 0 < rows["a “no” lost"]["value"] < rows["1"]["value"] < rows["6"]["value"]


def test_failures_keep_their_place_as_the_worst_of_their_part() -> None:
    def fails(reference: str, candidate: str) -> float:
        if not candidate:
            raise ZeroDivisionError("nothing")
        return math.nan if candidate.isupper() else overlap(reference, candidate)

    made = metric_card(fails, quick=True)
    assert made.data["behaviour"]["failures"]["edits"] == 30
    assert made.message == "ZeroDivisionError: nothing"
    assert made.edit_costs()["in capitals"]["n"] == 30
    assert made.edit_costs()["in capitals"]["value"] >= 1


@pytest.mark.parametrize(
    ("metric", "more"),
    [
        (lambda first, second: math.nan, {}),
        (lambda first, second: 1 / 0, {}),
        (lambda first, second: [1.0, 2.0], {}),
        (lambda ones, twos: [1.0], {"batched": True}),
        (overlap, {"name": " "}),
        (overlap, {"value_range": (1, 0)}),
        (overlap, {"half": "third"}),
        ("no_such_metric", {}),
        ("all", {}),
        (overlap, {"seed": -1}),
        (overlap, {"rated_scores": {"radpref": [1.0]}}),
        (overlap, {"rated_scores": {"rexval": [1.0]}}),
        ({"edits/0/12345678": 1.0}, {}),
    ],
)
def test_what_is_no_metric_is_refused(metric: Any, more: dict[str, Any]) -> None:
    with pytest.raises(MetricError):
        metric_card(metric, quick=True, **{"name": "x", **more})


def test_a_name_takes_stored_scores_and_leaves_itself_out() -> None:
    made = metric_card("bleu", quick=True)
    assert made.name == "BLEU"
    assert [row["metric"] for row in made.data["radpref"]["rows"]].count("BLEU") == 1
    assert made.data["metric"]["tuned_on_radpref"] == "no"
    assert made.data["metric"]["signature"].startswith("metric:bleu|")


def test_committed_outputs_are_compared_on_the_same_studies() -> None:
    values = {
        "MLRG": [1.0, 3.0, 5.0, 7.0],
        "MLRG, shuffled": [0.0, 0.0, 4.0, 4.0],
        pairs.CONSTANT: [1.0, 1.0, 1.0, 5.0],
    }
    rows = [
        ("systems", f"reference {at // 2}", f"{name} {at if name == 'MLRG' else ''}", at, name)
        for name in values
        for at in range(4)
    ]
    frame = pd.DataFrame(rows, columns=["part", "reference", "candidate", "row", "kind"])
    oriented = -np.concatenate(list(values.values()))  # lower is better
    result = measurements.measure_systems(frame, oriented, sign=-1, seed=0)
    mlrg, constant = result["files"]
    assert (result["studies"], mlrg["texts"], constant["texts"]) == (4, 4, 1)
    assert mlrg["mean"] == pytest.approx({"value": 4.0, "low": 2.0, "high": 6.0})  # a reference drawn twice
    assert mlrg["lost_if_shuffled"]["value"] == pytest.approx(-2.0)


# --- the command ---


def _run(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["metric-card", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(inspect.getsource(overlap))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_or_command_gives_the_card_of_the_function(folder: Path) -> None:
    done = _run("mine.py:overlap", "--quick", "--output", "one.html")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("Made with --quick")
    frame = pairs.build(None, quick=True)
    frame["score"] = [overlap(*pair) for pair in zip(frame["reference"], frame["candidate"], strict=True)]
    frame[["id", "score"]].to_csv("scores.csv", index=False)
    assert _run("--scores", "scores.csv", "--quick", "--output", "two.html").exit_code == 0
    (folder / "run.py").write_text(
        "import json, sys\nfrom mine import overlap\nfor line in sys.stdin:\n    row = json.loads(line)\n"
        "    print(json.dumps({'id': row['id'], 'score': overlap(row['reference'], row['candidate'])}))\n"
    )
    command = f"{sys.executable} run.py"
    done = _run("--command", command, "--quick", "--output", "three.html")
    assert done.exit_code == 0, done.stderr
    costs = [json.loads((folder / f"{name}.json").read_text())["edits"] for name in ("one", "two", "three")]
    assert costs[0] == costs[1] == costs[2]


def test_pairs_are_written_for_another_program(folder: Path) -> None:
    assert _run("--pairs", "pairs.jsonl", "--quick").exit_code == 0
    rows = pd.read_json(folder / "pairs.jsonl", lines=True)
    assert rows["id"].is_unique
    assert list(rows) == ["id", "reference", "candidate"]
    frame = pairs.build(None, quick=True).head(1).assign(candidate="\ud800")
    assert json.loads(pairs.to_json_lines(frame))["candidate"] == "\ud800"


@pytest.mark.parametrize(
    "content",
    ["id,score\nx/1,0.5\n", "id,score\nedits/0/0,0.5\nedits/0/0,0.5\n", "id,score\nx,high\n", "id\nx\n"],
)
def test_a_spoiled_file_is_refused_in_one_line(folder: Path, content: str) -> None:
    (folder / "scores.csv").write_text(content)
    done = _run("--scores", "scores.csv", "--quick")
    assert (done.exit_code, done.stderr.strip().count("\n")) == (2, 0)


@pytest.mark.parametrize(
    "arguments",
    [(), ("mine.py",), ("mine.py:none",), ("none.py:f",), ("bleu", "--command", "x"), ("--command", "false")],
)
def test_what_names_no_metric_is_refused(folder: Path, arguments: tuple[str, ...]) -> None:
    assert _run(*arguments, "--quick").exit_code == 2


def test_scores_that_are_empty_are_failures(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("id,score\na,\nb,nan\nc,1\n")
    assert pairs.read_scores(tmp_path / "scores.csv") == pytest.approx(
        {"a": math.nan, "b": math.nan, "c": 1}, nan_ok=True
    )
