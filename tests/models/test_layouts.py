"""Folders in the exact layout of the hub's, made small here: each loads where it is used, the head that it
brings left aside, and nowhere with one weight too many."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from radeval_lib.errors import ModelError
from radeval_lib.models import catalog
from radeval_lib.models.classifiers import TextClassifier
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.ner_models import IobNerModel, IobScheme
from radeval_lib.models.pretrained import ENCODER, load_model
from radeval_lib.models.seq2seq_summarizer import Seq2SeqSummarizer, make_encoder_decoder

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = Path(__file__).resolve().parents[1] / "reference" / "ratescore" / "tiny_ner"
TEXTS = ["small left pleural effusion", "the heart is normal"]
VOCABULARY = json.loads((TINY / "config.json").read_text())["vocab_size"]
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
}
Weights = dict[str, torch.Tensor]


def random_model(name: str, **changed: Any) -> Any:
    """Return a model of transformers with weights drawn at random, norms and biases included."""
    kind = getattr(transformers, name)
    torch.manual_seed(0)
    model = kind(kind.config_class(**{**SIZES, **changed}))
    for parameter in model.parameters():
        if parameter.ndim == 1:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    return model.eval()


def saved(model: Any, folder: Path, change: Callable[[Weights], Weights] = dict) -> Any:
    model.save_pretrained(folder)
    file = folder / "model.safetensors"
    save_file(change(load_file(file)), file, metadata={"format": "pt"})
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(TINY / name, folder)
    return getattr(model, "base_model", model)


def old_names(held: Weights) -> Weights:
    """Return google-bert's weights: the old names of norms, the numbers of positions."""
    for new, before in (("LayerNorm.weight", "LayerNorm.gamma"), ("LayerNorm.bias", "LayerNorm.beta")):
        held = {name.replace(new, before): value for name, value in held.items()}
    return {**held, "bert.embeddings.position_ids": torch.arange(512)[None]}


def with_positions(held: Weights) -> Weights:
    return {**held, "embeddings.position_ids": torch.arange(512)[None]}


def microsoft(held: Weights) -> Weights:
    """Return DeBERTa-v3's weights: two heads that transformers does not know, in half precision."""
    made = {f"deberta.{name}": value for name, value in held.items()}
    for head in ("lm_predictions.lm_head", "mask_predictions"):
        made |= {f"{head}.dense.weight": torch.randn(32, 32), f"{head}.LayerNorm.bias": torch.zeros(32)}
    made["mask_predictions.classifier.weight"] = torch.zeros(1, 32)
    return {name: value.half() for name, value in made.items()}


DEBERTA: dict[str, Any] = {
    "relative_attention": True, "position_buckets": 16, "pos_att_type": ["p2c", "c2p"],
    "norm_rel_ebd": "layer_norm", "share_att_key": True, "position_biased_input": False, "type_vocab_size": 0,
}  # fmt: skip
LAYOUTS: dict[str, tuple[str, dict[str, Any], Callable[[Weights], Weights]]] = {
    "bert": ("BertForPreTraining", {}, old_names),
    "megatron-bert": ("MegatronBertForPreTraining", {}, dict),
    "roberta": ("RobertaForMaskedLM", {"type_vocab_size": 1, "max_position_embeddings": 514}, dict),
    "electra": ("ElectraForPreTraining", {"embedding_size": 16}, dict),
    "deberta-v2": ("DebertaV2Model", DEBERTA, microsoft),
    "mpnet": ("MPNetModel", {}, with_positions),
    "distilbert": ("DistilBertForMaskedLM", {"dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 2}, dict),
    "modernbert": ("ModernBertForMaskedLM", {"pad_token_id": 0}, dict),
    "bare bert": ("BertModel", {}, dict),
}
"""The class of transformers, sizes, and the change of its weights that make the layout of each family."""


def made(layout: str, folder: Path) -> Any:
    """Return a small model of that layout, saved in the folder."""
    name, sizes, change = LAYOUTS[layout]
    return saved(random_model(name, **sizes), folder, change)


WRITERS = ("bart", "t5", "llama", "phi")
"""Families that write, and encode nothing: summarizers and judges, which have tests of their own."""
DECODERS = ("bert", "megatron-bert", "roberta", "electra", "bare bert")


def test_every_family_of_the_manifests_is_tried() -> None:
    assert {card.family for card in catalog.list_cards()} - set(WRITERS) <= set(LAYOUTS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_hub_model_loads_in_every_role_of_an_encoder(layout: str, tmp_path: Path) -> None:
    original = made(layout, tmp_path).float()
    encoder = Encoder(tmp_path, device="cpu")
    inputs = encoder.tokenizer(TEXTS[0], return_tensors="pt")
    if layout in ("distilbert", "roberta", "modernbert", "mpnet"):
        inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        expected = original(**inputs).last_hidden_state[0, 0]
    vector = torch.tensor(encoder.encode(TEXTS)[0])
    torch.testing.assert_close(vector, expected, atol=2e-2 if layout == "deberta-v2" else 1e-5, rtol=1e-3)
    assert getattr(encoder.model, "pooler", None) is None or layout not in ("roberta",)
    assert len(IobScheme(tmp_path).predict([["small", "effusion"]])) == 1
    assert TextClassifier(tmp_path, ["a", "b"]).module.num_labels == 2
    if layout in DECODERS:
        whole, cut = (make_encoder_decoder(tmp_path, layers=layers)[0] for layers in (None, 1))
        assert [len(model.encoder.encoder.layer) for model in (whole, cut)] == [2, 1]
        held, started = original.state_dict(), cut.encoder.state_dict()
        assert all(torch.equal(value, held[name]) for name, value in started.items())


def test_the_released_tagger_loads(tmp_path: Path) -> None:
    """RaTE-NER-Deberta, and Medical-NER, from which a tagger for other labels starts."""
    labels = ["O", "B-ANATOMY", "I-ANATOMY"]
    names = {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
    saved(random_model("DebertaV2ForTokenClassification", **DEBERTA, **names), tmp_path)
    assert IobNerModel(tmp_path, device="cpu").labels == labels
    assert len(IobScheme(tmp_path).labels) == 11


def test_pegasus_computes_its_positions_and_bart_learns_them(tmp_path: Path) -> None:
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "pad_token_id": 0}
    sizes |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 64}

    def without(held: Weights) -> Weights:
        return {name: value for name, value in held.items() if "embed_positions" not in name}

    for kind in ("Pegasus", "Bart"):
        (tmp_path / kind).mkdir()
        model = random_model(f"{kind}ForConditionalGeneration", **sizes)
        saved(model, tmp_path / kind, without)
        if kind == "Bart":
            with pytest.raises(ModelError, match=r"model\.decoder\.embed_positions\.weight"):
                Seq2SeqSummarizer.load(tmp_path / kind)
        else:
            loaded = Seq2SeqSummarizer.load(tmp_path / kind, device="cpu").module
            positions = model.model.encoder.embed_positions.weight
            assert torch.equal(loaded.model.encoder.embed_positions.weight, positions)


def test_an_encoder_without_its_pooler_gets_none_and_is_kept_the_same_each_time(tmp_path: Path) -> None:
    from transformers import AutoModel

    made("roberta", tmp_path)
    for name in ("a", "b"):
        model = load_model(AutoModel, tmp_path, ENCODER)
        assert model.pooler is None
        model.save_pretrained(tmp_path / name)
    first, second = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("a", "b"))
    assert first == second
