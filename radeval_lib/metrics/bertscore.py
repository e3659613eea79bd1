"""BERTScore (Zhang et al. 2020): each token is matched to the most similar token of the other text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.metrics.base import Metric, MetricError, register
from radeval_lib.stats.base import f1
from radeval_lib.stats.tokens import one_line

_CHUNK = 256  # pairs whose texts are encoded together
_KEPT = 1_000  # texts whose vectors are kept for later pairs
_MOST_TOKENS = 512  # of a text that are read, two special ones among them


@register
class BertScore(Metric):
    """F1 of greedy token matches by cosine, without idf weights or rescaling.

    As in the package bert-score, the opening and closing special tokens are not part of the means, but a
    token may match one of them in the other text. A text without other tokens scores 0.

    Parameters
    ----------
    encoder : the folder or hub name of a transformers model (RadEval, vilmedic: ``distilbert-base-uncased``),
        or ``packaged-minilm``.
    layer : the hidden layer whose vectors are compared (RadEval, vilmedic: 5); None takes the last.
    device : ``auto``, ``cpu`` or ``cuda``.
    """

    name = "bertscore"
    title = "BERTScore"
    range = (-1.0, 1.0)
    citation = "zhang2020bertscore"
    needs = ("encoder",)
    variant = "f1"
    normalises = (f"first-{_MOST_TOKENS}-tokens",)

    encoder: str = "distilbert-base-uncased"
    layer: int | None = 5
    device: str = "auto"

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "idf": False, "rescaled": False}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Any]]:
        vectors: dict[str, tuple[NDArray[np.float32], NDArray[np.bool_]]] = {}
        for start in range(0, len(pairs), _CHUNK):
            chunk = pairs[start : start + _CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair))
            if len(vectors) > _KEPT:
                vectors = {text: vectors[text] for text in texts if text in vectors}
            new = [text for text in texts if text not in vectors]
            vectors |= zip(new, self._tokens(new), strict=True)
            for reference, candidate in chunk:
                precision, recall = greedy(*vectors[candidate], *vectors[reference])
                yield f1(precision, recall), {"precision": precision, "recall": recall}

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterator[str]:
        if self._cut(reference) or self._cut(candidate):
            yield f"a text is longer than the {_MOST_TOKENS} tokens that the model reads, and was cut"

    def _cut(self, text: str) -> bool:
        """Return whether the model reads only the beginning of a text."""
        if len(text) <= _MOST_TOKENS - 2:  # a token has a character at least
            return False
        from radeval_lib.models.batching import well_formed

        ids = self._loaded[0](well_formed(one_line(text)), verbose=False)["input_ids"]
        return len(ids) > _MOST_TOKENS

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The tokenizer and the model, loaded when first needed."""
        from transformers import AutoModel, AutoTokenizer

        from radeval_lib.models.batching import device_of
        from radeval_lib.models.pretrained import ENCODER, load_pretrained, weights

        model = weights(AutoModel, self.encoder, ENCODER).to(device_of(self.device))
        depth = int(model.config.num_hidden_layers)
        if self.layer is not None and not 0 <= self.layer <= depth:
            problem = f"the model has no hidden layer {self.layer}"
            raise MetricError(problem, "bertscore.layer", f"Give a number from 0 to {depth}.")
        return load_pretrained(AutoTokenizer, self.encoder), model

    def _tokens(self, texts: Sequence[str]) -> list[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
        """Return for each text the unit vectors of its tokens, shape (tokens, size), and which of them are
        neither the opening nor the closing token, shape (tokens,)."""
        if not texts:  # a chunk of pairs whose texts were all met before; a tokenizer refuses an empty list
            return []
        import torch

        from radeval_lib.models.batching import in_batches, well_formed

        tokenizer, model = self._loaded
        encoded = tokenizer([well_formed(text) for text in texts], truncation=True, max_length=_MOST_TOKENS)
        ids = encoded["input_ids"]
        # Not every special token: an [UNK] is a word of the text.
        ends = (tokenizer.cls_token_id, tokenizer.sep_token_id)

        def vectors(batch: list[int], device: Any) -> Iterator[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
            inputs = tokenizer.pad({"input_ids": [ids[index] for index in batch]}, return_tensors="pt")
            output = model(**inputs.to(device), output_hidden_states=True)
            hidden = output.hidden_states[-1 if self.layer is None else self.layer].float()
            hidden = torch.nn.functional.normalize(hidden, dim=-1).cpu().numpy()
            for index, states in zip(batch, hidden, strict=True):
                yield states[: len(ids[index])], ~np.isin(ids[index], ends)

        return in_batches(model, [len(row) for row in ids], vectors)


def greedy(
    candidate: NDArray[Any],
    in_candidate: NDArray[np.bool_],
    reference: NDArray[Any],
    in_reference: NDArray[np.bool_],
) -> tuple[float, float]:
    """Return precision and recall (Zhang et al. 2020, Section 3) of two texts' tokens, matched greedily.

    Parameters
    ----------
    candidate, reference : unit vectors, float of shape (tokens, size).
    in_candidate, in_reference : which of the tokens enter the means; if none does, both are 0.
    """
    if not in_candidate.any() or not in_reference.any():
        return 0.0, 0.0
    table = candidate @ reference.T
    return float(table.max(axis=1)[in_candidate].mean()), float(table.max(axis=0)[in_reference].mean())
