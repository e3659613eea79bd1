"""Linear probes of the tasks: documents by their first token, words by their first piece.

The graph tasks have no such probe: RaLEs trains their graph layers with the encoder frozen, and so does
:mod:`radeval_lib.pages.rales.fitting`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib.data.records import AnnotatedSentence, Document
from radeval_lib.data.restricted import reveal
from radeval_lib.models.classifiers import FrozenEncoder, Probe, fit_probe
from radeval_lib.models.ner.entities import agreement, decode_standard, gold_spans, iob, plain_words
from radeval_lib.pages.rales.tasks import (
    Parts,
    ProcedureBenchmark,
    TaggingBenchmark,
    document_counts,
    tagging_counts,
)


class ProbedDocuments:
    """A probe that classifies documents."""

    def __init__(self, task: ProcedureBenchmark, encoder: str | Path, parts: Parts, *, device: str) -> None:
        self._encoder, self._labels = _encoder(str(encoder), device), task.labels(parts)
        self._probe: Probe | None = None

    def fit(self, parts: Parts, penalty: float) -> float:
        """Solve the probe on the training documents; its accuracy on validation."""
        targets = [row.label for row in parts.train]
        self._probe = fit_probe(self._features(parts.train), targets, self._labels, penalty)
        truth = np.array([self._labels.index(row.label) for row in parts.dev])
        return float((self.logits(parts.dev).argmax(axis=1) == truth).mean())

    def logits(self, records: Sequence[Document]) -> NDArray[np.float64]:
        """Logarithms of probabilities, shape (documents, classes)."""
        assert self._probe is not None, "fit first"
        return self._probe.logits(self._features(records))

    def counts(self, records: Sequence[Document]) -> pd.DataFrame:
        found = [self._labels[index] for index in self.logits(records).argmax(axis=1)]
        return document_counts(records, found)

    def _features(self, records: Sequence[Document]) -> NDArray[np.float32]:
        return self._encoder.of_texts([reveal(row.text).split() for row in records])


class ProbedWords:
    """A probe that gives each word its label of the IOB scheme, each by itself."""

    def __init__(self, task: TaggingBenchmark, encoder: str | Path, parts: Parts, *, device: str) -> None:
        self._encoder = _encoder(str(encoder), device)
        self._labels = ["O", *(f"{prefix}-{kind}" for kind in task.labels(parts) for prefix in "BI")]
        self._probe: Probe | None = None

    def fit(self, parts: Parts, penalty: float) -> float:
        """Solve the probe on the training words; the micro F1 of its spans on validation."""
        features = np.concatenate(self._encoder.of_words([plain_words(row) for row in parts.train]))
        targets = [label for row in parts.train for label in iob(gold_spans(row), len(row.tokens))]
        self._probe = fit_probe(features, targets, self._labels, penalty)
        found = self._predicted(parts.dev)
        lengths = [len(row.tokens) for row in parts.dev]
        return agreement([gold_spans(row) for row in parts.dev], found, lengths).overall.f1

    def counts(self, records: Sequence[AnnotatedSentence]) -> pd.DataFrame:
        return tagging_counts(records, self._predicted(records))

    def _predicted(self, records: Sequence[AnnotatedSentence]) -> list[list[tuple[int, int, str]]]:
        assert self._probe is not None, "fit first"
        found = []
        for vectors in self._encoder.of_words([plain_words(row) for row in records]):
            labels = self._probe.predict(vectors)
            spans = decode_standard(labels, [False] * len(labels))
            found.append([(span.start, span.end + 1, span.type) for span in spans])
        return found


@lru_cache(maxsize=1)
def _encoder(name: str, device: str) -> FrozenEncoder:
    """The last one is kept: the trials of a search share it."""
    return FrozenEncoder(name, device=device)


def probe_for(task: Any) -> Callable[..., ProbedDocuments | ProbedWords] | None:
    """The probe of a task, or None where the encoder is frozen below the task's own layers."""
    if isinstance(task, ProcedureBenchmark):
        return ProbedDocuments
    return ProbedWords if isinstance(task, TaggingBenchmark) else None
