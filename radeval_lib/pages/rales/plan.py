"""The cells of RaLEs: the in-domain encoder, models fitted to the tasks, and a search seen from two sides."""

from __future__ import annotations

from radeval_lib.pages.rales.settings import RalesSettings
from radeval_lib.pages.rales.tasks import tasks
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import Profile

PRETRAINING = "rales/pretraining"
FITTING = "rales/fitting"
SELECTION = "rales/selection"
EVERY = "every"
_TAGGER = "graph_tagging"


def settings(profile: Profile) -> RalesSettings:
    """The profile's settings of this system."""
    return profile.section("rales", RalesSettings)


def cells(profile: Profile) -> list[Cell]:
    """One cell makes the in-domain encoder, one searches on the test set, and each encoder is fitted to every
    task in every regime: in one cell on a laptop, where a kernel's start counts, or in one each."""
    chosen = settings(profile)
    found = [Cell.of(PRETRAINING, init_model=chosen.pretraining.init_model)]
    for encoder in chosen.encoders:
        if not chosen.split_cells:
            found.append(Cell.of(FITTING, encoder=encoder, task=EVERY, regime=EVERY))
            continue
        found += [
            Cell.of(FITTING, encoder=encoder, task=task, regime=regime)
            for task in tasks_of(chosen, encoder)
            for regime in chosen.regimes
            if task != _TAGGER or regime == "all"
        ]
    one = chosen.selection
    return [*found, Cell.of(SELECTION, encoder=one.encoder, task=one.task)]


def tasks_of(chosen: RalesSettings, encoder: str) -> list[str]:
    """The tasks that an encoder is fitted to."""
    return [name for name in tasks() if name != _TAGGER or encoder in chosen.tagger_of_graphs]


def work(chosen: RalesSettings, encoder: str, task: str, regime: str) -> list[tuple[str, str]]:
    """Tasks and regimes of one cell of :data:`FITTING`, in order.

    Parameters
    ----------
    task, regime : one of them, or :data:`EVERY`.
    """
    names = tasks_of(chosen, encoder) if task == EVERY else [task]
    regimes = chosen.regimes if regime == EVERY else (regime,)
    return [(name, one) for name in names for one in regimes if name != _TAGGER or one == "all"]
