"""What a dry run tells before anything runs: data, models, cells and the time of cells like one measured."""

from __future__ import annotations

from functools import partial
from pathlib import Path, PurePosixPath

import huggingface_hub
import pytest

from radeval_lib.models import catalog
from radeval_lib.pipeline import durations, outlook, steps
from radeval_lib.pipeline.steps import Graph
from radeval_lib.study import cells
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import profile


@pytest.fixture
def full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """One page of the profile `full` and three cells of one notebook, building below a temporary folder."""
    planned = [Cell.of("ratescore/ner_training", sentences=number) for number in (1, 2, 3)]
    monkeypatch.setattr(cells, "planned", lambda _: planned)
    monkeypatch.setattr(steps, "BUILD", tmp_path / "build")
    return Graph(profile("full"), ("green/judge_models",), tmp_path / "data")


def test_missing_data_are_named_with_their_access(full: Graph) -> None:
    told = outlook.outlook(full)[0]
    assert told.startswith("Data: of ")
    assert "none are in the data root as its manifest has it; missing: " in told
    assert f"mimic3_rrs ({outlook.load_manifest('mimic3_rrs').access})" in told
    nowhere = Graph(full.settings, full.only)
    assert outlook.outlook(nowhere)[0].startswith("Data: no data root is named, so no data set")


def test_a_role_without_its_data_is_told_with_the_pages_that_read_it(full: Graph, tmp_path: Path) -> None:
    told = outlook.outlook(full)[1]
    assert told == "Without rexval (error_counts), left out as a whole or from where they need it: " + (
        "green/judge_models."
    )
    path = tmp_path / "data" / "rexval" / "6_valid_raters_per_rater_error_categories.csv"
    path.parent.mkdir(parents=True)
    path.touch()
    assert outlook.pages_without_data(full) == {}


def test_a_role_that_is_filled_in_part_is_told(full: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = full.settings.roles["error_counts"]
    monkeypatch.setattr(outlook.filling, "present", lambda filler, _: "a_part" if filler == whole else filler)
    told = [line for line in outlook.outlook(full) if line.startswith("In part")]
    assert f"In part: error_counts is filled by a_part alone, of {whole}." in told


def test_a_data_set_with_the_files_that_make_it_whole_is_not_missing(full: Graph, tmp_path: Path) -> None:
    def lacks() -> list[str]:
        return [PurePosixPath(one.path).name for one in outlook.missing_files(full)["mimic3_procedure"]]

    assert lacks() == ["annotated_dataset.csv"]
    notes = tmp_path / "data" / "mimic3" / "NOTEEVENTS.csv.gz"
    notes.parent.mkdir(parents=True)
    notes.touch()
    assert len(lacks()) == 1
    assert outlook.missing_files(full)["mimic3_rrs"] == []  # with the study's own rules
    assert "mimic3_rrs" not in outlook.outlook(full)[0]
    built = tmp_path / "data" / "mimic3_procedure" / "annotated_dataset.csv"
    built.parent.mkdir()
    built.touch()
    assert lacks() == []


def test_a_file_with_another_checksum_is_distinguished_from_the_right_one(
    full: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data" / "mediqa2021" / "indiana_dev.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"[]")
    told = outlook.outlook(full)[0]
    assert "missing: " in told
    assert "mediqa2021 (open)" in told
    assert "Not the files of their manifests: mediqa2021/indiana_dev.json: 2 bytes instead of" in told


def test_the_models_of_a_hub_are_counted_and_named(full: Graph) -> None:
    found = outlook.hub_models(full)
    assert {"google-t5/t5-small", "microsoft/deberta-v3-base", "FremyCompany/BioLORD-2023-C"} <= set(found)
    assert not any(name.startswith("cell:") for name in found)
    (told,) = (line for line in outlook.outlook(full) if line.startswith("Models: "))
    assert "google-t5/t5-small" in told


def test_a_model_is_here_if_the_revision_that_would_be_loaded_is(
    full: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cached(hub: str, revision: str) -> None:
        folder = tmp_path / f"models--{hub.replace('/', '--')}" / "snapshots" / revision
        folder.mkdir(parents=True)
        for name in ("config.json", "model.safetensors"):
            (folder / name).touch()

    lookup = partial(huggingface_hub.try_to_load_from_cache, cache_dir=tmp_path)
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lookup)
    cached("google-bert/bert-base-uncased", catalog.load("bert_base").revision)
    cached("google-bert/bert-large-uncased", "0" * 40)
    other = tmp_path / "models--google-bert--bert-large-uncased" / "refs" / "main"
    other.parent.mkdir()
    other.write_text("0" * 40, encoding="utf-8")
    found = outlook.hub_models(full)
    assert found["google-bert/bert-base-uncased"]
    assert not found["google-bert/bert-large-uncased"]


def test_a_package_that_the_profile_needs_is_named_until_it_is_there(
    full: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[str] = []
    monkeypatch.setattr(outlook, "find_spec", lambda name: name if name in there else None)
    told = "Packages: radgraph is not installed, which fills graph_model. Run: pip install radgraph"
    assert told in outlook.outlook(full)
    assert not any(line.startswith("Packages") for line in outlook.outlook(Graph(profile("embedded"))))
    there.append("radgraph")
    assert not any(line.startswith("Packages") for line in outlook.outlook(full))


def test_steps_take_what_they_took_or_what_others_of_their_notebook_took(full: Graph) -> None:
    first, second, third = full.cells
    durations.note(full.output_dir, first, 1800)
    assert durations.expected(full, first) == durations.expected(full, second) == 1800
    durations.note(full.output_dir, second, 0)
    (full.output_dir / "seconds" / f"{second}.txt").write_text("damaged", encoding="utf-8")
    assert durations.expected(full, third) == 1800


def test_a_profile_of_generated_data_names_none() -> None:
    assert (
        "every role is filled by the generator or by stored scores"
        in outlook.outlook(Graph(profile("embedded")))[0]
    )
