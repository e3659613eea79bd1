"""The cells of MIMIC-RRS and of RaLEs' summarization: systems trained on pairs of modality and anatomy, on
all of them, and on one corpus."""

from __future__ import annotations

from pydantic import BaseModel, model_validator

from radeval_lib.errors import ParameterError
from radeval_lib.jobs.summarization.corpora import TRAINED
from radeval_lib.jobs.summarization.systems import System
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import Profile, Size

NOTEBOOK = "summarization/training"
RALES_NOTEBOOK = "rales/nlg_training"
ALL = "ALL"
"""Trained on every pair together, as the paper calls it."""

EVERY = "all"
"""Every system of the profile, in one cell."""

EACH = "each"
"""Trained on every pair in turn, in one cell."""


class SummarizationSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``summarization`` of a profile's ``experiments``.

    Attributes
    ----------
    systems, rales_systems : by name, for pairs of modality and anatomy and for RaLEs' one corpus.
    shown, smaller, larger : of ``systems`` the one that the pages show, and two of one kind and unequal size.
    reports_a_pair, dev_a_pair, rales_reports, rales_dev : reports drawn for training and validation; 0: all.
    limit_reports : generated reports whose candidates are scored.
    seeds : trainings per system and training set, with the run's seed and those after it; 0 counts as 1.
    grouped : whether few cells train many systems.
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
    """Return the profile's settings of this system."""
    return profile.section("summarization", SummarizationSettings)


def training_sets(train_set: str) -> list[str]:
    """Return the training sets that a cell's parameter ``train_set`` stands for."""
    if train_set == EACH:
        return list(TRAINED)
    if train_set != ALL and train_set not in TRAINED:
        raise ParameterError(
            f"no training set {train_set!r}", "train_set", f"Choices: {', '.join((*TRAINED, ALL, EACH))}."
        )
    return [train_set]


def chosen_systems(profile: Profile, system: str, *, rales: bool = False) -> dict[str, System]:
    """Return the systems that a cell's parameter ``system`` stands for: one, or :data:`EVERY`."""
    own = settings(profile)
    known = own.rales_systems if rales else own.systems
    if system == EVERY:
        return known
    if system not in known:
        raise ParameterError(f"no system {system!r}", "system", f"Systems: {', '.join(known)}.")
    return {system: known[system]}


def cells(profile: Profile) -> list[Cell]:
    """Return every training."""
    own = settings(profile)
    if own.grouped:
        sets = [(ALL, EVERY), (EACH, EVERY)]
        corpora = [EVERY]
    else:
        learn = [name for name, system in own.systems.items() if system.learns]
        rest = [name for name, system in own.systems.items() if not system.learns]
        sets = [(train_set, name) for name in learn for train_set in (ALL, *TRAINED)]
        sets += [(ALL, name) for name in rest]
        corpora = list(own.rales_systems)
    return [
        *(Cell.of(NOTEBOOK, train_set=train_set, system=name) for train_set, name in sets),
        *(Cell.of(RALES_NOTEBOOK, system=name) for name in corpora),
    ]
