"""Encode texts as vectors with any BERT-like model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from radeval_lib.errors import ModelError, check_choice
from radeval_lib.models import batching
from radeval_lib.models.catalog import PACKAGED
from radeval_lib.models.pretrained import ENCODER, load_model, load_pretrained

Pooling = Literal["cls", "mean"]
"""Which last hidden states make up a text's vector: that of the first token, or the mean over all tokens."""


class Encoder:
    """A BERT-like model that encodes each text as one vector.

    Parameters
    ----------
    model : a folder with a transformers model, a Hugging Face Hub name (``FremyCompany/BioLORD-2023-C``,
        ``ncbi/MedCPT-Query-Encoder``) or ``packaged-minilm``.
    pooling : how a text's vector is computed: ``cls`` takes the last hidden state of the first token,
        ``mean`` the mean of the last hidden states of all tokens.
    max_tokens : maximum number of tokens of a text, from 1 to the model's number of positions; longer texts
        are truncated.
    device : ``auto`` (a GPU if there is one), ``cpu`` or ``cuda``.
    precision : ``auto``, ``float32`` or ``bfloat16``; see :data:`~radeval_lib.models.batching.Precision`.

    Raises
    ------
    ModelError
        If the model cannot be loaded, or ``pooling``, ``max_tokens`` or ``device`` has an invalid value.
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
            raise ModelError(f"max_tokens is {max_tokens}, below 1", f"encoder {model}", "Use 1 or more.")
        self.name, self.pooling, self.max_tokens = str(model), pooling, max_tokens
        self.device = batching.pick_device(device)
        self.tokenizer: Any = load_pretrained(AutoTokenizer, model)
        self.model: Any = load_model(AutoModel, model, ENCODER).to(self.device)
        self.dimension = int(self.model.config.hidden_size)
        if max_tokens > (positions := getattr(self.model.config, "max_position_embeddings", 0)) > 0:
            problem = f"max_tokens is {max_tokens}, above the model's {positions} positions"
            raise ModelError(problem, f"encoder {model}", f"Set it to at most {positions}.")
        self.precision = precision

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, float32 of shape (texts, dimension), in order.

        Equal texts are encoded only once. Lone surrogates, which no tokenizer accepts, are read as U+FFFD.

        Raises
        ------
        ModelError
            If ``texts`` is a single string.
        """
        if isinstance(texts, str):
            raise ModelError("texts is a single string", f"encoder {self.name}", "Pass a list of strings.")
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack(batching.map_distinct(texts, self._compute_vectors))

    def _compute_vectors(self, texts: list[str]) -> list[NDArray[np.float32]]:
        """Return the vector of each text, in order; each is float32 of shape (dimension,)."""
        valid = [batching.fix_unicode(text) for text in texts]
        rows = self.tokenizer(valid, truncation=True, max_length=self.max_tokens)["input_ids"]

        def compute(batch: list[int], device: Any) -> Any:
            inputs = batching.pad_rows(self.tokenizer, (rows[index] for index in batch)).to(device)
            hidden = self.model(**inputs).last_hidden_state.float()
            pooled = hidden[:, 0]
            if self.pooling == "mean":
                mask = inputs["attention_mask"].unsqueeze(-1).to(hidden.dtype)
                pooled = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1e-9)
            return pooled.cpu().numpy()

        return batching.run_in_batches(self.model, list(map(len, rows)), compute, precision=self.precision)
