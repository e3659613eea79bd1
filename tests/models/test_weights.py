"""Models that are incomplete, of another shape, not finite or not to be had are refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file
from torch import nn

from radeval_lib.cli import main
from radeval_lib.errors import ModelError
from radeval_lib.metrics import MetricError, create, score_file
from radeval_lib.models import pretrained
from radeval_lib.models.catalog import locate
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.pretrained import load_weights
from tests.models.test_layouts import made

pytestmark = pytest.mark.usefixtures("one_thread")

WORD = "embeddings.word_embeddings.weight"
BIAS = "embeddings.LayerNorm.bias"
QUERY = "encoder.layer.0.attention.self.query.weight"
Weights = dict[str, torch.Tensor]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A small encoder with its pooler."""
    folder = tmp_path / "model"
    folder.mkdir()
    made("bare bert", folder)
    return folder


def changed(folder: Path, change: Callable[[Weights], Weights], file: str = "model.safetensors") -> None:
    save_file(change(load_file(folder / file)), folder / file, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("change", "weight"),
    [
        (lambda state: {name: state[name] for name in sorted(state)[::2]}, "embeddings.LayerNorm.weight"),
        (lambda state: {f"old.{name}": value for name, value in state.items()}, "embeddings.LayerNorm"),
        (lambda state: {**state, WORD: torch.randn(9, 32)}, WORD),
        (lambda state: {**state, QUERY: state[QUERY] / 0}, QUERY),
        (lambda state: {**state, BIAS: torch.full((32,), torch.nan)}, BIAS),
    ],
    ids=["half", "renamed", "shape", "infinite", "nan"],
)
def test_spoiled_weights_are_refused_by_name(model: Path, change: Any, weight: str) -> None:
    changed(model, change)
    with pytest.raises(ModelError, match=weight) as caught:
        Encoder(model, device="cpu")
    assert caught.value.where == "model model"


def test_a_command_does_not_score_with_half_of_a_model(model: Path, tmp_path: Path) -> None:
    changed(model, lambda held: {name: held[name] for name in sorted(held)[::2]})
    (tmp_path / "in.csv").write_text("reference,candidate\nNo effusion.,Effusion.\n")
    given = ["--set", f"bertscore.encoder={model}", "--set", "bertscore.layer=1"]
    files = ["--input", str(tmp_path / "in.csv"), "--output", str(tmp_path / "out.csv")]
    done = CliRunner().invoke(main, ["score", "--metric", "bertscore", *given, *files])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_a_tokenizer_that_is_not_the_models_is_refused(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    for wrong in ({"vocab_size": 5000}, {"vocab_size": 20}):
        (model / "config.json").write_text(json.dumps({**config, **wrong}))
        with pytest.raises(ModelError):
            Encoder(model, device="cpu")
    (model / "config.json").write_text(json.dumps(config))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (model / name).unlink()
    with pytest.raises(ModelError):
        Encoder(model, device="cpu")


def test_our_own_files_are_filled_in_whole_or_not_at_all(tmp_path: Path) -> None:
    layers = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    file = tmp_path / "head.safetensors"
    state = layers.state_dict()
    for spoiled in (
        {name: state[name] for name in list(state)[1:]},
        {**state, "more": torch.ones(1)},
        {**state, "0.weight": torch.randn(5, 3)},
        {**state, "0.weight": torch.full((4, 3), torch.inf)},
    ):
        save_file(spoiled, file)
        with pytest.raises(ModelError):
            load_weights(layers, file)


def test_a_hub_model_that_cannot_be_had_is_reported_at_once(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pretrained, "can_reach_hub", lambda: False)
    assert locate("distilbert-base-uncased") == "distilbert-base-uncased"
    with pytest.raises(ModelError):
        create("bertscore", encoder="nobody/no-such-model").score(["a"], ["b"])
    (tmp_path / "in.csv").write_text("reference,candidate\na,b\n")
    with pytest.raises(MetricError):
        score_file(
            {"bertscore": {"encoder": "nobody/no-such-model"}}, tmp_path / "in.csv", tmp_path / "out.csv"
        )
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("name", ["/no/such/folder", "./model", "a/b/c", "~/model", "", "two words"])
def test_what_is_no_hub_name_is_a_missing_folder(name: str) -> None:
    with pytest.raises(ModelError):
        locate(name)
