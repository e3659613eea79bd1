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
_MAX_KEPT_TEXTS = 1_000  # texts whose vectors are kept for later pairs
_MAX_TOKENS = 512  # tokens of a text that the model reads, including two special tokens


@register
class BertScore(Metric):
    """F1 of tokens matched greedily by cosine, without idf weights or rescaling, from -1 to 1.

    As in the package bert-score, the opening and closing special tokens are not part of the means, but a
    token may match one of them in the other text. A text without other tokens scores 0. Each score's detail
    has ``precision`` and ``recall``.

    Parameters
    ----------
    encoder : the folder or Hugging Face Hub name of a transformers model (``distilbert-base-uncased`` in
        RadEval and vilmedic), or ``packaged-minilm``.
    layer : the hidden layer whose vectors are compared (5 in RadEval and vilmedic); None takes the last.
    device : ``auto``, ``cpu`` or ``cuda``.
    """

    name = "bertscore"
    title = "BERTScore"
    range = (-1.0, 1.0)
    citation = "zhang2020bertscore"
    required_roles = ("encoder",)
    variant = "f1"
    normalises = (f"first-{_MAX_TOKENS}-tokens",)

    encoder: str = "distilbert-base-uncased"
    layer: int | None = 5
    device: str = "auto"

    def settings(self) -> dict[str, Any]:
        """Return the settings that can change a score, and the fixed choices ``idf`` and ``rescaled``."""
        return {**super().settings(), "idf": False, "rescaled": False}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Any]]:
        """Yield F1 and a dictionary of precision and recall for each pair."""
        vectors: dict[str, tuple[NDArray[np.float32], NDArray[np.bool_]]] = {}
        for start in range(0, len(pairs), _CHUNK):
            chunk = pairs[start : start + _CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair))
            if len(vectors) > _MAX_KEPT_TEXTS:
                vectors = {text: vectors[text] for text in texts if text in vectors}
            new_texts = [text for text in texts if text not in vectors]
            vectors |= zip(new_texts, self._encode_tokens(new_texts), strict=True)
            for reference, candidate in chunk:
                precision, recall = match_greedily(*vectors[candidate], *vectors[reference])
                yield f1(precision, recall), {"precision": precision, "recall": recall}

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterator[str]:
        """Yield a caution if the model reads only the beginning of a text."""
        if self._is_cut(reference) or self._is_cut(candidate):
            yield f"a text is longer than the {_MAX_TOKENS} tokens that the model reads, and was cut"

    def _is_cut(self, text: str) -> bool:
        """Return whether a text has more tokens than the model reads."""
        if len(text) <= _MAX_TOKENS - 2:  # A token has at least one character; two tokens are special.
            return False
        from radeval_lib.models.batching import fix_unicode

        ids = self._tokenizer_and_model[0](fix_unicode(one_line(text)), verbose=False)["input_ids"]
        return len(ids) > _MAX_TOKENS

    @cached_property
    def _tokenizer_and_model(self) -> tuple[Any, Any]:
        """The tokenizer and the model, loaded when first needed.

        Raises
        ------
        ModelError
            If they cannot be loaded.
        MetricError
            If the model has no hidden layer ``layer``.
        """
        from transformers import AutoModel, AutoTokenizer

        from radeval_lib.models.batching import pick_device
        from radeval_lib.models.pretrained import ENCODER, load_model, load_pretrained

        model = load_model(AutoModel, self.encoder, ENCODER).to(pick_device(self.device))
        depth = int(model.config.num_hidden_layers)
        if self.layer is not None and not 0 <= self.layer <= depth:
            problem = f"no layer {self.layer}: the encoder has {depth} hidden layers"
            raise MetricError(problem, "setting layer", f"Set it to 0 to {depth}, or to None for the last.")
        return load_pretrained(AutoTokenizer, self.encoder), model

    def _encode_tokens(self, texts: Sequence[str]) -> list[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
        """Return for each text the unit vectors of its tokens, float32 of shape (tokens, size), and a mask,
        bool of shape (tokens,), that is False for the opening and the closing token."""
        if not texts:  # Tokenizers do not accept an empty list.
            return []
        import torch

        from radeval_lib.models.batching import fix_unicode, run_in_batches

        tokenizer, model = self._tokenizer_and_model
        encoded = tokenizer([fix_unicode(text) for text in texts], truncation=True, max_length=_MAX_TOKENS)
        token_ids = encoded["input_ids"]
        # Other special tokens enter the means, because [UNK] stands for a word of the text.
        excluded_ids = (tokenizer.cls_token_id, tokenizer.sep_token_id)

        def encode(batch: list[int], device: Any) -> Iterator[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
            inputs = tokenizer.pad({"input_ids": [token_ids[index] for index in batch]}, return_tensors="pt")
            output = model(**inputs.to(device), output_hidden_states=True)
            layer_states = output.hidden_states[-1 if self.layer is None else self.layer].float()
            layer_states = torch.nn.functional.normalize(layer_states, dim=-1).cpu().numpy()
            for index, states in zip(batch, layer_states, strict=True):
                yield states[: len(token_ids[index])], ~np.isin(token_ids[index], excluded_ids)

        return run_in_batches(model, [len(row) for row in token_ids], encode)


def match_greedily(
    candidate: NDArray[Any],
    candidate_mask: NDArray[np.bool_],
    reference: NDArray[Any],
    reference_mask: NDArray[np.bool_],
) -> tuple[float, float]:
    """Return precision and recall of two texts, from -1 to 1: the mean, over the tokens of the candidate or
    of the reference, of the cosine with the most similar token of the other text.

    Source: Zhang et al. 2020, Section 3.

    Parameters
    ----------
    candidate, reference : unit vectors of the tokens, float of shape (tokens, size).
    candidate_mask, reference_mask : bool of shape (tokens,), True for the tokens that enter the means; the
        others can only be matched. If a mask is all False, precision and recall are 0.
    """
    if not candidate_mask.any() or not reference_mask.any():
        return 0.0, 0.0
    cosines = candidate @ reference.T
    candidate_maxima, reference_maxima = cosines.max(axis=1), cosines.max(axis=0)
    return float(candidate_maxima[candidate_mask].mean()), float(reference_maxima[reference_mask].mean())
