"""The profile `published` on small random models of the published architectures, in the hub's own layouts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from radeval_lib.data import recorded
from radeval_lib.data.restricted import reveal
from radeval_lib.data.roles import load
from radeval_lib.jobs import oriented_scores
from radeval_lib.models import catalog
from radeval_lib.models.derived import make_test_model
from radeval_lib.study.profiles import profile
from tests.full import data_files, models, tiny
from tests.full.tiny import TinyFull

HUB = ("ner_model", "encoder", "judge")
"""Roles of models that the hub has; the graph model comes with the package radgraph."""


def test_the_published_models_are_those_of_full_at_a_pinned_revision() -> None:
    ours, full = profile("published").models, profile("full").models
    assert {role for role in full if ours[role] != full[role]} == set()
    assert all(catalog.find_revision(ours[role]) for role in HUB)


def test_scores_by_published_models_are_stored_with_their_revision_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = TinyFull(tmp_path / "project", tmp_path / "data", tmp_path / "hub")
    tiny.copy_project(project.path)
    for file, content in data_files.radpref_files(4):
        (project.root / file).parent.mkdir(parents=True, exist_ok=True)
        (project.root / file).write_bytes(content)
    names = [profile("published").models[role] for role in HUB]
    texts = [reveal(row.prompt) for row in load("judged_pairs", "synthetic", size=4, seed=0, root=None)]
    models.write(names, project.hub, texts)
    path = project.path / "data_manifests" / "profiles" / "published.yml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content |= {"device": "cpu", "threads": 1}
    content["models"]["graph_model"] = make_test_model("graph_model", tmp_path)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    tiny.measure_files(project)

    stored = project.radbook("record", "--profile", "published", "radpref")
    assert stored.returncode == 0, stored.stdout + stored.stderr

    folder = project.path / "data_manifests" / "published"
    monkeypatch.setattr(recorded, "PUBLISHED", folder)
    recording = recorded.load_published("radpref")
    assert list(recording.table) == ["number", "case", *oriented_scores.PUBLISHED]
    assert np.isfinite(recording.table).all(axis=None)
    for role, name in zip(HUB, names, strict=True):
        assert recording.description["models"][role]["name"] == name
        assert recording.description["models"][role]["revision"] == catalog.find_revision(name)
    shown = oriented_scores.published_scores(recording.table["case"])
    assert list(shown) == ["RaTEScore (published)", "RadGraph F1 (published)", "GREEN (published)"]
    assert len(oriented_scores.add_unscored(shown.T)) == 3
    assert oriented_scores.published_scores([*recording.table["case"], 0]).empty


def test_until_somebody_has_scored_them_tables_say_so() -> None:
    if recorded.load_published("radpref") is not None:
        pytest.skip("they are stored")
    lacking = oriented_scores.add_unscored(pd.DataFrame({"all": ["0.5"]}, pd.Index(["BLEU"], name="m")))
    assert lacking.index.name == "m"
    assert lacking["all"].tolist() == ["0.5", *["published: not scored yet"] * 3]
