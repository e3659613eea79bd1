"""Jobs: notebooks with parameters, a profile's list of them, their files and results.

A job trains, searches or judges. Lists of jobs, ``job_list(profile) -> list[Job]``, are found by name:
:data:`radeval_lib.registry.PLANS`. What a job leaves is in ``cells/<notebook>/<slug>`` of a profile's
outputs, whole or not at all: ``<table>.csv``, ``model/``, and ``cell.json`` with the facts, where they come
from, the type of each column, and the SHA-256 of every other file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from radeval_lib import checksums, registry
from radeval_lib.data.errors import AbsentDataError
from radeval_lib.errors import ParameterError, ResultError
from radeval_lib.paths import display_path
from radeval_lib.study.profiles import Profile, command
from radeval_lib.study.sources import Declared, declared

Value = str | int | float | bool
UNFINISHED = "unfinished"
"""The folder, next to ``cells``, of what interrupted runs need to resume."""
_LONGEST = 80  # characters of a slug, without its digest


@dataclass(frozen=True)
class Job:
    """One notebook with one set of parameters. ``data`` are the roles of data that it reads, if they are not
    all that its notebook declares."""

    notebook: str
    items: tuple[tuple[str, Value], ...]
    data: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, notebook: str, **parameters: Value) -> Job:
        """Return a job with its parameters given by name."""
        return cls(notebook, tuple(parameters.items()))

    @property
    def parameters(self) -> dict[str, Value]:
        """Its parameters by name, without those that every notebook has."""
        return dict(self.items)

    @property
    def slug(self) -> str:
        """The name of its folder: the values, with a digest if they cannot all be spelled out."""
        return folder_name([value for _, value in self.items], self.items)


def folder_name(values: Sequence[Value], identity: object) -> str:
    """Return the values joined by hyphens, with a digest of ``identity`` if they cannot all be spelled."""
    text = "-".join(map(str, values)) or "only"
    plain = re.sub(r"[^\w.-]", "_", text)[:_LONGEST]
    if plain == text and plain not in (".", ".."):
        return plain
    return f"{plain}-{checksums.of_text(json.dumps(identity))[:8]}"


def executed_path(output_dir: Path, name: str, *, is_cell: bool) -> Path:
    """Return the executed notebook of a page, or of a job by its ``notebook/slug``."""
    return output_dir / ("executed_cells" if is_cell else "executed") / f"{name}.ipynb"


def planned_jobs(profile: Profile) -> list[Job]:
    """Return every job of a profile, in the order of the job lists."""
    plans = dict.fromkeys(registry.PLANS.values())
    return list(dict.fromkeys(job for plan in plans for job in registry.find(plan)(profile)))


def of_notebook(profile: Profile, notebook: str) -> list[Job]:
    """Return the jobs of one notebook, at least one; raises ParameterError if the profile has none."""
    plan = registry.PLANS.get(notebook)
    made = registry.find(plan)(profile) if plan else []
    if jobs := list(dict.fromkeys(job for job in made if job.notebook == notebook)):
        return jobs
    raise ParameterError(
        f"profile {profile.name!r} has no job of {notebook!r}",
        f"notebooks/{notebook}.md",
        "Correct the profile's `experiments`, or take another notebook.",
    )


def inputs_of(job: Job, profile: Profile) -> Declared:
    """Return the declared inputs of a job: its notebook's, with the data restricted to the job's own."""
    wanted = declared(job.notebook)
    if not job.items or job.notebook not in registry.PLANS:
        return wanted
    roles = next((other.data for other in of_notebook(profile, job.notebook) if other == job), ())
    return wanted.model_copy(update={"data": roles}) if roles else wanted


def folder(output_dir: Path, job: Job) -> Path:
    """Return the folder of a job's results."""
    return output_dir / "cells" / job.notebook / job.slug


def unfinished_folder(output_dir: Path, job: Job) -> Path:
    """Return the folder for a run's unfinished work; a page's is that of a job without parameters."""
    return output_dir / UNFINISHED / job.notebook / job.slug


FACTS = "cell.json"
MISSING_DATA = "lacks"
"""The fact of a job that was left out: the data that are missing."""
_COLUMN_TYPES = {"b": "bool", "i": "int64", "u": "uint64", "f": "float64"}
"""What a column is read back as, by the kind of its NumPy type; other columns hold texts."""


@dataclass(frozen=True)
class JobOutput:
    """The results of a job; ``model`` is its model's folder, or None."""

    job: Job
    tables: dict[str, pd.DataFrame]
    facts: dict[str, Any]
    model: Path | None


def write(
    target: Path,
    job: Job,
    tables: Mapping[str, pd.DataFrame],
    facts: Mapping[str, Any],
    model: Callable[[Path], Any] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write a job's results into the empty folder ``target``.

    Parameters
    ----------
    tables : by name; columns of texts, whole numbers, truth values or floats, of which these alone may be
        missing. They are read back as ``str``, ``int64`` or ``uint64``, ``bool`` and ``float64``, without the
        index.
    facts : values that JSON gives back: finite numbers, truth values, texts, None, and lists and mappings of
        these. Names of the provenance, ``cell``, ``tables`` and ``sha256`` are reserved.
    model : saves into the folder that it is given.
    provenance : where this comes from, by name.

    Raises
    ------
    TypeError, ValueError, RestrictedTextError
        If a fact or a table cannot be written, such as restricted text.
    """
    for name, table in tables.items():
        table.to_csv(target / f"{name}.csv", index=False)
    if model is not None:
        (target / "model").mkdir()
        model(target / "model")
    described = {
        **(provenance or {}),
        "cell": {"notebook": job.notebook, "parameters": job.items},
        "tables": {
            name: {column: _COLUMN_TYPES.get(values.dtype.kind, "str") for column, values in table.items()}
            for name, table in tables.items()
        },
        "sha256": checksums.of_folder(target),
    }
    text = json.dumps({**facts, **described}, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (target / FACTS).write_text(text + "\n", encoding="utf-8")


def read(where: Path, job: Job, profile: str) -> JobOutput:
    """Return the results that :func:`write` wrote; an error's remedy names ``profile``.

    Raises
    ------
    AbsentDataError
        If the job was left out for lack of data.
    ResultError
        If it has not run yet, or a file is missing or changed.
    """
    remedy = f"Run `radbook build`, or this job alone: {command(job.notebook, profile, job.items)}"
    try:
        facts: dict[str, Any] = json.loads((where / FACTS).read_text(encoding="utf-8"))
        sums, described = dict(facts["sha256"]), dict(facts["tables"])
    except FileNotFoundError:
        raise ResultError(f"the job {job.slug} has not been run yet", display_path(where), remedy) from None
    except (ValueError, KeyError, TypeError):
        problem = "its results are cut short or of another version"
        raise ResultError(problem, display_path(where / FACTS), remedy) from None
    for name, digest in sums.items():
        if not (path := where / name).is_file() or checksums.of_file(path) != digest:
            problem = "this file is missing or was changed after it was written"
            raise ResultError(problem, display_path(path), remedy)
    if missing := facts.get(MISSING_DATA):
        raise AbsentDataError(missing, f"its job {job.slug} of {job.notebook}")
    tables = {}
    for name, types in described.items():
        numbers = [column for column, kind in types.items() if kind != "str"]
        tables[name] = pd.read_csv(
            where / f"{name}.csv",
            dtype=dict(types),
            keep_default_na=False,
            lineterminator="\n",
            na_values={column: [""] for column in numbers},
        )
    model = where / "model"
    return JobOutput(job, tables, facts, model if model.is_dir() else None)
