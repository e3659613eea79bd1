"""Fit encoders to RaLEs' tasks in each regime (share of labels, or frozen encoder), and count their matches
on the test split.

Hyperparameters and epochs are chosen on validation data alone. The search for hyperparameters can resume: its
folder has one file per finished trial, with the trial's hyperparameters, value and tables, and an interrupted
trial is repeated. The hyperparameters of a trial depend only on earlier trials and on the seed, so an
interrupted search gives the same result as an uninterrupted one. Only one process at a time may use a folder.

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

_TRAINER_SETTINGS = {setting.name for setting in fields(TrainingSettings)}
_OTHER_SETTINGS = {"penalty", "frozen"}  # a probe's penalty, and whether training freezes the encoder

SHALLOW, IN_DOMAIN = "shallow:", "in_domain"
"""Prefix and name of special encoders: ``shallow:NAME`` has only the first layers of a model,
``untrained:NAME`` has random weights, ``untrained:shallow:NAME`` has only the first layers with random
weights, and ``in_domain`` is the encoder that the job rales/pretraining trains."""

Tables = dict[str, pd.DataFrame]
Objective = Callable[[dict[str, Any]], tuple[float, Tables]]


@dataclass(frozen=True)
class Trial:
    """A finished trial of a search.

    Attributes
    ----------
    parameters : the hyperparameters by name.
    value : the value to maximize, measured on validation data.
    tables : the tables to keep, by name.
    """

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
    """Search for hyperparameters by TPE (a tree-structured Parzen estimator), and return all finished trials,
    including those of earlier calls.

    Parameters
    ----------
    objective : a function from a trial's hyperparameters to the value to maximize and the tables to keep.
    space : a mapping from each hyperparameter to its search space.
    trials : the total number of trials.
    folder : the folder for the trials' files. Its content is deleted unless it belongs to a search with the
        same ``inputs``, ``space`` and :func:`~radeval_lib.provenance.conditions` (code, device, platform, and
        versions of Python and packages).
    inputs : JSON-ready description of everything else on which the values depend.
    seed : the seed of the TPE sampler.
    startup : the number of initial trials with random hyperparameters.

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
    description = json.dumps(
        {**inputs, "space": ranges, "conditions": provenance.conditions()}, indent=1, sort_keys=True
    )
    path = folder / "search.json"
    if not (path.is_file() and path.read_bytes() == description.encode()):
        shutil.rmtree(folder, ignore_errors=True)
        atomic.write_text(path, description)
    study = optuna.create_study(direction="maximize")
    distributions = {name: _make_distribution(optuna.distributions, space[name]) for name in space}
    finished: list[Trial] = []
    for number in range(trials):
        trial_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        study.sampler = optuna.samplers.TPESampler(seed=trial_seed, n_startup_trials=startup)
        proposed = study.ask(distributions)  # a resumed search proposes the same hyperparameters
        trial_path = folder / f"trial-{number}.pickle"
        if not trial_path.is_file():
            value, tables = objective(proposed.params)
            if not np.isfinite(value):
                remedy = f"In the profile, narrow `rales: space`, so that it excludes {proposed.params}."
                raise SearchError(f"a trial's value is {value}", display_path(trial_path), remedy)
            with atomic.new_file(trial_path) as new_path:
                pd.to_pickle(Trial(proposed.params, float(value), tables), new_path)
        finished.append(pd.read_pickle(trial_path))
        study.tell(proposed, finished[-1].value)
    return finished


def _make_distribution(distributions: Any, dimension: Dimension) -> Any:
    """Return a search space as a distribution of Optuna; ``distributions`` is its module."""
    if dimension.choices:
        return distributions.CategoricalDistribution(dimension.choices)
    numeric = distributions.IntDistribution if dimension.whole else distributions.FloatDistribution
    return numeric(dimension.low, dimension.high, log=dimension.log)


def draw_stratified_order(strata: Sequence[Hashable], rng: np.random.Generator) -> list[int]:
    """Return all positions in a random order whose first k positions are a stratified sample, for every k.

    ``strata`` has the stratum of each position. The members of a stratum are shuffled and spaced evenly over
    the order, from a random start. If p is the share of a stratum, the first k positions therefore contain
    p k of its members, to within two. Samples of different sizes are nested.
    """
    members_by_stratum: dict[Hashable, list[int]] = {}
    for position, stratum in enumerate(strata):
        members_by_stratum.setdefault(stratum, []).append(position)
    keys = np.empty(len(strata))
    for members in members_by_stratum.values():
        shuffled = rng.permutation(members)
        keys[shuffled] = (np.arange(len(members)) + rng.random()) / len(members)
    return [int(position) for position in np.argsort(keys, kind="stable")]


def take_share(order: Sequence[int], share: float) -> list[int]:
    """Return the first ``share`` (0 to 1) of the positions in ``order``, rounded up, in rising order."""
    # The inner rounding keeps 0.07 * 100, which is 7.000000000000001, from being rounded up to 8.
    return sorted(order[: int(np.ceil(round(share * len(order), 9)))])


@dataclass(frozen=True)
class Plan:
    """The task, regime, records and settings with which an encoder is fitted.

    Attributes
    ----------
    task : the task.
    parts : the task's training, validation and test records.
    settings : the section ``rales`` of the profile.
    regime : one of the keys of :data:`radeval_lib.jobs.rales.SHARES`.
    run : the run of the job.
    find_encoder : a function from the number of a draw to the folder of its encoder, or to the encoder's name
        on the Hugging Face Hub.
    folder : the folder for checkpoints.
    """

    task: BenchmarkTask
    parts: Parts
    settings: RalesSettings
    regime: str
    run: Run
    find_encoder: Callable[[int], str]
    folder: Path

    @property
    def defaults(self) -> dict[str, Any]:
        """The values of the hyperparameters that the search does not vary."""
        return _select_settings(self.settings.defaults, self.task.name, self.regime)

    @property
    def space(self) -> dict[str, Dimension]:
        """A mapping from each hyperparameter that the search varies to its search space."""
        return _select_settings(self.settings.space, self.task.name, self.regime)

    def sample(self, draw: int) -> Parts:
        """Return the records of the draw with the number ``draw``.

        The training records are limited to the number in the settings, and the validation records to half
        that number, rounded up. Of each, the regime's share is drawn as a stratified sample. The test records
        are the same for all draws, regimes and encoders.
        """
        name, size = self.task.name, self.settings.documents.get(self.task.name, 0)
        drawn = {}
        for part, rows, limit in (("train", self.parts.train, size), ("dev", self.parts.dev, -(-size // 2))):
            strata = [self.task.stratum(row) for row in rows]
            order = draw_stratified_order(strata, self.run.rng(f"{name} {part} {draw}"))
            positions = take_share(order[: limit or None], SHARES[self.regime])
            drawn[part] = [rows[position] for position in positions]
        test_limit = self.settings.test_documents.get(name, 0)
        return Parts(drawn["train"], drawn["dev"], self.parts.test[: test_limit or None])


def _select_settings(by_name: Mapping[str, dict[str, Any]], task: str, regime: str) -> dict[str, Any]:
    """Return the settings under ``task/regime`` or else under ``task``; empty if both keys are missing."""
    return by_name.get(f"{task}/{regime}", by_name.get(task, {}))


def fit(plan: Plan, draw: int, hyperparameters: Mapping[str, Any]) -> tuple[float, Tables]:
    """Fit the encoder to one draw, and return the task's measure on validation data and the tables by name.

    Parameters
    ----------
    plan : the task, regime, records and settings.
    draw : the number of the draw.
    hyperparameters : values that replace the plan's defaults.

    Returns
    -------
    value : the task's measure on the validation records.
    tables : those of :meth:`BenchmarkTask.outcomes`, and ``fits``. ``fits`` has one row, with the numbers of
        training records (``documents``) and validation records (``validation``), the measure (``value``), the
        CPU time of this process (``seconds``) and the settings as JSON (``settings``).

    Raises
    ------
    ParameterError
        If a key of ``hyperparameters`` or of the plan's defaults is unknown.
    KeyError
        If the task has a linear probe, the regime is ``probe``, and neither mapping has a ``penalty``.
    """
    began = time.process_time()
    settings = {**plan.defaults, **hyperparameters}
    if unknown := sorted(settings.keys() - _TRAINER_SETTINGS - _OTHER_SETTINGS):
        remedy = f"Use only {sorted((_TRAINER_SETTINGS | _OTHER_SETTINGS) - {'device', 'measure', 'seed'})}."
        raise ParameterError(f"unknown setting {unknown[0]!r}", f"rales, {plan.task.name}", remedy)
    task, parts = plan.task, plan.sample(draw)
    encoder = plan.find_encoder(draw)
    model = task.probe(encoder, plan.parts, plan.run.profile.device) if plan.regime == "probe" else None
    if model is not None:
        value = model.fit(parts.train, parts.dev, float(settings["penalty"]))
    else:
        model = task.start(encoder, plan.parts, plan.run.seed + draw)
        if plan.regime == "probe" or settings.get("frozen"):
            model.module.encoder = freeze(model.module.encoder)
        arguments = {key: value for key, value in settings.items() if key in _TRAINER_SETTINGS}
        arguments |= {key: int(arguments[key]) for key in ("epochs", "batch_size") if key in arguments}
        arguments |= {"seed": plan.run.seed + draw, "device": plan.run.profile.device}
        training_settings = TrainingSettings(**arguments, measure=task.measure)
        records, folder = task.training_records(parts.train), plan.folder / f"draw {draw}"
        trained = train(model, records, parts.dev, training_settings, folder=folder)
        value = trained.best[task.measure]
    tables = task.outcomes(model, parts)
    fits = {
        "documents": len(parts.train),
        "validation": len(parts.dev),
        "value": value,
        "seconds": time.process_time() - began,
        "settings": json.dumps(settings, sort_keys=True),
    }
    return value, {**tables, "fits": pd.DataFrame([fits])}


def fit_regime(plan: Plan, inputs: Mapping[str, Any]) -> Tables:
    """Fit all draws, and return their tables with the columns ``task``, ``regime`` and ``draw``.

    If the settings ask for trials, hyperparameters are searched for on the first draw, and the other draws
    take those with the highest value on validation data. The tables have the names that :func:`fit` gives
    them. ``inputs`` comes from :func:`describe_inputs`. Raises the errors of :func:`search` and :func:`fit`.
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
        best = max(trials, key=lambda trial: trial.value)  # the first if several have the highest value
        hyperparameters = best.parameters
        tables_of_draws.append(best.tables)
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


def fit_tasks(run: Run, settings: RalesSettings, encoder: str, pairs: Sequence[tuple[str, str]]) -> Tables:
    """Fit an encoder to tasks in regimes, and return the tables of :func:`fit_regime`, concatenated.

    Interrupted searches and training runs resume from checkpoints.

    Parameters
    ----------
    run : the run of the job.
    settings : the section ``rales`` of the profile.
    encoder : the name of the encoder in the profile.
    pairs : pairs of task and regime, with equal tasks adjacent (:func:`radeval_lib.jobs.rales.list_fits`).

    Raises
    ------
    ParameterError
        If the name of the encoder is malformed, or a hyperparameter in the profile is unknown.
    SearchError
        If the value of a trial is not finite.
    """
    frames: dict[str, list[pd.DataFrame]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, regimes in groupby(pairs, key=itemgetter(0)):
            task = task_of(name, settings.rare_class)
            parts = task.parts(run.load(task.role))
            find_encoder = prepare_encoders(run, settings, encoder, parts, Path(folder))
            inputs = describe_inputs(run, task, encoder, find_encoder(0))
            for _, regime in regimes:
                plan = Plan(
                    task=task,
                    parts=parts,
                    settings=settings,
                    regime=regime,
                    run=run,
                    find_encoder=find_encoder,
                    folder=run.checkpoint_folder(name, regime),
                )
                for table_name, table in fit_regime(plan, inputs).items():
                    frames.setdefault(table_name, []).append(table)
    return {table_name: pd.concat(tables, ignore_index=True) for table_name, tables in frames.items()}


def format_encoder_title(name: str, layers: int) -> str:
    """Return the title of an encoder for display, which is Table 2's name for a model of that table.

    ``layers`` is the number of layers of a shallow encoder.
    """
    if name == IN_DOMAIN:
        return "in-domain"
    if name.startswith(SHALLOW):
        return f"{format_encoder_title(name.removeprefix(SHALLOW), layers)}, {layers} layers"
    if name.startswith(catalog.UNTRAINED):
        return f"{format_encoder_title(name.removeprefix(catalog.UNTRAINED), layers)}, untrained"
    titles = {card.hub: card.title for card in catalog.list_cards()}
    return titles.get(name, catalog.format_title(name))


def resolve_encoder(name: str, *, layers: int, seed: int, folder: Path) -> str:
    """Return the folder of an encoder, or its name on the Hugging Face Hub; derived encoders are made first.

    The in-domain encoder is not resolved here.

    Parameters
    ----------
    name : the name of a model, with or without the prefixes ``untrained:`` and ``shallow:``.
    layers : the number of layers that a shallow encoder keeps.
    seed : the seed of random weights.
    folder : the folder for derived encoders.

    Raises
    ------
    ParameterError
        If the name is the in-domain encoder's, with or without a prefix, or a prefix is repeated or out of
        order.
    ModelError
        If the model cannot be loaded, or has no more layers than a shallow encoder keeps.
    """
    model = name.removeprefix(catalog.UNTRAINED).removeprefix(SHALLOW)
    if model == IN_DOMAIN or model.startswith((catalog.UNTRAINED, SHALLOW)):
        order = f"{catalog.UNTRAINED}{SHALLOW}NAME"
        remedy = f"Use each prefix at most once, in the order {order}, and none before {IN_DOMAIN}."
        raise ParameterError(f"unknown encoder {name!r}", "rales, encoders", remedy)
    if SHALLOW in name:
        model = cut_layers(model, layers, folder)
    return make_untrained(model, folder, seed) if name.startswith(catalog.UNTRAINED) else model


def prepare_encoders(
    run: Run, settings: RalesSettings, encoder: str, parts: Parts, folder: Path
) -> Callable[[int], str]:
    """Return a function from the number of a draw to its encoder: a folder or a name on the Hugging Face Hub.

    The function makes the encoder of a draw when it is first called for this draw. It raises ParameterError
    if the name of the encoder is malformed (:func:`resolve_encoder`).

    Parameters
    ----------
    run : the run of the job, for its seed and the in-domain encoder.
    settings : the number of shallow layers, and ``trim``, which trims vocabularies to the texts of ``parts``.
    encoder : the name of the encoder in the profile.
    parts : the records of the task.
    folder : the folder for derived encoders.
    """

    @cache
    def find_encoder(draw: int) -> str:
        if encoder == IN_DOMAIN:
            model = run.model("in_domain_encoder")
        else:
            layers = settings.shallow_layers
            model = resolve_encoder(encoder, layers=layers, seed=run.seed + draw, folder=folder)
        return trim_encoder(model, list_texts(parts), folder) if settings.trim else model

    return find_encoder


def describe_inputs(run: Run, task: BenchmarkTask, encoder: str, model: str) -> dict[str, Any]:
    """Return a JSON-ready description of the inputs of a hyperparameter search, without its search space.

    Keys are ``records`` (the role, and its files with their content hashes), ``encoder`` (name and SHA-256),
    ``settings`` (the profile's content hash) and ``seed``.

    Parameters
    ----------
    run : the run of the job.
    task : the task.
    encoder : the name of the encoder in the profile.
    model : the folder of the first draw's encoder, or its name on the Hugging Face Hub.
    """
    return {
        "records": {"role": task.role, "files": run.inputs.files.get(task.role, {})},
        "encoder": {"name": encoder, "sha256": catalog.hash_model(model)},
        "settings": run.profile.digest,
        "seed": run.seed,
    }
