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
"""The paper's name for the training set of all pairs of modality and anatomy."""

ALL_SYSTEMS = "all"
"""Value of a job's parameter ``system``: train every system of the profile."""

EACH_PAIR = "each"
"""Value of a job's parameter ``train_set``: train on every pair of modality and anatomy in turn."""
TRAINED = ("CT Abdomen-pelvis", "CT Chest", "CT Neck", "CT Spine", "CT Head", "MR Head", "X-ray Chest")
"""The pairs of modality and anatomy that MIMIC-RRS trains on (Chen et al. 2023, Section 2.2)."""

UNSEEN = ("MR Pelvis", "MR Spine", "MR Neck", "MR Abdomen", "CT Sinus")
"""The pairs that MIMIC-RRS uses only for out-of-domain tests."""

PARTS = ("train", "dev", "test")
_SPLITS = {"validate": "dev", "val": "dev", "valid": "dev", "development": "dev"}
_MODALITIES = {"mri": "MR", "mr": "MR", "ct": "CT", "x-ray": "X-ray"}
_SHARES = (0.8, 0.9)  # cumulative: of train, and of train and dev
Kind = Literal["lead", "clusters", "selector", "pointer", "seq2seq", "encoder_decoder"]


class System(BaseModel, extra="forbid", frozen=True):
    """A summarization system of a profile.

    Attributes
    ----------
    kind : the method; ``lead`` and ``clusters`` are not trained.
    start : folder, or name on the Hugging Face Hub, of the model that a ``seq2seq`` or ``encoder_decoder``
        starts from.
    settings : arguments of the method's class; for an ``encoder_decoder``, also ``layers`` (number of layers
        to keep) and ``trimmed`` (whether to keep only the vocabulary of the training texts).
    training : settings of :class:`~radeval_lib.models.training.TrainingSettings`.
    """

    kind: Kind
    start: str = ""
    settings: dict[str, Any] = {}
    training: dict[str, Any] = {}

    @model_validator(mode="after")
    def _check_start(self) -> System:
        """Raise a ValueError if the system needs a model to start from but has none."""
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
    systems, rales_systems : mappings from name to system, for MIMIC-RRS and for RaLEs.
    shown, smaller, larger : names in ``systems``: the system that pages show, and two systems of the same
        kind but different sizes.
    reports_a_pair, dev_a_pair : numbers of reports for training and for validation per pair of modality and
        anatomy; 0 for all.
    rales_reports, rales_dev : the same two numbers for the RaLEs corpus.
    limit_reports : number of generated reports on the page about the limits of metrics.
    seeds : number of training runs per system and training set, with consecutive seeds from the run's seed
        on; 0 counts as 1.
    grouped : whether one job trains several systems.
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
    def _check_names(self) -> SummarizationSettings:
        """Raise a ValueError if a system that pages show is not in ``systems``."""
        for name in ("shown", "smaller", "larger"):
            if (system := getattr(self, name)) not in self.systems:
                raise ValueError(f"{name} is {system!r}; use one of {', '.join(self.systems)}")
        return self


def settings(profile: Profile) -> SummarizationSettings:
    """Return the section ``summarization`` of a profile; raises ProfileError if it is missing or
    malformed."""
    return profile.section("summarization", SummarizationSettings)


def resolve_train_set(train_set: str) -> list[str]:
    """Return the names of the training sets that a job's parameter ``train_set`` selects.

    The names are all of :data:`TRAINED` for ``each``, otherwise ``train_set`` alone. Raises ParameterError
    for an unknown training set.
    """
    if train_set == EACH_PAIR:
        return list(TRAINED)
    if train_set != ALL and train_set not in TRAINED:
        remedy = f"Use one of {', '.join((*TRAINED, ALL, EACH_PAIR))}."
        raise ParameterError(f"no training set {train_set!r}", "train_set", remedy)
    return [train_set]


def resolve_systems(profile: Profile, system: str, *, rales: bool = False) -> dict[str, System]:
    """Return a mapping from name to system for a job's parameter ``system``, a name or ``all``.

    ``rales`` selects the systems of RaLEs. Raises ParameterError for an unknown system.
    """
    section = settings(profile)
    systems = section.rales_systems if rales else section.systems
    if system == ALL_SYSTEMS:
        return systems
    if system not in systems:
        raise ParameterError(f"no system {system!r}", "system", f"Use one of {', '.join(systems)}.")
    return {system: systems[system]}


def job_list(profile: Profile) -> list[Job]:
    """Return the training jobs of MIMIC-RRS, then those of RaLEs.

    A system that is not trained has one job. If ``grouped``, one job trains all systems on all pairs
    together, one on each pair in turn, and one on the RaLEs corpus.
    """
    section = settings(profile)
    if section.grouped:
        arguments = [(ALL, ALL_SYSTEMS), (EACH_PAIR, ALL_SYSTEMS)]
        rales_names = [ALL_SYSTEMS]
    else:
        trained_names = [name for name, system in section.systems.items() if system.learns]
        untrained_names = [name for name, system in section.systems.items() if not system.learns]
        arguments = [(train_set, name) for name in trained_names for train_set in (ALL, *TRAINED)]
        arguments += [(ALL, name) for name in untrained_names]
        rales_names = list(section.rales_systems)
    return [
        *(Job.of(NOTEBOOK, train_set=train_set, system=name) for train_set, name in arguments),
        *(Job.of(RALES_NOTEBOOK, system=name) for name in rales_names),
    ]


def name_pair(group: str) -> str:
    """Return the paper's name for a pair of modality and anatomy, such as ``MR Head`` for ``MR_head``."""
    modality, _, anatomy = group.replace("_", " ").partition(" ")
    return f"{_MODALITIES.get(modality.lower(), modality)} {anatomy.capitalize()}".strip()


def name_groups(records: Sequence[ReportPair]) -> list[ReportPair]:
    """Return copies of the records whose group is the paper's name for their pair (:func:`name_pair`)."""
    return [replace(record, group=name_pair(record.group)) for record in records]


def group_records(records: Sequence[ReportPair]) -> dict[str, list[ReportPair]]:
    """Return a mapping from group to its records, in order of appearance."""
    names = dict.fromkeys(record.group for record in records)
    return {name: [record for record in records if record.group == name] for name in names}


def split_records(records: Sequence[ReportPair], rng: np.random.Generator) -> dict[str, list[ReportPair]]:
    """Return a mapping from ``train``, ``dev`` and ``test`` to records.

    A record keeps the split of its source. If no record has a split, a random tenth of the patients (of the
    records, if patients are unknown) is for dev and another for test. If only some records have a split, the
    others are for test. Raises ParameterError for an unknown split.
    """
    parts: dict[str, list[ReportPair]] = {part: [] for part in PARTS}
    any_split = any(record.split for record in records)
    ids = list(dict.fromkeys(record.patient or record.id for record in records if not record.split))
    positions = dict(zip(ids, rng.permutation(len(ids)) / max(1, len(ids)), strict=True))
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
    records: Sequence[ReportPair], size: int, rng: np.random.Generator, *, whole: bool = False
) -> list[ReportPair]:
    """Return a random sample of ``size`` records per group, or of all records together if ``whole``.

    Records keep their order within a group. If ``size`` is 0, or a group is smaller, all are returned.
    """
    chosen: list[ReportPair] = []
    for members in [list(records)] if whole else group_records(records).values():
        if size and len(members) > size:
            members = [members[index] for index in sorted(rng.choice(len(members), size, replace=False))]
        chosen += members
    return chosen


def describe_systems(systems: Mapping[str, System], encoder: str) -> str:
    """Return a phrase that lists systems, each with the model that it starts from or whose vectors it uses.

    ``encoder`` is the encoder's folder or its name on the Hugging Face Hub, as in a profile.
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
    """Return a system trained on ``train_set``, with the epoch or threshold chosen on ``dev``.

    The choice is by ROUGE-L, unless the system's training settings have another ``measure``.

    Parameters
    ----------
    seed : the seed of random weights, of training and of clustering.
    encoder : the encoder of sentences; required if ``system.needs_vectors``.
    device : ``auto``, ``cpu`` or ``cuda``.
    folder : the folder for the last checkpoint, from which an interrupted training run resumes; None to keep
        no checkpoint.

    Raises
    ------
    ModelError
        If a setting of the system is out of range, or the model to start from cannot be loaded.
    """
    if system.kind == "lead":
        return LeadSentences(**system.settings)
    if system.needs_vectors:
        assert encoder is not None
        if system.kind == "clusters":
            return ClusterExtractor(encoder.encode, seed=seed, **system.settings)
        return SentenceSelector(encoder.encode, **system.settings).fit(train_set, dev)
    options = {"measure": "rouge_l", **system.training, "seed": seed, "device": device}
    summarizer = _make_summarizer(system, train_set, seed, device)
    train(summarizer, train_set, dev, TrainingSettings(**options), folder=folder)
    return summarizer


def _make_summarizer(system: System, train_set: Sequence[ReportPair], seed: int, device: str) -> Any:
    """Return the untrained model of a ``pointer``, ``seq2seq`` or ``encoder_decoder`` system."""
    if system.kind == "pointer":
        from radeval_lib.models.pointer_summarizer import PointerSettings, PointerSummarizer

        return PointerSummarizer(train_set, PointerSettings(**system.settings), seed=seed)
    from radeval_lib.models.seq2seq_summarizer import Seq2SeqSettings, Seq2SeqSummarizer, make_encoder_decoder

    arguments = {key: value for key, value in system.settings.items() if key not in ("layers", "trimmed")}
    seq2seq_settings = Seq2SeqSettings(**arguments)
    if system.kind == "seq2seq":
        return Seq2SeqSummarizer.load(system.start, seq2seq_settings if arguments else None, device=device)
    texts = [reveal(text) for pair in train_set for text in (pair.findings, pair.impression)]
    vocabulary_texts = texts if system.settings.get("trimmed") else None
    layers = system.settings.get("layers")
    model, tokenizer = make_encoder_decoder(system.start, layers=layers, texts=vocabulary_texts, seed=seed)
    return Seq2SeqSummarizer(model, tokenizer, seq2seq_settings, device=device)
