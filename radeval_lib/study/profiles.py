"""Profiles: the source of each role, and the sizes, seed and settings of a run.

A profile is the file ``data_manifests/profiles/<name>.yml``. With ``extends``, it changes another profile key
by key.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, Field, ValidationError

from radeval_lib import checksums, own_yaml
from radeval_lib.errors import ProfileError, describe, did_you_mean, list_names
from radeval_lib.paths import DATASETS, DEFAULT_PROFILE, PROFILES, RECORDED, display_path
from radeval_lib.registry import ABSENT, MODEL_ROLES, ROLES, SYNTHETIC, dataset_of, is_recorded
from radeval_lib.study.sources import Declared

Size = Annotated[int, Field(strict=True, ge=0)]
Section = TypeVar("Section", bound=BaseModel)


class Limits(BaseModel, extra="forbid", frozen=True):
    """Time limits of a notebook, for each cell and for the start of its kernel. No result depends on them."""

    cell_minutes: Annotated[int, Field(strict=True, ge=1)] = 60
    start_seconds: Annotated[int, Field(strict=True, ge=1)] = 180


class Profile(BaseModel, extra="forbid", frozen=True):
    """The settings of a run.

    Attributes
    ----------
    name : the name of the file without the extension.
    description : the purpose of the profile, in a sentence.
    seed : the seed of a run that does not set one.
    device : the device on which models run; ``auto`` is CUDA if there is a GPU, otherwise the CPU.
    threads : the number of threads of a notebook.
    resamples : the number of bootstrap resamples for each interval.
    needs_data_root : whether a run needs data files.
    smallest_count : the smallest count that tables show if restricted data are readable; 0 shows all.
    roles : a mapping from data role to source.
    sizes : a mapping from data role to the number of records that the generator makes for it.
    models : a mapping from model role to source.
    experiments : sections of settings by name, which pages and job lists validate (:meth:`section`).
    limits : the time limits of each notebook.
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

    def section(self, name: str, kind: type[Section]) -> Section:
        """Return the section ``name`` of ``experiments``, validated as an object of the class ``kind``.

        Raises ProfileError if the section is missing, has a wrong key or value, or was left out by
        :meth:`narrow` because the notebook does not declare it.
        """
        where = f"{display_path(PROFILES / f'{self.name}.yml')}, experiments, {name}"
        try:
            return kind.model_validate(self.experiments[name])
        except KeyError:
            remedy = "Add it to this file, or to `settings` under `study` in the notebook's front matter."
            raise ProfileError(f"section {name!r} is missing or not declared", where, remedy) from None
        except ValidationError as error:
            remedy = f"Add, correct or remove this key. The keys are {', '.join(kind.model_fields)}."
            raise ProfileError(describe(error, kind.model_fields), where, remedy) from None

    def narrow(self, inputs: Declared, *, for_job: bool = False) -> Profile:
        """Return the profile with only those roles, models and sections that are among a notebook's inputs.

        If ``for_job``, the notebook is that of a job, and ``resamples`` and ``smallest_count`` become 0: jobs
        show no tables or intervals, so these settings must not make a finished job out of date.
        """
        names = {"roles": inputs.data, "sizes": inputs.data, "models": inputs.models}
        names["experiments"] = inputs.settings
        parts = {
            part: {key: value for key, value in getattr(self, part).items() if key in part_names}
            for part, part_names in names.items()
        }
        return self.model_copy(update={**parts, **({"resamples": 0, "smallest_count": 0} if for_job else {})})

    @property
    def digest(self) -> str:
        """The SHA-256 of all settings that can affect a result: all but the description and time limits."""
        return checksums.of_text(self.model_dump_json(exclude={"description", "limits"}))


def command(notebook: str, profile: str, items: Iterable[tuple[str, object]] = ()) -> str:
    """Return the shell command that runs a notebook with a profile, which is named unless it is the default.

    ``items`` are the names and values of the notebook's other parameters.
    """
    parameters = [*items, *([("profile", profile)] if profile != DEFAULT_PROFILE else [])]
    options = [f"-p {name} {shlex.quote(str(value))}" for name, value in parameters]
    return " ".join(["radbook run", notebook, *options])


def profile_names() -> list[str]:
    """Return the names of all profiles, sorted."""
    return sorted(path.stem for path in PROFILES.glob("*.yml"))


def _read_values(name: str, extended_by: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the keys and values in a profile's file, merged with those of the profile that it extends.

    ``extended_by`` names the profiles that lead here: the first extends the second, and so on, and the last
    extends this one. Raises ProfileError if a file is absent or not a YAML mapping, or profiles extend each
    other in a circle.
    """
    folder = display_path(PROFILES)
    if name in extended_by:
        circle = f"profiles extend each other in a circle: {' -> '.join((*extended_by, name))}"
        raise ProfileError(circle, folder, "Remove one `extends`.")
    if name not in profile_names():
        raise ProfileError(f"unknown profile {name!r}", folder, f"Use one of {', '.join(profile_names())}.")
    path = PROFILES / f"{name}.yml"
    try:
        values: dict[str, Any] = own_yaml.read(path) or {}
    except UnicodeDecodeError:
        raise ProfileError("this is not UTF-8 text", display_path(path), "Save the file as UTF-8.") from None
    except (yaml.YAMLError, ValueError) as error:  # YAML raises ValueError for an impossible date
        problem = f"this is not valid YAML: {' '.join(str(error).split())}"
        raise ProfileError(problem, display_path(path), "Correct the YAML.") from None
    if not isinstance(values, dict):
        raise ProfileError("this is not a mapping of keys", display_path(path), "Write `key: value` lines.")
    if "name" in values:
        raise ProfileError("unknown key 'name'", display_path(path), "Remove it; the file's name is used.")
    base = values.pop("extends", None)
    return values if base is None else _merge(_read_values(base, (*extended_by, name)), values)


def _merge(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of both mappings, with the values of ``changes`` where both have one.

    If both values are mappings, they are merged in the same way.
    """
    merged = {
        key: _merge(base[key], value)
        for key, value in changes.items()
        if isinstance(value, dict) and isinstance(base.get(key), dict)
    }
    return {**base, **changes, **merged}


@cache
def profile(name: str) -> Profile:
    """Return the profile of this name, merged with the profiles that it extends.

    Raises
    ------
    ProfileError
        If there is no such profile, its file is not UTF-8 or not YAML, or profiles extend each other in a
        circle; if it has an unknown key, role or data set; or if a value is missing or wrong.
    """
    values = _read_values(name)
    where = display_path(PROFILES / f"{name}.yml")
    try:
        resolved = Profile.model_validate({**values, "name": name})
    except ValidationError as error:
        keys = ", ".join(key for key in Profile.model_fields if key != "name")
        remedy = f"Add, correct or remove this key. The keys are {keys}, extends."
        raise ProfileError(describe(error, Profile.model_fields), where, remedy) from None
    for part, roles in (("roles", ROLES), ("sizes", ROLES), ("models", MODEL_ROLES)):
        if unknown := sorted(set(getattr(resolved, part)) - set(roles)):
            remedy = f"{did_you_mean(unknown[0], roles)}Use one of {', '.join(roles)}."
            raise ProfileError(f"{part}: unknown role {unknown[0]!r}", where, remedy)
    sets = {folder: [path.stem for path in sorted(folder.glob("*.yml"))] for folder in (RECORDED, DATASETS)}
    sources = {role: source for role, source in resolved.roles.items() if source not in (SYNTHETIC, ABSENT)}
    for role, part in [(role, part) for role, source in sources.items() for part in source.split("+")]:
        known_sets = sets[RECORDED if is_recorded(part) else DATASETS]
        if (data_set := dataset_of(part)) not in known_sets:
            kind, source, choices = "data", data_set, [SYNTHETIC, ABSENT, *known_sets]
            if is_recorded(part):  # stored sets are listed as they are written in a profile
                kind, source, choices = "stored", part, [f"recorded/{set_name}" for set_name in known_sets]
            remedy = f"{did_you_mean(source, choices)}Use one of {list_names(choices)}."
            raise ProfileError(f"roles, {role}: no {kind} set {source!r}", where, remedy)
    return resolved
