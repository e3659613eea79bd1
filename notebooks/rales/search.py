"""Search of settings by TPE, which goes on where it was killed.

A study is a folder, with a folder for each finished trial: what it was given, its value and its tables. A
trial that was running when the process died is made again. What a trial is given depends on the trials before
it and on the seed alone, so that an interrupted search ends where an uninterrupted one does. One process
searches a study at a time.

Source: RaLEs, Appendix C; Akiba et al. 2019 (Optuna).
"""

from __future__ import annotations

import importlib
import inspect
import json
import shutil
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import atomic, provenance
from radeval_lib.errors import SearchError
from radeval_lib.jobs.rales.settings import Dimension
from radeval_lib.paths import display_path

_TRIAL = "trial.json"

Tables = dict[str, pd.DataFrame]
Objective = Callable[[dict[str, Any]], tuple[float, Tables]]


@dataclass(frozen=True)
class Trial:
    """A finished trial."""

    number: int
    parameters: dict[str, Any]
    value: float
    tables: Tables


def best(trials: list[Trial]) -> Trial:
    """Return the trial with the largest value, the first of equal ones."""
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
    """Try settings until so many trials are finished, those of an earlier call included.

    Parameters
    ----------
    objective : from the settings of a trial its value, finite, the larger the better, and tables to keep.
    space : what is varied, by the name of the setting.
    folder : of the study.
    what : whatever else the values depend on; a study of anything else in the folder is removed.
    seed, startup : of TPE, which draws the first ``startup`` trials at random.

    Raises
    ------
    SearchError
        Where a trial's value is not finite.
    """
    ranges = {key: dimension.model_dump() for key, dimension in space.items()}
    _clear_unless(folder, {**what, "space": ranges, "conditions": provenance.conditions()})
    optuna = _optuna()
    study = optuna.create_study(direction="maximize")
    dimensions = {name: _distribution(dimension) for name, dimension in space.items()}
    trials_done: list[Trial] = []
    for number in range(trials):
        where = folder / f"trial-{number}"
        if (where / _TRIAL).is_file():
            trial = _read(where, number)
            done = {"params": trial.parameters, "value": trial.value}
            study.add_trial(optuna.trial.create_trial(distributions=dimensions, **done))
        else:
            own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
            study.sampler = optuna.samplers.TPESampler(seed=own, n_startup_trials=startup)
            tried = study.ask(dimensions)
            _try(objective, tried.params, where)
            trial = _read(where, number)
            study.tell(tried, trial.value)
        trials_done.append(trial)
    return trials_done


def trials_before_tpe() -> int:
    """Return trials that Optuna's TPE draws at random, unless told otherwise, before it uses what it has
    seen."""
    sampler = _optuna().samplers.TPESampler
    return int(inspect.signature(sampler.__init__).parameters["n_startup_trials"].default)


def _optuna() -> Any:
    """Return the library, without its complaint that there are no widgets, which would stand on a page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optuna = importlib.import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _distribution(dimension: Dimension) -> Any:
    distributions = _optuna().distributions
    if dimension.choices:
        return distributions.CategoricalDistribution(dimension.choices)
    numeric = distributions.IntDistribution if dimension.whole else distributions.FloatDistribution
    return numeric(dimension.low, dimension.high, log=dimension.log)


def _clear_unless(folder: Path, what: dict[str, Any]) -> None:
    """Remove what a search of anything else left in the folder, and note what this one searches."""
    noted = folder / "search.json"
    described = json.dumps(what, indent=1, sort_keys=True) + "\n"
    if folder.is_dir() and not (noted.is_file() and noted.read_bytes() == described.encode()):
        shutil.rmtree(folder)
    atomic.write_text(noted, described)


def _try(objective: Objective, given: dict[str, Any], where: Path) -> None:
    value, tables = objective(given)
    if not np.isfinite(value):
        raise SearchError(f"a trial's value is {value}", display_path(where), f"It was given {given}.")
    with atomic.new_folder(where) as new:
        for name, table in tables.items():
            table.to_csv(new / f"{name}.csv", index=False)
        (new / _TRIAL).write_text(json.dumps({"parameters": given, "value": float(value)}), encoding="utf-8")


def _read(where: Path, number: int) -> Trial:
    stored = json.loads((where / _TRIAL).read_text(encoding="utf-8"))
    tables = {
        path.stem: pd.read_csv(path, dtype={"case": str, "label": str}, keep_default_na=False)
        for path in sorted(where.glob("*.csv"))
    }
    return Trial(number, **stored, tables=tables)
