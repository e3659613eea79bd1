"""Linear probes of the tasks: documents by their first token, words by their first piece.

The graph tasks have no such probe: RaLEs trains their graph layers with the encoder frozen, and so does
:mod:`notebooks.rales.fitting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radeval_lib.data import iob_tags
from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence, Document, plain_words
from radeval_lib.data.restricted import reveal
from radeval_lib.models.classifiers import FrozenEncoder, Probe, fit_probe
from radeval_lib.models.ner.entities import decode_standard, gold_spans, span_scores


class ProbedDocuments:
    """A probe that classifies documents."""

    _probe: Probe

    def __init__(self, encoder: str | Path, labels: Sequence[str], *, device: str) -> None:
        self._encoder, self.labels = _encoder(str(encoder), device), list(labels)

    def fit(self, train: Sequence[Document], dev: Sequence[Document], penalty: float) -> float:
        """Solve the probe on the training documents; its accuracy on validation."""
        self._probe = fit_probe(self._features(train), [row.label for row in train], self.labels, penalty)
        truth = np.array([self.labels.index(row.label) for row in dev])
        return float((self.logits(dev).argmax(axis=1) == truth).mean())

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Return logarithms of probabilities, shape (documents, classes)."""
        return self._probe.logits(self._features(records))

    def _features(self, records: Sequence[Document]) -> NDArray[np.float32]:
        return self._encoder.of_texts([reveal(row.text).split() for row in records])


class ProbedWords:
    """A probe that gives each word its label of the IOB scheme, each by itself."""

    _probe: Probe

    def __init__(self, encoder: str | Path, types: Sequence[str], *, device: str) -> None:
        self._encoder = _encoder(str(encoder), device)
        self._labels = ["O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI")]

    def fit(
        self, train: Sequence[AnnotatedSentence], dev: Sequence[AnnotatedSentence], penalty: float
    ) -> float:
        """Solve the probe on the training words; the micro F1 of its spans on validation."""
        features = np.concatenate(self._encoder.of_words([plain_words(row) for row in train]))
        targets = [label for row in train for label in iob_tags.encode(gold_spans(row), len(row.tokens))]
        self._probe = fit_probe(features, targets, self._labels, penalty)
        words = [plain_words(row) for row in dev]
        return span_scores(list(map(gold_spans, dev)), self.predict(words), list(map(len, words))).spans.f1

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """Return the entities of sentences that are given as words."""
        return [
            decode_standard(self._probe.predict(vectors)) for vectors in self._encoder.of_words(sentences)
        ]


@lru_cache(maxsize=1)
def _encoder(name: str, device: str) -> FrozenEncoder:
    """Return the last one is kept: the trials of a search share it."""
    return FrozenEncoder(name, device=device)
