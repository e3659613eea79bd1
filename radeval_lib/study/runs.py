"""Runs: one execution of one notebook, and what it asks for by role."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from radeval_lib import data, origin, roles
from radeval_lib.data.manifests import load_manifest, names
from radeval_lib.errors import NotebookError, ParameterError
from radeval_lib.experiments.ratescore import trainings
from radeval_lib.models import initial
from radeval_lib.paths import BUILD, NOTEBOOKS, shown
from radeval_lib.study import profiles
from radeval_lib.study.profiles import Profile

TRAINED = "trained"

# How a sentence names a role, and what fills it.
_NOUNS = {"ner_model": "recogniser", "ner_corpus": "annotated sentences"}
_WORDS = {roles.SYNTHETIC: "from the generator", TRAINED: "trained in this build"}


def _title(filler: str) -> str:
    """The name of a data set as its manifest has it, or of a model."""
    return _data_title(filler) or initial.title(filler)


def _data_title(filler: str) -> str:
    name = roles.dataset_of(filler)
    return load_manifest(name).title.partition(":")[0] if name in names() else ""


def _filler_words(filler: str) -> str:
    title = _data_title(filler)
    return _WORDS.get(filler) or (f"from {title}" if title else initial.title(filler))


@dataclass(frozen=True)
class Run:
    """One run of one notebook.

    Attributes
    ----------
    notebook : path below ``notebooks/`` without the ending.
    profile : the settings.
    seed : seed of this run's random choices.
    output_dir : folder of the profile's results and checkpoints.
    data_root : folder of data that the user obtained, or None.
    """

    notebook: str
    profile: Profile
    seed: int
    output_dir: Path
    data_root: Path | None

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
        RoleError
            Where the profile fills no such role.
        ResultError, ModelError
            Where the recogniser that fills it was not trained yet, or the model is not there.
        """
        from radeval_lib.models.loading import checksum

        if role not in self.profile.models:
            known = ", ".join(self.profile.models)
            raise roles.RoleError(
                f"profile {self.profile.name!r} fills no model role {role!r}", "", f"Model roles: {known}."
            )
        name = self.profile.models[role]
        where = name
        if name == TRAINED:
            where = str(trainings.recogniser(self.output_dir, self.profile))
        elif name.startswith(initial.UNTRAINED):
            where = initial.untrained(name, self.output_dir / "models", self.seed)
        origin.note_model(role, name, checksum(where))
        return where

    def evidence(self, role: str) -> str:
        """Level of evidence of what is computed on a role: ``synthetic``, ``open`` or ``credentialed``."""
        return roles.evidence(self._filler(role))

    def source(self, role: str) -> str:
        """What fills a role of data, as a page names it: ``the generator``, or a data set's title."""
        filler = self._filler(role)
        return "the generator" if filler == roles.SYNTHETIC else _title(filler)

    def stand_in(self, wanted: Mapping[str, str]) -> str:
        """What stands in for the paper's own data and models in this run; empty where nothing does.

        Parameters
        ----------
        wanted : what the paper used, by role of data or model.
        """
        filled = {**self.profile.roles, **self.profile.models}
        return "; ".join(
            f"{_NOUNS.get(role, role.replace('_', ' '))} {_filler_words(filled[role])}, not {_title(paper)}"
            for role, paper in wanted.items()
            if filled[role] != paper
        )

    def _filler(self, role: str) -> str:
        if role not in self.profile.roles:
            known = ", ".join(self.profile.roles)
            raise roles.RoleError(
                f"profile {self.profile.name!r} fills no role {role!r}", "", f"Roles: {known}."
            )
        return self.profile.roles[role]

    @property
    def results_dir(self) -> Path:
        return self.output_dir / "results" / self.notebook


def begin(notebook: str, *, profile: str, seed: int, output_dir: str = "", data_root: str = "") -> Run:
    """Start a run: check the parameters that papermill passed, and set the book's plotting style.

    Parameters
    ----------
    notebook : the notebook's own path below ``notebooks/`` without the ending.
    profile : name of a profile.
    seed : non-negative; 0 takes the profile's seed.
    output_dir : where results go; empty: ``build/<profile>``.
    data_root : folder of data files; empty: the environment variable ``RADEVAL_DATA_ROOT``, if set.

    Raises
    ------
    NotebookError, ProfileError, ParameterError, DataRootError
        Where a parameter is unknown, of the wrong type, or names what does not exist.
    """
    from radeval_lib import plots

    if not (NOTEBOOKS / f"{notebook}.md").is_file():
        raise NotebookError(
            f"unknown notebook {notebook!r}", shown(NOTEBOOKS), "Give its path, such as rales/datasets."
        )
    settings = profiles.profile(profile)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be a whole number from 0, not {seed!r}", notebook)
    plots.use_style()
    # Model libraries ask for a progress bar of widgets, which no page could show.
    warnings.filterwarnings("ignore", message="IProgress not found")
    root = data.data_root(data_root or None)
    if settings.needs_data_root and root is None:
        raise ParameterError(
            f"profile {profile!r} needs data files", notebook, "Name their folder in RADEVAL_DATA_ROOT."
        )
    return Run(
        notebook=notebook,
        profile=settings,
        seed=seed or settings.seed,
        output_dir=Path(output_dir) if output_dir else BUILD / settings.name,
        data_root=root,
    )
