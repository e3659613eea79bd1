"""Profiles: the source of each role, and the sizes, seeds and settings of a run.

Source: ``data_manifests/profiles/<name>.yml``; a profile that ``extends`` another changes it key by key.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, Field, ValidationError

from radeval_lib import checksums, own_yaml
from radeval_lib.errors import ProfileError, complaint, did_you_mean, listed
from radeval_lib.paths import DATASETS, DEFAULT_PROFILE, PROFILES, RECORDED, display_path
from radeval_lib.registry import ABSENT, MODEL_ROLES, ROLES, SYNTHETIC, dataset_of, is_recorded
from radeval_lib.study.sources import Declared

Size = Annotated[int, Field(strict=True, ge=0)]
Section = TypeVar("Section", bound=BaseModel)


class Limits(BaseModel, extra="forbid", frozen=True):
    """Time limits of a notebook; no result depends on them."""

    cell_minutes: Annotated[int, Field(strict=True, ge=1)] = 60
    start_seconds: Annotated[int, Field(strict=True, ge=1)] = 180


class Profile(BaseModel, extra="forbid", frozen=True):
    """The settings of a run.

    Attributes
    ----------
    name : of its file; ``description`` says in a sentence what it is for.
    seed : the seed of a run that is given none.
    device : the device of models; ``auto``: CUDA if there is a GPU.
    threads : of one notebook.
    resamples : of the cases, for every interval.
    needs_data_root : whether it needs data files.
    smallest_count : the smallest count in tables if restricted data are readable.
    roles, sizes : the source of each data role, and how many records the generator makes for it.
    models : the source of each model role.
    experiments : sections of settings that pages and job lists check themselves (:meth:`section`).
    """

    name: str
    description: str
    seed: Size
    device: Literal["auto", "cpu", "cuda"]
    threads: Annotated[int, Field(strict=True, ge=1)] = 1
    resamples: Annotated[int, Field(strict=True, ge=1)]
    needs_data_root: bool = False
    smallest_count: Size = 11
    roles: dict[str, str] = {}
    sizes: dict[str, Size] = {}
    models: dict[str, str] = {}
    experiments: dict[str, dict[str, Any]] = {}
    limits: Limits = Limits()

    def section(self, system: str, kind: type[Section]) -> Section:
        """Return one system's settings, validated by ``kind``; raises ProfileError if the section is missing
        or a key is wrong."""
        where = f"{display_path(PROFILES / f'{self.name}.yml')}, experiments, {system}"
        try:
            return kind.model_validate(self.experiments[system])
        except KeyError:
            remedy = "Add it there, or to `settings` under `study` in the front matter of the notebook."
            raise ProfileError(f"no section {system!r}", where, remedy) from None
        except ValidationError as error:
            remedy = f"Use only these keys: {', '.join(kind.model_fields)}."
            raise ProfileError(complaint(error, kind.model_fields), where, remedy) from None

    def narrow(self, wanted: Declared, *, cell: bool = False) -> Profile:
        """Return the settings that a notebook declares; a job shows nothing, so it resamples nothing."""
        kept = {"roles": wanted.data, "sizes": wanted.data, "models": wanted.models}
        kept["experiments"] = wanted.settings
        narrowed = {
            part: {key: value for key, value in getattr(self, part).items() if key in keys}
            for part, keys in kept.items()
        }
        return self.model_copy(update={**narrowed, **({"resamples": 0, "smallest_count": 0} if cell else {})})

    @property
    def digest(self) -> str:
        """SHA-256 of every setting that affects a result, from all of its files."""
        return checksums.of_text(self.model_dump_json(exclude={"description", "limits"}))


def command(notebook: str, profile: str, items: Iterable[tuple[str, object]] = ()) -> str:
    """Return the command that runs one notebook on a profile; ``items`` are parameters with their values."""
    given = [*items, *([("profile", profile)] if profile != DEFAULT_PROFILE else [])]
    return " ".join(
        ["radbook run", notebook, *(f"-p {name} {shlex.quote(str(value))}" for name, value in given)]
    )


def names() -> list[str]:
    """Return the names of all profiles."""
    return sorted(path.stem for path in PROFILES.glob("*.yml"))


def _values(name: str, extended: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a profile's values merged with those that it extends; ``extended``: the profiles that led to
    this one."""
    folder = display_path(PROFILES)
    if name in extended:
        circle = f"profiles extend each other in a circle: {' -> '.join((*extended, name))}"
        raise ProfileError(circle, folder, "Remove one `extends`.")
    if name not in names():  # also if it names a file elsewhere
        raise ProfileError(f"unknown profile {name!r}", folder, f"Name one of {', '.join(names())}.")
    path = PROFILES / f"{name}.yml"
    try:
        values: dict[str, Any] = own_yaml.read(path) or {}
    except UnicodeDecodeError:
        raise ProfileError("this is not UTF-8 text", display_path(path), "Save the file as UTF-8.") from None
    except (yaml.YAMLError, ValueError) as error:  # a ValueError: no such date
        problem = f"this is not YAML: {' '.join(str(error).split())}"
        raise ProfileError(problem, display_path(path), "Correct the line that it names.") from None
    if not isinstance(values, dict):
        raise ProfileError("this is not a mapping of keys", display_path(path), "Write `key: value` lines.")
    if "name" in values:
        raise ProfileError("unknown key 'name'", display_path(path), "Remove it; the file names the profile.")
    base = values.pop("extends", None)
    return values if base is None else _merged(_values(base, (*extended, name)), values)


def _merged(inherited: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    """Return both, with ``changed`` if they differ; mappings within them are merged likewise."""
    both = {
        key: _merged(inherited[key], value)
        for key, value in changed.items()
        if isinstance(value, dict) and isinstance(inherited.get(key), dict)
    }
    return {**inherited, **changed, **both}


@cache
def profile(name: str) -> Profile:
    """Return the profile with that name.

    Raises
    ------
    ProfileError
        If there is none, it is not YAML, a key, a role or a source is unknown, a value is wrong, or profiles
        extend each other in a circle.
    """
    values = _values(name)
    where = display_path(PROFILES / f"{name}.yml")
    try:
        made = Profile.model_validate({**values, "name": name})
    except ValidationError as error:
        keys = ", ".join(key for key in Profile.model_fields if key != "name")
        remedy = f"Use only these keys: {keys}, extends."
        raise ProfileError(complaint(error, Profile.model_fields), where, remedy) from None
    for part, roles in (("roles", ROLES), ("sizes", ROLES), ("models", MODEL_ROLES)):
        if unknown := sorted(set(getattr(made, part)) - set(roles)):
            remedy = f"{did_you_mean(unknown[0], roles)}Use one of {', '.join(roles)}."
            raise ProfileError(f"{part}: unknown role {unknown[0]!r}", where, remedy)
    sets = {folder: [path.stem for path in sorted(folder.glob("*.yml"))] for folder in (RECORDED, DATASETS)}
    given = {role: source for role, source in made.roles.items() if source not in (SYNTHETIC, ABSENT)}
    for role, part in [(role, part) for role, source in given.items() for part in source.split("+")]:
        there = sets[RECORDED if is_recorded(part) else DATASETS]
        if (data_set := dataset_of(part)) not in there:
            kind = "stored" if is_recorded(part) else "data"
            choices = there if is_recorded(part) else [SYNTHETIC, ABSENT, *there]
            remedy = f"{did_you_mean(data_set, choices)}Give one of {listed(choices)}."
            raise ProfileError(f"roles, {role}: no {kind} set {data_set!r}", where, remedy)
    return made
