"""Document classifiers: an encoder that is fine-tuned to tell classes of texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.records import Document
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ModelError
from radeval_lib.models.batching import in_batches, padded
from radeval_lib.models.ner.iob import labelled
from radeval_lib.models.pretrained import pretrained, weights
from radeval_lib.models.uses import NEW_CLASSIFIER
from radeval_lib.models.word_pieces import MAX_PIECES, well_formed

if TYPE_CHECKING:
    import torch


class TextClassifier:
    """A sequence classifier over any encoder, as a :class:`~radeval_lib.models.training.Task`.

    The measure that chooses the epoch is ``accuracy``. Texts are cut at :data:`MAX_PIECES`.

    Parameters
    ----------
    init_model : folder or hub name of the encoder; its new head is drawn by torch.
    labels : the classes, at least two, each once.

    Raises
    ------
    ModelError
        If the encoder cannot be loaded, or the classes are not so.
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
        """Place of a document's class among the labels; a :class:`ModelError` where it is none of them."""
        if document.label not in self._index:
            wrong = f"the label {document.label!r} is none of the {len(self.labels)} classes"
            remedy = "Give every class of the data when the classifier is made."
            raise ModelError(wrong, f"document {document.id}", remedy)
        return self._index[document.label]

    def example(self, record: Document) -> dict[str, Any]:
        """Return ``input_ids`` of the text, and ``labels``, the place of its class."""
        ids = self.tokenizer(well_formed(reveal(record.text)), truncation=True, max_length=MAX_PIECES)
        return {"input_ids": ids["input_ids"], "labels": self.index_of(record)}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return ``input_ids`` and ``attention_mask``, shape (n, pieces), and ``labels``, shape (n,), all
        int64."""
        import torch

        labels = torch.tensor([example["labels"] for example in examples])
        return {**padded(self.tokenizer, (example["input_ids"] for example in examples)), "labels": labels}

    def measure(self, records: Sequence[Document]) -> dict[str, float]:
        """Return ``accuracy``: share of documents whose likeliest class is theirs; 0 where there are none."""
        truth = np.array([self.index_of(record) for record in records], dtype=np.int64)
        right = self.logits(records).argmax(axis=1) == truth
        return {"accuracy": float(right.mean()) if len(right) else 0.0}

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Return scores of each class, shape (documents, classes), in the documents' order."""
        if not records:
            return np.empty((0, len(self.labels)))
        texts = [well_formed(reveal(record.text)) for record in records]
        encoded = self.tokenizer(texts, truncation=True, max_length=MAX_PIECES)["input_ids"]

        def scores(batch: list[int], device: Any) -> Any:
            inputs = padded(self.tokenizer, (encoded[index] for index in batch))
            return self.module(**inputs.to(device)).logits.double().cpu().numpy()

        return np.stack(in_batches(self.module, [len(ids) for ids in encoded], scores))
