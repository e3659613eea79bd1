"""Text encoders: one vector a text, from any BERT-like transformers model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from radeval_lib.models import cache as caching
from radeval_lib.models.batching import batch_size_for, buckets
from radeval_lib.models.heads import ENCODER
from radeval_lib.models.loading import ModelError, checksum, device_of, pretrained, weights
from radeval_lib.models.packaged import PACKAGED
from radeval_lib.models.packing import pack

Pooling = Literal["cls", "mean"]


class Encoder:
    """Encodes texts, each distinct one once, in batches of like length.

    Parameters
    ----------
    model : a transformers folder, a hub name (``FremyCompany/BioLORD-2023-C``,
        ``ncbi/MedCPT-Query-Encoder``) or ``packaged-minilm``.
    pooling : ``cls``: last hidden state of the first token. ``mean``: mean over the text's tokens.
    max_tokens : longer texts are cut.
    device : ``auto``, ``cpu`` or ``cuda``; on a GPU it computes under bfloat16 autocast.
    cache : folder of vectors kept between runs; None keeps none.
    batch_tokens : the most tokens in a batch, padding included; None: 1,024 on a CPU, whose caches hold no
        more, and 32,768 on a GPU.

    Raises
    ------
    ModelError
        If the model cannot be loaded.
    """

    def __init__(
        self,
        model: str | Path = PACKAGED,
        *,
        pooling: Pooling = "cls",
        max_tokens: int = 30,
        device: str = "auto",
        cache: str | Path | None = None,
        batch_tokens: int | None = None,
    ) -> None:
        if pooling not in get_args(Pooling):
            raise ModelError(
                f"unknown pooling {pooling!r}", "encoder", f"Choices: {', '.join(get_args(Pooling))}."
            )
        from transformers import AutoModel, AutoTokenizer

        self.name, self.pooling, self.max_tokens = str(model), pooling, max_tokens
        self.device = device_of(device)
        self.batch_tokens = batch_tokens or batch_size_for(self.device)
        self.tokenizer: Any = pretrained(AutoTokenizer, model)
        self.model: Any = weights(AutoModel, model, ENCODER).to(self.device)
        if self.device.type == "cpu":
            pack(self.model)
        self.dimension = int(self.model.config.hidden_size)
        precision = "bf16" if self.device.type == "cuda" else "fp32"
        self._cache = None
        if cache is not None:
            key = f"vectors {checksum(model)} {pooling} {max_tokens} {precision}"
            self._cache = caching.BlobCache(cache, key)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors, float32, shape (number of texts, dimension), in the order of the texts.

        Lone surrogates, which no tokenizer takes, are read as U+FFFD.
        """
        distinct = list(dict.fromkeys(texts))
        vectors = self._vectors(distinct)
        place = {text: index for index, text in enumerate(distinct)}
        return vectors[[place[text] for text in texts]] if texts else vectors

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        result = np.empty((len(texts), self.dimension), dtype=np.float32)
        keys = [caching.text_key(text) for text in texts] if self._cache is not None else []
        known = self._cache.get(keys) if self._cache is not None else {}
        for index, key in enumerate(keys):
            if key in known:
                result[index] = caching.from_bytes(known[key])
        missing = [index for index in range(len(texts)) if not keys or keys[index] not in known]
        if missing:
            result[missing] = self._computed([texts[index] for index in missing])
            if self._cache is not None:
                self._cache.put({keys[index]: caching.to_bytes(result[index]) for index in missing})
        return result

    def _computed(self, texts: list[str]) -> NDArray[np.float32]:
        import torch

        readable = [well_formed(text) for text in texts]
        encoded = self.tokenizer(readable, truncation=True, max_length=self.max_tokens)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        result = np.empty((len(texts), self.dimension), dtype=np.float32)
        with (
            torch.inference_mode(),
            torch.autocast("cuda", torch.bfloat16, enabled=self.device.type == "cuda"),
        ):
            for batch in buckets(lengths, self.batch_tokens):
                chosen = {key: [values[index] for index in batch] for key, values in encoded.items()}
                inputs = self.tokenizer.pad(chosen, return_tensors="pt").to(self.device)
                hidden = self.model(**inputs).last_hidden_state.float()
                result[batch] = self._pooled(hidden, inputs["attention_mask"]).cpu().numpy()
        return result

    def _pooled(self, hidden: Any, mask: Any) -> Any:
        if self.pooling == "cls":
            return hidden[:, 0]
        weight = mask.unsqueeze(-1).to(hidden.dtype)
        return (hidden * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1e-9)


def well_formed(text: str) -> str:
    """``text`` with lone surrogates, which cannot be written as UTF-8, replaced by U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
