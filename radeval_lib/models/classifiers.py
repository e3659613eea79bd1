"""Classify documents and words, by fine-tuned models or by linear probes on a frozen encoder."""

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
from radeval_lib.models.ner_models import make_label_config
from radeval_lib.models.pretrained import NEW_CLASSIFIER, load_model, load_pretrained

if TYPE_CHECKING:
    import torch


class TextClassifier:
    """An encoder with a new layer that classifies documents, for fine-tuning with
    :func:`~radeval_lib.models.training.train`.

    The epoch is chosen by accuracy. Documents are truncated to
    :data:`~radeval_lib.models.batching.MAX_PIECES` tokens.

    Parameters
    ----------
    init_model : folder or Hugging Face Hub name of the encoder. The weights of the new layer are drawn from
        torch's global generator.
    labels : the classes, at least two, each once; class i of the logits is ``labels[i]``. The methods
        ``make_example`` and ``measure`` raise KeyError for a document of another class.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded.
    """

    new_layers = ("classifier.", "score.")

    def __init__(self, init_model: str | Path, labels: Sequence[str]) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.labels = list(labels)
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.tokenizer: Any = load_pretrained(AutoTokenizer, init_model)
        config = make_label_config(self.labels)
        factory = AutoModelForSequenceClassification
        self.module: Any = load_model(factory, init_model, NEW_CLASSIFIER, **config)

    def make_example(self, record: Document) -> dict[str, Any]:
        """Return a training example, a dictionary with ``input_ids``, the list of the document's token ids,
        and ``labels``, the index of its class."""
        text = batching.fix_unicode(reveal(record.text))
        ids = self.tokenizer(text, truncation=True, max_length=batching.MAX_PIECES)["input_ids"]
        return {"input_ids": ids, "labels": self._index[record.label]}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return examples as a padded batch: ``input_ids`` and ``attention_mask``, shape (examples, tokens),
        and ``labels``, shape (examples,), all int64 tensors."""
        import torch

        inputs = batching.pad_rows(self.tokenizer, (example["input_ids"] for example in examples))
        return {**inputs, "labels": torch.tensor([example["labels"] for example in examples])}

    def measure(self, records: Sequence[Document]) -> dict[str, float]:
        """Return a dictionary with ``accuracy``: the share (0 to 1) of the documents that are classified
        correctly; 0 if there are no documents."""
        targets = np.array([self._index[record.label] for record in records], dtype=np.int64)
        is_correct = self.logits(records).argmax(axis=1) == targets
        return {"accuracy": float(is_correct.mean()) if len(is_correct) else 0.0}

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Return the logits of all classes for each document, in order: float64, shape (documents,
        classes)."""
        if not records:
            return np.empty((0, len(self.labels)))
        texts = [batching.fix_unicode(reveal(record.text)) for record in records]
        rows = self.tokenizer(texts, truncation=True, max_length=batching.MAX_PIECES)["input_ids"]

        def compute_logits(batch: list[int], device: Any) -> Any:
            inputs = batching.pad_rows(self.tokenizer, (rows[index] for index in batch))
            return self.module(**inputs.to(device)).logits.double().cpu().numpy()

        return np.stack(batching.run_in_batches(self.module, [len(ids) for ids in rows], compute_logits))


Features = NDArray[np.float32]
"""Vectors of n texts or words, shape (n, h); h is the size of the encoder's hidden states."""


def freeze(encoder: Any) -> torch.nn.Module:
    """Return a module that applies an encoder without training it, so that layers can be trained on top.

    The encoder's weights are frozen in place, and the module stays in evaluation mode. Its ``forward`` takes
    ``input_ids`` and ``attention_mask``, shape (n, tokens), padded on the right, and returns an object with
    the attribute ``last_hidden_state``, shape (n, tokens, h), which is 0 in padding; h is the size of the
    encoder's hidden states. The states of each text are kept in memory and reused in later batches.
    """
    import torch

    class FrozenModule(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder.requires_grad_(False).eval()
            self._states: dict[tuple[int, ...], torch.Tensor] = {}

        def train(self, mode: bool = True) -> Any:
            """Keep the module in evaluation mode, whatever ``mode`` is."""
            return super().train(False)

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
            lengths = attention_mask.sum(1).tolist()
            texts = [tuple(row[:length]) for row, length in zip(input_ids.tolist(), lengths, strict=True)]
            missing = [row for row, text in enumerate(texts) if text not in self._states]
            if missing:
                # Training may meet the same text later, and cannot use tensors made in inference mode.
                with torch.inference_mode(False), torch.no_grad():
                    states = self.encoder(
                        input_ids=input_ids[missing].clone(), attention_mask=attention_mask[missing].clone()
                    ).last_hidden_state
                    for row, state in zip(missing, states, strict=True):
                        self._states[texts[row]] = state[: lengths[row]].clone()
            hidden = torch.nn.utils.rnn.pad_sequence([self._states[text] for text in texts], batch_first=True)
            pad_length = input_ids.shape[1] - hidden.shape[1]
            return SimpleNamespace(last_hidden_state=torch.nn.functional.pad(hidden, (0, 0, 0, pad_length)))

    return FrozenModule()


class FrozenEncoder(Encoder):
    """An encoder that returns one vector per sentence or one per word, for sentences that are given as words.

    Vectors are cached in memory, by sentence.

    Parameters
    ----------
    model : folder or Hugging Face Hub name of an encoder with a fast tokenizer.
    device : ``auto``, ``cpu`` or ``cuda``.

    Raises
    ------
    ModelError
        If the model cannot be loaded or has no fast tokenizer, or ``device`` is unknown or not available.
    """

    def __init__(self, model: str | Path, *, device: str = "auto") -> None:
        from transformers import AutoTokenizer

        super().__init__(model, device=device)
        self.tokenizer = batching.load_fast_tokenizer(AutoTokenizer, model)
        self._features: dict[tuple[str, ...], tuple[Features, Features]] = {}

    def encode_words(self, sentences: Sequence[Sequence[str]]) -> list[Features]:
        """Return the last hidden state of the first token of each word, as one array per sentence, shape
        (words, h).

        The rows of words after the first :data:`~radeval_lib.models.batching.MAX_PIECES` tokens are zeros.
        """
        return [word_vectors for _, word_vectors in self._compute_features(sentences)]

    def encode_texts(self, sentences: Sequence[Sequence[str]]) -> Features:
        """Return the last hidden state of each sentence's first token, such as [CLS]: shape (sentences,
        h)."""
        rows = [text_vector for text_vector, _ in self._compute_features(sentences)]
        return np.array(rows, np.float32).reshape(len(rows), self.dimension)

    def _compute_features(self, sentences: Sequence[Sequence[str]]) -> list[tuple[Features, Features]]:
        """Return for each sentence its vector, shape (h,), and the vectors of its words, shape (words, h).

        Only sentences that are not in the cache are encoded.
        """
        missing = list(dict.fromkeys(words for words in map(tuple, sentences) if words not in self._features))
        encoded = batching.encode_words(self.tokenizer, missing)

        def compute(batch: list[int], device: Any) -> Iterator[tuple[Features, Features]]:
            inputs = batching.pad_rows(self.tokenizer, (encoded[index][0] for index in batch))
            states = self.model(**inputs.to(device)).last_hidden_state.float().cpu().numpy()
            for index, hidden in zip(batch, states, strict=True):
                first_tokens = [first_token for first_token, _ in encoded[index][1]]
                word_vectors = np.zeros((len(missing[index]), hidden.shape[1]), np.float32)
                word_vectors[: len(first_tokens)] = hidden[first_tokens]
                yield hidden[0].copy(), word_vectors

        computed = batching.run_in_batches(self.model, [len(ids) for ids, _ in encoded], compute)
        self._features.update(zip(missing, computed, strict=True))
        return [self._features[tuple(words)] for words in sentences]


_MIN_PROBABILITY = np.nextafter(0.0, 1.0)
"""The lowest probability of a class that occurs in the training data, used where rounding gives 0."""


@dataclass(frozen=True)
class Probe:
    """A logistic regression on standardized features, fitted by :func:`fit_probe`.

    Attributes
    ----------
    labels : all classes, in the order of the columns of the logits.
    pipeline : the fitted scikit-learn pipeline, which knows only the classes of the training data.
    """

    labels: tuple[str, ...]
    pipeline: Any

    def logits(self, features: Features) -> NDArray[np.float64]:
        """Return the log-probability of each class for each row of ``features``, shape (n, classes).

        It is -infinity for classes that do not occur in the training data, and finite for all others.
        """
        log_probabilities = np.log(np.maximum(self.pipeline.predict_proba(features), _MIN_PROBABILITY))
        logits = np.full((len(features), len(self.labels)), -np.inf)
        logits[:, [self.labels.index(label) for label in self.pipeline.classes_]] = log_probabilities
        return logits

    def predict(self, features: Features) -> list[str]:
        """Return the most probable class for each row of ``features``."""
        return [self.labels[index] for index in self.logits(features).argmax(axis=1)]


def fit_probe(features: Features, targets: Sequence[str], labels: Sequence[str], penalty: float) -> Probe:
    """Fit a logistic regression with an L2 penalty to standardized features, and return it.

    Parameters
    ----------
    features : finite feature vectors, shape (n, h).
    targets : the class of each row of ``features``; at least two classes must occur.
    labels : all classes, each once; some may be missing from ``targets``.
    penalty : weight of half the squared norm of the coefficients in the loss, above 0.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # after 300 steps, the fit is near the optimum
        pipeline.fit(features, list(targets))
    return Probe(tuple(labels), pipeline)
