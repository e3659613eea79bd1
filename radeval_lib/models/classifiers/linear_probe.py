"""Linear probes: what can be read off a frozen encoder's features by logistic regression.

RaLEs (Section 4.2.2) trains the last layer for a few epochs with the encoder frozen, which leaves open
whether a low score is the encoder's or the short training's. Here the regression is solved to its optimum,
and how much it is penalised is chosen on validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.models.batching import batch_size_for, buckets
from radeval_lib.models.heads import ENCODER
from radeval_lib.models.loading import ModelError, device_of, weights
from radeval_lib.models.ner.iob_scheme import fast_tokenizer
from radeval_lib.models.packing import pack
from radeval_lib.models.spans import encode_words

Features = NDArray[np.float32]
_SMALLEST = np.nextafter(0.0, 1.0)
"""The least probability of a class that training saw, where arithmetic would round it to 0."""


class FrozenEncoder:
    """Features of texts and of words from a frozen encoder; each distinct text is read once."""

    def __init__(self, model: str | Path, *, device: str = "auto") -> None:
        from transformers import AutoModel, AutoTokenizer

        self.device = device_of(device)
        self.tokenizer: Any = fast_tokenizer(AutoTokenizer, model)
        self.module: Any = weights(AutoModel, model, ENCODER).to(self.device)
        if self.device.type == "cpu":
            pack(self.module)
        self._known: dict[tuple[str, ...], tuple[Features, Features]] = {}

    def of_words(self, sentences: Sequence[Sequence[str]]) -> list[Features]:
        """Of each sentence the last hidden state of each word's first piece, shape (words, h). Words beyond
        the encoder's reach have zeros."""
        return [self._known[tuple(words)][1] for words in self._computed(sentences)]

    def of_texts(self, sentences: Sequence[Sequence[str]]) -> Features:
        """Of each sentence, given as words, the last hidden state of the first token; shape (n, h)."""
        return np.stack([self._known[tuple(words)][0] for words in self._computed(sentences)])

    def _computed(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """The sentences, after their features were computed where they are not known yet."""
        missing = list(dict.fromkeys(key for words in sentences if (key := tuple(words)) not in self._known))
        encoded = encode_words(self.tokenizer, missing) if missing else []
        for index, hidden in self._hidden([ids for ids, _ in encoded]):
            places = [first for first, _ in encoded[index][1]]
            rows = np.zeros((len(missing[index]), hidden.shape[1]), np.float32)
            rows[: len(places)] = hidden[places]
            self._known[missing[index]] = (hidden[0].copy(), rows)
        return sentences

    def _hidden(self, sequences: list[list[int]]) -> Any:
        """Index and hidden states, shape (pieces, h), of each sequence, in an order of its own."""
        import torch

        with (
            torch.inference_mode(),
            torch.autocast("cuda", torch.bfloat16, enabled=self.device.type == "cuda"),
        ):
            for batch in buckets([len(ids) for ids in sequences], batch_size_for(self.device)):
                inputs = self.tokenizer.pad(
                    [{"input_ids": sequences[index]} for index in batch], return_tensors="pt"
                )
                states = self.module(**inputs.to(self.device)).last_hidden_state.float().cpu().numpy()
                for index, row in zip(batch, states, strict=True):
                    yield index, row[: len(sequences[index])]


@dataclass(frozen=True)
class Probe:
    """A logistic regression on standardised features."""

    labels: tuple[str, ...]
    pipeline: Any

    def logits(self, features: Features) -> NDArray[np.float64]:
        """Logarithms of the probabilities, shape (n, classes); -infinity for a class that training never
        saw, and for no other."""
        known = np.log(np.maximum(self.pipeline.predict_proba(features), _SMALLEST))
        result = np.full((len(features), len(self.labels)), -np.inf)
        result[:, [self.labels.index(name) for name in self.pipeline.classes_]] = known
        return result

    def predict(self, features: Features) -> list[str]:
        return [self.labels[index] for index in self.logits(features).argmax(axis=1)]


def fit_probe(features: Features, targets: Sequence[str], labels: Sequence[str], penalty: float) -> Probe:
    """Solve a logistic regression."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if odd := sorted(set(targets) - set(labels)):
        raise ModelError(f"the label {odd[0]!r} is none of the {len(labels)} classes", "linear probe")
    if len(set(targets)) < 2:
        raise ModelError(
            f"{len(targets)} training rows of {len(set(targets))} class", "linear probe", "Give two classes."
        )
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near its optimum after 300 steps
        pipeline.fit(features, list(targets))
    return Probe(tuple(labels), pipeline)
