"""The jobs of RaLEs: the in-domain encoder, and models fitted to the tasks."""

from __future__ import annotations

from radeval_lib.errors import ParameterError
from radeval_lib.jobs.rales.settings import RalesSettings
from radeval_lib.jobs.rales.tasks import task_of, tasks
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import Profile

PRETRAINING = "rales/pretraining"
FITTING = "rales/fitting"
EVERY = "every"


def settings(profile: Profile) -> RalesSettings:
    """Return the profile's settings of this system."""
    return profile.section("rales", RalesSettings)


def cells(profile: Profile) -> list[Cell]:
    """Return the jobs: one makes the in-domain encoder, and each encoder is fitted to every task in every
    regime, in one job on a laptop, where a kernel's start counts, or in one each."""
    chosen = settings(profile)
    pretraining = Cell.of(PRETRAINING, init_model=chosen.pretraining.init_model)
    planned = [pretraining.with_data(chosen.pretraining.role)]
    for encoder in chosen.encoders:
        each = work(chosen, EVERY, EVERY) if chosen.split_cells else [(EVERY, EVERY)]
        fitted = [Cell.of(FITTING, encoder=encoder, task=task, regime=regime) for task, regime in each]
        planned += [cell.with_data(*_roles(str(cell.parameters["task"]))) for cell in fitted]
    return planned


def _roles(task: str) -> tuple[str, ...]:
    """Return the role of data of a task; none for every task, which reads all that the notebook declares."""
    return () if task == EVERY else (task_of(task).role,)


def work(chosen: RalesSettings, task: str, regime: str) -> list[tuple[str, str]]:
    """Return tasks and regimes of one cell of :data:`FITTING`, in order; ``task`` and ``regime`` may be
    :data:`EVERY`. A :class:`ParameterError` for a regime that the profile does not have."""
    if regime != EVERY and regime not in chosen.regimes:
        raise ParameterError(f"no regime {regime!r}", "regime", f"Regimes: {', '.join(chosen.regimes)}.")
    regimes = chosen.regimes if regime == EVERY else (regime,)
    return [(name, one) for name in (tasks() if task == EVERY else [task]) for one in regimes]
