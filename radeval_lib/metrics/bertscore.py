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
_MOST_KEPT_TEXTS = 1_000  # texts whose vectors are kept for later pairs
_MOST_TOKENS = 512  # tokens of a text that the model reads, its two special tokens included


@register
class BertScore(Metric):
    """F1 of tokens matched greedily by cosine, without idf weights or rescaling, from -1 to 1.

    As in the package bert-score, the opening and closing special tokens are not part of the means, but a
    token may match one of them in the other text. A text without other tokens scores 0. Each value's detail
    has ``precision`` and ``recall``.

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
        """Return the settings that can change a score, with the fixed choices ``idf`` and ``rescaled``."""
        return {**super().settings(), "idf": False, "rescaled": False}

    def _score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, Any]]:
        """Yield F1 and a dictionary of precision and recall for each pair."""
        vectors: dict[str, tuple[NDArray[np.float32], NDArray[np.bool_]]] = {}
        for start in range(0, len(pairs), _CHUNK):
            chunk = pairs[start : start + _CHUNK]
            texts = list(dict.fromkeys(text for pair in chunk for text in pair))
            if len(vectors) > _MOST_KEPT_TEXTS:
                vectors = {text: vectors[text] for text in texts if text in vectors}
            new_texts = [text for text in texts if text not in vectors]
            vectors |= zip(new_texts, self._encode_tokens(new_texts), strict=True)
            for reference, candidate in chunk:
                precision, recall = match_greedily(*vectors[candidate], *vectors[reference])
                yield f1(precision, recall), {"precision": precision, "recall": recall}

    def cautions(self, reference: str, candidate: str, detail: Any) -> Iterator[str]:
        """Yield a caution if the model reads only the beginning of a text."""
        if self._is_cut(reference) or self._is_cut(candidate):
            yield f"a text is longer than the {_MOST_TOKENS} tokens that the model reads, and was cut"

    def _is_cut(self, text: str) -> bool:
        """Return whether a text has more tokens than the model reads."""
        if len(text) <= _MOST_TOKENS - 2:  # A token has at least one character; two tokens are special.
            return False
        from radeval_lib.models.batching import fix_unicode

        ids = self._tokenizer_and_model[0](fix_unicode(one_line(text)), verbose=False)["input_ids"]
        return len(ids) > _MOST_TOKENS

    @cached_property
    def _tokenizer_and_model(self) -> tuple[Any, Any]:
        """The tokenizer and the model, loaded when first needed.

        Raises
        ------
        ModelError
            If they cannot be loaded.
        MetricError
            If the model has no hidden layer of the number ``layer``.
        """
        from transformers import AutoModel, AutoTokenizer

        from radeval_lib.models.batching import pick_device
        from radeval_lib.models.pretrained import ENCODER, load_model, load_pretrained

        model = load_model(AutoModel, self.encoder, ENCODER).to(pick_device(self.device))
        depth = int(model.config.num_hidden_layers)
        if self.layer is not None and not 0 <= self.layer <= depth:
            problem = f"layer is {self.layer}, but the encoder has {depth} hidden layers"
            raise MetricError(problem, "bertscore.layer", f"Give 0 to {depth}, or none for the last.")
        return load_pretrained(AutoTokenizer, self.encoder), model

    def _encode_tokens(self, texts: Sequence[str]) -> list[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
        """Return for each text the unit vectors of its tokens, float32 of shape (tokens, size), and which of
        them are neither the opening nor the closing token, bool of shape (tokens,)."""
        if not texts:  # Tokenizers do not accept an empty list.
            return []
        import torch

        from radeval_lib.models.batching import fix_unicode, run_in_batches

        tokenizer, model = self._tokenizer_and_model
        encoded = tokenizer([fix_unicode(text) for text in texts], truncation=True, max_length=_MOST_TOKENS)
        ids = encoded["input_ids"]
        # Other special tokens enter the means: an [UNK] replaces a word of the text.
        end_tokens = (tokenizer.cls_token_id, tokenizer.sep_token_id)

        def vectors(batch: list[int], device: Any) -> Iterator[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
            inputs = tokenizer.pad({"input_ids": [ids[index] for index in batch]}, return_tensors="pt")
            output = model(**inputs.to(device), output_hidden_states=True)
            layer_states = output.hidden_states[-1 if self.layer is None else self.layer].float()
            layer_states = torch.nn.functional.normalize(layer_states, dim=-1).cpu().numpy()
            for index, states in zip(batch, layer_states, strict=True):
                yield states[: len(ids[index])], ~np.isin(ids[index], end_tokens)

        return run_in_batches(model, [len(row) for row in ids], vectors)


def match_greedily(
    candidate: NDArray[Any],
    in_candidate: NDArray[np.bool_],
    reference: NDArray[Any],
    in_reference: NDArray[np.bool_],
) -> tuple[float, float]:
    """Return precision and recall of two texts, from -1 to 1: the mean, over the tokens of the candidate or
    of the reference, of the cosine with the most similar token of the other text.

    Source: Zhang et al. 2020, Section 3.

    Parameters
    ----------
    candidate, reference : unit vectors of the tokens, float of shape (tokens, size).
    in_candidate, in_reference : bool of shape (tokens,), which tokens enter the means; the others can only be
        matched. If no token of a text enters, precision and recall are 0.
    """
    if not in_candidate.any() or not in_reference.any():
        return 0.0, 0.0
    cosines = candidate @ reference.T
    best_of_candidate, best_of_reference = cosines.max(axis=1), cosines.max(axis=0)
    return float(best_of_candidate[in_candidate].mean()), float(best_of_reference[in_reference].mean())
