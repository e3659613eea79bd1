"""Recognisers as a task of the one trainer, and what opens a trained one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from radeval_lib.data.records import AnnotatedSentence
from radeval_lib.models.ner.entities import EntityAgreement, agreement, gold_spans, plain_words
from radeval_lib.models.ner.iob import IobScheme, IobTagger, Scheme
from radeval_lib.models.ner.span_scheme import SETTINGS, SpanScheme, SpanSettings, SpanTagger
from radeval_lib.models.pretrained import ModelError

if TYPE_CHECKING:
    import torch

SchemeName = Literal["iob", "span"]


def scheme_of(name: SchemeName, init_model: str | Path, seed: int = 0, **head: Any) -> Scheme:
    """A scheme to train, its new layers drawn from ``seed``; ``head`` are fields of :class:`SpanSettings`."""
    import torch

    torch.manual_seed(seed)
    if name == "iob":
        return IobScheme(init_model)
    if name == "span":
        return SpanScheme(init_model, SpanSettings(**head))
    raise ModelError(f"unknown scheme {name!r}", "scheme", "Choices: iob, span.")


def evaluate(scheme: Scheme, sentences: Sequence[AnnotatedSentence]) -> EntityAgreement:
    """Strict agreement of a tagger with annotated sentences, whole and by type."""
    words = [plain_words(sentence) for sentence in sentences]
    return agreement(list(map(gold_spans, sentences)), scheme.predict(words), list(map(len, words)))


class TaggingTask:
    """Trains a tagging scheme on annotated sentences (a :class:`~radeval_lib.models.training.Task`); strict
    span F1, ``f1``, chooses the epoch."""

    new_layers = ("head.", "classifier.")

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self.module = scheme.module

    def example(self, record: AnnotatedSentence) -> dict[str, Any]:
        return self.scheme.example(plain_words(record), gold_spans(record))

    def collate(self, examples: Sequence[dict[str, Any]]) -> dict[str, torch.Tensor]:
        return self.scheme.collate(examples)

    def measure(self, records: Sequence[AnnotatedSentence]) -> dict[str, float]:
        """Micro F1, precision and recall of strict spans, and accuracy of words' labels."""
        found = evaluate(self.scheme, records)
        measures = {name: float(getattr(found.overall, name)) for name in ("f1", "precision", "recall")}
        return {**measures, "accuracy": found.accuracy}

    def save(self, folder: str | Path) -> None:
        self.scheme.save(folder)


def open_tagger(model: str | Path, *, decoding: str, device: str = "auto") -> Any:
    """The tagger of a folder or hub name: of spans if this library saved one there, else of tokens."""
    if (Path(model) / SETTINGS).is_file():
        return SpanTagger(model, device=device)
    return IobTagger(model, decoding=decoding, device=device)  # type: ignore[arg-type]
