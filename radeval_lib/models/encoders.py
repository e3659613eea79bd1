"""Text encoders: one vector per text, from any BERT-like model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from radeval_lib.errors import ModelError, check_choice
from radeval_lib.models import batching
from radeval_lib.models.catalog import PACKAGED
from radeval_lib.models.pretrained import ENCODER, load_pretrained, weights

Pooling = Literal["cls", "mean"]


class Encoder:
    """Encodes texts, each distinct one once, in batches of similar length.

    Parameters
    ----------
    model : a transformers folder, a hub name (``FremyCompany/BioLORD-2023-C``,
        ``ncbi/MedCPT-Query-Encoder``) or ``packaged-minilm``.
    pooling : ``cls``: last hidden state of the first token. ``mean``: mean over the text's tokens.
    max_tokens : longer texts are cut; at least 1, at most the model's number of positions.
    device : ``auto``, ``cpu`` or ``cuda``.
    precision : ``auto``, ``float32`` or ``bfloat16``; see :data:`~radeval_lib.models.batching.Precision`.
    """

    def __init__(
        self,
        model: str | Path = PACKAGED,
        *,
        pooling: Pooling = "cls",
        max_tokens: int = 30,
        device: str = "auto",
        precision: batching.Precision = "auto",
    ) -> None:
        from transformers import AutoModel, AutoTokenizer

        check_choice(pooling, Pooling, "pooling", ModelError)
        if max_tokens < 1:
            raise ModelError(f"max_tokens is {max_tokens}", "encoder", "Give at least 1.")
        self.name, self.pooling, self.max_tokens = str(model), pooling, max_tokens
        self.device = batching.device_of(device)
        self.tokenizer: Any = load_pretrained(AutoTokenizer, model)
        self.model: Any = weights(AutoModel, model, ENCODER).to(self.device)
        self.dimension = int(self.model.config.hidden_size)
        if max_tokens > (positions := getattr(self.model.config, "max_position_embeddings", 0)) > 0:
            raise ModelError(f"max_tokens is {max_tokens}", "encoder", f"Give at most {positions}.")
        self.precision = precision

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors, float32 of shape (texts, dimension), in the order of the texts.

        Lone surrogates, which no tokenizer takes, are read as U+FFFD.
        """
        if isinstance(texts, str):
            raise ModelError("the texts are one string", "encoder", "Give a list of texts.")
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack(batching.of_distinct(texts, self._vectors))

    def _vectors(self, texts: list[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of distinct texts."""
        readable = [batching.well_formed(text) for text in texts]
        encoded = self.tokenizer(readable, truncation=True, max_length=self.max_tokens)
        rows = encoded["input_ids"]

        def computed(batch: list[int], device: Any) -> Any:
            inputs = batching.pad_rows(self.tokenizer, (rows[index] for index in batch)).to(device)
            hidden = self.model(**inputs).last_hidden_state.float()
            pooled = hidden[:, 0]
            if self.pooling == "mean":
                weight = inputs["attention_mask"].unsqueeze(-1).to(hidden.dtype)
                pooled = (hidden * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1e-9)
            return pooled.cpu().numpy()

        return batching.in_batches(self.model, list(map(len, rows)), computed, precision=self.precision)
