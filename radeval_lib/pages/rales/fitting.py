"""How a model is fitted to a task in each regime, and what is counted of it on the test part.

Source: RaLEs, Section 4.2.2 and Appendix C. Settings and epochs are chosen on validation alone; the test part
is scored for every trial, so that it can be told what choosing on it would have been worth.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import origin
from radeval_lib.models.derived import frozen, trimmed
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.pages.rales.benchmark_encoders import IN_DOMAIN, resolve
from radeval_lib.pages.rales.search import Tables, Trial, best, search
from radeval_lib.pages.rales.settings import SHARES, Dimension, RalesSettings
from radeval_lib.pages.rales.subsets import first_share, stratified_order
from radeval_lib.pages.rales.tasks import BenchmarkTask, Parts, task_of, texts_of
from radeval_lib.study.runs import Run

_KNOWN = {field.name for field in fields(TrainingSettings)}


@dataclass(frozen=True)
class Plan:
    """One regime of one task, ready to be fitted."""

    task: BenchmarkTask
    parts: Parts
    settings: RalesSettings
    regime: str
    seed: int
    device: str
    rng: Callable[[str], np.random.Generator]
    start: Callable[[int], str]
    folder: Path

    @property
    def defaults(self) -> dict[str, Any]:
        """Settings that the search does not vary."""
        return _own(self.settings.defaults, self.task.name, self.regime)

    @property
    def space(self) -> dict[str, Dimension]:
        """What the search varies."""
        return _own(self.settings.space, self.task.name, self.regime)

    def drawn(self, draw: int) -> Parts:
        """The records of a draw: of the training records a stratified sample as large as the settings say, of
        that the regime's share, and of validation half as many. The test records are the same in every draw
        and regime and for every model."""
        size = self.settings.documents.get(self.task.name, 0)
        tested = self.settings.test_documents.get(self.task.name, 0)
        taken = []
        for name, rows, most in (
            ("train", self.parts.train, size),
            ("dev", self.parts.dev, -(-size // 2)),
        ):
            strata = [self.task.stratum(row) for row in rows]
            order = stratified_order(strata, self.rng(f"{self.task.name} {name} {draw}"))
            chosen = first_share(order[: most or None], SHARES[self.regime])
            taken.append([rows[index] for index in chosen])
        learned, chosen_on = taken
        return Parts(learned, chosen_on, self.parts.test[: tested or None])


def _own(by_name: Mapping[str, dict[str, Any]], task: str, regime: str) -> dict[str, Any]:
    """What is given for the task in this regime, or else for the task."""
    return by_name.get(f"{task}/{regime}") or by_name.get(task) or {}


def fit(plan: Plan, draw: int, given: Mapping[str, Any]) -> tuple[float, Tables]:
    """Fit one draw with some settings: the measure on validation, and what is found on the test part."""
    began = time.process_time()
    task, parts = plan.task, plan.drawn(draw)
    settings = {**plan.defaults, **given}
    start = plan.start(draw)
    fitted = task.probe(start, plan.parts, plan.device) if plan.regime == "probe" else None
    if fitted is not None:
        value = fitted.fit(parts.train, parts.dev, float(settings["penalty"]))
    else:
        fitted = task.start(start, plan.parts, plan.seed + draw)
        if plan.regime == "probe" or settings.get("frozen"):
            fitted.module.encoder = frozen(fitted.module.encoder)
        own = {key: value for key, value in settings.items() if key in _KNOWN}
        own |= {key: int(own[key]) for key in ("epochs", "batch_size") if key in own}
        chosen = TrainingSettings(
            **{**own, "seed": plan.seed + draw, "device": plan.device, "measure": task.measure}
        )
        learned = task.training_records(parts.train)
        trained = train(fitted, learned, parts.dev, chosen, folder=plan.folder / f"draw {draw}")
        value = trained.best[task.measure]
    tables = task.found(fitted, parts)
    fits = {
        "documents": len(parts.train),
        "validation": len(parts.dev),
        "value": value,
        "seconds": time.process_time() - began,
        "settings": json.dumps(settings, sort_keys=True),
    }
    return value, {**tables, "fits": pd.DataFrame([fits])}


def fit_regime(plan: Plan, what: Mapping[str, Any]) -> Tables:
    """Search on the first draw, then fit the others with the settings that were best on validation."""
    found: list[Tables] = []
    given: dict[str, Any] = {}
    about = {"task": plan.task.name, "regime": plan.regime}
    if number := plan.settings.trials.get(f"{plan.task.name}/{plan.regime}", 0):
        chosen = best(search_on(plan, 0, number, plan.folder / "search", {**what, **about}, plan.seed))
        given = chosen.parameters
        found.append(chosen.tables)
    draws = plan.settings.draws[plan.regime]  # type: ignore[index]
    found += [fit(plan, draw, given)[1] for draw in range(len(found), draws)]
    return {
        name: pd.concat(
            [tables[name].assign(**about, draw=draw) for draw, tables in enumerate(found)], ignore_index=True
        )
        for name in found[0]
    }


def search_on(
    plan: Plan, draw: int, trials: int, folder: Path, what: Mapping[str, Any], seed: int
) -> list[Trial]:
    """Search the settings on one draw."""
    return search(
        partial(fit, plan, draw),
        plan.space,
        trials=trials,
        folder=folder,
        what=what,
        seed=seed,
        startup=plan.settings.startup,
    )


def fit_work(run: Run, settings: RalesSettings, encoder: str, work: Sequence[tuple[str, str]]) -> Tables:
    """Fit an encoder to tasks in regimes (see :func:`radeval_lib.pages.rales.plan.work`): the tables of
    :func:`fit_regime`. Searches and trainings that were killed go on where they stopped."""

    @cache
    def records(name: str) -> tuple[BenchmarkTask, Parts]:
        task = task_of(name, settings.rare_class)
        return task, task.parts(run.load(task.role))

    with tempfile.TemporaryDirectory() as folder:

        @cache
        def start(name: str, draw: int) -> str:
            return ready_encoder(run, settings, encoder, records(name)[1], run.seed + draw, Path(folder))

        found: dict[str, list[pd.DataFrame]] = {}
        for name, regime in work:
            task, parts = records(name)
            where = run.unfinished(name, regime)
            begin, device = partial(start, name), run.profile.device
            plan = Plan(task, parts, settings, regime, run.seed, device, run.rng, begin, where)
            begin(0)  # so that the models it reads are known
            for kind, table in fit_regime(plan, what_of(run, encoder)).items():
                found.setdefault(kind, []).append(table)
    return {kind: pd.concat(frames, ignore_index=True) for kind, frames in found.items()}


def what_of(run: Run, encoder: str) -> dict[str, Any]:
    """Names what a search depends on, once its records are loaded and its encoder is made."""
    read = {"data": origin.used_data(), "models": origin.used_models()}
    return {"encoder": encoder, "profile": run.profile.digest, "seed": run.seed, **read}


def ready_encoder(
    run: Run, settings: RalesSettings, encoder: str, parts: Parts, seed: int, folder: Path
) -> str:
    """Folder or hub name of an encoder as it is fitted to a task: made where it has to be, and trimmed to the
    texts of the task where the profile says so."""
    if encoder == IN_DOMAIN:
        where = run.model("in_domain_encoder")
    else:
        where = resolve(encoder, layers=settings.shallow_layers, seed=seed, folder=folder)
    return trimmed(where, texts_of(parts), folder) if settings.trim else where
