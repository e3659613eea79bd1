"""Classifiers of documents and words: fine-tuned, or linear probes on a frozen encoder."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.records import Document
from radeval_lib.data.restricted import reveal
from radeval_lib.models import batching
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.ner_models import label_settings
from radeval_lib.models.pretrained import NEW_CLASSIFIER, load_pretrained, weights

if TYPE_CHECKING:
    import torch


class TextClassifier:
    """A sequence classifier over any encoder, as a :class:`~radeval_lib.models.training.Task`.

    The measure that chooses the epoch is ``accuracy``. Texts are cut at :data:`batching.MAX_PIECES`.

    Parameters
    ----------
    init_model : folder or hub name of the encoder; its new head is drawn by torch.
    labels : the classes, at least two, each once.
    """

    new_layers = ("classifier.", "score.")

    def __init__(self, init_model: str | Path, labels: Sequence[str]) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.labels = list(labels)
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.tokenizer: Any = load_pretrained(AutoTokenizer, init_model)
        config = label_settings(self.labels)
        self.module: Any = weights(AutoModelForSequenceClassification, init_model, NEW_CLASSIFIER, **config)

    def example(self, record: Document) -> dict[str, Any]:
        """Return ``input_ids`` of the text, and ``labels``, the position of its class."""
        text = batching.well_formed(reveal(record.text))
        ids = self.tokenizer(text, truncation=True, max_length=batching.MAX_PIECES)
        return {"input_ids": ids["input_ids"], "labels": self._index[record.label]}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return ``input_ids`` and ``attention_mask``, shape (n, pieces), and ``labels``, shape (n,), all
        int64."""
        import torch

        inputs = batching.pad_rows(self.tokenizer, (example["input_ids"] for example in examples))
        return {**inputs, "labels": torch.tensor([example["labels"] for example in examples])}

    def measure(self, records: Sequence[Document]) -> dict[str, float]:
        """Return ``accuracy``: the share of documents classified correctly; 0 if there are none."""
        truth = np.array([self._index[record.label] for record in records], dtype=np.int64)
        right = self.logits(records).argmax(axis=1) == truth
        return {"accuracy": float(right.mean()) if len(right) else 0.0}

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Return scores of each class, shape (documents, classes), in the documents' order."""
        if not records:
            return np.empty((0, len(self.labels)))
        texts = [batching.well_formed(reveal(record.text)) for record in records]
        encoded = self.tokenizer(texts, truncation=True, max_length=batching.MAX_PIECES)["input_ids"]

        def scores(batch: list[int], device: Any) -> Any:
            inputs = batching.pad_rows(self.tokenizer, (encoded[index] for index in batch))
            return self.module(**inputs.to(device)).logits.double().cpu().numpy()

        return np.stack(batching.in_batches(self.module, [len(ids) for ids in encoded], scores))


Features = NDArray[np.float32]
"""One row per text or word, shape (n, h)."""


def freeze(encoder: Any) -> torch.nn.Module:
    """Return the encoder as a layer without gradients, always in evaluation mode, below layers that are
    trained.

    ``forward`` takes ``input_ids`` and ``attention_mask``, shape (n, pieces), padded on the right. Its
    result has ``last_hidden_state``, shape (n, pieces, h), with zeros at padding.
    """
    import torch

    class Frozen(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder.requires_grad_(False).eval()
            self._states: dict[tuple[int, ...], torch.Tensor] = {}

        def train(self, mode: bool = True) -> Any:
            """Keep evaluation mode, whatever the layers above are in."""
            return super().train(False)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
            lengths = attention_mask.sum(1).tolist()
            texts = [tuple(row[:length]) for row, length in zip(input_ids.tolist(), lengths, strict=True)]
            new = [row for row, text in enumerate(texts) if text not in self._states]
            if new:
                # Normal tensors, since a text that is first read in inference may be learned from later.
                with torch.inference_mode(False), torch.no_grad():
                    states = self.encoder(
                        input_ids=input_ids[new].clone(), attention_mask=attention_mask[new].clone()
                    ).last_hidden_state
                    for row, state in zip(new, states, strict=True):
                        self._states[texts[row]] = state[: lengths[row]].clone()
            hidden = torch.nn.utils.rnn.pad_sequence([self._states[text] for text in texts], batch_first=True)
            missing = input_ids.shape[1] - hidden.shape[1]
            return SimpleNamespace(last_hidden_state=torch.nn.functional.pad(hidden, (0, 0, 0, missing)))

    return Frozen()


class FrozenEncoder(Encoder):
    """Features of sentences given as words, and of each word."""

    def __init__(self, model: str | Path, *, device: str = "auto") -> None:
        from transformers import AutoTokenizer

        super().__init__(model, device=device)
        self.tokenizer = batching.fast_tokenizer(AutoTokenizer, model)
        self._features: dict[tuple[str, ...], tuple[Features, Features]] = {}

    def of_words(self, sentences: Sequence[Sequence[str]]) -> list[Features]:
        """Return for each sentence the last hidden state of each word's first piece, shape (words, h). It is
        zero for words beyond the encoder's reach."""
        return [of_words for _, of_words in self._read(sentences)]

    def of_texts(self, sentences: Sequence[Sequence[str]]) -> Features:
        """Return the last hidden state of the first token of each sentence; shape (n, h)."""
        rows = [of_text for of_text, _ in self._read(sentences)]
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)

    def _read(self, sentences: Sequence[Sequence[str]]) -> list[tuple[Features, Features]]:
        """Return the features of each sentence and of its words; those of known sentences are not computed
        again."""
        missing = list(dict.fromkeys(words for words in map(tuple, sentences) if words not in self._features))
        encoded = batching.encode_words(self.tokenizer, missing)

        def features(batch: list[int], device: Any) -> Iterator[tuple[Features, Features]]:
            inputs = batching.pad_rows(self.tokenizer, (encoded[index][0] for index in batch))
            states = self.model(**inputs.to(device)).last_hidden_state.float().cpu().numpy()
            for index, hidden in zip(batch, states, strict=True):
                pieces = [first for first, _ in encoded[index][1]]
                rows = np.zeros((len(missing[index]), hidden.shape[1]), np.float32)
                rows[: len(pieces)] = hidden[pieces]
                yield hidden[0].copy(), rows

        new = batching.in_batches(self.model, [len(ids) for ids, _ in encoded], features)
        self._features.update(zip(missing, new, strict=True))
        return [self._features[tuple(words)] for words in sentences]


_SMALLEST = np.nextafter(0.0, 1.0)
"""The least probability of a class that training saw, where rounding would make it 0."""


@dataclass(frozen=True)
class Probe:
    """A logistic regression on standardised features, for the classes ``labels``."""

    labels: tuple[str, ...]
    pipeline: Any

    def logits(self, features: Features) -> NDArray[np.float64]:
        """Return log-probabilities, shape (n, classes); -infinity only for a class that training never
        saw."""
        of_seen = np.log(np.maximum(self.pipeline.predict_proba(features), _SMALLEST))
        result = np.full((len(features), len(self.labels)), -np.inf)
        result[:, [self.labels.index(name) for name in self.pipeline.classes_]] = of_seen
        return result

    def predict(self, features: Features) -> list[str]:
        """Return the likeliest class of each row."""
        return [self.labels[index] for index in self.logits(features).argmax(axis=1)]


def fit_probe(features: Features, targets: Sequence[str], labels: Sequence[str], penalty: float) -> Probe:
    """Return a probe fitted to features.

    Parameters
    ----------
    features : shape (n, h), finite.
    targets : the class of each row; two different ones or more.
    labels : all classes, each once; ``targets`` may lack some.
    penalty : weight in the loss of half the squared norm of the coefficients; above 0.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near its optimum after 300 steps
        pipeline.fit(features, list(targets))
    return Probe(tuple(labels), pipeline)
