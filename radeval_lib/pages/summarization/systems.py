"""Summarization systems as a profile names them: each made, and trained where it can learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ParameterError
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.naming import title
from radeval_lib.models.summarizers.base import Summarizer
from radeval_lib.models.summarizers.extractive import ClusterExtractor, LeadSentences, SentenceSelector
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.wording import joined

Kind = Literal["lead", "clusters", "selector", "pointer", "seq2seq", "encoder_decoder"]


class System(BaseModel, extra="forbid", frozen=True):
    """One system of a profile."""

    kind: Kind
    start: str = ""
    settings: dict[str, Any] = {}
    training: dict[str, Any] = {}

    @property
    def learns(self) -> bool:
        """Whether it is trained, so that what it is trained on matters."""
        return self.kind not in ("lead", "clusters")

    @property
    def needs_vectors(self) -> bool:
        """Whether it reads sentences through an encoder."""
        return self.kind in ("clusters", "selector")


def described(systems: Mapping[str, System], encoder: str) -> str:
    """Systems by name, each with what it starts from or, if it reads by vectors, whose; ``encoder``: as a
    profile names it."""

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
    """A system trained on ``train_set``, its epoch or threshold chosen on ``dev`` by ROUGE-L; a training that
    takes long keeps its last checkpoint in ``folder``."""
    own = system.settings
    try:
        if system.kind == "lead":
            return LeadSentences(**own)
        if system.needs_vectors:
            assert encoder is not None
            if system.kind == "clusters":
                return ClusterExtractor(encoder.encode, seed=seed, **own)
            return SentenceSelector(encoder.encode, **own).fit(train_set, dev)
        task = _task(system, train_set, seed, device)
        given = {"measure": "rouge_l", **system.training, "seed": seed, "device": device}
        train(task, train_set, dev, TrainingSettings(**given), folder=folder)
        return task
    except TypeError as error:
        raise ParameterError(
            f"a setting does not exist: {error}", f"systems, {system.kind}", "Correct it in the profile."
        ) from error


def _task(system: System, train_set: Sequence[ReportPair], seed: int, device: str) -> Any:
    if system.kind == "pointer":
        from radeval_lib.models.summarizers.pointer import PointerSettings, PointerSummarizer

        return PointerSummarizer(train_set, PointerSettings(**system.settings), seed=seed)
    from radeval_lib.models.summarizers.seq2seq import Seq2SeqSettings, Seq2SeqSummarizer, encoder_decoder

    if not system.start:
        raise ParameterError(
            f"a system of kind {system.kind!r} has no model to start from", "systems", "Give `start`."
        )
    own = dict(system.settings)
    if system.kind == "encoder_decoder":
        layers, trimmed = own.pop("layers", None), own.pop("trimmed", False)
        texts = [reveal(text) for pair in train_set for text in (pair.findings, pair.impression)]
        keep = texts if trimmed else None
        model, tokenizer = encoder_decoder(system.start, layers=layers, keep=keep, seed=seed)
        return Seq2SeqSummarizer(model, tokenizer, Seq2SeqSettings(**own), device=device)
    return Seq2SeqSummarizer.load(system.start, Seq2SeqSettings(**own) if own else None, device=device)
