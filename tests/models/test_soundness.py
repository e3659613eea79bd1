"""A model that is incomplete or unsafe is refused with one line, before it computes anything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from radeval_lib.errors import ModelError
from radeval_lib.metrics import MetricError, create, score_file
from radeval_lib.models import pretrained
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.packaged import packaged_minilm
from radeval_lib.models.pretrained import locate

TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the packaged encoder."""
    return Path(shutil.copytree(packaged_minilm(), tmp_path / "model"))


def test_a_whole_folder_loads(model: Path) -> None:
    same, other = Encoder(model).encode(["no effusion", "large effusion"])
    assert not (same == other).all()


def test_a_folder_without_its_tokenizer_is_refused(model: Path) -> None:
    for name in TOKENIZER:
        (model / name).unlink(missing_ok=True)
    with pytest.raises(ModelError, match="model model: no tokenizer in the folder"):
        Encoder(model)


def test_a_tokenizer_of_another_model_is_refused(model: Path) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"vocab_size": 500}))
    with pytest.raises(ModelError, match=r"the tokenizer has 30,522 tokens, the model vectors for 500"):
        Encoder(model)


def test_a_hub_model_that_cannot_be_had_is_reported_at_once(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pretrained, "hub_answers", lambda: False)
    assert locate("distilbert-base-uncased") == "distilbert-base-uncased"
    with pytest.raises(ModelError, match="the hub cannot be reached"):
        create("bertscore", encoder="nobody/no-such-model").score(["a"], ["b"])
    (tmp_path / "in.csv").write_text("reference,candidate\na,b\n")
    with pytest.raises(MetricError, match=r"The setting is bertscore\.encoder"):
        score_file(
            {"bertscore": {"encoder": "nobody/no-such-model"}}, tmp_path / "in.csv", tmp_path / "out.csv"
        )
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("name", ["/no/such/folder", "./model", "a/b/c", "~/model", "", "two words"])
def test_what_is_no_hub_name_is_a_missing_folder(name: str) -> None:
    with pytest.raises(ModelError, match="no folder"):
        locate(name)
