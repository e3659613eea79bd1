"""The steps of a build, and what its lines say of them."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import yaml

from radeval_lib.errors import ParameterError, RadevalError
from radeval_lib.models import catalog
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import engine, steps
from radeval_lib.pipeline.steps import Graph


def test_pages_that_run_models_take_what_cells_take_of_a_cluster() -> None:
    graph = steps.graph("full")
    # One trains a judge, one asks a judge, one scores with a metric's models.
    assert {"green/language_judge", "green/correlations", "ratescore/rated_pairs"} <= set(graph.model_pages)
    # These read tables of cells, compute with rules, and do arithmetic.
    assert not {"rales/benchmark", "green/rules_judge", "green/method"} & set(graph.model_pages)
    profile = yaml.safe_load((ROOT / "workflow" / "profiles" / "slurm" / "config.yaml").read_text())
    asked = profile["set-resources"]
    assert asked["model_page"] == asked["run_job"]
    assert asked["run_job"]["mem_mb"] >= 64000


@pytest.mark.parametrize(
    ("only", "there", "absent"),
    [
        ("rales", {"rales/datasets", "across/audit"}, {"green/method"}),
        ("green/method", {"green/method"}, {"green/summary", "across/audit"}),
        ("rales.table3", {"rales/nlu_scores"}, {"rales/datasets", "across/audit"}),
    ],
)
def test_pages_are_chosen_by_folder_notebook_or_exhibit(only: str, there: set[str], absent: set[str]) -> None:
    pages = set(steps.graph("smoke", [only]).pages)
    assert there <= pages
    assert not absent & pages
    with pytest.raises(ParameterError, match="--only"):
        steps.graph("smoke", [f"{only}x"])


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """The profile `smoke`, building below a temporary folder, of which no step is run."""
    monkeypatch.setattr(steps, "BUILD", tmp_path)
    monkeypatch.setattr(engine.forkserver, "run_server", lambda: nullcontext({}))
    return steps.graph("smoke")


@pytest.mark.parametrize("fails", [True, False])
def test_the_first_pages_may_fail_and_the_build_goes_on(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    lines: list[str] = []
    ran: list[bool] = []

    def run(asked: Graph, *_: Any) -> None:
        ran.append(asked.no_jobs)
        if asked.no_jobs and fails:
            raise RadevalError("the build did not finish", "radbook build")

    monkeypatch.setattr(engine, "_run", run)
    engine.build(graph, 1, lines.append)
    assert ran == [True, False]
    assert any(line.startswith("Ready to read: ") for line in lines) is not fails


@pytest.mark.parametrize("printed", ["radbook: one.md: code cell 3: it broke", "ValueError: no colour"])
def test_what_stops_a_step_is_named(graph: Graph, monkeypatch: pytest.MonkeyPatch, printed: str) -> None:
    graph.output_dir.mkdir(parents=True, exist_ok=True)
    text = f"Job 3: rendering the book\n1 of 2 steps (50%) done\n{printed}"
    monkeypatch.setattr(engine, "_prepare", lambda *_: [sys.executable, "-c", f"exit(print({text!r}) or 1)"])
    lines: list[str] = []
    with pytest.raises(RadevalError) as raised:
        engine._run(graph, 1, lines.append, {})
    assert lines[:2] == ["rendering the book", "1 of 2 steps done"]
    assert (printed in lines) is not (printed in raised.value.what)


def test_a_model_is_here_if_the_revision_that_would_be_loaded_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookup = partial(huggingface_hub.try_to_load_from_cache, cache_dir=tmp_path)
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lookup)
    revisions = {"bert-base-uncased": catalog.load_card("bert_base").revision, "bert-large-uncased": "0" * 40}
    for name, revision in revisions.items():
        model = tmp_path / f"models--google-bert--{name}"
        (model / "snapshots" / revision).mkdir(parents=True)
        (model / "snapshots" / revision / "model.safetensors").touch()
        (model / "refs").mkdir()
        (model / "refs" / "main").write_text(revision, encoding="utf-8")
    is_here = engine.find_hub_models(steps.graph("full"))
    assert [is_here[f"google-bert/{name}"] for name in revisions] == [True, False]
