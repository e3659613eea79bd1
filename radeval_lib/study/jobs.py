"""Jobs: notebooks with parameters, a profile's list of them, and their results.

A job trains, searches or scores. A job list is a function ``job_list(profile) -> list[Job]``, which
:data:`radeval_lib.registry.PLANS` names. The results of a job are written atomically to the folder
``jobs/<notebook>/<slug>`` in a profile's output folder: ``<table>.csv``, ``model/``, and ``facts.json`` with
single values ("facts"), their provenance, the type of each column, and the SHA-256 of every other file.
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
"""The folder, next to ``jobs``, with the checkpoints from which interrupted runs resume."""
_MAX_LENGTH = 80  # characters of a slug, without its digest


@dataclass(frozen=True)
class Job:
    """One notebook with one set of parameters.

    Attributes
    ----------
    notebook : the notebook's path below ``notebooks/`` without the extension.
    items : the parameters as pairs (name, value).
    data : the data roles that the job reads; empty if it reads all that its notebook declares.
    """

    notebook: str
    items: tuple[tuple[str, Value], ...]
    data: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, notebook: str, **parameters: Value) -> Job:
        """Return the job of a notebook with these parameters."""
        return cls(notebook, tuple(parameters.items()))

    @property
    def parameters(self) -> dict[str, Value]:
        """A mapping from parameter to value, without the parameters of every notebook (profile, seed and
        folders)."""
        return dict(self.items)

    @property
    def slug(self) -> str:
        """The name of the job's folder, from its parameter values (:func:`folder_name`)."""
        return folder_name([value for _, value in self.items], self.items)


def folder_name(values: Sequence[Value], identity: object) -> str:
    """Return a folder's name: the values separated by hyphens, or ``only`` if there are none.

    A name of more than 80 characters is cut, and characters other than letters, digits, ``_``, ``.`` and
    ``-`` are replaced by ``_``. In both cases eight digits of the SHA-256 of ``identity``, a JSON value, are
    appended, which keep the folders of different jobs apart.
    """
    text = "-".join(map(str, values)) or "only"
    plain = re.sub(r"[^\w.-]", "_", text)[:_MAX_LENGTH]
    if plain == text and plain not in (".", ".."):
        return plain
    return f"{plain}-{checksums.of_text(json.dumps(identity))[:8]}"


def executed_path(output_dir: Path, name: str, *, is_job: bool) -> Path:
    """Return the path of the executed notebook of a page, or of a job if ``is_job``.

    ``name`` is the notebook of the page, or ``notebook/slug`` of the job.
    """
    return output_dir / ("executed_jobs" if is_job else "executed") / f"{name}.ipynb"


def planned_jobs(profile: Profile) -> list[Job]:
    """Return all jobs of a profile, without repetition, in the order of the job lists."""
    plans = dict.fromkeys(registry.PLANS.values())
    return list(dict.fromkeys(job for plan in plans for job in registry.find(plan)(profile)))


def list_jobs(profile: Profile, notebook: str) -> list[Job]:
    """Return a profile's jobs of one notebook, at least one, in the order of the job list.

    Raises ParameterError if the profile has none.
    """
    plan = registry.PLANS.get(notebook)
    listed = registry.find(plan)(profile) if plan else []
    if jobs := list(dict.fromkeys(job for job in listed if job.notebook == notebook)):
        return jobs
    raise ParameterError(
        f"profile {profile.name!r} has no job of {notebook!r}",
        f"notebooks/{notebook}.md",
        "Correct the profile's `experiments`, or give another notebook.",
    )


def allowed_inputs(job: Job, profile: Profile) -> Declared:
    """Return the inputs that a job may read: all that its notebook declares, except for data roles that the
    job list does not assign to this job.

    Raises ParameterError if the profile has no job of the notebook, and NotebookError if the notebook's front
    matter is not valid.
    """
    inputs = declared(job.notebook)
    if not job.items or job.notebook not in registry.PLANS:
        return inputs
    roles = next((other.data for other in list_jobs(profile, job.notebook) if other == job), ())
    return inputs.model_copy(update={"data": roles}) if roles else inputs


def job_folder(output_dir: Path, job: Job) -> Path:
    """Return the folder of a job's results below ``output_dir``."""
    return output_dir / "jobs" / job.notebook / job.slug


def unfinished_folder(output_dir: Path, job: Job) -> Path:
    """Return the folder of a job's checkpoints below ``output_dir``.

    For a page, ``job`` is the notebook without parameters.
    """
    return output_dir / UNFINISHED / job.notebook / job.slug


FACTS = "facts.json"
MISSING_DATA = "lacks"
"""The fact of a job that did not run; its value says which data are missing."""
_COLUMN_TYPES = {"b": "bool", "i": "int64", "u": "uint64", "f": "float64"}
"""A mapping from the kind of a NumPy type to the type that :func:`read` returns, if not ``str``."""


@dataclass(frozen=True)
class JobOutput:
    """The results of a job.

    Attributes
    ----------
    job : the job.
    tables : a mapping from name to table.
    facts : the content of ``facts.json``: a mapping from name to a single value, and the provenance.
    model : the folder of the model; None if the job saved none.
    """

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
    tables : a mapping from name to table, with columns of strings, integers, booleans or floats. Only floats
        may be missing. :func:`read` returns the columns as ``str``, ``int64`` or ``uint64``, ``bool`` and
        ``float64``, without the index.
    facts : a mapping from name to a single value: a finite number, boolean, string or None, or a list or
        mapping of these. The names ``job``, ``tables`` and ``sha256`` and those in ``provenance`` are
        reserved.
    model : a function that saves the model into a folder.
    provenance : further entries for ``facts.json``, a mapping from name to value.

    Raises
    ------
    TypeError, ValueError
        If a fact has a different type, or is NaN or infinite.
    RestrictedTextError
        If a fact or a table contains restricted text.
    """
    for name, table in tables.items():
        table.to_csv(target / f"{name}.csv", index=False)
    if model is not None:
        (target / "model").mkdir()
        model(target / "model")
    metadata = {
        **(provenance or {}),
        "job": {"notebook": job.notebook, "parameters": job.items},
        "tables": {
            name: {column: _COLUMN_TYPES.get(values.dtype.kind, "str") for column, values in table.items()}
            for name, table in tables.items()
        },
        "sha256": checksums.of_folder(target),
    }
    text = json.dumps({**facts, **metadata}, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (target / FACTS).write_text(text + "\n", encoding="utf-8")


def read(folder: Path, job: Job, profile: str) -> JobOutput:
    """Return the results of a job that :func:`write` wrote into ``folder``.

    ``profile`` is the name of the profile in the command that errors recommend.

    Raises
    ------
    AbsentDataError
        If the job did not run because data are missing.
    ResultError
        If the job has not run yet, or one of its files is missing or was changed.
    """
    remedy = f"Run `radbook build --profile {profile}` or `{command(job.notebook, profile, job.items)}`."
    try:
        facts: dict[str, Any] = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        digests, columns = dict(facts["sha256"]), dict(facts["tables"])
    except FileNotFoundError:
        raise ResultError(f"the job {job.slug} has not run yet", display_path(folder), remedy) from None
    except (ValueError, KeyError, TypeError) as error:
        problem = f"this file is incomplete, or from another version ({type(error).__name__}: {error})"
        raise ResultError(problem, display_path(folder / FACTS), remedy) from None
    for name, digest in digests.items():
        if not (path := folder / name).is_file() or checksums.of_file(path) != digest:
            raise ResultError("this file is missing or has changed", display_path(path), remedy)
    if missing := facts.get(MISSING_DATA):
        raise AbsentDataError(missing, f"the job {job.slug} of {job.notebook}")
    tables = {}
    for name, types in columns.items():
        typed_columns = [column for column, kind in types.items() if kind != "str"]
        tables[name] = pd.read_csv(
            folder / f"{name}.csv",
            dtype=dict(types),
            keep_default_na=False,
            lineterminator="\n",
            na_values={column: [""] for column in typed_columns},
        )
    model = folder / "model"
    return JobOutput(job, tables, facts, model if model.is_dir() else None)
