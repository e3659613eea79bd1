"""Jobs that train summarizers for MIMIC-RRS and RaLEs, and their settings.

For MIMIC-RRS, each system is trained on every pair of modality and anatomy and on all pairs together; for
RaLEs, on one corpus.
"""

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
from radeval_lib.models.catalog import format_title
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
"""The training set of all pairs of modality and anatomy together, as the paper calls it."""

EVERY = "all"
"""Parameter of a job that trains every system of the profile."""

EACH = "each"
"""Parameter of a job that trains on every pair of modality and anatomy in turn."""
TRAINED = ("CT Abdomen-pelvis", "CT Chest", "CT Neck", "CT Spine", "CT Head", "MR Head", "X-ray Chest")
"""The pairs of modality and anatomy that MIMIC-RRS trains on (Chen et al. 2023, Section 2.2)."""

UNSEEN = ("MR Pelvis", "MR Spine", "MR Neck", "MR Abdomen", "CT Sinus")
"""The pairs that MIMIC-RRS uses only for out-of-domain tests."""

PARTS = ("train", "dev", "test")
_SPLITS = {"validate": "dev", "val": "dev", "valid": "dev", "development": "dev"}
_MODALITIES = {"mri": "MR", "mr": "MR", "ct": "CT", "x-ray": "X-ray"}
_SHARES = (0.8, 0.9)
Kind = Literal["lead", "clusters", "selector", "pointer", "seq2seq", "encoder_decoder"]


class System(BaseModel, extra="forbid", frozen=True):
    """A summarization system of a profile.

    Attributes
    ----------
    kind : the method; ``lead`` and ``clusters`` are not trained.
    start : folder or hub name of the model that a ``seq2seq`` or ``encoder_decoder`` starts from.
    settings : arguments of the method's class; for an ``encoder_decoder``, also ``layers`` (number to keep)
        and ``trimmed`` (whether to keep only the vocabulary of the training texts).
    training : settings of :class:`~radeval_lib.models.training.TrainingSettings`.
    """

    kind: Kind
    start: str = ""
    settings: dict[str, Any] = {}
    training: dict[str, Any] = {}

    @model_validator(mode="after")
    def _has_its_start(self) -> System:
        """Raise a ValueError if the kind needs a model to start from but has none."""
        if self.kind in ("seq2seq", "encoder_decoder") and not self.start:
            raise ValueError(f"a system of kind {self.kind!r} has no model to start from; set `start`")
        return self

    @property
    def learns(self) -> bool:
        """Whether the system is trained."""
        return self.kind not in ("lead", "clusters")

    @property
    def needs_vectors(self) -> bool:
        """Whether the system needs sentence vectors of an encoder."""
        return self.kind in ("clusters", "selector")


class SummarizationSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``summarization`` of a profile's ``experiments``.

    Attributes
    ----------
    systems, rales_systems : systems by name, for MIMIC-RRS and for RaLEs.
    shown, smaller, larger : names in ``systems``: the system that pages show, and two of the same kind but
        different size.
    reports_a_pair, dev_a_pair : number of reports for training and validation per pair of modality and
        anatomy; 0 for all.
    rales_reports, rales_dev : the same for RaLEs' corpus.
    limit_reports : number of generated reports on the page about the limits of metrics.
    seeds : number of trainings per system and training set, with the run's seed and the following ones; 0
        counts as 1.
    grouped : whether a job trains several systems.
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
        """Raise a ValueError if a system that pages show is not in ``systems``."""
        for name in ("shown", "smaller", "larger"):
            if (system := getattr(self, name)) not in self.systems:
                raise ValueError(f"{name} is {system!r}; systems are {', '.join(self.systems)}")
        return self


def settings(profile: Profile) -> SummarizationSettings:
    """Return the section ``summarization`` of a profile; raises ProfileError if it is missing or
    malformed."""
    return profile.section("summarization", SummarizationSettings)


def resolve_train_set(train_set: str) -> list[str]:
    """Return the names of the training sets that the parameter ``train_set`` of a job stands for.

    For ``each``, these are all of :data:`TRAINED`; otherwise it is the one with this name. Raises
    ParameterError for an unknown training set.
    """
    if train_set == EACH:
        return list(TRAINED)
    if train_set != ALL and train_set not in TRAINED:
        remedy = f"Use one of {', '.join((*TRAINED, ALL, EACH))}."
        raise ParameterError(f"no training set {train_set!r}", "train_set", remedy)
    return [train_set]


def resolve_systems(profile: Profile, system: str, *, rales: bool = False) -> dict[str, System]:
    """Return the systems, by name, that a job's parameter stands for: one, or every one for ``all``.

    ``rales`` chooses the systems of RaLEs. Raises ParameterError for an unknown system.
    """
    section = settings(profile)
    systems = section.rales_systems if rales else section.systems
    if system == EVERY:
        return systems
    if system not in systems:
        raise ParameterError(f"no system {system!r}", "system", f"Use one of {', '.join(systems)}.")
    return {system: systems[system]}


def job_list(profile: Profile) -> list[Job]:
    """Return the training jobs of MIMIC-RRS, then those of RaLEs.

    A system without training has one job. If ``grouped``, one job trains all systems on all pairs together,
    one on each pair in turn, and one on RaLEs' corpus.
    """
    section = settings(profile)
    if section.grouped:
        sets = [(ALL, EVERY), (EACH, EVERY)]
        corpora = [EVERY]
    else:
        trained = [name for name, system in section.systems.items() if system.learns]
        untrained = [name for name, system in section.systems.items() if not system.learns]
        sets = [(train_set, name) for name in trained for train_set in (ALL, *TRAINED)]
        sets += [(ALL, name) for name in untrained]
        corpora = list(section.rales_systems)
    return [
        *(Job.of(NOTEBOOK, train_set=train_set, system=name) for train_set, name in sets),
        *(Job.of(RALES_NOTEBOOK, system=name) for name in corpora),
    ]


def name_pair(group: str) -> str:
    """Return the paper's name of a pair of modality and anatomy, such as ``MR Head`` for ``MR_head``."""
    modality, _, anatomy = group.replace("_", " ").partition(" ")
    return f"{_MODALITIES.get(modality.lower(), modality)} {anatomy.capitalize()}".strip()


def name_groups(records: Sequence[ReportPair]) -> list[ReportPair]:
    """Return the records with the paper's name of their pair (:func:`name_pair`) as their group."""
    return [replace(record, group=name_pair(record.group)) for record in records]


def group_records(records: Sequence[ReportPair]) -> dict[str, list[ReportPair]]:
    """Return the records by group. Groups are in order of appearance, and records keep their order."""
    names = dict.fromkeys(record.group for record in records)
    return {name: [record for record in records if record.group == name] for name in names}


def split_records(records: Sequence[ReportPair], rng: np.random.Generator) -> dict[str, list[ReportPair]]:
    """Return the records by part: ``train``, ``dev`` and ``test``.

    A record keeps the split of its source. If no record has a split, a random tenth of the patients (of the
    records, if patients are unknown) is for dev and another for test. If only some have a split, the others
    are for test. Raises ParameterError for an unknown split.
    """
    parts: dict[str, list[ReportPair]] = {part: [] for part in PARTS}
    any_split = any(record.split for record in records)
    owners = list(dict.fromkeys(r.patient or r.id for r in records if not r.split))
    positions = dict(zip(owners, rng.permutation(len(owners)) / max(1, len(owners)), strict=True))
    for record in records:
        part = _SPLITS.get(record.split, record.split)
        if not part and any_split:
            part = "test"
        elif not part:
            position = positions[record.patient or record.id]
            part = PARTS[int(np.searchsorted(_SHARES, position, side="right"))]
        if part not in parts:
            remedy = f"Use one of {', '.join(PARTS)}."
            raise ParameterError(f"unknown split {record.split!r}", f"record {record.id}", remedy)
        parts[part].append(record)
    return parts


def sample_records(
    records: Sequence[ReportPair], each: int, rng: np.random.Generator, *, whole: bool = False
) -> list[ReportPair]:
    """Return a random sample of ``each`` records per group, or of all records together if ``whole``.

    Records keep their order. If ``each`` is 0, or a group has fewer records, all of them are returned.
    """
    chosen: list[ReportPair] = []
    for members in [list(records)] if whole else group_records(records).values():
        if each and len(members) > each:
            members = [members[index] for index in sorted(rng.choice(len(members), each, replace=False))]
        chosen += members
    return chosen


def describe_systems(systems: Mapping[str, System], encoder: str) -> str:
    """Return a list of systems in words, each with the model that it starts from or whose vectors it uses.

    ``encoder`` is the folder or hub name of the encoder, as in a profile.
    """

    def describe_basis(system: System) -> str:
        if system.needs_vectors:
            return f" over vectors of {format_title(encoder)}"
        if system.start:
            return f" from {format_title(system.start)}"
        return " from random weights" if system.learns else ""

    return joined([f"{name}{describe_basis(system)}" for name, system in systems.items()])


def fit_model(
    system: System,
    train_set: Sequence[ReportPair],
    dev: Sequence[ReportPair],
    *,
    seed: int,
    encoder: Encoder | None = None,
    device: str = "auto",
    folder: Path | None = None,
) -> Summarizer:
    """Return a system trained on ``train_set``, with the epoch or threshold chosen on ``dev`` by ROUGE-L.

    Parameters
    ----------
    encoder : the encoder of sentences; required if ``system.needs_vectors``.
    device : ``auto``, ``cpu`` or ``cuda``.
    folder : where the last checkpoint is kept, so that an interrupted training can be resumed; None for
        nowhere.
    """
    if system.kind == "lead":
        return LeadSentences(**system.settings)
    if system.needs_vectors:
        assert encoder is not None
        if system.kind == "clusters":
            return ClusterExtractor(encoder.encode, seed=seed, **system.settings)
        return SentenceSelector(encoder.encode, **system.settings).fit(train_set, dev)
    settings = {"measure": "rouge_l", **system.training, "seed": seed, "device": device}
    summarizer = _new_summarizer(system, train_set, seed, device)
    train(summarizer, train_set, dev, TrainingSettings(**settings), folder=folder)
    return summarizer


def _new_summarizer(system: System, train_set: Sequence[ReportPair], seed: int, device: str) -> Any:
    """Return the untrained model of a ``pointer``, ``seq2seq`` or ``encoder_decoder`` system."""
    if system.kind == "pointer":
        from radeval_lib.models.pointer_summarizer import PointerSettings, PointerSummarizer

        return PointerSummarizer(train_set, PointerSettings(**system.settings), seed=seed)
    from radeval_lib.models.seq2seq_summarizer import Seq2SeqSettings, Seq2SeqSummarizer, encoder_decoder

    arguments = {key: value for key, value in system.settings.items() if key not in ("layers", "trimmed")}
    settings = Seq2SeqSettings(**arguments)
    if system.kind == "seq2seq":
        return Seq2SeqSummarizer.load(system.start, settings if arguments else None, device=device)
    texts = [reveal(text) for pair in train_set for text in (pair.findings, pair.impression)]
    keep = texts if system.settings.get("trimmed") else None
    layers = system.settings.get("layers")
    model, tokenizer = encoder_decoder(system.start, layers=layers, keep=keep, seed=seed)
    return Seq2SeqSummarizer(model, tokenizer, settings, device=device)
