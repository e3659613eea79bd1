"""Runs: the execution of a notebook, with its inputs by role, a record of what it has read, and its outputs.

This module imports no loader, metric or model. It looks up those that a notebook declares by name
(:mod:`radeval_lib.registry`), so a notebook depends on these alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from radeval_lib import atomic, checksums, paths, provenance, registry, small_counts
from radeval_lib.data import manifests
from radeval_lib.errors import NotebookError, ParameterError, ProfileError
from radeval_lib.paths import display_path
from radeval_lib.provenance import Inputs
from radeval_lib.registry import JOB_MODEL
from radeval_lib.study import dependencies, jobs, profiles, sources
from radeval_lib.study.jobs import Job, JobOutput
from radeval_lib.study.profiles import Profile
from radeval_lib.study.sources import Declared

if TYPE_CHECKING:
    from radeval_lib.metrics.base import Metric


@dataclass(frozen=True)
class Run:
    """The execution of one notebook, with access to its inputs and outputs.

    Attributes
    ----------
    notebook : the notebook's path below ``notebooks/`` without the extension.
    whole_profile : all settings; :attr:`profile` has only those that the notebook declares.
    seed : the seed of :meth:`rng`.
    output_dir : the folder of outputs.
    data_root : the folder of data files; None if there is none.
    parameters : a job's parameters as pairs (name, value); empty for a page.
    inputs : the files and models that the run has read so far.
    """

    notebook: str
    whole_profile: Profile
    seed: int
    output_dir: Path
    data_root: Path | None
    parameters: tuple[tuple[str, jobs.Value], ...] = field(default=())
    inputs: Inputs = field(default_factory=Inputs, compare=False)

    @cached_property
    def declared(self) -> Declared:
        """The inputs that the notebook may read; for a job, only the data roles that its job list names."""
        return jobs.allowed_inputs(Job(self.notebook, self.parameters), self.whole_profile)

    @cached_property
    def profile(self) -> Profile:
        """The profile, reduced to the settings that the notebook declares (:meth:`Profile.narrow`)."""
        return self.whole_profile.narrow(self.declared, for_job=self.notebook in registry.PLANS)

    @cached_property
    def code_digest(self) -> str:
        """The digest of all modules on which the notebook's numbers can depend."""
        return dependencies.modules_digest(dependencies.modules_of(self.notebook, self.whole_profile))

    def rng(self, stream: str = "") -> np.random.Generator:
        """Return a new random generator that depends only on the run's seed and the name ``stream``."""
        key = int.from_bytes(hashlib.sha256(stream.encode()).digest()[:4], "big")
        return np.random.default_rng([self.seed, key])

    def find(self, dataset: str, file: str = "") -> Path | None:
        """Verify a data set's file, record it as read, and return its path, or None if the file is absent.

        ``file`` is the file's path or the end of it; by default, the data set's first file.

        Raises
        ------
        NotebookError
            If the notebook does not declare ``dataset``.
        ChecksumError
            If the file's size or SHA-256 differs from its manifest entry.
        ManifestError
            If the data set is unknown, or no file or more than one file matches ``file``.
        """
        self.require_declared("data", dataset)
        if (path := manifests.find(dataset, self.data_root, file)) is not None:
            self._make_note(dataset)(path)
        return path

    def public(self, dataset: str) -> tuple[list[Any], str]:
        """Return the records of a public data set that the notebook declares, and their evidence.

        The evidence is ``open`` if the data root has the files; otherwise it is ``recorded``, and
        placeholders replace the texts.

        Raises
        ------
        NotebookError, ChecksumError, ManifestError
            If :meth:`find` raises it.
        FileNotFoundError
            If neither the files nor stored scores of the data set exist.
        DataError
            If a file is malformed, or the stored set cannot be the source of a role.
        """
        if self.find(dataset) is not None:
            load = registry.find("radeval_lib.data.readers:load")
            return list(load(dataset, self.data_root, self._make_note(dataset))), "open"
        self.inputs.note_file(dataset, paths.RECORDED / f"{dataset}.csv")
        return list(registry.module("radeval_lib.data.recorded").load_records(dataset)), "recorded"

    def recording(self, dataset: str) -> Any:
        """Return the stored scores of a public data set that the notebook declares, a
        :class:`radeval_lib.data.recorded.Recording`, and record their files as read.

        Raises
        ------
        NotebookError
            If the notebook does not declare the data set.
        DataError
            If it has no stored scores, or a table is missing or has changed.
        """
        self.require_declared("data", dataset)
        recorded = registry.module("radeval_lib.data.recorded")
        for path in recorded.list_tables(dataset):
            self.inputs.note_file(dataset, path)
        return recorded.load(dataset)

    def load(self, role: str) -> list[Any]:
        """Return the records of a data role from its source in the profile, and record their files as read.

        Raises
        ------
        NotebookError
            If the notebook does not declare the role.
        ProfileError
            If the profile does not configure the role.
        RoleError
            If the source of the role is declared absent, has no records of the role's type, or needs a data
            root that is not set, or if the profile sets no size for generated data.
        AbsentDataError
            If files of the source, a data set, are missing from the data root.
        DataError
            If a file differs from its manifest or stored description, or is malformed.
        """
        size = self.whole_profile.sizes.get(role, 0)
        arguments = {"size": size, "seed": self.seed, "root": self.data_root, "note": self._make_note(role)}
        return self._find_loader("data").load(role, self.source_of("data", role), **arguments)

    def model(self, role: str) -> str:
        """Return the name or the folder of the model that the profile sets for a role, and record it as read.

        Raises
        ------
        NotebookError
            If the notebook does not declare the role, or the job that makes the model saved none.
        ProfileError
            If the profile does not configure the role.
        ParameterError
            If the profile has no job that makes the model.
        ResultError, AbsentDataError
            If the job that makes the model has not run yet, its results are damaged, or its data are missing.
        ModelError
            If the model is absent.
        StatementError
            If the model is on a server to which no statement permits sending data from the data root.
        """
        name = self.source_of("models", role)
        module = self._find_loader("models")
        module.check_permission(name, self.data_root)
        if name.startswith(JOB_MODEL):
            job = jobs.list_jobs(self.whole_profile, name.removeprefix(JOB_MODEL))[0]
            if (location := self._read_job(job).model) is None:
                file = f"notebooks/{job.notebook}.md"
                raise NotebookError(f"the job {job.slug} saved no model", file, "Pass `model` to `run.save`.")
        else:
            location = module.make_ready(name, self.output_dir / "models", self.seed)
        self.inputs.note_model(role, name, module.hash_model(location), module.find_revision(name))
        return str(location)

    def metric(self, name: str, /, **settings: Any) -> Metric:
        """Return a metric with the models of this run's profile.

        For placeholders, the metric returns the scores stored in ``data_manifests/recorded/``. For texts that
        were scored, it does so only if it is one of :data:`radeval_lib.registry.FROZEN_METRICS` and its
        current version would give other scores.

        Parameters
        ----------
        settings : the settings of the metric that differ from its defaults. The profile sets the models that
            the metric needs, unless they are among the settings.

        Raises
        ------
        NotebookError
            If the notebook does not declare the metric, or a role that it needs.
        MetricError
            If a setting is unknown or has a wrong value.
        StatementError
            If a setting names a model server to which no statement permits sending data.

        The errors of :meth:`model` are also raised.
        """
        metric = self.unstored_metric(name, **settings)
        # Placeholders of a stored set have stored scores, and so have the texts of a set that was scored with
        # a frozen version of this metric.
        if self.recorded_sources():
            return registry.module(registry.STORED_SCORES).with_placeholder_scores(metric, tuple(settings))
        if self.data_root is None or name not in registry.FROZEN_METRICS:
            return metric
        sources = [self.whole_profile.roles.get(role, role) for role in self.declared.data]
        recordings = registry.module(registry.STORED_SCORES)
        return recordings.with_stored_scores(metric, sources, self.data_root, self.inputs)

    def unstored_metric(self, name: str, /, **settings: Any) -> Metric:
        """Return the metric of :meth:`metric` without stored scores, so that it computes all scores; raise
        the same errors."""
        self.require_declared("metrics", name)
        for setting in settings.values():
            self._find_loader("models").check_permission(str(setting), self.data_root)
        return self._find_loader("metrics").metric(name, self.model, self.profile.device, settings)

    def recorded_sources(self) -> list[str]:
        """Return, without repetition, those sources of the declared data roles that are stored sets."""
        configured = [self.whole_profile.roles.get(role, "") for role in self.declared.data]
        return [source for source in dict.fromkeys(configured) if registry.is_recorded(source)]

    def all_metrics(self) -> dict[str, Metric]:
        """Return a mapping from title to each metric that the notebook declares, with default settings."""
        metrics = [self.metric(name) for name in self.declared.metrics]
        return {metric.title or metric.name: metric for metric in metrics}

    def jobs(self, notebook: str) -> list[JobOutput]:
        """Return the results of a notebook's jobs, in the order of its job list.

        Raises
        ------
        NotebookError
            If this notebook does not declare the other one under ``jobs``.
        ParameterError
            If the profile has no job of that notebook.
        ResultError
            If a job has not run yet, or its results are damaged.
        AbsentDataError
            If a job did not run because its data are missing.
        """
        self.require_declared("jobs", notebook)
        return [self._read_job(job) for job in jobs.list_jobs(self.whole_profile, notebook)]

    def job(self, job: Job) -> JobOutput:
        """Return the results of one job; raise the errors of :meth:`jobs`."""
        self.require_declared("jobs", job.notebook)
        return self._read_job(job)

    def save(
        self,
        tables: Mapping[str, pd.DataFrame],
        facts: Mapping[str, Any] | None = None,
        model: Callable[[Path], Any] | None = None,
    ) -> None:
        """Write the results of this job atomically, with their provenance.

        Parameters
        ----------
        tables : a mapping from name to table.
        facts : a mapping from name to a single value.
        model : a function that saves the model into a folder.

        Raises
        ------
        TypeError, ValueError, RestrictedTextError
            If :func:`radeval_lib.study.jobs.write` refuses a table or fact.
        """
        job, origin = Job(self.notebook, self.parameters), self.provenance()
        if stage := os.environ.get(paths.STAGE):  # a build moves this folder to its place after the run
            jobs.write(Path(stage), job, tables, facts or {}, model, origin)
            return
        with atomic.new_folder(jobs.job_folder(self.output_dir, job)) as folder:
            jobs.write(folder, job, tables, facts or {}, model, origin)
        shutil.rmtree(jobs.unfinished_folder(self.output_dir, job), ignore_errors=True)

    def provenance(self, rests_on: Iterable[str] | None = None) -> dict[str, Any]:
        """Return the provenance to store with this run's results.

        It names the notebook, code, profile, seed, threads, device, data, models and versions. ``rests_on``
        names the data and models to include (:meth:`radeval_lib.provenance.Inputs.of`); by default, all that
        were read. Raises ResultError if one of them was not read.
        """
        return {
            "notebook": sources.describe_notebook(self.notebook),
            "code": {**provenance.read_commit(), "modules": self.code_digest},
            "profile": {"name": self.whole_profile.name, "sha256": self.profile.digest},
            "seed": self.seed,
            "threads": self.whole_profile.threads,
            "device": provenance.device(self.whole_profile.device),
            **self.inputs.of(rests_on),
            **provenance.environment(),
        }

    def checkpoint_folder(self, *names: str | int) -> Path:
        """Return the folder for the checkpoints of a part of this run.

        The folder survives an interruption and is removed when the run has ended.

        Parameters
        ----------
        names : strings or numbers that identify the part, the same number of them for every part of the run
            and at least one.
        """
        folder = jobs.unfinished_folder(self.output_dir, Job(self.notebook, self.parameters))
        return folder / jobs.folder_name(names, names)

    def is_first_job(self) -> bool:
        """Return whether this run is the first job of its notebook.

        A role with the source ``job:NOTEBOOK`` uses the model of the first job, and of no other. Raises
        ParameterError if the profile has no job of the notebook.
        """
        return Job(self.notebook, self.parameters) == jobs.list_jobs(self.whole_profile, self.notebook)[0]

    def _read_job(self, job: Job) -> JobOutput:
        """Return the results of a job from this run's output folder or else from the profile's build, and
        record them as read."""
        roots = (self.output_dir, paths.BUILD / self.whole_profile.name)
        folders = [jobs.job_folder(root, job) for root in roots]
        folder = next(filter(Path.is_dir, folders), folders[0])
        output = jobs.read(folder, job, self.whole_profile.name)
        name = f"jobs/{job.notebook}/{job.slug}/{jobs.FACTS}"
        self.inputs.note_file(f"jobs/{job.notebook}", folder / jobs.FACTS, name)
        return output

    def require_declared(self, kind: str, name: str, declared: Collection[str] | None = None) -> None:
        """Raise NotebookError unless the notebook declares a name under ``kind``, such as ``data``.

        If ``declared`` is given, these names are searched instead of those under ``kind``.
        """
        if name not in (getattr(self.declared, kind) if declared is None else declared):
            problem = f"this {'job' if self.parameters else 'notebook'} declares no {name!r} under `{kind}`"
            remedy = f"Add it to `{kind}` under `study` in the front matter or, for a job, in the job list."
            raise NotebookError(problem, f"notebooks/{self.notebook}.md", remedy)

    def require_papers(self) -> None:
        """Raise NotebookError if the notebook has read a paper's numbers without declaring the paper."""
        declared = dependencies.papers_read(self.notebook, self.declared)
        for name in provenance.PRINTED:
            self.require_declared("papers", name.partition("/")[0], declared)

    def evidence(self, role: str) -> str:
        """Return the level of evidence of a data role's source: ``synthetic``, ``recorded``, ``open`` or
        ``credentialed``; ``absent`` if the role has no source. Raises the errors of :meth:`source_of`."""
        return self._find_loader("data").classify(self.source_of("data", role))

    def source_of(self, kind: str, role: str) -> str:
        """Return the profile's source of a role that the notebook declares; ``kind`` is ``data`` or
        ``models``.

        If a source combines data sets with ``+``, only those in the data root are returned, or all if there
        are none. Raises NotebookError if the notebook does not declare the role, and ProfileError if the
        profile does not configure it.
        """
        self.require_declared(kind, role)
        roles = self.whole_profile.roles if kind == "data" else self.whole_profile.models
        if role not in roles:
            where = display_path(paths.PROFILES / f"{self.whole_profile.name}.yml")
            problem = f"profile {self.whole_profile.name!r} has no {kind.removesuffix('s')} role {role!r}"
            raise ProfileError(problem, where, f"Add it, or use one of {', '.join(roles)}.")
        if kind == "data" and "+" in roles[role]:
            return self._find_loader("data").keep_loadable(roles[role], self.data_root) or roles[role]
        return roles[role]

    def explain_absence(self, role: str) -> str:
        """Return one line that says what the data root lacks for a data role's source; empty if some of the
        data can be loaded. Raises the errors of :meth:`source_of`."""
        module, source = self._find_loader("data"), self.source_of("data", role)
        loadable = module.keep_loadable(source, self.data_root)
        return "" if loadable else str(module.make_absence_error(role, source, self.data_root))

    def _find_loader(self, kind: str) -> Any:
        """Return the module that loads ``data``, ``models`` or ``metrics`` by role."""
        return registry.module(registry.LOADERS[kind])

    def _make_note(self, source: str) -> Callable[[Path], None]:
        """Return a function that records a file as read for a role or data set, under its path below the
        data root."""

        def note(path: Path) -> None:
            root = self.data_root
            name = path.relative_to(root).as_posix() if root and path.is_relative_to(root) else ""
            self.inputs.note_file(source, path, name)

        return note

    @property
    def results_dir(self) -> Path:
        """The folder for results: that of this page or, during a build, one that the build moves there."""
        stage = os.environ.get(paths.STAGE)
        return Path(stage) if stage else self.output_dir / "results" / self.notebook


R = TypeVar("R", bound=Run)


def begin_job(
    notebook: str,
    *,
    profile: str,
    seed: int,
    output_dir: str = "",
    data_root: str = "",
    run_class: type[R] = Run,  # type: ignore[assignment]
    **parameters: jobs.Value,
) -> R:
    """Return the run of a notebook, after checking its parameters and removing the results of an earlier run.

    It also sets the number of threads and the smallest count that tables show, both from the profile.

    Parameters
    ----------
    notebook : the notebook's path below ``notebooks/`` without the extension.
    profile : the name of a profile.
    seed : 0 or more; 0 takes the profile's seed.
    output_dir : the folder of outputs; if empty, the folder from :func:`outputs_of`.
    data_root : the folder of data files; if empty, that in the environment variable ``RADEVAL_DATA_ROOT``.
    run_class : the class of the run, :class:`Run` or a subclass of it.
    parameters : the parameters of a job.

    Raises
    ------
    NotebookError, ProfileError, DataRootError
        If there is no such notebook, profile or data folder, or a build is writing to ``output_dir``.
    ParameterError
        If the seed is negative, the profile needs data files and there is no data folder, or the notebook is
        that of jobs, of which the profile has none.
    """
    if not sources.path_of(notebook).is_file():
        remedy = "Pass a name such as rales/datasets."
        raise NotebookError(f"unknown notebook {notebook!r}", display_path(paths.NOTEBOOKS), remedy)
    if seed < 0:
        raise ParameterError(f"the seed {seed} is negative", notebook, "Set it to 0 or a positive integer.")
    settings = profiles.profile(profile)
    # Libraries that are loaded later read the environment; those already loaded need a call.
    os.environ.update(dict.fromkeys(paths.THREAD_VARIABLES, str(settings.threads)))
    threadpool_limits(settings.threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(settings.threads)
    # Model libraries warn if they cannot show a progress bar with widgets; pages show none.
    warnings.filterwarnings("ignore", message="IProgress not found")
    root = manifests.data_root(data_root or None)
    if settings.needs_data_root and root is None:
        remedy = "Set RADEVAL_DATA_ROOT to the folder of data files, or pass data_root."
        raise ParameterError(f"none is set, but profile {profile!r} needs one", "data root", remedy)
    restricted = manifests.list_restricted(root)
    small_counts.hide_below(settings.smallest_count if restricted else 0)
    run = run_class(
        notebook=notebook,
        whole_profile=settings,
        seed=seed or settings.seed,
        output_dir=Path(output_dir) if output_dir else outputs_of(notebook, settings, seed, parameters),
        data_root=root,
        parameters=tuple(parameters.items()),
    )
    provenance.PRINTED.clear()
    _prepare_outputs(run, restricted)
    return run


def _prepare_outputs(run: Run, restricted: Collection[str]) -> None:
    """Prepare the output folder of a run: write the names of the ``restricted`` data sets to it, and remove
    the results of an earlier run, which may have recorded exhibits that this one does not.

    Raises NotebookError if a build is writing to the folder.
    """
    if restricted:
        path = run.output_dir / paths.IN_REACH
        known = path.read_text(encoding="utf-8").split() if path.is_file() else []
        atomic.write_text(path, "\n".join(sorted({*known, *restricted})) + "\n")
    if not os.environ.get(paths.STAGE):
        if not (build := atomic.lock(run.output_dir / paths.BUILD_LOCK, shared=True)):
            remedy = "Wait for it to end, or give another output_dir."
            raise NotebookError("a build is writing to this folder", display_path(run.results_dir), remedy)
        build.close()
    for path in run.results_dir.glob("*.json"):
        path.unlink()


def outputs_of(notebook: str, settings: Profile, seed: int, parameters: Mapping[str, jobs.Value]) -> Path:
    """Return the default output folder of a run: ``build/<profile>`` if ``seed`` is 0 and a build would run
    the notebook with the same parameters, otherwise a separate folder below ``build/runs``.

    Raises ParameterError if the notebook is that of jobs, of which the profile has none.
    """
    job = Job(notebook, tuple(parameters.items()))
    is_planned = notebook in registry.PLANS and job in jobs.list_jobs(settings, notebook)
    if not seed and (not parameters or is_planned):
        return paths.BUILD / settings.name
    identity = {"profile": settings.name, "seed": seed, "output_dir": "", **parameters}
    return paths.RUNS / checksums.of_text(json.dumps([notebook, identity], sort_keys=True))[:12]
