"""The jobs of MIMIC-RRS and of RaLEs' summarization: systems as a profile names them, trained on pairs of
modality and anatomy as the papers name them, on all pairs together, and on one corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, model_validator

from radeval_lib.data.records import ReportPair
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ParameterError
from radeval_lib.models.catalog import title
from radeval_lib.models.encoders import Encoder
from radeval_lib.models.extractive_summarizers import (
    ClusterExtractor,
    LeadSentences,
    SentenceSelector,
    Summarizer,
)
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.study.jobs import Job
from radeval_lib.study.profiles import Profile, Size
from radeval_lib.text_format import joined

NOTEBOOK = "summarization/training"
RALES_NOTEBOOK = "rales/nlg_training"
ALL = "ALL"
"""Trained on every pair together, as the paper calls it."""

EVERY = "all"
"""Every system of the profile, in one job."""

EACH = "each"
"""Trained on every pair in turn, in one job."""
TRAINED = ("CT Abdomen-pelvis", "CT Chest", "CT Neck", "CT Spine", "CT Head", "MR Head", "X-ray Chest")
"""The pairs that MIMIC-RRS trains (Chen et al. 2023, section 2.2)."""

UNSEEN = ("MR Pelvis", "MR Spine", "MR Neck", "MR Abdomen", "CT Sinus")
"""Its pairs for tests out of domain."""

PARTS = ("train", "dev", "test")
_SPLITS = {"validate": "dev", "val": "dev", "valid": "dev", "development": "dev"}
_MODALITIES = {"mri": "MR", "mr": "MR", "ct": "CT", "x-ray": "X-ray"}
_SHARES = (0.8, 0.9)
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
        """Whether the system is trained, so that its training set matters."""
        return self.kind not in ("lead", "clusters")

    @property
    def needs_vectors(self) -> bool:
        """Whether it reads sentences through an encoder."""
        return self.kind in ("clusters", "selector")


class SummarizationSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``summarization`` of a profile's ``experiments``.

    Attributes
    ----------
    systems, rales_systems : by name, for pairs of modality and anatomy and for RaLEs' one corpus.
    shown, smaller, larger : of ``systems`` the one that the pages show, and two of one kind and unequal size.
    reports_a_pair, dev_a_pair, rales_reports, rales_dev : reports drawn for training and validation; 0: all.
    limit_reports : generated reports whose candidates are scored.
    seeds : trainings per system and training set, with the run's seed and those after it; 0 counts as 1.
    grouped : whether each job trains many systems.
    """

    systems: dict[str, System]
    rales_systems: dict[str, System]
    shown: str
    smaller: str
    larger: str
    reports_a_pair: Size
    dev_a_pair: Size
    rales_reports: Size
    rales_dev: Size
    limit_reports: Size
    seeds: Size
    grouped: bool

    @model_validator(mode="after")
    def _of_known_systems(self) -> SummarizationSettings:
        for name in ("shown", "smaller", "larger"):
            if (system := getattr(self, name)) not in self.systems:
                raise ValueError(f"{name} is {system!r}; systems are {', '.join(self.systems)}")
        return self


def settings(profile: Profile) -> SummarizationSettings:
    """Return the profile's settings for this system."""
    return profile.section("summarization", SummarizationSettings)


def training_sets(train_set: str) -> list[str]:
    """Return the training sets that a job's parameter ``train_set`` names."""
    if train_set == EACH:
        return list(TRAINED)
    if train_set != ALL and train_set not in TRAINED:
        remedy = f"Use one of {', '.join((*TRAINED, ALL, EACH))}."
        raise ParameterError(f"no training set {train_set!r}", "train_set", remedy)
    return [train_set]


def chosen_systems(profile: Profile, system: str, *, rales: bool = False) -> dict[str, System]:
    """Return the systems that a job's parameter ``system`` names: one, or :data:`EVERY`."""
    section = settings(profile)
    systems = section.rales_systems if rales else section.systems
    if system == EVERY:
        return systems
    if system not in systems:
        raise ParameterError(f"no system {system!r}", "system", f"Use one of {', '.join(systems)}.")
    return {system: systems[system]}


def job_list(profile: Profile) -> list[Job]:
    """Return every training."""
    section = settings(profile)
    if section.grouped:
        sets = [(ALL, EVERY), (EACH, EVERY)]
        corpora = [EVERY]
    else:
        learn = [name for name, system in section.systems.items() if system.learns]
        rest = [name for name, system in section.systems.items() if not system.learns]
        sets = [(train_set, name) for name in learn for train_set in (ALL, *TRAINED)]
        sets += [(ALL, name) for name in rest]
        corpora = list(section.rales_systems)
    return [
        *(Job.of(NOTEBOOK, train_set=train_set, system=name) for train_set, name in sets),
        *(Job.of(RALES_NOTEBOOK, system=name) for name in corpora),
    ]


def pair_name(group: str) -> str:
    """Return a group's name as the paper writes the pair: ``MRI HEAD`` and ``MR_head`` are ``MR Head``."""
    modality, _, anatomy = group.replace("_", " ").partition(" ")
    return f"{_MODALITIES.get(modality.lower(), modality)} {anatomy.capitalize()}".strip()


def name_groups(records: Sequence[ReportPair]) -> list[ReportPair]:
    """Return the records with each group named as the paper names the pair."""
    return [replace(record, group=pair_name(record.group)) for record in records]


def by_group(records: Sequence[ReportPair]) -> dict[str, list[ReportPair]]:
    """Return the records of each group; groups and records keep their order."""
    names = dict.fromkeys(record.group for record in records)
    return {name: [record for record in records if record.group == name] for name in names}


def split_records(records: Sequence[ReportPair], rng: np.random.Generator) -> dict[str, list[ReportPair]]:
    """Return the records by part: ``train``, ``dev`` and ``test``.

    A record keeps the split that its source gives. If no record has one, a tenth of the patients (of the
    records if their source hides patients) is drawn for dev and another for test. If only some have
    one, the others are a source apart, and are for test.
    """
    parts: dict[str, list[ReportPair]] = {part: [] for part in PARTS}
    apart = any(record.split for record in records)
    owners = list(dict.fromkeys(r.patient or r.id for r in records if not r.split))
    places = dict(zip(owners, rng.permutation(len(owners)) / max(1, len(owners)), strict=True))
    for record in records:
        part = _SPLITS.get(record.split, record.split)
        if not part and apart:
            part = "test"
        elif not part:
            part = PARTS[int(np.searchsorted(_SHARES, places[record.patient or record.id], side="right"))]
        if part not in parts:
            remedy = f"Use one of {', '.join(PARTS)}."
            raise ParameterError(f"unknown split {record.split!r}", f"record {record.id}", remedy)
        parts[part].append(record)
    return parts


def sample_records(
    records: Sequence[ReportPair], each: int, rng: np.random.Generator, *, whole: bool = False
) -> list[ReportPair]:
    """Return ``each`` records of every group, or of the ``whole``, drawn without replacement. All are
    returned if there are no more, or if ``each`` is 0."""
    chosen: list[ReportPair] = []
    for members in [list(records)] if whole else by_group(records).values():
        if each and len(members) > each:
            members = [members[index] for index in sorted(rng.choice(len(members), each, replace=False))]
        chosen += members
    return chosen


def describe_systems(systems: Mapping[str, System], encoder: str) -> str:
    """Return systems by name, each with its starting point or, if it reads vectors, their encoder.
    ``encoder`` is named as in a profile."""

    def basis(system: System) -> str:
        if system.needs_vectors:
            return f" over vectors of {title(encoder)}"
        if system.start:
            return f" from {title(system.start)}"
        return " from random weights" if system.learns else ""

    return joined([f"{name}{basis(system)}" for name, system in systems.items()])


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
    """Return a system trained on ``train_set``, with the epoch or threshold chosen on ``dev`` by ROUGE-L. A
    long training keeps its last checkpoint in ``folder``. ``encoder`` is for systems that read vectors."""
    if system.kind == "lead":
        return LeadSentences(**system.settings)
    if system.needs_vectors:
        assert encoder is not None
        if system.kind == "clusters":
            return ClusterExtractor(encoder.encode, seed=seed, **system.settings)
        return SentenceSelector(encoder.encode, **system.settings).fit(train_set, dev)
    settings = {"measure": "rouge_l", **system.training, "seed": seed, "device": device}
    task = _task(system, train_set, seed, device)
    train(task, train_set, dev, TrainingSettings(**settings), folder=folder)
    return task


def _task(system: System, train_set: Sequence[ReportPair], seed: int, device: str) -> Any:
    if system.kind == "pointer":
        from radeval_lib.models.pointer_summarizer import PointerSettings, PointerSummarizer

        return PointerSummarizer(train_set, PointerSettings(**system.settings), seed=seed)
    from radeval_lib.models.seq2seq_summarizer import Seq2SeqSettings, Seq2SeqSummarizer, encoder_decoder

    given = {key: value for key, value in system.settings.items() if key not in ("layers", "trimmed")}
    settings = Seq2SeqSettings(**given)
    if system.kind == "seq2seq":
        return Seq2SeqSummarizer.load(system.start, settings if given else None, device=device)
    texts = [reveal(text) for pair in train_set for text in (pair.findings, pair.impression)]
    keep = texts if system.settings.get("trimmed") else None
    layers = system.settings.get("layers")
    model, tokenizer = encoder_decoder(system.start, layers=layers, keep=keep, seed=seed)
    return Seq2SeqSummarizer(model, tokenizer, settings, device=device)
