"""Sequence-to-sequence models: loaded, trained, made of an encoder, and with a smaller vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from radeval_lib.data.records import ReportPair
from radeval_lib.errors import ModelError
from radeval_lib.models.derived import keep_rows, trim_tokenizer
from radeval_lib.models.seq2seq_summarizer import Seq2SeqSettings, Seq2SeqSummarizer, make_encoder_decoder
from radeval_lib.models.training import TrainingSettings, train
from tests.models.test_layouts import made

pytestmark = pytest.mark.usefixtures("one_thread")

TINY = Path(__file__).resolve().parents[2] / "reference" / "ratescore" / "tiny_ner"
PAIRS = [
    ReportPair(str(n), f"there is a {size} {finding} in the {side} lung .", f"{size} {side} {finding} .")
    for n, (size, finding, side) in enumerate(
        (size, finding, side)
        for size in ("large", "small")
        for finding in ("effusion", "mass")
        for side in ("left", "right")
    )
]


def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(TINY, eos_token="[SEP]", bos_token="[CLS]")


def t5() -> Any:
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
    return transformers.T5ForConditionalGeneration(transformers.T5Config(**ids(), **sizes))


def bart(kind: str = "Bart") -> Any:
    sides = {"layers": 1, "attention_heads": 2, "ffn_dim": 32}
    sizes = {f"{side}_{key}": value for side in ("encoder", "decoder") for key, value in sides.items()}
    config = getattr(transformers, f"{kind}Config")(**ids(), **sizes, d_model=16, max_position_embeddings=64)
    return getattr(transformers, f"{kind}ForConditionalGeneration")(config)


def ids() -> dict[str, int]:
    words = tokenizer()
    special = {"pad_token_id": words.pad_token_id, "eos_token_id": words.eos_token_id}
    return {"vocab_size": len(words), "decoder_start_token_id": words.bos_token_id, **special}


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


def test_one_encoder_makes_both_sides_and_cross_attention_is_new() -> None:
    model, pieces = make_encoder_decoder(TINY, layers=1, seed=3)
    same, _ = make_encoder_decoder(TINY, layers=1, seed=3)
    other, _ = make_encoder_decoder(TINY, layers=1, seed=4)
    task = Seq2SeqSummarizer(model, pieces, Seq2SeqSettings(longest_target=6, beams=2), device="cpu")
    new = [name for name in task.new_layers if "crossattention" in name]
    assert new
    weights, again, drawn = (dict(each.named_parameters()) for each in (model, same, other))
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


def test_a_megatron_decoder_attends_to_a_source_of_another_length(tmp_path: Path) -> None:
    """Which transformers' own attention cannot; where lengths agree, both give the same."""
    made("megatron-bert", tmp_path)
    model, pieces = make_encoder_decoder(tmp_path, layers=1)
    settings = Seq2SeqSettings(longest_target=4, beams=1)
    summarizer = Seq2SeqSummarizer(model, pieces, settings, device="cpu")
    (part,) = (part for name, part in model.eval().named_modules() if name.endswith("crossattention.self"))
    written, read = torch.randn(2, 3, 32), torch.randn(2, 3, 32)
    mask = torch.tensor([0.0, 0.0, -1e9]).expand(2, 1, 1, 3)
    attended = part.forward(written, attention_mask=mask, encoder_hidden_states=read)[0]
    theirs = type(part).forward(part, written, attention_mask=mask, encoder_hidden_states=read)[0]
    torch.testing.assert_close(attended, theirs)
    once, twice = (
        part.forward(written, attention_mask=None, encoder_hidden_states=torch.cat(sources, dim=1))[0]
        for sources in ([read], [read, read])
    )
    torch.testing.assert_close(once, twice)
    assert len(summarizer.summarize(["A small effusion in the left lung."])) == 1


TEXTS = ["There is a small effusion.", "No pneumothorax is seen."]


def test_a_smaller_model_gives_the_same_logits_for_what_it_keeps() -> None:
    whole = AutoTokenizer.from_pretrained(TINY)
    small, ids = trim_tokenizer(whole, TEXTS)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained(TINY, is_decoder=True).eval()
    assert small.unk_token not in small.tokenize("abcdefg zyx")  # unknown words are spelled
    with torch.inference_mode():
        before = model(**whole(TEXTS[0], return_tensors="pt")).logits[..., ids]
        keep_rows(model, ids)
        after = model(**small(TEXTS[0], return_tensors="pt")).logits
    assert model.config.vocab_size == len(ids)
    torch.testing.assert_close(before, after)


def test_other_kinds_of_vocabulary_are_refused() -> None:
    words = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"a": 0}, unk_token="a")))
    with pytest.raises(ModelError):
        trim_tokenizer(words, TEXTS)
