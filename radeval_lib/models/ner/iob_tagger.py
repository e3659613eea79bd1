"""Entity tagging as token classification (the IOB scheme of Zhao et al. 2024, Sections 2.5 and A.9)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from radeval_lib.models.batching import batch_size_for, buckets
from radeval_lib.models.encoders import well_formed
from radeval_lib.models.heads import TAGGER
from radeval_lib.models.loading import ModelError, device_of, pretrained, weights
from radeval_lib.models.ner.tagging import Decoding, decode
from radeval_lib.models.packing import pack

MAX_TOKENS = 512
"""Longer sentences are cut, as in the released code."""

_SPECIAL = ("[CLS]", "[SEP]")  # the released code knows these two by name and no others


class IobTagger:
    """Tags sentences with a token-classification model whose labels are O, B-TYPE and I-TYPE.

    Sentences that the tokenizer makes the same tokens of are tagged once.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        decoding: Decoding = "released",
        device: str = "auto",
        batch_tokens: int | None = None,
    ) -> None:
        if decoding not in get_args(Decoding):
            choices = ", ".join(get_args(Decoding))
            raise ModelError(f"unknown decoding {decoding!r}", "ner_model", f"Choices: {choices}.")
        from transformers import AutoConfig, AutoModelForTokenClassification, AutoTokenizer

        self.name, self.decoding = str(model), decoding
        self.device = device_of(device)
        self.batch_tokens = batch_tokens or batch_size_for(self.device)
        self.labels = iob_labels(pretrained(AutoConfig, model).id2label, self.name)
        self.tokenizer: Any = pretrained(AutoTokenizer, model)
        self.model: Any = weights(AutoModelForTokenClassification, model, TAGGER).to(self.device)
        if self.device.type == "cpu":
            pack(self.model)
        limit = getattr(self.model.config, "max_position_embeddings", 0) or MAX_TOKENS
        self.max_tokens = min(MAX_TOKENS, limit)
        self._words: dict[tuple[int, ...], str] = {}

    def tag(self, sentences: Sequence[str]) -> list[list[tuple[str, str]]]:
        """(text, type) of each entity of each sentence; the text is what the tokens decode to."""
        if not sentences:
            return []
        encoded = self.tokenizer(
            [well_formed(sentence) for sentence in sentences], truncation=True, max_length=self.max_tokens
        )
        sequences = [tuple(ids) for ids in encoded["input_ids"]]
        distinct = list(dict.fromkeys(sequences))
        found = {
            ids: self._entities(ids, row)
            for ids, row in zip(distinct, self._predicted(distinct), strict=True)
        }
        return [list(found[ids]) for ids in sequences]

    def cut(self, sentences: Sequence[str]) -> list[bool]:
        """Whether a sentence is longer than the model reads."""
        encoded = self.tokenizer([well_formed(sentence) for sentence in sentences], verbose=False)
        return [len(ids) > self.max_tokens for ids in encoded["input_ids"]]

    def _entities(self, ids: tuple[int, ...], row: NDArray[np.uint8]) -> list[tuple[str, str]]:
        if not row.any() and self.labels[0] == "O":
            return []
        tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
        special = [token in _SPECIAL for token in tokens]
        spans = decode([self.labels[index] for index in row], special, self.decoding)
        return [(self._text(ids[span.start : span.end + 1]), span.type) for span in spans]

    def _text(self, ids: tuple[int, ...]) -> str:
        if ids not in self._words:
            if len(self._words) > 200_000:
                self._words.clear()
            tokens = self.tokenizer.convert_ids_to_tokens(list(ids))
            self._words[ids] = self.tokenizer.convert_tokens_to_string(tokens)
        return self._words[ids]

    def _predicted(self, sequences: list[tuple[int, ...]]) -> list[NDArray[np.uint8]]:
        """The index of each token's likeliest label."""
        import torch

        rows: list[NDArray[np.uint8]] = [np.empty(0, np.uint8)] * len(sequences)
        with (
            torch.inference_mode(),
            torch.autocast("cuda", torch.bfloat16, enabled=self.device.type == "cuda"),
        ):
            for batch in buckets([len(ids) for ids in sequences], self.batch_tokens):
                chosen = {"input_ids": [list(sequences[index]) for index in batch]}
                inputs = self.tokenizer.pad(chosen, return_tensors="pt").to(self.device)
                best = self.model(**inputs).logits.argmax(dim=-1).to(torch.uint8).cpu().numpy()
                for index, row in zip(batch, best, strict=True):
                    rows[index] = row[: len(sequences[index])].copy()
        return rows


def iob_labels(id2label: dict[int, str], where: str) -> list[str]:
    """The labels by index, types in upper case."""
    indices = sorted(id2label)
    labels = [str(id2label[index]) for index in indices]
    wrong = [label for label in labels if label != "O" and not (label[:2] in ("B-", "I-") and label[2:])]
    if indices != list(range(len(indices))) or wrong:
        found = ", ".join(labels[:12])
        raise ModelError(
            f"labels are not IOB: {found}",
            Path(where).name,
            "Give a token classifier with O, B-TYPE and I-TYPE.",
        )
    return [label if label == "O" else label[:2] + label[2:].upper() for label in labels]
