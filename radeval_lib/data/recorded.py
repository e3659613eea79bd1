"""Stored sets: ratings and scores as numbers, for texts that may not be in the repository.

In ``data_manifests/recorded``, ``<set>.csv`` has a row per candidate in the order of the set's files,
``<set>_<part>.csv`` are further tables, and ``<set>.yml`` describes how they were made. :func:`records` gives
the same records as the set's own loader, with a placeholder for each text (:mod:`radeval_lib.placeholders`).
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
from radeval_lib.errors import listed
from radeval_lib.paths import PUBLISHED, RECORDED, display_path
from radeval_lib.placeholders import behind, placeholder


@dataclass(frozen=True)
class Recording:
    """A stored set: its ``table`` with a row per candidate, further tables in ``parts``, and its description
    in ``about``. Rows are numbered from 0 (``number``), in the files' order."""

    name: str
    table: pd.DataFrame
    about: dict[str, Any]
    parts: dict[str, pd.DataFrame] = field(default_factory=dict)

    def title(self, metric: str) -> str:
        """Return the name of a metric's column, with any substitute model behind its scores."""
        return str(self.about["columns"][metric]["title"])

    def digest(self, metric: str) -> str:
        """Return the digest of the behaviour behind a metric's column; KeyError if none is recorded."""
        return str(self.about["columns"][metric]["behaviour"])

    def probe_scores(self, metric: str) -> list[float]:
        """Return the scores of ``probe.csv``'s pairs from models that never change, as they were when the
        metric's column was made."""
        return list(map(float, str(self.about["columns"][metric]["probe"]).split()))

    @property
    def scored_on(self) -> date:
        """The day on which its latest column was scored; without scores, the day on which it was counted."""
        days = [column["date"] for column in self.about["columns"].values()] or [self.about["date"]]
        return max(date.fromisoformat(str(day)) for day in days)


def names() -> list[str]:
    """Return the name of every stored set."""
    return sorted(path.stem for path in RECORDED.glob("*.yml"))


def published_recording(name: str) -> Recording | None:
    """Return the published models' scores of a set; None until they have been stored."""
    return load(name, PUBLISHED) if (PUBLISHED / f"{name}.yml").is_file() else None


@lru_cache(maxsize=8)
def load(name: str, folder: Path | None = None) -> Recording:
    """Return a stored set, from ``folder`` if it is given.

    Raises
    ------
    DataError
        If there is none of that name, or a table is not the one that its description was written for.
    """
    folder = folder or RECORDED
    if not (folder / f"{name}.yml").is_file():
        raise DataError(f"no set {name!r} is stored", display_path(folder), f"Name one: {listed(names())}.")
    about = own_yaml.read(folder / f"{name}.yml")
    for file, digest in about["tables"].items():
        path = folder / file
        if not path.is_file() or checksums.of_file(path) != digest:
            remedy = f"Restore both, or write them again: `radbook record {name}`."
            raise DataError(f"not the table that {name}.yml describes", display_path(path), remedy)
    parts = {
        Path(file).stem.removeprefix(f"{name}_"): pd.read_csv(folder / file)
        for file in about["tables"]
        if file != f"{name}.csv"
    }
    return Recording(name, pd.read_csv(folder / f"{name}.csv"), about, parts)


def files(name: str) -> list[Path]:
    """Return the tables of a stored set."""
    return [RECORDED / file for file in load(name).about["tables"]]


def column(placeholders: Iterable[str], name: str) -> np.ndarray:
    """Return a stored column's values for candidates, given their placeholders: float64 of shape (texts,).

    Raises
    ------
    DataError
        If a text is not the placeholder of a stored set's candidate, or its set has no such column.
    """
    values = []
    for text in placeholders:
        stored = behind(text)
        if stored is None or stored.side != "candidate":
            raise DataError("a text has no stored score", name, "Score texts with the metric itself.")
        table = load(stored.set).table
        if name not in table:
            raise DataError(f"no {name} is stored", stored.set, f"Run `radbook record {stored.set}`.")
        values.append(table.at[stored.number, name])
    return np.array(values, dtype=np.float64)


def records(name: str) -> list[Any]:
    """Return the records of a stored set, in the order of its own loader.

    Raises
    ------
    DataError
        If no recording of that name can be the source of a role.
    """
    if name not in registry.RECORDINGS:
        remedy = f"Name one: {listed(registry.RECORDINGS)}."
        raise DataError(f"the stored set {name!r} cannot configure a role", remedy=remedy)
    return list(registry.find(registry.RECORDINGS[name])(load(name)))


def pair_placeholders(name: str, row: Any) -> tuple[str, str]:
    """Return placeholders for the reference and the candidate in a row of the set's table."""
    return (
        placeholder(name, "reference", row.case, row.reference_words),
        placeholder(name, "candidate", row.number, row.candidate_words),
    )


def section_placeholders(name: str, row: Any) -> tuple[str, str]:
    """Return placeholders for the findings and the impression in a row of the set's table; empty for a
    section that the report lacks."""
    return (
        placeholder(name, "findings", row.number, row.findings_words),
        placeholder(name, "impression", row.number, row.impression_words),
    )


def placeholder_table(name: str) -> pd.DataFrame:
    """Return placeholders for every candidate of a set: ``reference`` and ``candidate``, by ``number``."""
    table = load(name).table
    rows = [pair_placeholders(name, row) for row in table.itertuples()]
    return pd.DataFrame(rows, columns=["reference", "candidate"], index=table["number"])
