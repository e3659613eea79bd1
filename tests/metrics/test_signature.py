"""Signatures of scores: their syntax, and that equal settings have equal ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from radeval_lib import __version__, checksums
from radeval_lib.metrics import create, get, names
from radeval_lib.metrics.base import Metric, format_model_id

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
PACKAGED = "packaged-minilm-1"


def _models(folder: Path) -> dict[str, str]:
    """Return a tiny stand-in for each role."""
    (folder / "graphs.json").write_text("{}", encoding="utf-8")
    shutil.copytree(REFERENCE / "ratescore" / "tiny_ner", folder / "tiny_ner")
    return {
        "ner_model": str(folder / "tiny_ner"),
        "encoder": PACKAGED,
        "graph_model": str(folder / "graphs.json"),
        "judge": "rules",
    }


def _metric(name: str, models: dict[str, str], **settings: Any) -> Metric:
    return create(name, **{role: models[role] for role in get(name).required_roles}, **settings)


def _made(name: str, models: dict[str, str], **settings: Any) -> str:
    return _metric(name, models, **settings).signature()


@pytest.mark.parametrize("name", names())
def test_equal_settings_have_equal_signatures_in_whatever_folder(name, tmp_path) -> None:
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        folder.mkdir()
    first, second = (_made(name, _models(folder)) for folder in folders)
    assert str(tmp_path) not in first == second
    assert first.startswith(f"metric:{name}|")
    assert first.endswith(f"|version:{__version__}")
    keys = [part.partition(":")[0] for part in first.split("|")]
    assert {f"model.{role}" for role in get(name).required_roles} <= set(keys)
    assert not {"device", "cache", *get(name).required_roles} & set(keys)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("bleu", {"order": 2}),
        ("bertscore", {"layer": 1}),
        ("f1_radgraph", {"case": "fold"}),
        ("radcliq", {"version": "v0"}),
        ("ratescore", {"preset": "paper"}),
        ("green", {"mode": "reference"}),
    ],
)
def test_a_setting_that_decides_scores_is_in_the_signature(name, settings, tmp_path) -> None:
    models = _models(tmp_path)
    assert _made(name, models) != _made(name, models, **settings)


def test_settings_that_come_to_the_same_have_one_signature(tmp_path) -> None:
    models = _models(tmp_path)
    assert _made("ratescore", models) == _made("ratescore", models, penalty="cross_polarity")
    assert create("bleu", order="2").signature() == (
        f"metric:bleu|variant:sentence-coco|order:2|text:one-line+words-at-blanks|version:{__version__}"
    )


def test_a_model_is_named_by_its_content(tmp_path, monkeypatch) -> None:
    models = _models(tmp_path)
    before = _metric("ratescore", models).list_model_ids()["ner_model"]
    config = tmp_path / "tiny_ner" / "config.json"
    content = json.loads(config.read_text(encoding="utf-8"))
    config.write_text(json.dumps({**content, "classifier_dropout": 0.5}), encoding="utf-8")
    after = _metric("ratescore", models).list_model_ids()["ner_model"]
    assert before != after
    assert [model.partition("@")[0] for model in (before, after)] == ["tiny_ner", "tiny_ner"]
    graphs = _metric("f1_radgraph", models).list_model_ids()["graph_model"]
    assert graphs == f"graphs.json@{checksums.of_text('{}')[:12]}"
    released = create("f1_radgraph", graph_model="radgraph:radgraph").list_model_ids()
    assert released["graph_model"] == "radgraph:radgraph@unknown"
    commit = "0123456789abcdef"
    cached = tmp_path / f"models--who--what/snapshots/{commit}/config.json"
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *given, **more: str(cached))
    assert format_model_id("who/what") == "who/what@0123456789ab"


def test_scores_by_rules_name_the_rules() -> None:
    for name in ("green_rules", "green_rules_errors", "observations"):
        rules = create(name).list_model_ids()["rules"]
        assert rules == create("green").list_model_ids()["judge"]
        assert len(rules.removeprefix("rules@")) == 12
        assert "|text:as-written+plain-characters+sections+statements|" in create(name).signature()
