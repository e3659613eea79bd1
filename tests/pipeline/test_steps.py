"""The steps of a build, what its lines say of them, and what it removes before it runs one."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from radeval_lib.errors import ParameterError, RadevalError
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import engine, steps
from radeval_lib.pipeline.steps import Graph


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("running facts/one", "facts/one"),
        ("Job 12: running rales/fitting/in_domain-every", "rales/fitting/in_domain-every"),
        ("rendering the book", "the book"),
        ("still running facts/one", None),
        ("1 of 3 steps (33%) done", None),
        ("", None),
    ],
)
def test_a_line_names_its_step(line: str, name: str | None) -> None:
    assert steps.named(line) == name


def test_the_first_pages_are_those_that_wait_for_no_cell() -> None:
    whole, first = steps.graph("smoke"), steps.graph("smoke", at_once=True)
    waiting = set(whole.pages) - set(first.pages)
    assert waiting
    assert all(whole.cells_before(page) for page in waiting)
    assert not any(whole.cells_before(page) for page in first.pages)
    assert first.names == first.pages
    assert "across/at_a_glance" in first.pages


def test_pages_that_run_models_take_what_cells_take_of_a_cluster() -> None:
    graph = steps.graph("full")
    # One trains a judge, one asks a judge, one scores with a metric's models.
    assert {"green/language_judge", "green/correlations", "ratescore/rated_pairs"} <= set(graph.model_pages)
    # These read tables of cells, compute with rules, and do arithmetic.
    assert not {"rales/benchmark", "green/rules_judge", "green/method"} & set(graph.model_pages)
    profile = yaml.safe_load((ROOT / "workflow" / "profiles" / "slurm" / "config.yaml").read_text())
    asked = profile["set-resources"]
    assert asked["model_page"] == asked["cell"]
    assert asked["cell"]["mem_mb"] >= 64000


@pytest.mark.parametrize(
    ("only", "there", "absent"),
    [
        ("rales", {"rales/datasets", "across/audit"}, {"green/method"}),
        ("across", {"across/audit"}, {"green/method"}),
        ("green/method", {"green/method"}, {"green/summary", "across/audit"}),
        ("rales.table3", {"rales/nlu_scores"}, {"rales/datasets", "across/audit"}),
    ],
)
def test_pages_are_chosen_by_folder_notebook_or_exhibit(only: str, there: set[str], absent: set[str]) -> None:
    pages = set(steps.graph("smoke", [only]).pages)
    assert there <= pages
    assert not absent & pages


def test_an_unknown_choice_of_pages_names_those_near_it() -> None:
    with pytest.raises(ParameterError, match=r"Near it: .*rales.table3"):
        steps.graph("smoke", ["rales.tabel3"])


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """The profile `smoke`, building below a temporary folder, of which no step is run."""
    monkeypatch.setattr(steps, "BUILD", tmp_path)
    monkeypatch.setattr(engine.forkserver, "serving", lambda: nullcontext({}))
    return steps.graph("smoke")


def test_results_of_notebooks_that_are_gone_are_removed_and_nothing_else(graph: Graph) -> None:
    page, gone = graph.results("green/method"), graph.results("green/gone")
    for folder in (page, gone):
        folder.mkdir(parents=True)
    stray = gone.parent / ".DS_Store"
    stray.touch()
    graph.discard_removed()
    assert page.is_dir()
    assert stray.is_file()
    assert not gone.exists()


@pytest.mark.parametrize("fails", [True, False])
def test_the_first_pages_may_fail_and_the_build_goes_on(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    lines: list[str] = []
    ran: list[bool] = []

    def run(asked: Graph, *_: Any) -> None:
        ran.append(asked.at_once)
        if asked.at_once and fails:
            raise RadevalError("the build did not finish", "radbook build")

    monkeypatch.setattr(engine, "_run", run)
    engine.build(graph, 1, lines.append)
    assert ran == [True, False]
    assert any(line.startswith("To be read: ") for line in lines) is not fails


def test_what_is_damaged_or_of_another_version_is_removed_and_named(graph: Graph) -> None:
    left = {
        "facts/agreement/facts.table1.printed.json": json.dumps({"format": 2, "sha256": "0"}),
        "across/audit/headline_unheard_of.json": "{}",
    }
    for name, text in left.items():
        path = graph.output_dir / "results" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    name, cell = next(iter(graph.cells.items()))
    folder = steps.cells.folder(graph.output_dir, cell)
    folder.mkdir(parents=True)
    (folder / "cell.json").write_text('{"sha256": {}}', encoding="utf-8")
    executed = graph.executed("facts/agreement")
    executed.parent.mkdir(parents=True)
    executed.write_text("{}", encoding="utf-8")
    named = [line.split(": ")[1] for line in engine.discard_unreadable(graph)]
    assert sorted(named) == sorted(["across/audit", "facts/agreement", name])
    assert not list((graph.output_dir / "results").glob("*/*"))
    assert not executed.exists()
    assert not folder.exists()


@pytest.mark.parametrize("printed", ["radbook: one.md: code cell 3: it broke", "ValueError: no colour"])
def test_what_stops_a_step_is_named(graph: Graph, monkeypatch: pytest.MonkeyPatch, printed: str) -> None:
    graph.output_dir.mkdir(parents=True, exist_ok=True)
    text = f"{steps.waiting_line(['rendering the book'])}\n{printed}"
    monkeypatch.setattr(engine, "_command", lambda *_: [sys.executable, "-c", f"exit(print({text!r}) or 1)"])
    lines: list[str] = []
    with pytest.raises(RadevalError) as raised:
        engine._run(graph, 1, lines.append, {})
    assert (printed in lines) is not (printed in raised.value.what)


def test_an_estimate_counts_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Graph, "expected", lambda *_: 300.0)
    progress = engine._Progress(steps.graph("smoke"), 2)
    waiting = steps.waiting_line(["running facts/agreement", "running green/method", "something else"])
    assert progress.shown("running before the list") == ""
    assert progress.shown(waiting) == "2 steps, about 5 min"
    assert progress.shown("Job 3: running facts/agreement") == "running facts/agreement"
    assert progress.shown("1 of 2 steps (50%) done") == "1 of 2 steps done, about 2 min left"
