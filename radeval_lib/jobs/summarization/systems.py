"""Summarization systems as a profile names them: each made, and trained where it can learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, model_validator

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ParameterError
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.names import title
from radeval_lib.models.summarizers.extractive import (
    ClusterExtractor,
    LeadSentences,
    SentenceSelector,
    Summarizer,
)
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.text_format import joined

Made = TypeVar("Made")
Kind = Literal["lead", "clusters", "selector", "pointer", "seq2seq", "encoder_decoder"]


class System(BaseModel, extra="forbid", frozen=True):
    """One system of a profile.

    Attributes
    ----------
    kind : ``lead`` and ``clusters`` learn nothing.
    start : folder or hub name of the model that a ``seq2seq`` or ``encoder_decoder`` starts from.
    settings : of the kind's class; an encoder-decoder also takes ``layers`` and ``trimmed``.
    training : of :class:`~radeval_lib.models.training.TrainingSettings`.
    """

    kind: Kind
    start: str = ""
    settings: dict[str, Any] = {}
    training: dict[str, Any] = {}

    @model_validator(mode="after")
    def _has_its_start(self) -> System:
        if self.kind in ("seq2seq", "encoder_decoder") and not self.start:
            raise ValueError(f"a system of kind {self.kind!r} has no model to start from; give `start`")
        return self

    @property
    def learns(self) -> bool:
        """Whether it is trained, so that what it is trained on matters."""
        return self.kind not in ("lead", "clusters")

    @property
    def needs_vectors(self) -> bool:
        """Whether it reads sentences through an encoder."""
        return self.kind in ("clusters", "selector")


def described(systems: Mapping[str, System], encoder: str) -> str:
    """Return systems by name, each with what it starts from or, if it reads by vectors, whose; ``encoder``:
    as a profile names it."""

    def one(name: str, system: System) -> str:
        if system.needs_vectors:
            return f"{name} over vectors of {title(encoder)}"
        if system.start:
            return f"{name} from {title(system.start)}"
        return f"{name} from random weights" if system.learns else name

    return joined([one(*each) for each in systems.items()])


def make(
    system: System,
    train_set: Sequence[ReportPair],
    dev: Sequence[ReportPair],
    *,
    seed: int,
    encoder: Encoder | None = None,
    device: str = "auto",
    folder: Path | None = None,
) -> Summarizer:
    """Return a system trained on ``train_set``, its epoch or threshold chosen on ``dev`` by ROUGE-L; a
    training that takes long keeps its last checkpoint in ``folder``. A :class:`ParameterError` for a setting
    that does not exist, and where a system that reads by vectors has no encoder."""
    own = system.settings
    if system.kind == "lead":
        return _with_settings(system, LeadSentences, own)
    if system.needs_vectors:
        if encoder is None:
            raise ParameterError("no encoder to read by", f"systems, {system.kind}")
        if system.kind == "clusters":
            return _with_settings(system, partial(ClusterExtractor, encoder.encode, seed=seed), own)
        return _with_settings(system, partial(SentenceSelector, encoder.encode), own).fit(train_set, dev)
    given = {"measure": "rouge_l", **system.training, "seed": seed, "device": device}
    settings = _with_settings(system, TrainingSettings, given)
    task = _task(system, train_set, seed, device)
    train(task, train_set, dev, settings, folder=folder)
    return task


def _with_settings(system: System, made: Callable[..., Made], settings: Mapping[str, Any]) -> Made:
    """Return what takes settings, made with these; a :class:`ParameterError` for one that it does not
    take."""
    try:
        signature(made).bind(**settings)
    except TypeError as error:
        where = f"systems, {system.kind}"
        raise ParameterError(
            f"a setting does not exist: {error}", where, "Correct it in the profile."
        ) from error
    return made(**settings)


def _task(system: System, train_set: Sequence[ReportPair], seed: int, device: str) -> Any:
    if system.kind == "pointer":
        from radeval_lib.models.summarizers.pointer import PointerSettings, PointerSummarizer

        sizes = _with_settings(system, PointerSettings, system.settings)
        return PointerSummarizer(train_set, sizes, seed=seed)
    from radeval_lib.models.summarizers.seq2seq import Seq2SeqSettings, Seq2SeqSummarizer, encoder_decoder

    own = dict(system.settings)
    if system.kind == "encoder_decoder":
        layers, trimmed = own.pop("layers", None), own.pop("trimmed", False)
        texts = [reveal(text) for pair in train_set for text in (pair.findings, pair.impression)]
        keep = texts if trimmed else None
        settings = _with_settings(system, Seq2SeqSettings, own)
        model, tokenizer = encoder_decoder(system.start, layers=layers, keep=keep, seed=seed)
        return Seq2SeqSummarizer(model, tokenizer, settings, device=device)
    loaded = _with_settings(system, Seq2SeqSettings, own) if own else None
    return Seq2SeqSummarizer.load(system.start, loaded, device=device)
