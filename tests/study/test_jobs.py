"""Cells: what is kept and read back, what is planned, and what a run may read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from radeval_lib.data.restricted import RestrictedText, RestrictedTextError
from radeval_lib.errors import NotebookError, ProfileError, ResultError
from radeval_lib.paths import PROFILES
from radeval_lib.registry import JOB_MODEL
from radeval_lib.study import jobs, profiles, sources
from radeval_lib.study.jobs import Job
from radeval_lib.study.profiles import profile, profile_names
from radeval_lib.study.sources import Declared, front_matter

ONE = Job.of("ratescore/ner_training", scheme="iob", init_model="m", corpus="both", sentences=5)
COUNTS = pd.DataFrame(
    {
        "case": ["007", "NA", ""],
        "text": ["a\rb", "c\nd", "e"],
        "right": np.array([1, 0, 2**63 + 1], dtype="uint64"),
        "share": [0.1, float("nan"), 1 / 3],
    }
)


def _written(folder: Path, model: bool = False) -> Path:
    folder.mkdir(parents=True)

    def save(where: Path) -> None:
        (where / "weights").write_text("1")

    jobs.write(folder, ONE, {"counts": COUNTS}, {"sizes": {"test": 3}}, save if model else None)
    return folder


def test_a_cell_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    kept = jobs.read(_written(tmp_path / "cell", model=True), ONE, "smoke")
    pd.testing.assert_frame_equal(kept.tables["counts"], COUNTS)
    assert kept.facts["sizes"] == {"test": 3}
    assert kept.model is not None
    assert (kept.model / "weights").read_text() == "1"
    assert jobs.read(_written(tmp_path / "other"), ONE, "smoke").model is None


def test_facts_that_json_gives_back_are_kept(tmp_path: Path) -> None:
    facts = {"seeds": (1, 2), "rate": np.float64(0.5), "none": None, "sizes": {"test": [3, True]}, "é": "ü"}
    jobs.write(tmp_path, ONE, {}, facts)
    assert jobs.read(tmp_path, ONE, "smoke").facts.items() >= {**facts, "seeds": [1, 2]}.items()


@pytest.mark.parametrize("damaged", ["counts.csv", "model/weights"])
def test_a_cell_that_is_missing_or_damaged_is_reported(tmp_path: Path, damaged: str) -> None:
    with pytest.raises(ResultError):
        jobs.read(tmp_path / "none", ONE, "smoke")
    folder = _written(tmp_path / "cell", model=True)
    (folder / damaged).write_text("else")
    with pytest.raises(ResultError):
        jobs.read(folder, ONE, "smoke")
    (folder / jobs.FACTS).write_text('{"half": ')
    with pytest.raises(ResultError):
        jobs.read(folder, ONE, "smoke")


def test_slugs_tell_cells_apart_and_are_names_of_folders() -> None:
    plain = Job.of("a/b", x="iob", n=3)
    assert plain.slug == "iob-3"
    texts = ("a:b", "a_b", "a/b", "../x", "..", ".", "x" * 200, "x" * 201, "")
    odd = [Job.of("a/b", x=text) for text in texts]
    assert not {".", ".."} & {cell.slug for cell in odd}
    assert len({cell.slug for cell in odd}) == len(odd)
    assert all("/" not in cell.slug and len(cell.slug) < 100 for cell in odd)
    assert Job.of("a/b").slug == "only"


@pytest.mark.parametrize("name", profile_names())
def test_every_plan_can_be_made_for_every_profile(name: str) -> None:
    planned = jobs.planned_jobs(profile(name))
    assert len({(cell.notebook, cell.slug) for cell in planned}) == len(planned)
    for source in profile(name).models.values():
        if source.startswith(JOB_MODEL):
            assert jobs.list_jobs(profile(name), source.removeprefix(JOB_MODEL))


def test_front_matter_is_read_and_unknown_keys_are_reported() -> None:
    with pytest.raises(ValueError):
        front_matter("---\n- a\n---\n")
    head = front_matter("---\nstudy:\n  jobs: [a/b]\n---\n# Title\n")
    assert Declared.model_validate(head["study"]).jobs == ("a/b",)
    assert Declared.model_validate({"trains": True}).uses_models


def test_a_page_that_is_not_utf_8_is_named(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "NOTEBOOKS", tmp_path)
    (tmp_path / "mine.md").write_bytes(b"# Caf\xe9\n")
    with pytest.raises(NotebookError) as caught:
        sources.declared("mine")
    assert caught.value.where.endswith("mine.md")
    with pytest.raises(ValueError):
        Declared.model_validate({"job": ["a/b"]})


def test_restricted_text_among_facts_or_in_a_table_is_refused(tmp_path: Path) -> None:
    text = RestrictedText("no effusion", "mimic3_rrs")
    with pytest.raises(TypeError):
        jobs.write(tmp_path, ONE, {}, {"sizes": {"by part": [{"kept": text}]}})
    with pytest.raises(RestrictedTextError):
        jobs.write(tmp_path, ONE, {"texts": pd.DataFrame({"text": [text]})}, {})
    assert not (tmp_path / jobs.FACTS).exists()


@pytest.mark.parametrize(
    "text",
    [
        "sizes: {reprots: 5}",
        "models: {ner_modle: packaged-minilm}",
        "1: 2",
        "description: 2024-02-30",
        "description: caf\udce9",
        "roles: {rated_pairs: toy_mark}",
        "roles: {rated_pairs: radpref/grade+opnei}",
        "roles: {rated_pairs: recorded/rexval/total}",
        "sizes: {reports: -1}",
        "colour: red",
        "device: tpu",
        "[",
        "extends: mine",
    ],
)
def test_a_profile_with_a_mistake_is_refused(text: str, monkeypatch, tmp_path: Path) -> None:
    for path in PROFILES.glob("*.yml"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    head = "" if text.startswith("extends") else "extends: smoke\n"
    (tmp_path / "mine.yml").write_text(f"{head}{text}\n", encoding="utf-8", errors="surrogateescape")
    monkeypatch.setattr(profiles, "PROFILES", tmp_path)
    with pytest.raises(ProfileError):
        profiles.profile.__wrapped__("mine")
