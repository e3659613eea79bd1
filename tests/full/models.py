"""Small random models of the real architectures, in the cache of the hub under the names that `full` has.

Each has its family's configuration class, its kind of tokenizer and safetensors, as the hub has them; only
sizes and weights are others.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from radeval_lib.data.categories import RATE_TYPES
from radeval_lib.models import catalog

VOCABULARY = 700
WIDTH, HEADS, INNER, PLACES = 16, 2, 32, 2100
_ENCODER = {
    "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": INNER,
    "max_position_embeddings": PLACES,
}  # fmt: skip
_SEQ2SEQ = {
    "d_model": WIDTH, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS, "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER,
    "max_position_embeddings": PLACES, "decoder_start_token_id": 2, "forced_eos_token_id": 2,
}  # fmt: skip
_RATE_LABELS = ["O", *(f"{place}-{kind.upper()}" for kind in RATE_TYPES for place in "BI")]


def family(name: str) -> str:
    """The architecture of a hub model, by its name."""
    text = name.lower()
    known = {
        "rate-ner": "deberta_tags", "medical-ner": "deberta_tags", "deberta": "deberta", "electra": "electra",
        "gatortron": "megatron", "biobart": "bart", "/bart": "bart", "t5": "t5", "llama": "llama",
        "phi-2": "phi", "roberta": "roberta", "biolord": "encoder",
    }  # fmt: skip
    return next((kind for part, kind in known.items() if part in text), "bert")


def write(names: Iterable[str], hub: Path, texts: Iterable[str]) -> None:
    """A model under each name, below ``hub``, the folder that ``HF_HUB_CACHE`` names."""
    texts = list(texts)
    for number, name in enumerate(sorted(names)):
        revision = catalog.revision_of(name) or "0" * 40
        folder = hub / f"models--{name.replace('/', '--')}"
        snapshot = folder / "snapshots" / revision
        snapshot.mkdir(parents=True)
        (folder / "refs").mkdir()
        (folder / "refs" / "main").write_text(revision)
        torch.manual_seed(number)
        kind = family(name)
        tokenizer = _tokenizer(kind, texts)
        with open(os.devnull, "w") as silent, contextlib.redirect_stderr(silent):
            _model(kind, len(tokenizer)).save_pretrained(snapshot)
        tokenizer.save_pretrained(snapshot)


def _tokenizer(kind: str, texts: list[str]) -> PreTrainedTokenizerFast:
    """WordPiece for BERT's kin, byte-level BPE for RoBERTa's and Phi, Unigram for SentencePiece's."""
    if kind in ("bert", "electra", "megatron", "encoder"):
        names = {
            "pad_token": "[PAD]",
            "unk_token": "[UNK]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
            "mask_token": "[MASK]",
        }
        core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        core.normalizer = normalizers.BertNormalizer()
        core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        core.decoder = decoders.WordPiece()
        trainer: Any = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=list(names.values()))
        ends = ("[CLS]", "[SEP]")
    elif kind in ("roberta", "bart", "phi"):
        names = {
            "bos_token": "<s>",
            "pad_token": "<pad>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "mask_token": "<mask>",
        }
        if kind != "phi":
            names |= {"cls_token": "<s>", "sep_token": "</s>"}
        core = Tokenizer(models.BPE())
        core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=kind != "phi")
        core.decoder = decoders.ByteLevel()
        order = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=order, initial_alphabet=alphabet)
        ends = ("", "") if kind == "phi" else ("<s>", "</s>")
    else:
        names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "bos_token": "<s>"}
        if kind.startswith("deberta"):
            names |= {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
        core = Tokenizer(models.Unigram())
        core.pre_tokenizer = pre_tokenizers.Metaspace()
        core.decoder = decoders.Metaspace()
        special = list(dict.fromkeys(names.values()))
        trainer = trainers.UnigramTrainer(vocab_size=VOCABULARY, special_tokens=special, unk_token="<unk>")
        ends = {"t5": ("", "</s>"), "llama": ("<s>", "")}.get(kind, ("[CLS]", "[SEP]"))
    core.train_from_iterator(texts, trainer)
    if any(ends):
        first, last = ends
        template = " ".join(filter(None, [first, "$A", last]))
        special_tokens = [(one, core.token_to_id(one)) for one in ends if one]
        pair = f"{template} $B:1 {last}:1" if last else f"{template} $B:1"
        core.post_processor = processors.TemplateProcessing(
            single=template, pair=pair, special_tokens=special_tokens
        )
    return PreTrainedTokenizerFast(tokenizer_object=core, model_max_length=512, **names)


def _model(kind: str, size: int) -> Any:
    t = transformers
    labels = dict(enumerate(_RATE_LABELS))
    deberta = {
        "relative_attention": True, "position_buckets": 16, "max_relative_positions": -1,
        "pos_att_type": ["p2c", "c2p"], "position_biased_input": False, "norm_rel_ebd": "layer_norm",
        "share_att_key": True, "pad_token_id": 0,
    }  # fmt: skip
    if kind == "deberta":
        return t.DebertaV2Model(t.DebertaV2Config(vocab_size=size, **_ENCODER, **deberta))
    if kind == "deberta_tags":
        config = t.DebertaV2Config(
            vocab_size=size,
            **_ENCODER,
            **deberta,
            id2label=labels,
            label2id={v: k for k, v in labels.items()},
        )
        return t.DebertaV2ForTokenClassification(config)
    if kind == "electra":
        return t.ElectraForPreTraining(t.ElectraConfig(vocab_size=size, embedding_size=WIDTH, **_ENCODER))
    if kind == "megatron":
        return t.MegatronBertModel(t.MegatronBertConfig(vocab_size=size, **_ENCODER))
    if kind == "encoder":
        return t.BertModel(t.BertConfig(vocab_size=size, **_ENCODER))
    if kind == "roberta":
        config = t.RobertaConfig(vocab_size=size, pad_token_id=1, bos_token_id=0, eos_token_id=2, **_ENCODER)
        return t.RobertaForMaskedLM(config)
    if kind == "bart":
        config = t.BartConfig(vocab_size=size, pad_token_id=1, bos_token_id=0, eos_token_id=2, **_SEQ2SEQ)
        return t.BartForConditionalGeneration(config)
    if kind == "t5":
        config = t.T5Config(
            vocab_size=size, d_model=WIDTH, d_kv=8, d_ff=INNER, num_layers=1, num_heads=HEADS,
            decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
        )  # fmt: skip
        return t.T5ForConditionalGeneration(config)
    if kind == "llama":
        config = t.LlamaConfig(vocab_size=size, **_ENCODER, pad_token_id=0, bos_token_id=3, eos_token_id=1)
        return t.LlamaForCausalLM(config)
    if kind == "phi":
        config = t.PhiConfig(vocab_size=size, **_ENCODER, bos_token_id=0, eos_token_id=2, pad_token_id=1)
        return t.PhiForCausalLM(config)
    return t.BertForMaskedLM(t.BertConfig(vocab_size=size, **_ENCODER))
