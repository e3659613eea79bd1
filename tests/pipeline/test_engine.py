"""What a build says and removes before it runs a step, and where its first pages cannot be shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from radeval_lib.errors import RadevalError
from radeval_lib.pipeline import engine, steps
from radeval_lib.pipeline.steps import Graph


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """The profile `smoke`, building below a temporary folder, of which no step is run."""
    monkeypatch.setattr(steps, "BUILD", tmp_path)
    monkeypatch.setattr(engine.forkserver, "serving", lambda: nullcontext({}))
    return steps.graph("smoke")


@pytest.mark.parametrize("fails", [True, False])
def test_what_fails_early_is_said_in_one_line_and_the_build_goes_on(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    said: list[str] = []
    ran: list[bool] = []

    def run(asked: Graph, *_: Any) -> bool:
        ran.append(asked.at_once)
        if asked.at_once and fails:
            raise RadevalError("the build did not finish", "radbook build")
        return not fails and asked.at_once

    monkeypatch.setattr(engine, "_run", run)
    engine.build(graph, 1, said.append)
    assert ran == [True, False]
    complaint = [line for line in said if line.startswith("radbook: ")]
    read = [line for line in said if line.startswith("To be read: ")]
    assert (len(complaint), len(read)) == ((1, 0) if fails else (0, 1))
    if fails:
        assert complaint[0].startswith(
            "radbook: the first pages cannot be read yet: the build did not finish."
        )
        assert "The build goes on and tries again what failed" in complaint[0]


def test_what_another_version_left_is_removed_and_named(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = {
        "facts/agreement/facts.table1.printed.json": json.dumps({"format": 2, "sha256": "0"}),
        "green/method/green.table1.printed.json": "[1]",
        "rales/nlu_scores/rales.table3.printed.json": '{"format": 3',
        "across/audit/headline_unheard_of.json": "{}",
    }
    for name, text in left.items():
        place = graph.output_dir / "results" / name
        place.parent.mkdir(parents=True)
        place.write_text(text, encoding="utf-8")
    executed = graph.executed("facts/agreement")
    executed.parent.mkdir(parents=True)
    executed.write_text("{}", encoding="utf-8")
    said: list[str] = []
    given: list[Mapping[str, str]] = []
    monkeypatch.setattr(engine, "_run", lambda *asked: given.append(asked[3]))
    engine.build(graph, 1, said.append)
    again = [line.removeprefix("To be made again: ") for line in said if line.startswith("To be made again")]
    assert sorted(again) == [
        "across/audit: 'headline_unheard_of' is not a headline of this version.",
        "facts/agreement: results format 2, where 6 is wanted.",
        "green/method, rales/nlu_scores: this results file is cut short or of another version.",
    ]
    assert not list((graph.output_dir / "results").glob("*/*"))
    assert not executed.exists()
    assert given[0]["facts/agreement"] == ""


def test_a_page_whose_results_do_not_fit_says_why(graph: Graph) -> None:
    page = "green/method"
    folder, executed = graph.results(page), graph.executed(page)
    assert graph.stale_steps()[page] == ""
    folder.mkdir(parents=True)
    executed.parent.mkdir(parents=True)
    executed.write_text("{}", encoding="utf-8")
    assert graph.stale_steps()[page] == "its results are not whole, or of another version"
    steps.write_record(folder, graph.page_parameters(), executed)
    assert graph.stale_steps()[page] == "what it reads was made again"
    steps.note_inputs(graph.output_dir, page, graph.inputs(page))
    assert page not in graph.stale_steps()
    executed.write_text("[]", encoding="utf-8")
    assert graph.stale_steps()[page] == "its results are not as they were written"
    steps.write_record(folder, {**graph.page_parameters(), "seed": 1}, executed)
    assert graph.stale_steps()[page] == "it ran with other parameters"
    record = json.loads((folder / steps.RECORD).read_text(encoding="utf-8"))
    (folder / steps.RECORD).write_text(json.dumps({"schema": 9, **record, "files": None}), encoding="utf-8")
    assert graph.stale_steps()[page] == "it ran with other parameters"
    (folder / steps.RECORD).write_text("[]", encoding="utf-8")
    assert graph.stale_steps()[page] == "its results are not whole, or of another version"


def test_a_cell_of_another_version_says_why(graph: Graph) -> None:
    name, cell = next(iter(graph.cells.items()))
    assert graph.stale_steps()[name] == ""
    folder = steps.cells.folder(graph.output_dir, cell)
    folder.mkdir(parents=True)
    (folder / "cell.json").write_text('{"sha256": {}}', encoding="utf-8")
    assert graph.stale_steps()[name] == "this cell is cut short or of another version"


@pytest.mark.parametrize(
    ("printed", "what", "remedy"),
    [
        ("radbook: one.md: code cell 3: it broke", "the build did not finish", "The lines above name"),
        (
            "radbook: one is left out: no data\nTraceback (most recent call last):\nValueError: no colour\n"
            "snakemake.WorkflowError: a step failed",
            "the build did not finish: ValueError: no colour",
            "The whole log is in",
        ),
        ("Killed", "the build did not finish", "The whole log is in"),
    ],
)
def test_what_stops_a_step_without_an_error_of_ours_is_named(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, printed: str, what: str, remedy: str
) -> None:
    graph.output_dir.mkdir(parents=True, exist_ok=True)
    text = f"{steps.waiting_line([('rendering the book', 'no output')])}\n{printed}"
    monkeypatch.setattr(engine, "_command", lambda *_: [sys.executable, "-c", f"exit(print({text!r}) or 1)"])
    said: list[str] = []
    with pytest.raises(RadevalError) as raised:
        engine._run(graph, 1, said.append, {}, {})
    assert raised.value.what == what
    assert raised.value.remedy.startswith(remedy)
    assert [line for line in said if line.startswith("radbook: ")] == [
        line for line in printed.splitlines() if line.startswith("radbook: ")
    ]


def test_an_estimate_names_the_cells_that_it_leaves_out(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: dict[str, float | None] = {"facts/agreement": 60.0, "cell/a": None, "cell/b": None}
    monkeypatch.setattr(engine.durations, "expected", lambda _, name: known[name])
    progress = engine._Progress(graph, 1, {})
    list(progress.lines(steps.waiting_line((f"running {name}", "new") for name in known)))
    beyond = " and what {} cells take that were not measured here left"
    assert list(progress.lines("0 of 3 steps (0%) done")) == [
        f"0 of 3 steps done, about 60 s{beyond.format(2)}"
    ]
    list(progress.lines("running cell/a"))
    assert list(progress.lines("0 of 3 steps (0%) done")) == [
        f"0 of 3 steps done, about 60 s{beyond.format(1)}"
    ]
    known["cell/b"] = 240.0  # as the other cell took here
    assert list(progress.lines("1 of 3 steps (33%) done")) == ["1 of 3 steps done, about 5 min left"]
