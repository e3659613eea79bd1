"""What the engine's lines say of steps."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from radeval_lib.errors import ParameterError
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import steps


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


def test_the_line_on_what_waits_is_read_as_it_was_written() -> None:
    messages = ["rendering the book", "running facts/two", "another message"]
    assert steps.waiting(steps.waiting_line(messages)) == ["facts/two", "the book"]
    assert steps.waiting("running facts/one") is None


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
    with pytest.raises(ParameterError, match=r"no pages called 'rales.tabel3'.*Near it: .*rales.table3"):
        steps.graph("smoke", ["rales.tabel3"])


def test_results_of_notebooks_that_are_gone_are_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "BUILD", tmp_path)
    graph = steps.graph("smoke")
    page, gone = graph.results("green/method"), graph.results("green/gone")
    for folder in (page, gone):
        folder.mkdir(parents=True)
    stray = gone.parent / ".DS_Store"
    stray.touch()
    graph.discard_removed()
    assert page.is_dir()
    assert stray.is_file()
    assert not gone.exists()
