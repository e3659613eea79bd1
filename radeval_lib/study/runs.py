"""Runs: one execution of one notebook, what it asks for by role, and what it keeps."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from radeval_lib import atomic, data, metrics, origin, roles
from radeval_lib.data import statements
from radeval_lib.data.manifests import load_manifest, names, restricted_in
from radeval_lib.errors import NotebookError, ParameterError
from radeval_lib.metrics.choosing import fitting
from radeval_lib.models import naming
from radeval_lib.models.derived import untrained
from radeval_lib.models.packaged import is_packaged
from radeval_lib.models.pretrained import checksum
from radeval_lib.paths import BUILD, IN_REACH, NOTEBOOKS, STAGE, display_path
from radeval_lib.study import cells, profiles, write_guard
from radeval_lib.study.cells import CELL_MODEL, Cell, CellOutput
from radeval_lib.study.declarations import Declared, declared
from radeval_lib.study.profiles import Profile

if TYPE_CHECKING:
    from radeval_lib.metrics.base import Metric

# How a sentence names a role.
_NOUNS = {
    "ner_model": "recogniser",
    "ner_corpus": "annotated sentences",
    "summaries": "reports",
    "anatomy_summaries": "reports of the twelve pairs",
}


def _data_title(filler: str) -> str:
    """The names of data sets as their manifests have them; empty where a filler is no data set."""
    if filler == roles.SYNTHETIC:
        return "the generator"
    parts = [roles.dataset_of(part) for part in filler.split("+")]
    known = [load_manifest(name).title.partition(":")[0] for name in parts if name in names()]
    return " and ".join(dict.fromkeys(known))


def _title(filler: str) -> str:
    """The name of what fills a role: a data set, or a model."""
    return _data_title(filler) or naming.title(filler)


def _stood_in(role: str, filler: str) -> str:
    noun = _NOUNS.get(role, role.replace("_", " "))
    if filler.startswith(CELL_MODEL):
        return f"{noun} trained in this build"
    title = _data_title(filler)
    words = f"{noun} from {title}" if title else f"{noun} {naming.title(filler)}"
    # The paper takes the first token's vector; the packaged encoder was trained to be averaged.
    return f"{words} with mean pooling" if role == "encoder" and is_packaged(filler) else words


@dataclass(frozen=True)
class Run:
    """One run of one notebook."""

    notebook: str
    profile: Profile
    seed: int
    output_dir: Path
    data_root: Path | None
    parameters: tuple[tuple[str, cells.Value], ...] = field(default=())

    @property
    def declared(self) -> Declared:
        """What the notebook may read."""
        return declared(self.notebook)

    def rng(self, stream: str = "") -> np.random.Generator:
        """A generator that depends on the seed and ``stream`` alone, not on what was drawn before."""
        key = int.from_bytes(hashlib.sha256(stream.encode()).digest()[:4], "big")
        return np.random.default_rng([self.seed, key])

    def find(self, dataset: str, file: str = "") -> Path | None:
        """A verified file of a data set under the data root, noted as used; None where it is not there."""
        path = data.find(dataset, self.data_root, file)
        if path is not None and self.data_root is not None:
            origin.note_use(path, path.relative_to(self.data_root).as_posix())
        return path

    def load(self, role: str) -> list[Any]:
        """The records that fill a role in this run's profile.

        Raises
        ------
        RoleError
            Where the profile fills no such role, or what fills it is not there.
        """
        return roles.load(
            role,
            self._filler(role),
            size=self.profile.sizes.get(role, 0),
            seed=self.seed,
            root=self.data_root,
        )

    def model(self, role: str) -> str:
        """Name or folder of the model that fills a role in this run's profile, noted as used.

        Raises
        ------
        NotebookError
            Where the notebook does not declare that it uses the role.
        RoleError
            Where the profile fills no such role.
        ResultError, ModelError
            Where the cell that makes it has not run yet, or the model is not there.
        StatementError
            Where it is a server, and no statement allows to send it what the data root holds.
        """
        where = name = self._filler(role, "model role")
        self.require_declared("models", role)
        statements.require(restricted_in(self.data_root), name, self.data_root)
        if name.startswith(CELL_MODEL):
            cell = cells.planned_of(self.profile, name.removeprefix(CELL_MODEL))[0]
            kept = self._kept(cell).model
            if kept is None:
                raise NotebookError(f"its cell {cell.slug} kept no model", cell.notebook)
            where = str(kept)
        elif name.startswith(naming.UNTRAINED):
            where = untrained(name, self.output_dir / "models", self.seed)
        origin.note_model(role, name, checksum(where))
        return where

    def metric(self, name: str, /, **settings: Any) -> Metric:
        """A metric over the models of this run's profile.

        Parameters
        ----------
        settings : of the metric, where they differ from its defaults; roles that it needs are filled from the
            profile unless they are given.

        Raises
        ------
        NotebookError
            Where the notebook does not declare the metric, or a role that it needs.
        """
        self.require_declared("metrics", name)
        kind = metrics.get(name)
        filled: dict[str, Any] = {role: self.model(role) for role in kind.needs if role not in settings}
        if "device" in metrics.settings_of(name):
            filled["device"] = self.profile.device
        for asked in settings.values():
            statements.require(restricted_in(self.data_root), str(asked), self.data_root)
        return metrics.create(name, **{**filled, **fitting(name, filled), **settings})

    def all_metrics(self) -> dict[str, Metric]:
        """Every metric that the notebook declares, with its defaults, by the title that tables give it."""
        found = [self.metric(name) for name in self.declared.metrics]
        return {metric.title or metric.name: metric for metric in found}

    def cells(self, notebook: str) -> list[CellOutput]:
        """What the planned cells of a notebook left, in the order of the plan.

        Raises
        ------
        NotebookError
            Where this notebook does not declare that it reads them.
        ResultError
            Where one was not made yet or is damaged.
        """
        self.require_declared("cells", notebook)
        return [self._kept(cell) for cell in cells.planned_of(self.profile, notebook)]

    def save(
        self,
        tables: Mapping[str, pd.DataFrame],
        facts: Mapping[str, Any] | None = None,
        model: Callable[[Path], Any] | None = None,
    ) -> None:
        """Leave what this cell found, whole or not at all, with what it comes from.

        Parameters
        ----------
        tables : by name; read back with the same columns and types, without the index.
        facts : settings, sizes and the like, as JSON can hold them.
        model : saves a model into the folder that it is given.
        """
        cell = Cell(self.notebook, self.parameters)
        content = {
            **(facts or {}),
            "data": origin.used_data(),
            "models": origin.used_models(),
            "profile": {"name": self.profile.name, "sha256": self.profile.digest},
            "seed": self.seed,
            "device": origin.device(),
            **origin.environment(),
        }
        if stage := os.environ.get(STAGE):  # it moves into its place when the run has ended
            cells.write(Path(stage), cell, tables, content, model)
            return
        with atomic.new_folder(cells.folder(self.output_dir, cell)) as new:
            cells.write(new, cell, tables, content, model)
        shutil.rmtree(cells.unfinished(self.output_dir, cell), ignore_errors=True)

    def unfinished(self, *names: str | int) -> Path:
        """Where a piece of work of this run keeps how far it is: it outlives a kill, and is removed when the
        run has ended.

        Parameters
        ----------
        names : tell the piece from the others of this run.
        """
        folder = cells.unfinished(self.output_dir, Cell(self.notebook, self.parameters))
        return folder / "-".join(re.sub(r"[^\w.-]", "_", str(name)) for name in names)

    def is_first_cell(self) -> bool:
        """Whether this is the first planned cell of its notebook, whose model a profile may name."""
        return Cell(self.notebook, self.parameters) == cells.planned_of(self.profile, self.notebook)[0]

    def _kept(self, cell: Cell) -> CellOutput:
        """A cell of this run's own outputs, or else of the profile's build."""
        places = [cells.folder(root, cell) for root in (self.output_dir, BUILD / self.profile.name)]
        found = next((place for place in places if place.is_dir()), places[0])
        return cells.read(found, cell, self.profile.name)

    def require_declared(self, kind: str, name: str) -> None:
        """Refuse what the notebook does not declare."""
        if name not in getattr(self.declared, kind):
            raise NotebookError(
                f"{name!r} is not among the {kind} that it declares",
                f"notebooks/{self.notebook}.md",
                f"Add it to `{kind}` under `study` in its front matter.",
            )

    def evidence(self, role: str) -> str:
        """Level of evidence of what is computed on a role: ``synthetic``, ``open`` or ``credentialed``."""
        return roles.evidence(self._filler(role))

    def source(self, role: str) -> str:
        """What fills a role of data, as a page names it: ``the generator``, or a data set's title."""
        return _title(self._filler(role))

    def basis(self, data: Mapping[str, str], models: Mapping[str, str] | None = None) -> tuple[str, str]:
        """What an exhibit rests on that is rebuilt from data, perhaps with models.

        Parameters
        ----------
        data : what the paper used, by role of data.
        models : likewise, by role of model.

        Returns
        -------
        evidence : the weakest of the data; ``synthetic`` where a model is another than the paper's, because
            the result then tells of that model.
        stand_in : :meth:`stand_in` of both.
        """
        models = models or {}
        levels = [self.evidence(role) for role in data]
        if any(self.profile.models[role] != paper for role, paper in models.items()):
            levels.append(roles.SYNTHETIC)
        evidence = min(levels, key=("synthetic", "open", "credentialed").index)
        return evidence, self.stand_in({**data, **models})

    def stand_in(self, wanted: Mapping[str, str]) -> str:
        """What stands in for the paper's own data and models in this run; empty where nothing does.

        Parameters
        ----------
        wanted : what the paper used, by role of data or model.
        """
        filled = {**self.profile.roles, **self.profile.models}
        return "; ".join(
            f"{_stood_in(role, filled[role])}, not {_title(paper)}"
            for role, paper in wanted.items()
            if filled[role] != paper
        )

    def _filler(self, role: str, what: str = "role") -> str:
        filled = self.profile.roles if what == "role" else self.profile.models
        if role not in filled:
            wrong = f"profile {self.profile.name!r} fills no {what} {role!r}"
            raise roles.RoleError(wrong, "", f"{what.capitalize()}s: {', '.join(filled)}.")
        return filled[role]

    @property
    def results_dir(self) -> Path:
        """Where this run's results go: into place when it has ended, if `radbook` runs it."""
        stage = os.environ.get(STAGE)
        return Path(stage) if stage else self.output_dir / "results" / self.notebook


R = TypeVar("R", bound=Run)


def begin_cell(
    notebook: str,
    *,
    profile: str,
    seed: int,
    output_dir: str = "",
    data_root: str = "",
    kind: type[R] = Run,  # type: ignore[assignment]
    **parameters: cells.Value,
) -> R:
    """Start a run: check the parameters that papermill passed, and set the book's plotting style.

    Parameters
    ----------
    notebook : the notebook's own path below ``notebooks/`` without the ending.
    profile : name of a profile.
    seed : non-negative; 0 takes the profile's seed.
    output_dir : where results go; empty: ``build/<profile>``.
    data_root : folder of data files; empty: the environment variable ``RADEVAL_DATA_ROOT``, if set.
    kind : the class of the run.
    parameters : those of a cell.

    Raises
    ------
    NotebookError, ProfileError, ParameterError, DataRootError
        Where a parameter is unknown, of the wrong type, or names what does not exist.
    """
    from radeval_lib import plots, tables

    if not (NOTEBOOKS / f"{notebook}.md").is_file():
        raise NotebookError(
            f"unknown notebook {notebook!r}",
            display_path(NOTEBOOKS),
            "Give its path, such as rales/datasets.",
        )
    settings = profiles.profile(profile)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be a whole number from 0, not {seed!r}", notebook)
    plots.use_style()
    _limit_threads(settings.threads)
    # Model libraries ask for a progress bar of widgets, which no page could show.
    warnings.filterwarnings("ignore", message="IProgress not found")
    root = data.data_root(data_root or None)
    if settings.needs_data_root and root is None:
        raise ParameterError(
            f"profile {profile!r} needs data files", notebook, "Name their folder in RADEVAL_DATA_ROOT."
        )
    in_reach = restricted_in(root)
    tables.hide_counts_below(settings.smallest_count if in_reach else 0)
    run = kind(
        notebook=notebook,
        profile=settings,
        seed=seed or settings.seed,
        output_dir=Path(output_dir) if output_dir else BUILD / settings.name,
        data_root=root,
        parameters=tuple(parameters.items()),
    )
    if in_reach:
        mark = run.output_dir / IN_REACH
        before = mark.read_text(encoding="utf-8").split() if mark.is_file() else []
        atomic.write_text(mark, "\n".join(sorted({*before, *in_reach})) + "\n")
    if stage := os.environ.get(STAGE):
        # What outlives a run, below its outputs.
        own = ("annotation_task", "cache", "models", cells.UNFINISHED)
        write_guard.refuse_writes_outside(
            notebook, [Path(stage), BUILD / "models", *(run.output_dir / name for name in own)]
        )
    for path in run.results_dir.glob("*.json"):  # of an earlier run by hand, which may have recorded more
        path.unlink()
    return run


def _limit_threads(number: int) -> None:
    """Compute on so many threads, here and in libraries that are loaded later."""
    os.environ["OMP_NUM_THREADS"] = str(number)
    threadpool_limits(number)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(number)
