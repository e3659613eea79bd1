"""What every tagging scheme is: a task of the trainer that finds entities in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from radeval_lib.data.iob_tags import WordSpan
from radeval_lib.data.records import AnnotatedSentence, plain_words
from radeval_lib.models.ner.entities import gold_spans, span_scores

if TYPE_CHECKING:
    import torch


class Scheme:
    """A tagging scheme, to be trained on annotated sentences (a :class:`~radeval_lib.models.training.Task`);
    strict span F1, ``f1``, chooses the epoch."""

    new_layers = ("head.", "classifier.")
    module: Any

    def encoded(self, words: Sequence[str], spans: Sequence[WordSpan]) -> dict[str, Any]:
        """Return a sentence as the numbers that the module takes; words beyond its reach are cut."""
        raise NotImplementedError

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        """Return a padded batch."""
        raise NotImplementedError

    def predict(self, sentences: Sequence[Sequence[str]]) -> list[list[WordSpan]]:
        """Return the entities of sentences that are given as words."""
        raise NotImplementedError

    def save(self, folder: str | Path) -> None:
        """Write safetensors weights, configuration and tokenizer."""
        raise NotImplementedError

    def example(self, record: AnnotatedSentence) -> dict[str, Any]:
        return self.encoded(plain_words(record), gold_spans(record))

    def measure(self, records: Sequence[AnnotatedSentence]) -> dict[str, float]:
        """Return micro F1, precision and recall of strict spans, and accuracy of words' labels."""
        words = list(map(plain_words, records))
        scores = span_scores(list(map(gold_spans, records)), self.predict(words), list(map(len, words)))
        measures = {name: float(getattr(scores.spans, name)) for name in ("f1", "precision", "recall")}
        return {**measures, "accuracy": scores.accuracy}
