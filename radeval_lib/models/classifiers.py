"""Document classifiers: a fine-tuned encoder, or a linear probe over a frozen one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.records import Document
from radeval_lib.data.restricted import reveal
from radeval_lib.models.batching import in_batches, padded
from radeval_lib.models.encoders import Encoder, encode_words, well_formed
from radeval_lib.models.ner.iob import fast_tokenizer, labelled
from radeval_lib.models.pretrained import ModelError, pretrained, weights
from radeval_lib.models.soundness import NEW_CLASSIFIER

if TYPE_CHECKING:
    import torch

MAX_TOKENS = 512
"""Longer texts are cut."""


class TextClassifier:
    """A sequence classifier over any encoder, as a :class:`~radeval_lib.models.training.Task`.

    The measure that chooses the epoch is ``accuracy``.
    """

    new_layers = ("classifier.", "score.")

    def __init__(self, init_model: str | Path, labels: Sequence[str]) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.labels, different = list(labels), len(set(labels))
        if different < max(2, len(self.labels)):
            wrong = f"{different} different classes among {len(self.labels)}"
            raise ModelError(wrong, "classifier", "Give at least two classes, each once.")
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.tokenizer: Any = pretrained(AutoTokenizer, init_model)
        config = labelled(self.labels)
        self.module: Any = weights(AutoModelForSequenceClassification, init_model, NEW_CLASSIFIER, **config)

    def index_of(self, document: Document) -> int:
        """Place of a document's class among the labels."""
        if document.label not in self._index:
            wrong = f"the label {document.label!r} is none of the {len(self.labels)} classes"
            remedy = "Give every class of the data when the classifier is made."
            raise ModelError(wrong, f"document {document.id}", remedy)
        return self._index[document.label]

    def example(self, record: Document) -> dict[str, Any]:
        ids = self.tokenizer(well_formed(reveal(record.text)), truncation=True, max_length=MAX_TOKENS)
        return {"input_ids": ids["input_ids"], "labels": self.index_of(record)}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        import torch

        labels = torch.tensor([example["labels"] for example in examples])
        return {**padded(self.tokenizer, (example["input_ids"] for example in examples)), "labels": labels}

    def measure(self, records: Sequence[Document]) -> dict[str, float]:
        """Share of documents whose likeliest class is theirs."""
        truth = np.array([self.index_of(record) for record in records])
        return {"accuracy": float((self.logits(records).argmax(axis=1) == truth).mean())}

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Scores of each class, shape (documents, classes), in the documents' order."""
        texts = [well_formed(reveal(record.text)) for record in records]
        encoded = self.tokenizer(texts, truncation=True, max_length=MAX_TOKENS)["input_ids"]

        def scores(batch: list[int], device: Any) -> Any:
            inputs = padded(self.tokenizer, (encoded[index] for index in batch))
            return self.module(**inputs.to(device)).logits.double().cpu().numpy()

        return np.stack(in_batches(self.module, [len(ids) for ids in encoded], scores))


Features = NDArray[np.float32]
_SMALLEST = np.nextafter(0.0, 1.0)
"""The least probability of a class that training saw, where arithmetic would round it to 0."""


class FrozenEncoder(Encoder):
    """Features of texts and of words from a frozen encoder; each distinct text is read once."""

    def __init__(self, model: str | Path, *, device: str = "auto") -> None:
        from transformers import AutoTokenizer

        super().__init__(model, device=device)
        self.tokenizer = fast_tokenizer(AutoTokenizer, model)
        self._known: dict[tuple[str, ...], tuple[Features, Features]] = {}

    def of_words(self, sentences: Sequence[Sequence[str]]) -> list[Features]:
        """For each sentence, the last hidden state of each word's first piece, shape (words, h); zeros for
        words beyond the encoder's reach."""
        return [self._known[tuple(words)][1] for words in self._read(sentences)]

    def of_texts(self, sentences: Sequence[Sequence[str]]) -> Features:
        """The last hidden state of the first token of each sentence, given as words; shape (n, h)."""
        return np.stack([self._known[tuple(words)][0] for words in self._read(sentences)])

    def _read(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
        """The sentences, after their features were computed where they are not known yet."""
        missing = list(dict.fromkeys(key for words in sentences if (key := tuple(words)) not in self._known))
        encoded = encode_words(self.tokenizer, missing) if missing else []

        def features(batch: list[int], device: Any) -> Iterator[tuple[Features, Features]]:
            inputs = padded(self.tokenizer, (encoded[index][0] for index in batch))
            states = self.model(**inputs.to(device)).last_hidden_state.float().cpu().numpy()
            for index, hidden in zip(batch, states, strict=True):
                places = [first for first, _ in encoded[index][1]]
                rows = np.zeros((len(missing[index]), hidden.shape[1]), np.float32)
                rows[: len(places)] = hidden[places]
                yield hidden[0].copy(), rows

        found = in_batches(self.model, [len(ids) for ids, _ in encoded], features)
        self._known.update(zip(missing, found, strict=True))
        return sentences


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
    """Solve a logistic regression, with ``penalty`` times half of the weights' squared norm in its loss;
    ``labels`` are all classes, of which ``targets`` may lack some."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if odd := sorted(set(targets) - set(labels)):
        raise ModelError(f"the label {odd[0]!r} is none of the {len(labels)} classes", "linear probe")
    if len(set(targets)) < 2:
        wrong = f"{len(targets)} training rows of {len(set(targets))} class"
        raise ModelError(wrong, "linear probe", "Give two classes.")
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near its optimum after 300 steps
        pipeline.fit(features, list(targets))
    return Probe(tuple(labels), pipeline)
