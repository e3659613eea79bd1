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
import transformers as t
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
_DEBERTA = _ENCODER | {
    "relative_attention": True, "position_buckets": 16, "max_relative_positions": -1,
    "pos_att_type": ["p2c", "c2p"], "position_biased_input": False, "norm_rel_ebd": "layer_norm",
    "share_att_key": True, "pad_token_id": 0,
}  # fmt: skip
_BART = {
    "d_model": WIDTH, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS, "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER,
    "max_position_embeddings": PLACES, "decoder_start_token_id": 2, "forced_eos_token_id": 2,
}  # fmt: skip
_T5 = {
    "d_model": WIDTH, "d_kv": 8, "d_ff": INNER, "num_layers": 1, "num_heads": HEADS, "pad_token_id": 0,
    "eos_token_id": 1, "decoder_start_token_id": 0,
}  # fmt: skip
_LLAMA = _ENCODER | {"pad_token_id": 0, "bos_token_id": 3, "eos_token_id": 1}
_ENDS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
_LABELS = dict(enumerate(["O", *(f"{position}-{kind.upper()}" for kind in RATE_TYPES for position in "BI")]))
_TAGS = {"id2label": _LABELS, "label2id": {label: number for number, label in _LABELS.items()}}
_TAGGERS = ("Angelakeke/RaTE-NER-Deberta", "blaze999/Medical-NER")
_KINDS: dict[str, tuple[type, type, dict[str, Any]]] = {
    "bart": (t.BartForConditionalGeneration, t.BartConfig, _BART | _ENDS),
    "bert": (t.BertForMaskedLM, t.BertConfig, _ENCODER),
    "deberta-v2": (t.DebertaV2Model, t.DebertaV2Config, _DEBERTA),
    "deberta-v2 tagger": (t.DebertaV2ForTokenClassification, t.DebertaV2Config, _DEBERTA | _TAGS),
    "electra": (t.ElectraForPreTraining, t.ElectraConfig, _ENCODER | {"embedding_size": WIDTH}),
    "llama": (t.LlamaForCausalLM, t.LlamaConfig, _LLAMA),
    "megatron-bert": (t.MegatronBertModel, t.MegatronBertConfig, _ENCODER),
    "mpnet": (t.MPNetModel, t.MPNetConfig, _ENCODER | {"pad_token_id": 0}),
    "phi": (t.PhiForCausalLM, t.PhiConfig, _ENCODER | _ENDS),
    "roberta": (t.RobertaForMaskedLM, t.RobertaConfig, _ENCODER | _ENDS),
    "t5": (t.T5ForConditionalGeneration, t.T5Config, _T5),
}  # fmt: skip
"""The class of a model, that of its configuration, and the latter's settings, by family."""


def write(names: Iterable[str], hub: Path, texts: Iterable[str]) -> None:
    """A model under each name, below ``hub``, the folder that ``HF_HUB_CACHE`` names."""
    texts = list(texts)
    for number, name in enumerate(sorted(names)):
        revision = catalog.find_revision(name) or "main"  # a commit, or a name such as refs/pr/2
        folder = hub / f"models--{name.replace('/', '--')}"
        commit = revision if _COMMIT.fullmatch(revision) else f"{number:040x}"
        snapshot = folder / "snapshots" / commit
        snapshot.mkdir(parents=True)
        for reference in {"main", revision} - {commit}:
            (folder / "refs" / reference).parent.mkdir(parents=True, exist_ok=True)
            (folder / "refs" / reference).write_text(commit)
        torch.manual_seed(number)
        described = next(card.family for card in catalog.list_cards() if card.hub == name)
        kind = f"{described} tagger" if name in _TAGGERS else described
        tokenizer = _tokenizer(kind, texts)
        with open(os.devnull, "w") as silent, contextlib.redirect_stderr(silent):
            model, configuration, settings = _KINDS[kind]
            model(configuration(vocab_size=len(tokenizer), **settings)).save_pretrained(snapshot)
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
        order = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        parts = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token")
        names = dict(zip(parts, order, strict=True))
        if kind != "phi":
            names |= {"cls_token": "<s>", "sep_token": "</s>"}
        core = Tokenizer(models.BPE())
        core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=kind != "phi")
        core.decoder = decoders.ByteLevel()
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
        single = " ".join(filter(None, [first, "$A", last]))
        pair = f"{single} $B:1 {last}:1" if last else f"{single} $B:1"
        special_tokens = [(name, core.token_to_id(name)) for name in ends if name]
        core.post_processor = processors.TemplateProcessing(single, pair, special_tokens)
    inputs = ["input_ids", "attention_mask"]
    if kind.startswith(("bert", "electra", "megatron", "deberta")):
        inputs.insert(1, "token_type_ids")
    return PreTrainedTokenizerFast(
        tokenizer_object=core, model_max_length=512, model_input_names=inputs, **names
    )
