"""Jobs of RaLEs (pretraining of the in-domain encoder, fitting of encoders to tasks) and their settings."""

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
"""A mapping from task to data role."""

SHARES: dict[str, float] = {"all": 1.0, "tenth": 0.1, "hundredth": 0.01, "probe": 1.0}
"""Share of the training and validation records that each regime uses; ``probe`` freezes the encoder."""


_TASK, _REGIME = "|".join(TASKS), "|".join(SHARES)
TaskName = Annotated[str, Field(pattern=f"^({_TASK})$")]
RegimeOfTask = Annotated[str, Field(pattern=f"^({_TASK})/({_REGIME})$")]
TaskOrRegime = Annotated[str, Field(pattern=f"^({_TASK})(/({_REGIME}))?$")]


class Dimension(BaseModel, extra="forbid", frozen=True):
    """The search space of one hyperparameter: a range or a list of choices.

    Attributes
    ----------
    low, high : bounds of the range, inclusive.
    log : whether the range is searched on a logarithmic scale; if so, ``low`` must be above 0.
    whole : whether only integers are tried.
    choices : values to choose from, instead of a range.
    """

    low: float | None = None
    high: float | None = None
    log: bool = False
    whole: bool = False
    choices: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _check_range(self) -> Dimension:
        """Raise a ValueError unless there are only choices, or bounds that are in order and fit ``log``."""
        n_bounds = (self.low is not None) + (self.high is not None)
        if n_bounds != (0 if self.choices else 2):
            raise ValueError(f"low is {self.low} and high is {self.high}; set either both or choices")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low ({self.low}) is above high ({self.high}); swap them")
        if self.log and not (self.low or 0) > 0:
            raise ValueError(f"log is true, but low is {self.low}; set low above 0, or leave out log")
        return self


class Pretraining(BaseModel, extra="forbid", frozen=True):
    """Settings of the in-domain encoder's continued pretraining.

    Attributes
    ----------
    init_model : folder of the encoder to start from, or its name on the Hugging Face Hub.
    role : data role of the reports.
    reports : number of reports.
    epochs, batch_size, learning_rate : hyperparameters of the training.
    """

    init_model: str
    role: str
    reports: AtLeastOne
    epochs: AtLeastOne
    batch_size: AtLeastOne
    learning_rate: float


class RalesSettings(BaseModel, extra="forbid", frozen=True):
    """The section ``rales`` of a profile's ``experiments``.

    Attributes
    ----------
    encoders : names of encoders, as in :mod:`notebooks.rales.fitting`.
    regimes : the regimes (:data:`SHARES`) in which each encoder is fitted.
    shallow_layers : number of layers that a shallow encoder keeps.
    trim : whether to reduce an encoder's vocabulary to the words of a task's texts.
    split_jobs : whether each task and regime is a separate job.
    documents, test_documents : number of records for training (half as many for validation) and for testing,
        by task; 0 for all.
    rare_class : minimum number of training documents of a procedure; rarer procedures are merged.
    draws : a mapping from regime to the number of random samples of training records.
    trials : a mapping from task and regime (``stanza/probe``) to the number of trials of a search, by
        default 0.
    startup : number of random trials before the search learns from results.
    defaults, space : hyperparameters, and their search spaces, by task and regime (``stanza/probe``) or, if
        that key is absent, by task.
    pretraining : settings of the in-domain encoder's pretraining.
    """

    encoders: tuple[str, ...] = Field(min_length=1)
    regimes: tuple[RegimeName, ...] = Field(min_length=1)
    shallow_layers: AtLeastOne
    trim: bool
    split_jobs: bool
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
    def _check_draws(self) -> RalesSettings:
        """Raise a ValueError if ``draws`` lacks one of the regimes."""
        if missing := [regime for regime in self.regimes if regime not in self.draws]:
            raise ValueError(f"draws has no number for the regime {missing[0]!r}; add one")
        return self


def settings(profile: Profile) -> RalesSettings:
    """Return the section ``rales`` of a profile; raises ProfileError if it is missing or malformed."""
    return profile.section("rales", RalesSettings)


def job_list(profile: Profile) -> list[Job]:
    """Return the job that pretrains the in-domain encoder, then the jobs that fit encoders to tasks.

    If the profile sets ``split_jobs``, each combination of encoder, task and regime is a job. Otherwise each
    encoder is one job, which saves the time to start kernels.
    """
    section = settings(profile)
    pretraining = Job.of(PRETRAINING, init_model=section.pretraining.init_model)
    planned = [replace(pretraining, data=(section.pretraining.role,))]
    for encoder in section.encoders:
        for task, regime in list_fits(section, EVERY, EVERY) if section.split_jobs else [(EVERY, EVERY)]:
            fitted = Job.of(FITTING, encoder=encoder, task=task, regime=regime)
            planned.append(replace(fitted, data=() if task == EVERY else (role_of(task),)))
    return planned


def role_of(task: str) -> str:
    """Return the data role of a task, such as ``graph_corpus``; raises TaskError for an unknown task."""
    if task not in TASKS:
        raise TaskError(f"unknown task {task!r}", "task", f"Choose one of {', '.join(TASKS)}.")
    return TASKS[task]


def list_fits(section: RalesSettings, task: str, regime: str) -> list[tuple[str, str]]:
    """Return the pairs of task and regime that one job of :data:`FITTING` fits, in order.

    ``task`` and ``regime`` are names or :data:`EVERY`, which selects all. An unknown task is returned. Raises
    ParameterError for a regime that the profile lacks.
    """
    if regime != EVERY and regime not in section.regimes:
        raise ParameterError(f"no regime {regime!r}", "regime", f"Use one of {', '.join(section.regimes)}.")
    regimes = section.regimes if regime == EVERY else (regime,)
    return [(name, option) for name in (TASKS if task == EVERY else [task]) for option in regimes]
