"""The jobs of RaLEs, the in-domain encoder and models fitted to the tasks, and the section ``rales`` of a
profile's ``experiments``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from radeval_lib.errors import ParameterError, TaskError
from radeval_lib.study.jobs import Job
from radeval_lib.study.profiles import Profile, Size

AtLeastOne = Annotated[int, Field(strict=True, ge=1)]
RegimeName = Literal["all", "tenth", "hundredth", "probe"]
PRETRAINING = "rales/pretraining"
FITTING = "rales/fitting"
EVERY = "every"

TASKS = {
    "graphs": "graph_corpus",
    "spatial": "spatial_corpus",
    "stanza": "stanza_corpus",
    "procedures": "procedures",
}
"""The data role of each task."""

SHARES: dict[str, float] = {"all": 1.0, "tenth": 0.1, "hundredth": 0.01, "probe": 1.0}
"""The share of the labels in training and validation, by regime; ``probe`` has all labels and a frozen
encoder."""


_TASK, _REGIME = "|".join(TASKS), "|".join(SHARES)
TaskName = Annotated[str, Field(pattern=f"^({_TASK})$")]
RegimeOfTask = Annotated[str, Field(pattern=f"^({_TASK})/({_REGIME})$")]
TaskOrRegime = Annotated[str, Field(pattern=f"^({_TASK})(/({_REGIME}))?$")]


class Dimension(BaseModel, extra="forbid", frozen=True):
    """A setting that is searched: between two ends, or among choices."""

    low: float | None = None
    high: float | None = None
    log: bool = False
    whole: bool = False
    choices: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _either(self) -> Dimension:
        given = (self.low is not None) + (self.high is not None)
        if given != (0 if self.choices else 2):
            raise ValueError("give either choices, or both low and high")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low is {self.low} and high is {self.high}")
        if self.log and not (self.low or 0) > 0:
            raise ValueError(f"low is {self.low}; a logarithmic range must begin above 0")
        return self


class Pretraining(BaseModel, extra="forbid", frozen=True):
    """Continued pretraining of the in-domain encoder."""

    init_model: str
    role: str
    reports: AtLeastOne
    epochs: AtLeastOne
    batch_size: AtLeastOne
    learning_rate: float


class RalesSettings(BaseModel, extra="forbid", frozen=True):
    """The section.

    Attributes
    ----------
    encoders : as :mod:`notebooks.rales.fitting` names them.
    regimes : in which each is fitted.
    shallow_layers : how many layers a shallow encoder keeps.
    trim : whether an encoder's vocabulary is cut down to the texts of a task.
    split_cells : whether each task and regime has a job of its own.
    documents, test_documents : records of training (validation has half as many) and test by task; 0: all.
    rare_class : the fewest training documents of a procedure that is a class of its own.
    draws : of training records, by regime.
    trials : of a search, by task and regime (``stanza/probe``); none if it is not given.
    startup : trials that are drawn at random before the search learns from them.
    defaults, space : settings of training, and what a search varies, by task and regime, or else by task.
    pretraining : of the in-domain encoder.
    """

    encoders: tuple[str, ...] = Field(min_length=1)
    regimes: tuple[RegimeName, ...] = Field(min_length=1)
    shallow_layers: AtLeastOne
    trim: bool
    split_cells: bool
    documents: dict[TaskName, Size]
    test_documents: dict[TaskName, Size]
    rare_class: Size
    draws: dict[RegimeName, AtLeastOne]
    trials: dict[RegimeOfTask, Size]
    startup: AtLeastOne
    defaults: dict[TaskOrRegime, dict[str, Any]]
    space: dict[TaskOrRegime, dict[str, Dimension]]
    pretraining: Pretraining

    @model_validator(mode="after")
    def _draws_every_regime(self) -> RalesSettings:
        if lacking := [regime for regime in self.regimes if regime not in self.draws]:
            raise ValueError(f"draws has no number for the regime {lacking[0]!r}")
        return self


def settings(profile: Profile) -> RalesSettings:
    """Return the profile's settings for RaLEs."""
    return profile.section("rales", RalesSettings)


def job_list(profile: Profile) -> list[Job]:
    """Return the jobs. One makes the in-domain encoder; the others fit each encoder to every task in every
    regime, together on a laptop, where starting a kernel costs time, or one job each."""
    chosen = settings(profile)
    pretraining = Job.of(PRETRAINING, init_model=chosen.pretraining.init_model)
    planned = [replace(pretraining, data=(chosen.pretraining.role,))]
    for encoder in chosen.encoders:
        for task, regime in work(chosen, EVERY, EVERY) if chosen.split_cells else [(EVERY, EVERY)]:
            fitted = Job.of(FITTING, encoder=encoder, task=task, regime=regime)
            planned.append(replace(fitted, data=() if task == EVERY else (role_of(task),)))
    return planned


def role_of(task: str) -> str:
    """Return the data role of a task; raises TaskError if the task is unknown."""
    if task not in TASKS:
        raise TaskError(f"unknown task {task!r}", "rales", f"Choose one of {', '.join(TASKS)}.")
    return TASKS[task]


def work(chosen: RalesSettings, task: str, regime: str) -> list[tuple[str, str]]:
    """Return the tasks and regimes of one job of :data:`FITTING`, in order; ``task`` and ``regime`` may be
    :data:`EVERY`. Raises :class:`ParameterError` for an unknown regime."""
    if regime != EVERY and regime not in chosen.regimes:
        raise ParameterError(f"no regime {regime!r}", "regime", f"Use one of {', '.join(chosen.regimes)}.")
    regimes = chosen.regimes if regime == EVERY else (regime,)
    return [(name, each) for name in (TASKS if task == EVERY else [task]) for each in regimes]
