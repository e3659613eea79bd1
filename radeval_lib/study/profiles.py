"""Profiles: what fills each role, and the sizes, seed and device of a run.

Source: ``data_manifests/profiles/<name>.yml``; ``extends`` names a profile whose values are the defaults.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import yaml

from radeval_lib.errors import ProfileError
from radeval_lib.paths import PROFILES, shown


@dataclass(frozen=True)
class Profile:
    """The settings of a run.

    Attributes
    ----------
    name : the file's name.
    description : one sentence for the book.
    seed : seed of every random choice unless a notebook is given another.
    device : ``auto`` (a GPU where there is one), ``cpu`` or ``cuda``.
    resamples : bootstrap or permutation resamples.
    needs_data_root : whether the profile makes no sense without data files.
    roles : which data set fills each role of the notebooks.
    sizes : named sizes (documents, pairs, seeds) that notebooks read.
    models : which model fills each role: a folder, a hub name, ``packaged-minilm``, or ``trained`` for the
        recogniser that this study trains.
    initial_models : for each tagging scheme the models that a training can start from, the study's own choice
        first (``radeval_lib/models/initial.py``).
    training : for each tagging scheme the settings that differ from the defaults of
        :class:`~radeval_lib.models.training.TrainingSettings`.
    """

    name: str
    description: str
    seed: int
    device: str
    resamples: int
    needs_data_root: bool = False
    roles: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    initial_models: dict[str, list[str]] = field(default_factory=dict)
    training: dict[str, dict[str, Any]] = field(default_factory=dict)


def names() -> list[str]:
    """Every profile there is."""
    return sorted(path.stem for path in PROFILES.glob("*.yml"))


def _values(name: str) -> dict[str, Any]:
    path = PROFILES / f"{name}.yml"
    if name not in names():  # also where it names a file elsewhere
        raise ProfileError(f"unknown profile {name!r}", shown(PROFILES), f"Profiles: {', '.join(names())}.")
    own: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    base = own.pop("extends", None)
    if base is None:
        return own
    return _merged(_values(base), own)


def _merged(inherited: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Both, with ``own`` where they differ; mappings within them are merged likewise."""
    both = {
        key: _merged(inherited[key], value)
        for key, value in own.items()
        if isinstance(value, dict) and isinstance(inherited.get(key), dict)
    }
    return {**inherited, **own, **both}


@cache
def profile(name: str) -> Profile:
    """The profile of that name.

    Raises
    ------
    ProfileError
        Where there is no such profile, or a key of it is unknown, missing or of the wrong type.
    """
    values = _values(name)
    where = shown(PROFILES / f"{name}.yml")
    known = {entry.name for entry in fields(Profile)} - {"name"}
    if unknown := sorted(set(values) - known):
        raise ProfileError(
            f"unknown key {unknown[0]!r}", where, f"Keys: {', '.join(sorted(known))}, extends."
        )
    if missing := sorted({"description", "seed", "device", "resamples"} - set(values)):
        raise ProfileError(f"missing key {missing[0]!r}", where)
    for key in ("seed", "resamples"):
        if not isinstance(values[key], int):
            raise ProfileError(f"{key} must be a whole number, not {values[key]!r}", where)
    if values["device"] not in ("auto", "cpu", "cuda"):
        raise ProfileError(f"device must be auto, cpu or cuda, not {values['device']!r}", where)
    return Profile(name=name, **values)
