"""Sequence-to-sequence models in the exact format of the hub, made small here: T5, BART, Pegasus, and an
encoder-decoder made of one BERT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from radeval_lib.data.records import ReportPair
from radeval_lib.errors import ModelError
from radeval_lib.models.summarizers.seq2seq import Seq2SeqSettings, Seq2SeqSummarizer, encoder_decoder
from radeval_lib.models.training import TrainingSettings, train
from tests.models.test_layouts import megatron_bert

pytestmark = pytest.mark.usefixtures("one_thread")

WORDS = ["summarize", ":", "there", "is", "a", "large", "small", "effusion", "mass", "in", "the"]
WORDS += ["left", "right", "lung", "."]
SPECIAL = ["<pad>", "</s>", "<unk>", "<s>"]
TINY = Path(__file__).resolve().parents[2] / "reference" / "ratescore" / "tiny_ner"
PAIRS = [
    ReportPair(str(n), f"there is a {size} {what} in the {side} lung .", f"{size} {side} {what} .")
    for n, (size, what, side) in enumerate(
        (size, what, side)
        for size in ("large", "small")
        for what in ("effusion", "mass")
        for side in ("left", "right")
    )
]


def tokenizer() -> PreTrainedTokenizerFast:
    vocabulary = {word: index for index, word in enumerate([*SPECIAL, *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", bos_token="<s>"
    )


def t5() -> Any:
    config = transformers.T5Config(
        vocab_size=32, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0
    )
    return transformers.T5ForConditionalGeneration(config)


def bart(kind: str = "Bart") -> Any:
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=32,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=3,
        decoder_start_token_id=3,
        forced_eos_token_id=1,
    )
    return getattr(transformers, f"{kind}ForConditionalGeneration")(config)


@pytest.mark.parametrize("make", [t5, bart, lambda: bart("Pegasus")], ids=["t5", "bart", "pegasus"])
def test_hub_models_are_loaded_and_trained(make: Callable[[], Any], tmp_path: Path) -> None:
    torch.manual_seed(0)
    make().save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    task = Seq2SeqSummarizer.load(tmp_path, device="cpu")
    assert task.settings.prefix == ("summarize: " if make is t5 else "")
    task = Seq2SeqSummarizer.load(tmp_path, Seq2SeqSettings(longest_target=8, beams=2), device="cpu")
    assert task.new_layers == ()
    settings = TrainingSettings(
        learning_rate=3e-3, batch_size=4, epochs=2, measure="rouge_l", device="cpu", seed=1
    )
    done = train(task, PAIRS, PAIRS, settings)
    assert set(done.best) == {"rouge_l"}
    findings = [pair.findings for pair in PAIRS]
    written = task.summarize(findings)
    assert len(written) == len(PAIRS)
    assert task.summarize(findings[::-1]) == written[::-1]


def test_training_lowers_the_loss_and_padding_does_not_count() -> None:
    torch.manual_seed(0)
    task = Seq2SeqSummarizer(bart(), tokenizer(), Seq2SeqSettings(longest_target=8), device="cpu")
    examples = [task.example(pair) for pair in PAIRS]
    batch = task.collate([*examples[:1], {**examples[1], "labels": examples[1]["labels"] + [1, 1, 1]}])
    assert batch["labels"].shape == (2, len(examples[1]["labels"]) + 3)
    assert (batch["labels"][0] == -100).sum() == 3
    settings = TrainingSettings(
        learning_rate=1e-2, batch_size=4, epochs=16, patience=16, measure="rouge_l", device="cpu"
    )
    history = train(task, PAIRS, PAIRS, settings).history
    assert history[-1]["loss"] < 0.5 * history[0]["loss"]


def test_one_encoder_makes_both_sides_and_cross_attention_is_new() -> None:
    model, pieces = encoder_decoder(TINY, layers=1, seed=3)
    same, _ = encoder_decoder(TINY, layers=1, seed=3)
    other, _ = encoder_decoder(TINY, layers=1, seed=4)
    task = Seq2SeqSummarizer(model, pieces, Seq2SeqSettings(longest_target=6, beams=2), device="cpu")
    new = [name for name in task.new_layers if "crossattention" in name]
    assert new
    weights, again, drawn = (dict(one.named_parameters()) for one in (model, same, other))
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    matrix = next(name for name in new if name.endswith("query.weight"))
    assert not torch.equal(weights[matrix], drawn[matrix])
    embedding = "embeddings.word_embeddings.weight"
    sides = [next(v for k, v in weights.items() if k.startswith(side) and k.endswith(embedding))
             for side in ("encoder", "decoder")]  # fmt: skip
    assert torch.equal(*sides)
    settings = TrainingSettings(
        learning_rate=1e-3, head_learning_rate=1e-2, batch_size=4, epochs=1, measure="rouge_l", device="cpu"
    )
    train(task, PAIRS, PAIRS[:2], settings)
    assert len(task.summarize([PAIRS[0].findings])) == 1


def test_what_only_reads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="only reads"):
        Seq2SeqSummarizer.load(TINY)
    with pytest.raises(ModelError, match="no folder"):
        Seq2SeqSummarizer.load(tmp_path / "nowhere")


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    model = bart()
    model.config.save_pretrained(tmp_path)
    tokenizer().save_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelError, match="no safetensors weights"):
        Seq2SeqSummarizer.load(tmp_path)


def test_a_megatron_decoder_attends_to_a_source_of_another_length(tmp_path: Path) -> None:
    """Which transformers' own attention cannot; where lengths agree, both give the same."""
    megatron_bert(tmp_path)
    model, pieces = encoder_decoder(tmp_path, layers=1)
    settings = Seq2SeqSettings(longest_target=4, beams=1)
    summarizer = Seq2SeqSummarizer(model, pieces, settings, device="cpu")
    (part,) = (part for name, part in model.eval().named_modules() if name.endswith("crossattention.self"))
    written, read = torch.randn(2, 3, 32), torch.randn(2, 3, 32)
    mask = torch.tensor([0.0, 0.0, -1e9]).expand(2, 1, 1, 3)
    found = part.forward(written, attention_mask=mask, encoder_hidden_states=read)[0]
    theirs = type(part).forward(part, written, attention_mask=mask, encoder_hidden_states=read)[0]
    torch.testing.assert_close(found, theirs)
    once, twice = (
        part.forward(written, attention_mask=None, encoder_hidden_states=torch.cat(sources, dim=1))[0]
        for sources in ([read], [read, read])
    )
    torch.testing.assert_close(once, twice)
    assert len(summarizer.summarize(["A small effusion in the left lung."])) == 1


def test_settings_and_layers_that_cannot_be_are_named() -> None:
    with pytest.raises(ModelError, match="beams is 0"):
        Seq2SeqSettings(beams=0)
    for layers in (0, 9):
        with pytest.raises(ModelError, match=f"{layers} layers of a model with 2"):
            encoder_decoder(TINY, layers=layers)
