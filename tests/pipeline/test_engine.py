"""What a build says and removes before it runs a step, and where its first pages cannot be shown."""

from __future__ import annotations

import json
import sys
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
def test_the_first_pages_may_fail_and_the_build_goes_on(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    said: list[str] = []
    ran: list[bool] = []

    def run(asked: Graph, *_: Any) -> None:
        ran.append(asked.at_once)
        if asked.at_once and fails:
            raise RadevalError("the build did not finish", "radbook build")

    monkeypatch.setattr(engine, "_run", run)
    engine.build(graph, 1, said.append)
    assert ran == [True, False]
    assert any(line.startswith("To be read: ") for line in said) is not fails


def test_what_is_damaged_or_of_another_version_is_removed_and_named(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = {
        "facts/agreement/facts.table1.printed.json": json.dumps({"format": 2, "sha256": "0"}),
        "green/method/green.table1.printed.json": "[1]",
        "across/audit/headline_unheard_of.json": "{}",
    }
    for name, text in left.items():
        place = graph.output_dir / "results" / name
        place.parent.mkdir(parents=True)
        place.write_text(text, encoding="utf-8")
    name, cell = next(iter(graph.cells.items()))
    folder = steps.cells.folder(graph.output_dir, cell)
    folder.mkdir(parents=True)
    (folder / "cell.json").write_text('{"sha256": {}}', encoding="utf-8")
    executed = graph.executed("facts/agreement")
    executed.parent.mkdir(parents=True)
    executed.write_text("{}", encoding="utf-8")
    named = [line.split(": ")[1] for line in engine.discard_unreadable(graph)]
    assert sorted(named) == sorted(["across/audit", "facts/agreement", "green/method", name])
    assert not list((graph.output_dir / "results").glob("*/*"))
    assert not executed.exists()
    assert not folder.exists()


@pytest.mark.parametrize("printed", ["radbook: one.md: code cell 3: it broke", "ValueError: no colour"])
def test_what_stops_a_step_is_named(graph: Graph, monkeypatch: pytest.MonkeyPatch, printed: str) -> None:
    graph.output_dir.mkdir(parents=True, exist_ok=True)
    text = f"{steps.waiting_line(['rendering the book'])}\n{printed}"
    monkeypatch.setattr(engine, "_command", lambda *_: [sys.executable, "-c", f"exit(print({text!r}) or 1)"])
    said: list[str] = []
    with pytest.raises(RadevalError) as raised:
        engine._run(graph, 1, said.append, {})
    assert (printed in said) is not (printed in raised.value.what)


def test_an_estimate_counts_down(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.durations, "expected", lambda *_: 300.0)
    progress = engine._Progress(graph, 2)
    (first,) = progress.lines(steps.waiting_line(["running facts/agreement", "running green/method"]))
    assert first == "2 steps, about 5 min"
    assert list(progress.lines("1 of 2 steps (50%) done")) == ["1 of 2 steps done, about 5 min left"]
