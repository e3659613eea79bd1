"""Stored sets: ratings and scores of texts that are not in the repository, as tables of numbers.

In ``data_manifests/recorded``, ``<set>.csv`` has one row per candidate in the order of the set's files,
``<set>_<part>.csv`` are further tables, and ``<set>.yml`` describes how they were made. :func:`load_records`
returns the same records as the set's own loader, with a placeholder for each text
(:mod:`radeval_lib.placeholders`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import checksums, own_yaml, registry
from radeval_lib.data.errors import DataError
from radeval_lib.errors import list_names
from radeval_lib.paths import PUBLISHED, RECORDED, display_path
from radeval_lib.placeholders import make_placeholder, parse_placeholder


@dataclass(frozen=True)
class Recording:
    """The tables and the description of a stored set.

    Attributes
    ----------
    name : name of the set.
    table : one row per candidate, in the order of the set's files; its column ``number`` counts from 0.
    description : content of ``<set>.yml``.
    parts : a mapping from the ``part`` in the file name to each further table.
    """

    name: str
    table: pd.DataFrame
    description: dict[str, Any]
    parts: dict[str, pd.DataFrame] = field(default_factory=dict)

    def title(self, metric: str) -> str:
        """Return the title of a metric's column, which names any substitute model behind the scores; raise a
        KeyError if the metric has no column."""
        return str(self.description["columns"][metric]["title"])

    def digest(self, metric: str) -> str:
        """Return the stored hash of the metric's behaviour; raise a KeyError if the metric has no column."""
        return str(self.description["columns"][metric]["behaviour"])

    def probe_scores(self, metric: str) -> list[float]:
        """Return the scores that the metric gave the pairs in ``probe.csv`` when its column was stored.

        They come from fixed models, so a difference from today's scores shows that code has changed. Raises
        KeyError if the metric has no column.
        """
        return list(map(float, str(self.description["columns"][metric]["probe"]).split()))

    @property
    def scored_on(self) -> date:
        """The date on which the latest column was scored; without scores, the date in the description."""
        columns = self.description["columns"].values()
        return max(date.fromisoformat(str(entry["date"])) for entry in columns or [self.description])


def names() -> list[str]:
    """Return the sorted names of all stored sets."""
    return sorted(path.stem for path in RECORDED.glob("*.yml"))


def load_published(name: str) -> Recording | None:
    """Return the stored scores of the published models on a set; None if they are not stored."""
    return load(name, PUBLISHED) if (PUBLISHED / f"{name}.yml").is_file() else None


@lru_cache(maxsize=8)
def load(name: str, folder: Path | None = None) -> Recording:
    """Return the recording ``name`` from ``folder``, by default ``data_manifests/recorded``.

    The result is cached.

    Raises
    ------
    DataError
        If there is no such set, or a table is missing or does not have the SHA-256 in the description.
    """
    folder = folder or RECORDED
    if not (folder / f"{name}.yml").is_file():
        raise DataError(f"no stored set {name!r}", display_path(folder), f"Use one of {list_names(names())}.")
    description = own_yaml.read(folder / f"{name}.yml")
    for file, digest in description["tables"].items():
        path = folder / file
        if not path.is_file() or checksums.of_file(path) != digest:
            remedy = f"Restore the table and {name}.yml from git, or rewrite them: `radbook record {name}`."
            difference = f"the table's SHA-256 differs from that in {name}.yml"
            problem = difference if path.is_file() else "the table is missing"
            raise DataError(problem, display_path(path), remedy)
    paths = [folder / file for file in description["tables"]]
    tables = {path.stem.removeprefix(f"{name}_"): pd.read_csv(path) for path in paths}
    return Recording(name, tables.pop(name), description, tables)


def list_tables(name: str) -> list[Path]:
    """Return the paths of the tables of the stored set ``name``; raise a DataError if there is none."""
    return [RECORDED / file for file in load(name).description["tables"]]


def read_column(placeholders: Iterable[str], name: str) -> np.ndarray:
    """Return the values that the stored column ``name`` has for candidates, given their placeholders.

    The array is float64 of shape (number of placeholders,), with NaN where the table has an empty cell.

    Raises
    ------
    DataError
        If a text is not the placeholder of a candidate in a stored set, or the set has no such column.
    """
    values = []
    for position, text in enumerate(placeholders, start=1):
        stored = parse_placeholder(text)
        if stored is None or stored.side != "candidate":
            location = f"column {name!r}, text {position} (the first is 1)"
            remedy = "Stored scores exist only for placeholders; to score texts, run the metric itself."
            raise DataError("not the placeholder of a stored candidate", location, remedy)
        table = load(stored.set).table
        if name not in table:
            remedy = f"Run `radbook record {stored.set}`."
            raise DataError(f"the stored table has no column {name!r}", stored.set, remedy)
        values.append(table.at[stored.number, name])
    return np.array(values, dtype=np.float64)


def load_records(name: str) -> list[Any]:
    """Return the records of a stored set, with placeholders as texts, in the order of the set's own loader.

    Raises
    ------
    DataError
        If there is no such set, or it cannot be the source of a role.
    """
    if name not in registry.RECORDINGS:
        remedy = f"Use one of {list_names(registry.RECORDINGS)}."
        raise DataError(f"no stored set {name!r} can be the source of a role", remedy=remedy)
    return list(registry.find(registry.RECORDINGS[name])(load(name)))


def make_pair_placeholders(name: str, row: Any) -> tuple[str, str]:
    """Return (reference, candidate): the placeholders of the texts in a row of the stored set ``name``."""
    return (
        make_placeholder(name, "reference", row.case, row.reference_words),
        make_placeholder(name, "candidate", row.number, row.candidate_words),
    )


def make_section_placeholders(name: str, row: Any) -> tuple[str, str]:
    """Return (findings, impression): the placeholders of the sections in a row of the stored set ``name``.

    If the report lacks a section, its placeholder is an empty string.
    """
    return (
        make_placeholder(name, "findings", row.number, row.findings_words),
        make_placeholder(name, "impression", row.number, row.impression_words),
    )


def tabulate_placeholders(name: str) -> pd.DataFrame:
    """Return the placeholders for each ``reference`` and ``candidate`` of a stored set, by ``number``."""
    table = load(name).table
    rows = [make_pair_placeholders(name, row) for row in table.itertuples()]
    return pd.DataFrame(rows, columns=["reference", "candidate"], index=table["number"])
