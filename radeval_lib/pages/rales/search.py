"""Search of settings by TPE, which goes on where it was killed.

A study is a folder: Optuna's journal, and of each finished trial its tables. A trial that was running when
the process died is made again. What a trial is given depends on the
trials finished before it and on the seed alone, so that an interrupted search ends where an uninterrupted one
does. One process searches a study at a time.

Source: RaLEs, Appendix C; Akiba et al. 2019 (Optuna).
"""

from __future__ import annotations

import importlib
import inspect
import json
import shutil
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from radeval_lib import atomic, origin
from radeval_lib.errors import SearchError
from radeval_lib.pages.rales.settings import Dimension
from radeval_lib.paths import display_path

if TYPE_CHECKING:
    import optuna

_JOURNAL = "journal.log"
_WHAT = "search.json"

Tables = dict[str, pd.DataFrame]
Objective = Callable[[dict[str, Any]], tuple[float, Tables]]


@dataclass(frozen=True)
class Trial:
    """A finished trial."""

    number: int
    parameters: dict[str, Any]
    value: float
    seconds: float
    tables: Tables


def best(trials: list[Trial]) -> Trial:
    """The trial with the largest value, the first of equal ones."""
    return max(trials, key=lambda trial: (trial.value, -trial.number))


def search(
    objective: Objective,
    space: Mapping[str, Dimension],
    *,
    trials: int,
    folder: Path,
    what: Mapping[str, Any],
    seed: int,
    startup: int = 10,
) -> list[Trial]:
    """Try settings until so many trials are finished, those of an earlier call included."""
    if not space:
        raise SearchError(
            "nothing to search", display_path(folder), "Name at least one setting and its range."
        )
    _import_optuna()
    from optuna.trial import TrialState

    ranges = {key: one.model_dump() for key, one in space.items()}
    study = _opened(folder, {**what, "space": ranges, "conditions": origin.conditions()})
    for trial in study.get_trials(states=(TrialState.RUNNING,)):
        study.tell(trial.number, state=TrialState.FAIL)
    while (done := len(study.get_trials(states=(TrialState.COMPLETE,)))) < trials:
        study.sampler = _sampler(seed, done, startup)
        tried = study.ask()
        given = {name: _suggest(tried, name, one) for name, one in space.items()}
        began = time.perf_counter()
        value, tables = objective(given)
        with atomic.new_folder(folder / f"trial-{done}") as new:
            for name, table in tables.items():
                table.to_csv(new / f"{name}.csv", index=False)
        tried.set_user_attr("seconds", round(time.perf_counter() - began, 3))
        study.tell(tried, value)
    finished = study.get_trials(states=(TrialState.COMPLETE,))[:trials]
    return [_read(folder, number, trial) for number, trial in enumerate(finished)]


def trials_before_tpe() -> int:
    """Trials that Optuna's TPE draws at random, unless told otherwise, before it uses what it has seen."""
    _import_optuna()
    from optuna.samplers import TPESampler

    return int(inspect.signature(TPESampler.__init__).parameters["n_startup_trials"].default)


def _import_optuna() -> None:
    """Import it without the complaint that there are no widgets, which would stand on a page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("optuna")


def _opened(folder: Path, what: dict[str, Any]) -> optuna.Study:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    class NoLock(JournalFileOpenLock):
        """Optuna's own locks outlive a killed process and hold up the next one."""

        def acquire(self) -> bool:
            return True

        def release(self) -> None:
            return None

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    described = json.loads(json.dumps(what, sort_keys=True))
    noted, journal = folder / _WHAT, folder / _JOURNAL
    if folder.is_dir() and _noted(noted) != described:
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if not noted.is_file():
        atomic.write_text(noted, json.dumps(described, indent=1, sort_keys=True) + "\n")
    _whole_lines(journal)
    storage = JournalStorage(JournalFileBackend(str(journal), lock_obj=NoLock(str(journal))))
    return optuna.create_study(
        storage=storage, study_name="search", direction="maximize", load_if_exists=True
    )


def _noted(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _whole_lines(journal: Path) -> None:
    """Cut off a last line that a kill left unfinished; refuse a journal that is damaged elsewhere."""
    if not journal.is_file():
        return
    content = journal.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            json.loads(line)
        except ValueError:
            raise SearchError(
                "this study is damaged",
                f"{display_path(journal)}, line {number}",
                f"Delete {display_path(journal.parent)}.",
            ) from None
    if whole != content:
        with atomic.new_file(journal) as new:
            new.write_bytes(whole)


def _sampler(seed: int, done: int, startup: int) -> optuna.samplers.TPESampler:
    import optuna

    own = int(np.random.SeedSequence([seed, done]).generate_state(1)[0])
    return optuna.samplers.TPESampler(seed=own, n_startup_trials=startup)


def _suggest(trial: optuna.Trial, name: str, dimension: Dimension) -> Any:
    if dimension.choices:
        return trial.suggest_categorical(name, list(dimension.choices))
    low, high = dimension.low, dimension.high
    assert low is not None
    assert high is not None
    if dimension.whole:
        return trial.suggest_int(name, int(low), int(high), log=dimension.log)
    return trial.suggest_float(name, low, high, log=dimension.log)


def _read(folder: Path, number: int, trial: optuna.trial.FrozenTrial) -> Trial:
    where = folder / f"trial-{number}"
    if not where.is_dir():
        raise SearchError(
            f"trial {number} is finished, but its tables are missing",
            display_path(folder),
            "Delete this folder.",
        )
    tables = {
        path.stem: pd.read_csv(path, dtype={"case": str, "label": str}, keep_default_na=False)
        for path in sorted(where.glob("*.csv"))
    }
    value = float(trial.value if trial.value is not None else "nan")
    return Trial(number, dict(trial.params), value, float(trial.user_attrs["seconds"]), tables)
