"""Runs: one execution of one notebook, with its inputs by role, its record of them, and its outputs.

A run imports no loader, metric or model. It looks up by name what a notebook declares
(:mod:`radeval_lib.registry`), so that a notebook depends on that alone.
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
from radeval_lib.provenance import Reading
from radeval_lib.registry import CELL_MODEL
from radeval_lib.study import dependencies, jobs, profiles, sources
from radeval_lib.study.jobs import Job, JobOutput
from radeval_lib.study.profiles import Profile
from radeval_lib.study.sources import Declared

if TYPE_CHECKING:
    from radeval_lib.metrics.base import Metric


@dataclass(frozen=True)
class Run:
    """One run of one notebook.

    Attributes
    ----------
    profile : the settings that the notebook declares; ``whole_profile`` has those of its job lists too.
    reading : the files and models that it has read so far.
    """

    notebook: str
    whole_profile: Profile
    seed: int
    output_dir: Path
    data_root: Path | None
    parameters: tuple[tuple[str, jobs.Value], ...] = field(default=())
    reading: Reading = field(default_factory=Reading, compare=False)

    @cached_property
    def declared(self) -> Declared:
        """The inputs that the notebook may read; for a job, with the data roles of its job list."""
        return jobs.inputs_of(Job(self.notebook, self.parameters), self.whole_profile)

    @cached_property
    def profile(self) -> Profile:
        """The settings that the notebook declares."""
        return self.whole_profile.narrow(self.declared, cell=self.notebook in registry.PLANS)

    @cached_property
    def code_digest(self) -> str:
        """The digest of every module that the notebook's numbers can depend on."""
        return dependencies.modules_digest(dependencies.modules_of(self.notebook, self.whole_profile))

    def rng(self, stream: str = "") -> np.random.Generator:
        """Return a generator that depends only on the seed and ``stream``, not on earlier draws."""
        key = int.from_bytes(hashlib.sha256(stream.encode()).digest()[:4], "big")
        return np.random.default_rng([self.seed, key])

    def find(self, dataset: str, file: str = "") -> Path | None:
        """Return a verified file of a data set under the data root, and record it as read. None if it is
        absent."""
        self.require_declared("data", dataset)
        if (path := manifests.find(dataset, self.data_root, file)) is not None:
            self._note(dataset)(path)
        return path

    def public(self, dataset: str) -> tuple[list[Any], str]:
        """Return the records of a public data set that the notebook declares, and their evidence: from its
        files (``open``) or, if the data root does not hold it, from its recording (``recorded``). Of a
        recording, only the records' table is noted as read, not other pages' tables."""
        if self.find(dataset) is not None:
            load = registry.find("radeval_lib.data.readers:load")
            return list(load(dataset, self.data_root, self._note(dataset))), "open"
        self.reading.note_file(dataset, paths.RECORDED / f"{dataset}.csv")
        return list(registry.module("radeval_lib.data.recorded").records(dataset)), "recorded"

    def recording(self, dataset: str) -> Any:
        """Return the stored scores of a public data set that the notebook declares, as a
        :class:`radeval_lib.data.recorded.Recording`, and note them as read."""
        self.require_declared("data", dataset)
        recorded = registry.module("radeval_lib.data.recorded")
        for path in recorded.files(dataset):
            self.reading.note_file(dataset, path)
        return recorded.load(dataset)

    def load(self, role: str) -> list[Any]:
        """Return the records of a role in this run's profile; their files are recorded as read.

        Raises
        ------
        NotebookError
            If the notebook does not declare the role.
        RoleError
            If the profile does not configure the role, or its source is absent.
        """
        size = self.whole_profile.sizes.get(role, 0)
        given = {"size": size, "seed": self.seed, "root": self.data_root, "note": self._note(role)}
        return self._module_for("data").load(role, self.source_of("data", role), **given)

    def model(self, role: str) -> str:
        """Return the name or folder of a role's model in this run's profile, and record it as used.

        Raises
        ------
        NotebookError
            If the notebook does not declare that it uses the role.
        RoleError
            If the profile does not configure the role.
        ResultError, ModelError
            If the job that makes it has not run yet, or the model is absent.
        StatementError
            If it is a server, and no statement allows to send it what the data root holds.
        """
        name = self.source_of("models", role)
        module = self._module_for("models")
        module.permit(name, self.data_root)
        if name.startswith(CELL_MODEL):
            job = jobs.of_notebook(self.whole_profile, name.removeprefix(CELL_MODEL))[0]
            if (where := self._kept(job).model) is None:
                source = f"notebooks/{job.notebook}.md"
                raise NotebookError(f"its job {job.slug} kept no model", source, "Pass it to `run.save`.")
        else:
            where = module.ready(name, self.output_dir / "models", self.seed)
        self.reading.note_model(role, name, module.digest(where), module.revision(name))
        return str(where)

    def metric(self, name: str, /, **settings: Any) -> Metric:
        """Return a metric with the models of this run's profile.

        Parameters
        ----------
        settings : of the metric, if they differ from its defaults; roles that it needs are configured by the
            profile unless they are given.

        Raises
        ------
        NotebookError
            If the notebook does not declare the metric, or a role that it needs.
        """
        made = self.unstored_metric(name, **settings)
        # Stored test sets give stored scores; where a metric met a set frozen, its texts do, too.
        if self.recorded_sources():
            return registry.module(registry.RECORDED).with_placeholder_scores(made, tuple(settings))
        if self.data_root is None or name not in registry.FROZEN_METRICS:
            return made
        sources = [self.whole_profile.roles.get(role, role) for role in self.declared.data]
        recordings = registry.module(registry.RECORDED)
        return recordings.with_stored_scores(made, sources, self.data_root, self.reading)

    def unstored_metric(self, name: str, /, **settings: Any) -> Metric:
        """Return :meth:`metric` without stored scores: it scores every text itself."""
        self.require_declared("metrics", name)
        for setting in settings.values():
            self._module_for("models").permit(str(setting), self.data_root)
        return self._module_for("metrics").metric(name, self.model, self.profile.device, settings)

    def recorded_sources(self) -> list[str]:
        """Return the sources of this run's declared roles that are stored test sets."""
        configured = [self.whole_profile.roles.get(role, "") for role in self.declared.data]
        return [source for source in dict.fromkeys(configured) if registry.is_recorded(source)]

    def all_metrics(self) -> dict[str, Metric]:
        """Return every metric that the notebook declares, with default settings, by its title in tables."""
        metrics = [self.metric(name) for name in self.declared.metrics]
        return {metric.title or metric.name: metric for metric in metrics}

    def cells(self, notebook: str) -> list[JobOutput]:
        """Return the results of a notebook's jobs, in the order of its job list.

        Raises
        ------
        NotebookError
            If this notebook does not declare that it reads them.
        ResultError
            If one was not made yet or is damaged.
        """
        self.require_declared("cells", notebook)
        return [self._kept(job) for job in jobs.of_notebook(self.whole_profile, notebook)]

    def cell(self, job: Job) -> JobOutput:
        """Return the results of one job of a notebook; raises the errors of :meth:`cells`."""
        self.require_declared("cells", job.notebook)
        return self._kept(job)

    def save(
        self,
        tables: Mapping[str, pd.DataFrame],
        facts: Mapping[str, Any] | None = None,
        model: Callable[[Path], Any] | None = None,
    ) -> None:
        """Save the results of this job, whole or not at all, with their provenance.

        Parameters
        ----------
        tables, facts, model : see :func:`radeval_lib.study.jobs.write`.

        Raises
        ------
        ParameterError
            If a table or a fact could not be read back as it is.
        """
        job, provenance = Job(self.notebook, self.parameters), self.provenance()
        if stage := os.environ.get(paths.STAGE):  # it moves into its place when the run has ended
            jobs.write(Path(stage), job, tables, facts or {}, model, provenance)
            return
        with atomic.new_folder(jobs.folder(self.output_dir, job)) as new:
            jobs.write(new, job, tables, facts or {}, model, provenance)
        shutil.rmtree(jobs.unfinished_folder(self.output_dir, job), ignore_errors=True)

    def provenance(self, rests_on: Iterable[str] | None = None) -> dict[str, Any]:
        """Return the provenance of this run's findings, as stored in results and jobs. ``rests_on`` names the
        data and models to include (:meth:`radeval_lib.provenance.Reading.of`); default: all."""
        return {
            "notebook": sources.identity(self.notebook),
            "code": {**provenance.commit(), "modules": self.code_digest},
            "profile": {"name": self.whole_profile.name, "sha256": self.profile.digest},
            "seed": self.seed,
            "threads": self.whole_profile.threads,
            "device": provenance.device(self.whole_profile.device),
            **self.reading.of(rests_on),
            **provenance.environment(),
        }

    def checkpoint_folder(self, *names: str | int) -> Path:
        """Return the folder for the checkpoints of a task. They survive a kill and are removed when the run
        has ended.

        Parameters
        ----------
        names : distinguish the piece from the others of this run; at least one, as many for each.
        """
        folder = jobs.unfinished_folder(self.output_dir, Job(self.notebook, self.parameters))
        return folder / jobs.folder_name(names, names)

    def is_first_cell(self) -> bool:
        """Return whether this is the first job of its notebook; a profile may name its model."""
        return Job(self.notebook, self.parameters) == jobs.of_notebook(self.whole_profile, self.notebook)[0]

    def _kept(self, job: Job) -> JobOutput:
        """Return a job of this run's own outputs, or else of the profile's build."""
        roots = (self.output_dir, paths.BUILD / self.whole_profile.name)
        folders = [jobs.folder(root, job) for root in roots]
        folder = next(filter(Path.is_dir, folders), folders[0])
        output = jobs.read(folder, job, self.whole_profile.name)
        name = f"cells/{job.notebook}/{job.slug}/{jobs.FACTS}"
        self.reading.note_file(f"cells/{job.notebook}", folder / jobs.FACTS, name)
        return output

    def require_declared(self, kind: str, name: str, declared: Collection[str] | None = None) -> None:
        """Raise an error unless ``declared`` (default: what the notebook declares) contains the name."""
        if name not in (getattr(self.declared, kind) if declared is None else declared):
            problem = f"{name!r} is not among the {kind} that it declares"
            remedy = f"Add it to `{kind}` under `study` in its front matter."
            raise NotebookError(problem, f"notebooks/{self.notebook}.md", remedy)

    def require_papers(self) -> None:
        """Raise an error if the notebook has read papers without declaring them."""
        declared = dependencies.papers_read(self.notebook, self.declared)
        for name in provenance.PRINTED:
            self.require_declared("papers", name.partition("/")[0], declared)

    def evidence(self, role: str) -> str:
        """Return the level of evidence of results from a role: ``synthetic``, ``recorded``, ``open`` or
        ``credentialed``; ``absent`` if it has no source."""
        return self._module_for("data").evidence(self.source_of("data", role))

    def source_of(self, kind: str, role: str) -> str:
        """Return the source of a role of ``data`` or ``models`` that the notebook declares."""
        self.require_declared(kind, role)
        by_role = self.whole_profile.roles if kind == "data" else self.whole_profile.models
        if role not in by_role:
            where = display_path(paths.PROFILES / f"{self.whole_profile.name}.yml")
            problem = f"profile {self.whole_profile.name!r} configures no {kind} role {role!r}"
            raise ProfileError(problem, where, f"Use one of {', '.join(by_role)}.")
        if kind == "data" and "+" in by_role[role]:  # as far as it is there: what is shown of it says so
            return self._module_for("data").loadable_parts(by_role[role], self.data_root) or by_role[role]
        return by_role[role]

    def lacks(self, role: str) -> str:
        """Return what the data root lacks for a data role's source, in one line; empty if nothing."""
        module, source = self._module_for("data"), self.source_of("data", role)
        is_there = module.loadable_parts(source, self.data_root)
        return "" if is_there else str(module.lack(role, source, self.data_root))

    def _module_for(self, kind: str) -> Any:
        return registry.module(registry.FILLING[kind])

    def _note(self, source: str) -> Callable[[Path], None]:
        """Return a function that records a file of a source as read, by its path below the data root."""

        def note(path: Path) -> None:
            root = self.data_root
            name = path.relative_to(root).as_posix() if root and path.is_relative_to(root) else ""
            self.reading.note_file(source, path, name)

        return note

    @property
    def results_dir(self) -> Path:
        """The folder that results are written to; `radbook` moves its own into place when the run ends."""
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
    kind: type[R] = Run,  # type: ignore[assignment]
    **parameters: jobs.Value,
) -> R:
    """Start a run, and check the parameters that papermill passed.

    Parameters
    ----------
    notebook : the notebook's own path below ``notebooks/`` without the ending.
    profile : name of a profile.
    seed : non-negative; 0 takes the profile's seed.
    output_dir : where results go; empty: ``build/<profile>``.
    data_root : folder of data files; empty: the environment variable ``RADEVAL_DATA_ROOT``, if set.
    kind : the class of the run.
    parameters : those of a job.

    Raises
    ------
    NotebookError, ProfileError, ParameterError, DataRootError
        If a parameter names something that does not exist, or the seed is negative.
    """
    if not sources.path_of(notebook).is_file():
        remedy = "Give its path, such as rales/datasets."
        raise NotebookError(f"unknown notebook {notebook!r}", display_path(paths.NOTEBOOKS), remedy)
    if seed < 0:
        raise ParameterError(f"seed {seed} is negative", notebook, "Give 0, or a positive whole number.")
    settings = profiles.profile(profile)
    # Here and in libraries that are loaded later.
    os.environ.update(dict.fromkeys(paths.THREAD_VARIABLES, str(settings.threads)))
    threadpool_limits(settings.threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(settings.threads)
    # Model libraries ask for a progress bar of widgets, which no page could show.
    warnings.filterwarnings("ignore", message="IProgress not found")
    root = manifests.data_root(data_root or None)
    if settings.needs_data_root and root is None:
        remedy = "Name their folder in RADEVAL_DATA_ROOT."
        raise ParameterError(f"profile {profile!r} needs data files", notebook, remedy)
    in_reach = manifests.restricted_in(root)
    small_counts.hide_below(settings.smallest_count if in_reach else 0)
    run = kind(
        notebook=notebook,
        whole_profile=settings,
        seed=seed or settings.seed,
        output_dir=Path(output_dir) if output_dir else outputs_of(notebook, settings, seed, parameters),
        data_root=root,
        parameters=tuple(parameters.items()),
    )
    provenance.PRINTED.clear()
    _prepare_outputs(run, in_reach)
    return run


def _prepare_outputs(run: Run, in_reach: Collection[str]) -> None:
    """Refuse to write during a build, note the restricted data sets in reach, and remove results of an
    earlier run by hand, which may have recorded more."""
    if in_reach:
        mark = run.output_dir / paths.IN_REACH
        before = mark.read_text(encoding="utf-8").split() if mark.is_file() else []
        atomic.write_text(mark, "\n".join(sorted({*before, *in_reach})) + "\n")
    if not os.environ.get(paths.STAGE):
        if not (build := atomic.lock(run.output_dir / paths.BUILD_LOCK, shared=True)):
            remedy = "Wait for it to end, or give another output_dir."
            raise NotebookError("a build is writing here", display_path(run.results_dir), remedy)
        build.close()
    for path in run.results_dir.glob("*.json"):
        path.unlink()


def outputs_of(notebook: str, settings: Profile, seed: int, parameters: Mapping[str, jobs.Value]) -> Path:
    """Return the default output folder of a run: among a build's outputs if the build runs the notebook in
    the same way, otherwise its own below ``build/runs``."""
    job = Job(notebook, tuple(parameters.items()))
    is_planned = notebook in registry.PLANS and job in jobs.of_notebook(settings, notebook)
    if not seed and (not parameters or is_planned):
        return paths.BUILD / settings.name
    chosen = {"profile": settings.name, "seed": seed, "output_dir": "", **parameters}
    return paths.RUNS / checksums.of_text(json.dumps([notebook, chosen], sort_keys=True))[:12]
