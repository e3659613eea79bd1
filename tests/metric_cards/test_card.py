"""A card of a function, a name, a command and a file, and what it refuses."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import click
import jsonschema
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.data import recorded as recordings
from radeval_lib.metric_cards import pairs, score_files, scoring
from radeval_lib.metric_cards.card import Card, looks_of, metric_card
from radeval_lib.metric_cards.people import Half, in_half
from radeval_lib.metric_cards.subject import Tuned
from radeval_lib.metrics.base import MetricError
from radeval_lib.paths import MANIFESTS

SCHEMA = json.loads((MANIFESTS / "schemas" / "metric_card.schema.json").read_text(encoding="utf-8"))
SCORED = list(recordings.load("radpref").about["columns"])
RADPREF, MTS = (recordings.load(name).table for name in pairs.RATED)


def overlap(reference: str, candidate: str) -> float:
    one, other = set(reference.lower().split()), set(candidate.lower().split())
    return len(one & other) / max(1, len(one | other))


@pytest.fixture(autouse=True)
def no_data_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RADEVAL_DATA_ROOT", raising=False)
    monkeypatch.setattr("radeval_lib.metric_cards.card.DATA", Path("there is none"))


@pytest.fixture(scope="module")
def rated_card() -> Card:
    """Of a function whose scores of rated pairs are known."""
    known = {"radpref": RADPREF["rouge_l"].to_numpy() + 0.01, "mts_dialog": MTS["rouge_l"].to_numpy()}
    return metric_card(overlap, quick=True, known=known, value_range=(0, 1), tuned="no", data_root=None)


def test_a_card_follows_its_schema_and_holds_no_nan(rated_card: Card) -> None:
    jsonschema.validate(rated_card.data, SCHEMA)
    json.dumps(rated_card.data, allow_nan=False)
    assert rated_card.data["radpref"]["by_grade"][0]["metric"] == "overlap"


def test_a_card_without_rated_pairs_says_what_was_not_tried() -> None:
    made = metric_card(overlap, quick=True)
    jsonschema.validate(made.data, SCHEMA)
    assert made.data["radpref"] is None
    assert {one["why"] for one in made.data["not_tried"]} >= {"there is no data root"}
    assert "not measured" in made.html()
    assert made.data["looks"] == []


def test_the_page_is_one_file_that_loads_nothing(rated_card: Card) -> None:
    html = unescape(rated_card.html())
    assert "default-src 'none'" in html
    assert not re.search(r"<script|<link|<img|src=|@import|url\(", html)
    assert "What this test can tell" in html.split("<h2>")[1]
    assert html.count("<circle") == len(SCORED)


def test_no_text_is_escaped_wrongly() -> None:
    made = metric_card(overlap, quick=True, name="<b>&")
    assert "<h1>Metric card: &lt;b&gt;&amp;</h1>" in made.html()


def test_edits_that_words_cannot_see_cost_nothing() -> None:
    rows = {row["edit"]: row for row in metric_card(overlap, quick=True).data["edits"]["edits"]}
    assert rows["order reversed"]["value"] == 0
    assert rows["in capitals"]["value"] == 0
    assert rows["lines wrapped"]["value"] == 0
    assert 0 < rows["a “no” lost"]["value"] < rows["1"]["value"] < rows["6"]["value"]


def test_failures_are_counted_and_not_dropped() -> None:
    def fails(reference: str, candidate: str) -> float:
        if not candidate:
            raise ZeroDivisionError("nothing")
        return math.nan if candidate.isupper() else overlap(reference, candidate)

    made = metric_card(fails, quick=True)
    found = {(one["part"], one["reason"]): one["pairs"] for one in made.data["behaviour"]["failures"]}
    assert found["edits", scoring.MISSING] == 30
    assert found["empty", "ZeroDivisionError"] == 2
    assert made.message == "nothing"
    rows = {row["edit"]: row for row in made.data["edits"]["edits"]}
    assert rows["in capitals"]["n"] == 30
    assert rows["in capitals"]["value"] >= 1
    assert "not be scored" in made.paragraph


def silent_on(fails: Callable[[str], bool]) -> Any:
    """A metric of this library that has no score where the candidate is so."""

    def score(references: list[str], candidates: list[str]) -> SimpleNamespace:
        return SimpleNamespace(values=np.array([math.nan if fails(text) else 0.5 for text in candidates]))

    return SimpleNamespace(name="rouge_l", signature=lambda: "silent", score=score)


def test_failures_of_a_metric_of_this_library_are_counted_too() -> None:
    frame = pairs.build(None, quick=True)
    scored = scoring.MetricScorer(silent_on(str.isupper)).score(frame, lambda done: None)
    capitals = np.flatnonzero(frame["candidate"].str.isupper())
    assert scored.reasons == dict.fromkeys(capitals.tolist(), scoring.MISSING)
    with pytest.raises(MetricError, match="none of"):
        scoring.MetricScorer(silent_on(lambda text: True)).score(frame, lambda done: None)


def test_a_metric_that_depends_on_order_and_batches_is_found_out() -> None:
    state = {"calls": 0}

    def drifts(references: list[str], candidates: list[str]) -> list[float]:
        state["calls"] += 1
        return [overlap(*pair) + state["calls"] for pair in zip(references, candidates, strict=True)]

    found = metric_card(drifts, quick=True, batched=True).data["behaviour"]
    assert found["again"]["pairs"] == pairs.AGAIN
    assert found["again"]["differ"] >= 30  # the last pairs are met again in the last batch
    assert found["alone"]["differ"] == pairs.AGAIN


def test_a_reversed_direction_is_reported() -> None:
    made = metric_card(lambda one, other: -overlap(one, other), quick=True, name="reversed")
    assert made.data["behaviour"]["identical_above_unrelated"] == 0
    assert all(row["value"] is None for row in made.data["edits"]["edits"])
    assert "the declared direction looks wrong" in made.html()
    right = metric_card(
        lambda one, other: -overlap(one, other), quick=True, name="reversed", higher_is_better=False
    )
    assert right.data["behaviour"]["identical_above_unrelated"] == 1


def test_a_cost_without_a_scale_is_not_given() -> None:
    def rarely(reference: str, candidate: str) -> float:
        """Differs on a twentieth of the references."""
        return float(reference == candidate or len(reference) % 20 > 0)

    made = metric_card(rarely, quick=True)
    assert None in {row["value"] for row in made.data["edits"]["edits"]}
    assert "costs have no scale" in made.paragraph
    assert "–" in made.html()


def test_numbers_of_other_libraries_are_numbers() -> None:
    made = metric_card(lambda one, other: np.array([overlap(one, other)]), quick=True, name="array")
    assert made.data["behaviour"]["failures"] == []


def test_a_constant_metric_gets_a_card() -> None:
    known = {"radpref": np.ones(200), "mts_dialog": np.ones(400)}
    made = metric_card(lambda one, other: 1.0, quick=True, known=known, name="constant")
    jsonschema.validate(made.data, SCHEMA)
    assert made.data["radpref"] is None
    assert sum("no correlation is defined" in one["why"] for one in made.data["not_tried"]) == 2
    assert made.data["behaviour"]["commonest_share"] == 1


@pytest.mark.parametrize(
    ("metric", "more", "says"),
    [
        (
            lambda one, other: 1 / 0,
            {},
            "none of 20 pairs could be scored (ZeroDivisionError: division by zero)",
        ),
        (lambda one, other: math.nan, {}, "none of 20 pairs could be scored (not a finite number)"),
        (lambda one, other: [1.0], {}, "it gives list for a pair, not a number"),
        (lambda one, other: [1.0], {"batched": True}, "it gives 1 scores for 64 pairs"),
        (lambda one, other: 1.0, {"batched": True}, "it gives float for a list of pairs"),
        (3, {}, "int is not a metric"),
        ("rouge", {}, "unknown metric 'rouge'"),
        (overlap, {"value_range": (1, 0)}, "the range 1 to 0 is empty"),
        (overlap, {"value_range": (0,)}, "(0,) is not a range"),
        (overlap, {"value_range": (0, math.nan)}, "the range 0 to nan is empty"),
        (overlap, {"name": " "}, "' ' is not a name"),
        (overlap, {"seed": -1}, "seed: -1 is below 0"),
        (overlap, {"tuned": "perhaps"}, "tuned: unknown value 'perhaps'"),
        (lambda one, other: set(one), {"batched": True}, "it gives set for a list of pairs"),
        (overlap, {"known": {"radprf": np.ones(200)}}, "no rated set 'radprf' is looked at. Sets: radpref"),
        (overlap, {"known": {"radpref": np.ones(200)}, "rated": False}, "looked at. Sets: none"),
        (overlap, {"known": {"radpref": np.ones((200, 2))}}, "scores of shape (200, 2) for 200 pairs"),
        (overlap, {"known": {"radpref": np.full(200, np.nan)}}, "radpref: no score is a finite number"),
    ],
)
def test_what_is_no_metric_is_refused_in_one_line(metric: Any, more: dict[str, Any], says: str) -> None:
    with pytest.raises(MetricError, match=re.escape(says)) as refused:
        metric_card(metric, quick=True, **more)
    assert "\n" not in str(refused.value)


def test_a_name_takes_recorded_scores_and_leaves_itself_out() -> None:
    made = metric_card("rouge_l", quick=True)
    names = [row["metric"] for row in made.data["radpref"]["by_grade"]]
    assert names[0] == "ROUGE-L"
    assert names.count("ROUGE-L") == 1
    assert made.data["recorded"] == ["mts_dialog", "radpref"]
    assert made.data["metric"]["tuned_on_radpref"] == "no"


def test_looks_are_counted_in_the_json(rated_card: Card, tmp_path: Path) -> None:
    for count in (1, 2):
        page, numbers = rated_card.write(tmp_path / "card.html")
        assert len(looks_of(numbers)) == count
    assert "looked at 2 times" in page.read_text(encoding="utf-8")
    numbers.write_text("[]", encoding="utf-8")
    with pytest.raises(MetricError, match="its looks cannot be kept"):
        rated_card.write(tmp_path / "card.html")


def test_halves_share_no_case() -> None:
    cases = RADPREF["case"].to_numpy()
    one, other = (in_half(cases, half) for half in ("development", "report"))
    assert not set(cases[one]) & set(cases[other])
    assert (one ^ other).all()


def test_pairs_stay_below_the_most_and_have_ids_of_their_own() -> None:
    frame = pairs.build(None)
    assert len(frame) <= pairs.MOST
    assert frame["id"].is_unique
    again = frame[frame["part"] == "again"]
    first = frame.loc[again["row"], ["reference", "candidate"]]
    assert (first.to_numpy() == again[["reference", "candidate"]].to_numpy()).all()


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, ["metric-card", "--quick", *arguments], catch_exceptions=False)


def test_a_file_of_scores_gives_the_card_of_the_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("--pairs", "pairs.jsonl").output.endswith("pairs.jsonl\n")
    frame = pd.read_json("pairs.jsonl", lines=True, dtype=False)
    frame["score"] = [overlap(*pair) for pair in zip(frame["reference"], frame["candidate"], strict=True)]
    frame[["id", "score"]].to_csv("scores.csv", index=False)
    lines = (json.dumps(row) for row in frame[["id", "score"]].to_dict("records"))
    Path("scores.jsonl").write_text("\n".join(lines), encoding="utf-8")
    files = [Path("scores.csv"), Path("scores.jsonl")]
    made = [metric_card(score_files.FileScorer(path), quick=True) for path in files]
    direct = metric_card(overlap, quick=True)
    for one in made:
        assert one.data["edits"] == direct.data["edits"]
    assert run("--scores", "scores.csv").exit_code == 0
    jsonschema.validate(json.loads(Path("metric_card.json").read_text(encoding="utf-8")), SCHEMA)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: rows[1:], "scores.csv: 1 of"),
        (lambda rows: rows + rows[:1], "a second score of"),
        (lambda rows: [("nowhere/1", "1"), *rows], "scores.csv, line 2: no pair has the id 'nowhere/1'"),
        (lambda rows: [(rows[0][0], "high"), *rows[1:]], "scores.csv, line 2: 'high' is not a number"),
        (lambda rows: [(one, "") for one, _ in rows], "could be scored (not a finite number)"),
    ],
)
def test_a_spoiled_file_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Any, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(one, "0.5") for one in pairs.build(None, quick=True)["id"]]
    pd.DataFrame(change(rows), columns=["id", "score"]).to_csv("scores.csv", index=False)
    told = run("--scores", "scores.csv")
    assert told.exit_code == 2
    assert says in told.output
    assert told.output.splitlines()[-1].startswith("radbook: ")
    assert told.output.count("\n") <= 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("id,score\nradpref,0.5\n", "s.csv, line 2: not the id of a pair"),
        ("id,score\nradpref/1/0a1b2c3d,0.5\nradpref/3/0a1b2c3d,0.5\n", "rows of radpref are missing"),
        ("id,score\nradpref/0/0a1b2c3d,0.5\nradpref/1/0a1b2c3d,0.5\n", "rows of radpref are missing"),
        ("id,score\nradpref/0/0a1b2c3d,0.5\nradpref/0/0a1b2c3d,0.9\n", "line 3: a second score of radpref/0"),
        ("name,score\n", "missing column 'id'"),
        ("id,score,score\nradpref/0/0a1b2c3d,0.5,0.9\n", "column 'score' stands twice"),
        ("id,score\nradpref/0/0a1b2c3d\n", "s.csv, line 2: 1 cells instead of 2"),
        ("id,score\nnowhere/0/0a1b2c3d,0.5\n", "s.csv, line 2: not the id of a pair"),
        ("id,score\nradpref/9999/0a1b2c3d,0.5\n", "s.csv, line 2: not the id of a pair"),
        ("id,score\nradpref/0/0a,0.5\n", "s.csv, line 2: not the id of a pair"),
        (
            "id,score\n" + "".join(f"radpref/{n}/0a1b2c3d,1\n" for n in range(7, 7 + len(RADPREF))),
            "the pairs of radpref do not begin at place 7",
        ),
        (b"id,score\nradpref/1/0a1b2c3d,\xe9\n", "s.csv, line 2: not UTF-8"),
    ],
)
def test_scores_of_rated_sets_are_whole_and_have_ids_of_pairs(
    tmp_path: Path, content: str | bytes, says: str
) -> None:
    path = tmp_path / "s.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(MetricError, match=says):
        score_files.known_rows(path, pairs.RATED)


def test_scores_that_are_not_there_are_refused_and_infinite_ones_are_failures(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with pytest.raises(MetricError, match=r"s\.jsonl: file does not exist"):
        score_files.known_rows(path, pairs.RATED)
    for content, says in (('"scores": 1', "line 1: no score"), ('"score": 1, "score": 2', "stands twice")):
        path.write_text(f'{{"id": "radpref/0/0a1b2c3d", {content}}}\n')
        with pytest.raises(MetricError, match=says):
            score_files.known_rows(path, pairs.RATED)
    first, others = '{"id": "radpref/0/0a1b2c3d", "score": Infinity}\n', range(1, len(RADPREF))
    path.write_text(first + "".join(f'{{"id": "radpref/{n}/0a1b2c3d", "score": 1}}\n' for n in others))
    found = score_files.known_rows(path, pairs.RATED)["radpref"]
    assert np.isnan(found).tolist() == [True] + [False] * len(others)


def test_a_lone_surrogate_is_escaped_for_other_programs() -> None:
    frame = pd.DataFrame({"id": ["1"], "reference": ["a\ud800"], "candidate": ["\u00e9"]})
    assert pairs.as_lines(frame) == '{"id": "1", "reference": "a\\ud800", "candidate": "\u00e9"}\n'


@pytest.mark.parametrize("score", ["true", "[1]", "1" + "0" * 400, '"high"'])
def test_what_is_no_number_in_json_lines_is_refused(tmp_path: Path, score: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f'\n{{"id": "radpref/1/0a1b2c3d", "score": {score}}}\n')
    with pytest.raises(MetricError, match=r"s.jsonl, line 2: .* is not a number"):
        score_files.known_rows(path, pairs.RATED)


COMMAND = """
import json, sys
for number, line in enumerate(sys.stdin):
    row = json.loads(line)
    if number == 5 and {dies}:
        sys.exit(3)
    print(json.dumps({{"id": row["id"], "score": len(row["candidate"])}}))
"""


def test_a_command_reads_and_writes_json_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("metric.py").write_text(COMMAND.format(dies=False), encoding="utf-8")
    told = run("--command", f"{sys.executable} metric.py", "--name", "length")
    assert told.exit_code == 0, told.output
    card = json.loads(Path("metric_card.json").read_text(encoding="utf-8"))
    assert card["metric"]["kind"] == "command"
    assert card["behaviour"]["empty"]["the candidate"] == 0


def test_a_command_that_dies_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("metric.py").write_text(COMMAND.format(dies=True), encoding="utf-8")
    told = run("--command", f"{sys.executable} metric.py")
    assert told.exit_code == 2
    assert "it ended with status 3 after 5 of" in told.output
    for command, says in (
        ("nowhere --fast", "cannot be started"),
        ("cat", "no score"),
        ("echo x", "not a JSON"),
    ):
        told = run("--command", command)
        assert told.exit_code == 2
        assert says in told.output
        assert told.output.splitlines()[-1].startswith("radbook: ")
        assert told.output.count("\n") <= 2


def test_a_function_is_named_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def same(one, other):\n    return float(one == other)\n", encoding="utf-8")
    path = [*sys.path]
    assert run("mine.py:same").exit_code == 0
    assert sys.path == path
    assert "pairs to score" in run("mine.py:same").output.split("\n")[0]
    for place, says in (
        ("mine.py", "no function is named"),
        ("mine.py:other", "no function 'other'"),
        ("gone.py:same", "no such file"),
    ):
        told = run(place)
        assert told.exit_code == 2
        assert says in told.output
    assert "name one metric" in run().output


METRICS = """
from dataclasses import dataclass

@dataclass
class Distance:
    number: int

def lengths(references, candidates):
    return [Distance(abs(len(one) - len(other))).number for one, other in zip(references, candidates)]
"""


def test_the_options_reach_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("json.py").write_text(METRICS, encoding="utf-8")  # a name that Python has as well
    declared = ["--batched", "--lower-is-better", "--tuned", "yes", "--half", "report"]
    done = run("json.py:lengths", *declared, "--save-scores", "scores.csv")
    assert done.exit_code == 0, done.output
    card = json.loads(Path("metric_card.json").read_text(encoding="utf-8"))
    assert (card["metric"]["higher_is_better"], card["metric"]["tuned_on_radpref"]) == (False, "yes")
    assert (card["metric"]["kind"], card["settings"]["half"]) == ("function, pairs in batches", "report")
    assert list(pd.read_csv("scores.csv")) == ["id", "score"]


def test_a_function_is_named_by_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("an_installed_metric.py").write_text(METRICS, encoding="utf-8")
    assert run("an_installed_metric:lengths", "--batched").exit_code == 0
    assert "no function 'nothing'" in run("an_installed_metric:nothing").output


def test_the_command_offers_what_a_card_takes() -> None:
    offered = {
        option.name: option.type.choices
        for option in main.get_command(click.Context(main), "metric-card").params
        if isinstance(option.type, click.Choice)
    }
    assert {name: tuple(choices) for name, choices in offered.items()} == {
        "tuned": get_args(Tuned),
        "half": get_args(Half),
    }
