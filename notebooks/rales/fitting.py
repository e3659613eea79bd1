"""The fitting of encoders to RaLEs' tasks in each regime (share of labels, or frozen encoder), and the counts
on the test part.

Settings and epochs are chosen on validation data alone, by a search that can resume: its folder has a file
for each finished trial with its settings, value and tables, and an interrupted trial is repeated. The
settings of a trial depend only on the trials before it and on the seed, so an interrupted search has the same
result as an uninterrupted one. Only one process may search a folder at a time.

Source: RaLEs, Section 4.2.2 and Appendix C; Akiba et al. 2019 (Optuna).
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import atomic, provenance
from radeval_lib.errors import ParameterError, SearchError
from radeval_lib.jobs.rales import SHARES, Dimension, RalesSettings
from radeval_lib.jobs.rales_tasks import BenchmarkTask, Parts, list_texts, task_of
from radeval_lib.models import catalog
from radeval_lib.models.classifiers import freeze
from radeval_lib.models.derived import cut_layers, make_untrained, trim_encoder
from radeval_lib.models.training import TrainingSettings, train
from radeval_lib.paths import display_path
from radeval_lib.study.runs import Run

_KNOWN = {setting.name for setting in fields(TrainingSettings)}
_OF_REGIMES = {"penalty", "frozen"}  # settings of a probe, and of a search that may freeze the encoder

SHALLOW, IN_DOMAIN = "shallow:", "in_domain"
"""Names of encoders: ``shallow:NAME`` has only the first layers of a model, ``untrained:NAME`` random
weights, ``untrained:shallow:NAME`` both; ``in_domain`` is the encoder that rales/pretraining trains."""

Tables = dict[str, pd.DataFrame]
Objective = Callable[[dict[str, Any]], tuple[float, Tables]]


@dataclass(frozen=True)
class Trial:
    """A finished trial of a search: its settings, the value on validation, and its tables."""

    parameters: dict[str, Any]
    value: float
    tables: Tables


def search(
    objective: Objective,
    space: Mapping[str, Dimension],
    *,
    trials: int,
    folder: Path,
    inputs: Mapping[str, Any],
    seed: int,
    startup: int = 10,
) -> list[Trial]:
    """Return the finished trials of a search for settings by TPE, including those of an earlier call.

    Parameters
    ----------
    objective : a function of a trial's settings that returns the value to maximize and the tables to keep.
    space : the range of each setting to vary, by its name.
    trials : the total number of trials.
    folder : for the files of the trials. Its content is deleted if it belongs to a search with other
        ``inputs``, another ``space`` or other package versions.
    inputs : everything else on which the values depend.
    seed : of the TPE sampler.
    startup : the number of first trials whose settings are drawn at random.

    Raises
    ------
    SearchError
        If a trial's value is not finite.
    """
    with warnings.catch_warnings():  # Optuna warns if there are no widgets, which a page would show
        warnings.simplefilter("ignore")
        import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    ranges = {key: dimension.model_dump() for key, dimension in space.items()}
    described = json.dumps(
        {**inputs, "space": ranges, "conditions": provenance.conditions()}, indent=1, sort_keys=True
    )
    description = folder / "search.json"
    if not (description.is_file() and description.read_bytes() == described.encode()):
        shutil.rmtree(folder, ignore_errors=True)
        atomic.write_text(description, described)
    study = optuna.create_study(direction="maximize")
    dimensions = {name: _distribution(optuna.distributions, dimension) for name, dimension in space.items()}
    finished: list[Trial] = []
    for number in range(trials):
        trial_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        study.sampler = optuna.samplers.TPESampler(seed=trial_seed, n_startup_trials=startup)
        asked = study.ask(dimensions)  # a resumed search asks for the same settings
        stored = folder / f"trial-{number}.pickle"
        if not stored.is_file():
            value, tables = objective(asked.params)
            if not np.isfinite(value):
                remedy = f"Exclude these settings from the space: {asked.params}."
                raise SearchError(f"a trial's value is {value}", display_path(stored), remedy)
            with atomic.new_file(stored) as new:
                pd.to_pickle(Trial(asked.params, float(value), tables), new)
        finished.append(pd.read_pickle(stored))
        study.tell(asked, finished[-1].value)
    return finished


def _distribution(distributions: Any, dimension: Dimension) -> Any:
    """Return the Optuna distribution of a dimension."""
    if dimension.choices:
        return distributions.CategoricalDistribution(dimension.choices)
    numeric = distributions.IntDistribution if dimension.whole else distributions.FloatDistribution
    return numeric(dimension.low, dimension.high, log=dimension.log)


def draw_stratified_order(strata: Sequence[Hashable], rng: np.random.Generator) -> list[int]:
    """Return all positions in a random order whose first k positions are a stratified sample, for every k.

    ``strata`` has the stratum of each position. The members of a stratum are shuffled and spaced evenly over
    the order, from a random start. If p is the share of a stratum, the first k positions therefore contain
    p k members of it, give or take less than two. Samples of different sizes are nested.
    """
    places: dict[Hashable, list[int]] = {}
    for position, stratum in enumerate(strata):
        places.setdefault(stratum, []).append(position)
    keys = np.empty(len(strata))
    for members in places.values():
        shuffled = rng.permutation(members)
        keys[shuffled] = (np.arange(len(members)) + rng.random()) / len(members)
    return [int(position) for position in np.argsort(keys, kind="stable")]


def take_share(order: Sequence[int], share: float) -> list[int]:
    """Return the first ``share`` (0 to 1) of an order, rounded up to whole positions, and sorted."""
    # The inner rounding keeps 0.07 * 100, which is 7.000000000000001, from being rounded up to 8.
    return sorted(order[: int(np.ceil(round(share * len(order), 9)))])


@dataclass(frozen=True)
class Plan:
    """All that is needed to fit an encoder to one task in one regime.

    Attributes
    ----------
    parts : the task's training, validation and test records.
    settings : the section ``rales`` of the profile.
    regime : one of the keys of :data:`radeval_lib.jobs.rales.SHARES`.
    run : the run of the job.
    start : returns the folder or hub name of the encoder for a draw, given its number.
    folder : the folder for checkpoints.
    """

    task: BenchmarkTask
    parts: Parts
    settings: RalesSettings
    regime: str
    run: Run
    start: Callable[[int], str]
    folder: Path

    @property
    def defaults(self) -> dict[str, Any]:
        """The settings that the search does not vary."""
        return _select_settings(self.settings.defaults, self.task.name, self.regime)

    @property
    def space(self) -> dict[str, Dimension]:
        """The range of each setting that the search varies."""
        return _select_settings(self.settings.space, self.task.name, self.regime)

    def sample(self, draw: int) -> Parts:
        """Return the records of a draw.

        The training records are a stratified sample of the size in the settings, reduced to the regime's
        share; the validation records are half as many. The test records are the same in all draws and
        regimes and for all models.
        """
        name, size = self.task.name, self.settings.documents.get(self.task.name, 0)
        drawn = {}
        for part, rows, most in (("train", self.parts.train, size), ("dev", self.parts.dev, -(-size // 2))):
            strata = [self.task.stratum(row) for row in rows]
            order = draw_stratified_order(strata, self.run.rng(f"{name} {part} {draw}"))
            chosen = take_share(order[: most or None], SHARES[self.regime])
            drawn[part] = [rows[index] for index in chosen]
        tested = self.settings.test_documents.get(name, 0)
        return Parts(drawn["train"], drawn["dev"], self.parts.test[: tested or None])


def _select_settings(by_name: Mapping[str, dict[str, Any]], task: str, regime: str) -> dict[str, Any]:
    """Return the settings under ``task/regime`` or else under ``task``; empty if there are neither."""
    return by_name.get(f"{task}/{regime}", by_name.get(task, {}))


def fit(plan: Plan, draw: int, hyperparameters: Mapping[str, Any]) -> tuple[float, Tables]:
    """Return the measure on validation records, and tables by name, after fitting one draw.

    The tables are those of :meth:`BenchmarkTask.outcomes` and ``fits``. That table has
    one row: the numbers of training records (``documents``) and of ``validation`` records, the measure
    (``value``), the CPU ``seconds`` of this process and the ``settings`` as JSON. Raises ParameterError for
    an unknown setting among ``hyperparameters`` and the plan's defaults.
    """
    began = time.process_time()
    settings = {**plan.defaults, **hyperparameters}
    if unknown := sorted(settings.keys() - _KNOWN - _OF_REGIMES):
        remedy = f"Use one of {', '.join(sorted(_KNOWN | _OF_REGIMES))}."
        raise ParameterError(f"unknown setting {unknown[0]!r}", f"rales, {plan.task.name}", remedy)
    task, parts = plan.task, plan.sample(draw)
    start = plan.start(draw)
    fitted = task.probe(start, plan.parts, plan.run.profile.device) if plan.regime == "probe" else None
    if fitted is not None:
        value = fitted.fit(parts.train, parts.dev, float(settings["penalty"]))
    else:
        fitted = task.start(start, plan.parts, plan.run.seed + draw)
        if plan.regime == "probe" or settings.get("frozen"):
            fitted.module.encoder = freeze(fitted.module.encoder)
        arguments = {key: value for key, value in settings.items() if key in _KNOWN}
        arguments |= {key: int(arguments[key]) for key in ("epochs", "batch_size") if key in arguments}
        arguments |= {"seed": plan.run.seed + draw, "device": plan.run.profile.device}
        chosen = TrainingSettings(**arguments, measure=task.measure)
        learned = task.training_records(parts.train)
        trained = train(fitted, learned, parts.dev, chosen, folder=plan.folder / f"draw {draw}")
        value = trained.best[task.measure]
    tables = task.outcomes(fitted, parts)
    fits = {
        "documents": len(parts.train),
        "validation": len(parts.dev),
        "value": value,
        "seconds": time.process_time() - began,
        "settings": json.dumps(settings, sort_keys=True),
    }
    return value, {**tables, "fits": pd.DataFrame([fits])}


def fit_regime(plan: Plan, inputs: Mapping[str, Any]) -> Tables:
    """Return the tables of all draws (:func:`fit`), with the columns ``task``, ``regime`` and ``draw``.

    If the settings ask for trials, they are searched for on the first draw; the other draws take the settings
    that were best on validation. ``inputs`` comes from :func:`describe_inputs`.
    """
    tables_of_draws: list[Tables] = []
    hyperparameters: dict[str, Any] = {}
    keys = {"task": plan.task.name, "regime": plan.regime}
    if number := plan.settings.trials.get(f"{plan.task.name}/{plan.regime}", 0):
        trials = search(
            partial(fit, plan, 0),
            plan.space,
            trials=number,
            folder=plan.folder / "search",
            inputs={**inputs, **keys},
            seed=plan.run.seed,
            startup=plan.settings.startup,
        )
        chosen = max(trials, key=lambda trial: trial.value)  # the first of equal ones
        hyperparameters = chosen.parameters
        tables_of_draws.append(chosen.tables)
    draws = plan.settings.draws[plan.regime]  # type: ignore[index]
    other_draws = range(len(tables_of_draws), draws)
    tables_of_draws += [fit(plan, draw, hyperparameters)[1] for draw in other_draws]
    return {
        name: pd.concat(
            [tables[name].assign(**keys, draw=draw) for draw, tables in enumerate(tables_of_draws)],
            ignore_index=True,
        )
        for name in tables_of_draws[0]
    }


def fit_tasks(run: Run, settings: RalesSettings, encoder: str, work: Sequence[tuple[str, str]]) -> Tables:
    """Return the tables of :func:`fit_regime` for one encoder, over the tasks and regimes in ``work``
    (:func:`radeval_lib.jobs.rales.list_fits`). Interrupted searches and trainings resume from checkpoints."""
    frames: dict[str, list[pd.DataFrame]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, regimes in groupby(work, key=itemgetter(0)):
            task = task_of(name, settings.rare_class)
            parts = task.parts(run.load(task.role))
            encoders = prepare_encoders(run, settings, encoder, parts, Path(folder))
            inputs = describe_inputs(run, task, encoder, encoders(0))
            for _, regime in regimes:
                plan = Plan(
                    task=task,
                    parts=parts,
                    settings=settings,
                    regime=regime,
                    run=run,
                    start=encoders,
                    folder=run.checkpoint_folder(name, regime),
                )
                for kind, table in fit_regime(plan, inputs).items():
                    frames.setdefault(kind, []).append(table)
    return {kind: pd.concat(tables, ignore_index=True) for kind, tables in frames.items()}


def format_encoder_title(name: str, layers: int) -> str:
    """Return the title of an encoder on pages, which is Table 2's name for a model of that table.

    ``layers``: how many layers a shallow encoder has.
    """
    if name == IN_DOMAIN:
        return "in-domain"
    if name.startswith(SHALLOW):
        return f"{format_encoder_title(name.removeprefix(SHALLOW), layers)}, {layers} layers"
    if name.startswith(catalog.UNTRAINED):
        return f"{format_encoder_title(name.removeprefix(catalog.UNTRAINED), layers)}, untrained"
    described = {card.hub: card.title for card in catalog.list_cards()}
    return described.get(name, catalog.format_title(name))


def resolve_encoder(name: str, *, layers: int, seed: int, folder: Path) -> str:
    """Return the folder or hub name of an encoder other than the in-domain one, after making it if needed.

    Parameters
    ----------
    name : with or without the prefixes ``untrained:`` and ``shallow:``.
    layers : how many layers a shallow encoder keeps.
    seed : of random weights.
    folder : for encoders that are made.

    Raises
    ------
    ParameterError
        If a prefix is repeated, in the wrong order, or before the in-domain encoder.
    """
    where = name.removeprefix(catalog.UNTRAINED).removeprefix(SHALLOW)
    if where == IN_DOMAIN or where.startswith((catalog.UNTRAINED, SHALLOW)):
        order = f"{catalog.UNTRAINED}{SHALLOW}NAME"
        remedy = f"Use each prefix at most once, in the order {order}, and none on the in-domain encoder."
        raise ParameterError(f"unknown encoder {name!r}", "rales, encoders", remedy)
    if SHALLOW in name:
        where = cut_layers(where, layers, folder)
    return make_untrained(where, folder, seed) if name.startswith(catalog.UNTRAINED) else where


def prepare_encoders(
    run: Run, settings: RalesSettings, encoder: str, parts: Parts, folder: Path
) -> Callable[[int], str]:
    """Return a function of the draw's number that returns the folder or hub name of its starting encoder.

    The encoder is made once per draw. If the settings ask for it, its vocabulary is trimmed to the texts in
    ``parts``.
    """

    @cache
    def made(draw: int) -> str:
        if encoder == IN_DOMAIN:
            where = run.model("in_domain_encoder")
        else:
            layers = settings.shallow_layers
            where = resolve_encoder(encoder, layers=layers, seed=run.seed + draw, folder=folder)
        return trim_encoder(where, list_texts(parts), folder) if settings.trim else where

    return made


def describe_inputs(run: Run, task: BenchmarkTask, encoder: str, start: str) -> dict[str, Any]:
    """Return all that a search for settings depends on apart from its space, as values for JSON.

    Keys are ``records`` (role, and files with their digests), ``encoder`` (name and SHA-256), ``settings`` (a
    digest) and ``seed``.

    Parameters
    ----------
    encoder : the name of the encoder in the profile.
    start : the folder or hub name of the first draw's encoder.
    """
    return {
        "records": {"role": task.role, "files": run.inputs.files.get(task.role, {})},
        "encoder": {"name": encoder, "sha256": catalog.hash_model(start)},
        "settings": run.profile.digest,
        "seed": run.seed,
    }
