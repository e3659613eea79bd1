"""What a dry run says before anything runs: data, models, and the time of jobs like one measured."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import huggingface_hub
import pytest

from radeval_lib.models import catalog
from radeval_lib.pipeline import outlook, steps
from radeval_lib.pipeline.steps import Graph
from radeval_lib.study import cells
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import profile


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """One page of the profile `full` and three jobs of one notebook, building below a temporary folder."""
    planned = [Cell.of("ratescore/ner_training", sentences=number) for number in (1, 2, 3)]
    monkeypatch.setattr(cells, "planned", lambda _: planned)
    monkeypatch.setattr(steps, "BUILD", tmp_path / "build")
    return Graph(profile("full"), ("green/judge_models",), tmp_path / "data")


def test_a_role_without_its_data_is_named_with_the_pages_that_read_it(full: Graph, tmp_path: Path) -> None:
    assert outlook.pages_without_data(full) == {"error_counts": ["green/judge_models"]}
    assert any(line.startswith("Without rexval (error_counts)") for line in outlook.outlook(full))
    assert outlook.outlook(Graph(profile("embedded"))) == []
    path = tmp_path / "data" / "rexval" / "6_valid_raters_per_rater_error_categories.csv"
    path.parent.mkdir(parents=True)
    path.touch()
    assert outlook.pages_without_data(full) == {}


def test_a_role_with_a_part_of_its_data_is_named(full: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = full.settings.roles["error_counts"]
    monkeypatch.setattr(outlook, "present", lambda source, _: "a_part" if source == whole else source)
    assert sum(line.startswith("In part: error_counts ") for line in outlook.outlook(full)) == 1


def test_a_model_is_here_if_the_revision_that_would_be_loaded_is(
    full: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookup = partial(huggingface_hub.try_to_load_from_cache, cache_dir=tmp_path)
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lookup)
    revisions = {"bert-base-uncased": catalog.load("bert_base").revision, "bert-large-uncased": "0" * 40}
    for name, revision in revisions.items():
        model = tmp_path / f"models--google-bert--{name}"
        (model / "snapshots" / revision).mkdir(parents=True)
        (model / "snapshots" / revision / "model.safetensors").touch()
        (model / "refs").mkdir()
        (model / "refs" / "main").write_text(revision, encoding="utf-8")
    is_here = outlook.hub_models(full)
    assert (is_here["google-bert/bert-base-uncased"], is_here["google-bert/bert-large-uncased"]) == (
        True,
        False,
    )


def test_steps_take_what_they_took_or_what_others_of_their_notebook_took(full: Graph) -> None:
    first, second, third = full.cells
    steps.note_seconds(full.output_dir, first, 1800)
    assert full.expected(first) == full.expected(second) == 1800
    (full.output_dir / "seconds" / f"{second}.txt").write_text("damaged", encoding="utf-8")
    assert full.expected(third) == 1800
    assert full.expected("green/judge_models") > 0
