"""Weights that are missing, foreign, torn, flat or not finite are refused, in one line that names them."""

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
from radeval_lib.data.generated import ner_corpus
from radeval_lib.errors import ModelError
from radeval_lib.models import soundness, uses
from radeval_lib.models.classifiers import TextClassifier
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.ner.iob import IobScheme
from radeval_lib.models.saving import fill
from radeval_lib.models.training import TrainingSettings, train
from tests.models.test_layouts import bare_bert, bert

pytestmark = pytest.mark.usefixtures("one_thread")

WORD = "embeddings.word_embeddings.weight"
QUERY = "encoder.layer.0.attention.self.query.weight"
Weights = dict[str, torch.Tensor]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A small encoder with its pooler."""
    folder = tmp_path / "model"
    folder.mkdir()
    bare_bert(folder)
    return folder


def changed(folder: Path, change: Callable[[Weights], Weights], file: str = "model.safetensors") -> None:
    save_file(change(load_file(folder / file)), folder / file, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda held: {name: held[name] for name in sorted(held)[::2]},
            r"weights are missing: embeddings\.LayerNorm\.weight and \d+ more\. Copy the folder again",
        ),
        (
            lambda held: {**held, "foreign.weight": torch.ones(2, 3)},
            r"no place in the model: foreign\.weight\.",
        ),
        (
            lambda held: {f"old.{name}": value for name, value in held.items()},
            r"weights are missing: .* and \d+ more; weights have no place in the model: old\.",
        ),
        (
            lambda held: {name: value for name, value in held.items() if name != "pooler.dense.bias"},
            r"weights are missing: pooler\.dense\.bias\.",
        ),
        (
            lambda held: {**held, "pooler.dense.weight": torch.randn(3, 32)},
            r"pooler\.dense\.weight is 3 x 32",
        ),
        (lambda held: {**held, WORD: torch.randn(9, 32)}, r"is 9 x 32 where config\.json wants \d+ x 32"),
        (
            lambda held: {name: torch.zeros_like(value) for name, value in held.items()},
            r"every number of \S+ is 0\.",
        ),
        (
            lambda held: {**held, QUERY: torch.full((32, 32), 0.25)},
            r"every number of \S+query\.weight is 0\.25",
        ),
        (lambda held: {**held, QUERY: held[QUERY] / 0}, "not finite"),
        (lambda held: {**held, "embeddings.LayerNorm.bias": torch.full((32,), torch.nan)}, "not finite"),
    ],
    ids=["half", "foreign", "renamed", "torn", "pooler", "shape", "zeros", "constant", "infinite", "nan"],
)
def test_spoiled_weights_are_named(model: Path, change: Any, message: str) -> None:
    changed(model, change)
    with pytest.raises(ModelError, match=message) as caught:
        Encoder(model, device="cpu")
    assert "model model: " in str(caught.value)


def test_a_command_does_not_score_with_half_of_a_model(model: Path, tmp_path: Path) -> None:
    changed(model, lambda held: {name: held[name] for name in sorted(held)[::2]})
    (tmp_path / "in.csv").write_text("reference,candidate\nNo effusion.,Effusion.\n")
    given = ["--set", f"bertscore.encoder={model}", "--set", "bertscore.layer=1"]
    files = ["--input", str(tmp_path / "in.csv"), "--output", str(tmp_path / "out.csv")]
    done = CliRunner().invoke(main, ["score", "--metric", "bertscore", *given, *files])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "weights are missing" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_what_may_be_constant() -> None:
    plain = {
        "norm.weight": torch.ones(4), "bias": torch.zeros(4), "segments": torch.zeros(1, 4),
        "column": torch.zeros(4, 1), "steps": torch.zeros(3, 4, dtype=torch.long),
        "a.lora_B.default.weight": torch.zeros(4, 2), "none": torch.zeros(0, 4),
    }  # fmt: skip
    soundness.check_values(plain, "model")
    soundness.check_values({"new": torch.zeros(4, 4)}, "model", new={"new"})
    with pytest.raises(ModelError, match="every number of new is 0"):
        soundness.check_values({"new": torch.zeros(4, 4)}, "model")


def test_heads_are_new_as_a_whole_or_not_at_all(model: Path) -> None:
    assert TextClassifier(model, ["a", "b"]).module.num_labels == 2
    changed(model, lambda held: {**held, "classifier.weight": torch.randn(2, 32)})
    with pytest.raises(ModelError, match=r"weights are missing: classifier\.bias"):
        TextClassifier(model, ["a", "b"])
    other = {"classifier.weight": torch.randn(5, 32), "classifier.bias": torch.randn(5)}
    changed(model, lambda held: {**held, **other})
    assert TextClassifier(model, ["a", "b"]).module.num_labels == 2  # one of other labels is drawn again


def test_an_allowance_holds_for_its_use_alone() -> None:
    assert "lm_head.*" in uses.ENCODER.may_have("roberta")
    assert "lm_head.*" not in uses.ENCODER.may_have("bert")
    assert uses.LANGUAGE_MODEL.may_have("roberta") == uses.LANGUAGE_MODEL.may_lack("llama") == ()
    assert "cls.*" not in uses.NER_MODEL.may_have("bert")


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"pad_token_id": 40}, "pads with token 40"), ({"vocab_size": 5000}, "the model vectors for 5,000")],
)
def test_a_tokenizer_that_is_not_the_models_is_refused(model: Path, settings: Any, message: str) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, **settings}))
    with pytest.raises(ModelError, match=message):
        Encoder(model, device="cpu")


def test_our_own_files_are_filled_in_whole_or_not_at_all(tmp_path: Path) -> None:
    layers = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    file = tmp_path / "head.safetensors"
    for change, message in (
        (lambda held: {name: held[name] for name in list(held)[1:]}, "weights are missing"),
        (lambda held: {**held, "more": torch.ones(1)}, "no place in the model: more"),
        (lambda held: {**held, "0.weight": torch.ones(4, 3)}, r"every number of 0\.weight is 1"),
        (lambda held: {**held, "0.weight": torch.randn(5, 3)}, r"head\.safetensors cannot be loaded"),
    ):
        save_file(change(layers.state_dict()), file)
        with pytest.raises(ModelError, match=message):
            fill(layers, file)


def test_a_training_from_old_names_of_norms_goes_on_with_all_that_it_learned(tmp_path: Path) -> None:
    """google-bert calls norms' weights gamma and beta; a checkpoint with these would be read without them."""
    (tmp_path / "model").mkdir()
    bert(tmp_path / "model")

    class Stopped(IobScheme):
        measured = 0

        def measure(self, records: Any) -> dict[str, float]:
            self.measured += 1
            if self.measured == dies:
                raise KeyboardInterrupt
            return {"f1": float(self.measured + before)}

    def trained(folder: Path) -> Weights:
        torch.manual_seed(0)
        task = Stopped(tmp_path / "model")
        settings = TrainingSettings(learning_rate=1e-2, batch_size=4, epochs=3, device="cpu")
        train(task, rows, rows, settings, folder=folder)
        return {name: value.clone() for name, value in task.module.state_dict().items()}

    rows = list(ner_corpus(2, 3))[:8]
    dies, before = 0, 0
    whole = trained(tmp_path / "whole")
    dies = 3
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "stopped")
    dies, before = 0, 2
    for name, value in trained(tmp_path / "stopped").items():
        assert torch.equal(value, whole[name]), name
