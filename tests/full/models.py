"""Small random models of the real architectures, in the cache of the hub under the names that `full` has.

Each has its family's configuration class, its kind of tokenizer and safetensors, as the hub has them; only
sizes and weights are others.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from radeval_lib.categories import RATE_TYPES
from radeval_lib.models import catalog

_COMMIT = re.compile("[0-9a-f]{40}")
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
_TAGGERS = ("Angelakeke/RaTE-NER-Deberta", "blaze999/Medical-NER")
_RATE_LABELS = ["O", *(f"{position}-{kind.upper()}" for kind in RATE_TYPES for position in "BI")]


def write(names: Iterable[str], hub: Path, texts: Iterable[str]) -> None:
    """A model under each name, below ``hub``, the folder that ``HF_HUB_CACHE`` names."""
    texts = list(texts)
    for number, name in enumerate(sorted(names)):
        revision = catalog.revision_of(name) or "main"  # a commit, or a name such as refs/pr/2
        folder = hub / f"models--{name.replace('/', '--')}"
        commit = revision if _COMMIT.fullmatch(revision) else f"{number:040x}"
        snapshot = folder / "snapshots" / commit
        snapshot.mkdir(parents=True)
        for reference in {"main", revision} - {commit}:
            (folder / "refs" / reference).parent.mkdir(parents=True, exist_ok=True)
            (folder / "refs" / reference).write_text(commit)
        torch.manual_seed(number)
        described = next(card.family for card in catalog.cards() if card.hub == name)
        kind = f"{described} tagger" if name in _TAGGERS else described
        tokenizer = _tokenizer(kind, texts)
        with open(os.devnull, "w") as silent, contextlib.redirect_stderr(silent):
            _model(kind, len(tokenizer)).save_pretrained(snapshot)
        tokenizer.save_pretrained(snapshot)


def _tokenizer(kind: str, texts: list[str]) -> PreTrainedTokenizerFast:
    """Return WordPiece for BERT's kin, byte-level BPE for RoBERTa's and Phi, Unigram for SentencePiece's."""
    trainer: Any
    if kind in ("bert", "electra", "megatron-bert", "mpnet"):
        brackets = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
        angles = ("<pad>", "[UNK]", "<s>", "</s>", "<mask>")
        parts = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
        names = dict(zip(parts, angles if kind == "mpnet" else brackets, strict=True))
        core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        core.normalizer = normalizers.BertNormalizer()
        core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        core.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=list(names.values()))
        ends = (names["cls_token"], names["sep_token"])
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
        special_tokens = [(name, core.token_to_id(name)) for name in ends if name]
        pair = f"{template} $B:1 {last}:1" if last else f"{template} $B:1"
        core.post_processor = processors.TemplateProcessing(
            single=template, pair=pair, special_tokens=special_tokens
        )
    inputs = ["input_ids", "attention_mask"]
    if kind.startswith(("bert", "electra", "megatron", "deberta")):
        inputs.insert(1, "token_type_ids")
    return PreTrainedTokenizerFast(
        tokenizer_object=core, model_max_length=512, model_input_names=inputs, **names
    )


def _model(kind: str, size: int) -> Any:
    t = transformers
    labels = dict(enumerate(_RATE_LABELS))
    deberta = {
        "relative_attention": True, "position_buckets": 16, "max_relative_positions": -1,
        "pos_att_type": ["p2c", "c2p"], "position_biased_input": False, "norm_rel_ebd": "layer_norm",
        "share_att_key": True, "pad_token_id": 0,
    }  # fmt: skip
    if kind == "deberta-v2":
        return t.DebertaV2Model(t.DebertaV2Config(vocab_size=size, **_ENCODER, **deberta))
    if kind == "deberta-v2 tagger":
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
    if kind == "megatron-bert":
        return t.MegatronBertModel(t.MegatronBertConfig(vocab_size=size, **_ENCODER))
    if kind == "mpnet":
        return t.MPNetModel(t.MPNetConfig(vocab_size=size, pad_token_id=0, **_ENCODER))
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
