"""A text classifier to fine-tune: an encoder with one new layer over its first token.

Source: RaLEs (Zambrano Chaves et al. 2023), Section 4.2.2: "a randomly initialized head of dimensions (h,
c)".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data.records import Document
from radeval_lib.data.restricted import reveal
from radeval_lib.models.batching import batch_size_for, buckets
from radeval_lib.models.encoders import well_formed
from radeval_lib.models.heads import NEW_CLASSIFIER
from radeval_lib.models.loading import ModelError, pretrained, quiet, weights

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

        self.labels = list(labels)
        if len(set(self.labels)) < max(2, len(self.labels)):
            raise ModelError(
                f"{len(set(self.labels))} different classes among {len(self.labels)}",
                "classifier",
                "Give at least two classes, each once.",
            )
        self._index = {label: index for index, label in enumerate(self.labels)}
        self.tokenizer: Any = pretrained(AutoTokenizer, init_model)
        self.module: Any = weights(
            AutoModelForSequenceClassification,
            init_model,
            NEW_CLASSIFIER,
            num_labels=len(self.labels),
            id2label=dict(enumerate(self.labels)),
            label2id=self._index,
        )

    def index_of(self, document: Document) -> int:
        """Place of a document's class among the labels."""
        if document.label not in self._index:
            raise ModelError(
                f"the label {document.label!r} is none of the {len(self.labels)} classes",
                f"document {document.id}",
                "Give every class of the data when the classifier is made.",
            )
        return self._index[document.label]

    def example(self, record: Document) -> dict[str, Any]:
        ids = self.tokenizer(well_formed(reveal(record.text)), truncation=True, max_length=MAX_TOKENS)
        return {"input_ids": ids["input_ids"], "labels": self.index_of(record)}

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        import torch

        inputs = [{"input_ids": example["input_ids"]} for example in examples]
        batch: dict[str, torch.Tensor] = dict(self.tokenizer.pad(inputs, return_tensors="pt"))
        batch["labels"] = torch.tensor([example["labels"] for example in examples])
        return batch

    def measure(self, records: Sequence[Document]) -> dict[str, float]:
        """Share of documents whose likeliest class is theirs."""
        truth = np.array([self.index_of(record) for record in records])
        return {"accuracy": float((self.logits(records).argmax(axis=1) == truth).mean())}

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Scores of each class, shape (documents, classes), in the documents' order."""
        import torch

        texts = [well_formed(reveal(record.text)) for record in records]
        encoded = self.tokenizer(texts, truncation=True, max_length=MAX_TOKENS)["input_ids"]
        device = next(self.module.parameters()).device
        result = np.empty((len(texts), len(self.labels)))
        was_training = self.module.training
        self.module.eval()
        with (
            torch.inference_mode(),
            torch.autocast("cuda", torch.bfloat16, enabled=device.type == "cuda"),
        ):
            for batch in buckets([len(ids) for ids in encoded], batch_size_for(device)):
                inputs = self.tokenizer.pad(
                    [{"input_ids": encoded[index]} for index in batch], return_tensors="pt"
                )
                result[batch] = self.module(**inputs.to(device)).logits.double().cpu().numpy()
        self.module.train(was_training)
        return result

    def save(self, folder: str | Path) -> None:
        """Write safetensors weights, configuration with the labels, and tokenizer."""
        with quiet():
            self.module.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
