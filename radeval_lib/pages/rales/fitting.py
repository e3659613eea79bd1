"""How a model is fitted to a task in each regime, and what is counted of it on the test part.

Source: RaLEs, Section 4.2.2 and Appendix C. Settings and epochs are chosen on validation alone; the test part
is scored for every trial, so that it can be told what choosing on it would have been worth.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from radeval_lib import origin
from radeval_lib.models.derived import frozen
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.pages.rales import search as searching
from radeval_lib.pages.rales.benchmark_encoders import IN_DOMAIN, prepared, resolve
from radeval_lib.pages.rales.probing import probe_for
from radeval_lib.pages.rales.search import Tables
from radeval_lib.pages.rales.settings import SHARES, Dimension, RalesSettings
from radeval_lib.pages.rales.subsets import first_share, stratified_order
from radeval_lib.pages.rales.tasks import (
    BenchmarkTask,
    Parts,
    ProcedureBenchmark,
    document_counts,
    task_of,
    texts_of,
)
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
        that the regime's share, and of validation half as many."""
        size = self.settings.documents.get(self.task.name, 0)
        share = SHARES[self.regime]
        taken = []
        for name, rows, most in (
            ("train", self.parts.train, size),
            ("dev", self.parts.dev, -(-size // 2)),
        ):
            strata = [self.task.stratum(row) for row in rows]
            order = stratified_order(strata, self.rng(f"{self.task.name} {name} {draw}"))
            chosen = first_share(order[: most or None], share)
            taken.append([rows[index] for index in chosen])
        learned, chosen_on = taken
        return Parts(learned, chosen_on, self.tested)

    @property
    def tested(self) -> list[Any]:
        """The test records, the same in every draw and regime and for every model."""
        most = self.settings.test_documents.get(self.task.name, 0)
        return self.parts.test[:most] if most else self.parts.test


def fit(plan: Plan, draw: int, given: Mapping[str, Any]) -> tuple[float, Tables]:
    """Fit one draw with some settings."""
    began = time.process_time()
    parts = plan.drawn(draw)
    settings = {**plan.defaults, **given}
    start = plan.start(draw)
    if plan.regime == "probe" and (kind := probe_for(plan.task)) is not None:
        probed = kind(plan.task, start, plan.parts, device=plan.device)
        value = probed.fit(parts, float(settings["penalty"]))
        counts, logits = probed.counts, getattr(probed, "logits", None)
    else:
        fitted = plan.task.start(start, plan.parts, plan.seed + draw)
        if plan.regime == "probe" or settings.get("frozen"):
            fitted.module.encoder = frozen(fitted.module.encoder)
        own = {key: value for key, value in settings.items() if key in _KNOWN}
        chosen = replace(
            TrainingSettings(**own), seed=plan.seed + draw, device=plan.device, measure=plan.task.measure
        )
        whole = replace(chosen, epochs=int(chosen.epochs), batch_size=int(chosen.batch_size))
        learned = plan.task.training_records(parts.train)
        trained = train(fitted, learned, parts.dev, whole, folder=plan.folder / f"draw {draw}")
        value = trained.best[plan.task.measure]
        counts, logits = partial(plan.task.counts, fitted), getattr(fitted, "logits", None)
    tables = {}
    if isinstance(plan.task, ProcedureBenchmark) and logits is not None:
        labels, splits = plan.task.labels(plan.parts), {"dev": parts.dev, "test": parts.test}
        scores = {split: logits(rows) for split, rows in splits.items()}
        tables["counts"] = document_counts(parts.test, [labels[k] for k in scores["test"].argmax(axis=1)])
        tables["outputs"] = outputs(plan.task, plan.parts, scores, splits)
    else:
        tables["counts"] = counts(parts.test)
    tables["fits"] = pd.DataFrame(
        [
            {
                "documents": len(parts.train),
                "validation": len(parts.dev),
                "value": value,
                "seconds": time.process_time() - began,
                "settings": json.dumps(settings, sort_keys=True),
            }
        ]
    )
    return value, tables


def _own(by_name: Mapping[str, dict[str, Any]], task: str, regime: str) -> dict[str, Any]:
    """What is given for the task in this regime, or else for the task."""
    return by_name.get(f"{task}/{regime}") or by_name.get(task) or {}


def outputs(
    task: ProcedureBenchmark,
    parts: Parts,
    scores: Mapping[str, NDArray[Any]],
    splits: Mapping[str, Sequence[Any]],
) -> pd.DataFrame:
    """Scores of documents as a table."""
    labels = task.labels(parts)
    before = {row.patient for row in [*parts.train, *parts.dev]} - {""}
    frames = []
    for split, rows in splits.items():
        columns = pd.DataFrame(np.round(scores[split], 6), columns=[f"c{k}" for k in range(len(labels))])
        about = {
            "split": split,
            "case": [row.id for row in rows],
            "label": [labels.index(row.label) for row in rows],
            "new_patient": [bool(row.patient) and row.patient not in before for row in rows],
        }
        frames.append(pd.concat([pd.DataFrame(about), columns], axis=1))
    return pd.concat(frames, ignore_index=True)


def fit_regime(plan: Plan, what: Mapping[str, Any]) -> Tables:
    """Search on the first draw, then fit the others with the settings that were best on validation."""
    number = plan.settings.trials.get(f"{plan.task.name}/{plan.regime}", 0)
    found: list[Tables] = []
    given: dict[str, Any] = {}
    tried: list[dict[str, Any]] = []
    if number:
        trials = searching.search(
            lambda settings: fit(plan, 0, settings),
            plan.space,
            trials=number,
            folder=plan.folder / "search",
            what={**what, "task": plan.task.name, "regime": plan.regime},
            seed=plan.seed,
            startup=plan.settings.startup,
        )
        chosen = searching.best(trials)
        given = chosen.parameters
        found.append(chosen.tables)
        tried = [
            {
                "trial": trial.number,
                "value": trial.value,
                "test": preferred(plan.task, trial.tables["counts"]),
                "seconds": trial.seconds,
                "settings": json.dumps(trial.parameters, sort_keys=True),
            }
            for trial in trials
        ]
    draws = plan.settings.draws[plan.regime]  # type: ignore[index]
    found += [fit(plan, draw, given)[1] for draw in range(len(found), draws)]
    about = {"task": plan.task.name, "regime": plan.regime}
    result = {
        name: pd.concat(
            [tables[name].assign(**about, draw=draw) for draw, tables in enumerate(found)], ignore_index=True
        )
        for name in found[0]
    }
    return {**result, "trials": pd.DataFrame(tried).assign(**about)}


def fit_work(
    run: Run, settings: RalesSettings, encoder: str, work: Sequence[tuple[str, str]]
) -> tuple[Tables, list[str]]:
    """Fit an encoder to tasks in regimes; searches and trainings that were killed go on where they stopped.

    Parameters
    ----------
    work : tasks and regimes, as :func:`radeval_lib.pages.rales.plan.work` has them.

    Returns
    -------
    tuple
        The tables of :func:`fit_regime` of all work, and the classes of procedure selection, none where that
        is no part of the work.
    """

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
    fitted = [records(name) for name in dict.fromkeys(name for name, _ in work)]
    classes = [task.labels(parts) for task, parts in fitted if isinstance(task, ProcedureBenchmark)]
    tables = {kind: pd.concat(frames, ignore_index=True) for kind, frames in found.items()}
    return tables, classes[0] if classes else []


def what_of(run: Run, encoder: str) -> dict[str, Any]:
    """Names what a search depends on, once its records are loaded and its encoder is made."""
    read = {"data": origin.used_data(), "models": origin.used_models()}
    return {"encoder": encoder, "profile": run.profile.digest, "seed": run.seed, **read}


def ready_encoder(
    run: Run, settings: RalesSettings, encoder: str, parts: Parts, seed: int, folder: Path
) -> str:
    """Folder or hub name of an encoder as it is fitted to a task: made where it has to be, and trimmed to the
    texts of the task where the profile says so.
    """
    in_domain = run.model("in_domain_encoder") if encoder == IN_DOMAIN else ""
    where = resolve(encoder, layers=settings.shallow_layers, seed=seed, folder=folder, in_domain=in_domain)
    return prepared(where, texts_of(parts), folder, trim=settings.trim)


def preferred(task: BenchmarkTask, counts: pd.DataFrame) -> float:
    """Mean over the task's columns of micro F1, which is accuracy where each document has one class."""
    values = []
    for column in task.columns:
        rows = counts[counts["part"] == column.part]
        if column.domain:
            rows = rows[rows["domain"] == column.domain]
        sums = rows[["matched", "predicted", "gold"]].sum()
        values.append(2 * sums["matched"] / max(1, sums["predicted"] + sums["gold"]))
    return float(np.mean(values))
