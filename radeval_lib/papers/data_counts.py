"""What papers print about a data set against what was loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from radeval_lib.data.errors import ManifestError
from radeval_lib.data.manifests import Manifest, PrintedCount, load_manifest
from radeval_lib.data.readers import load, reader
from radeval_lib.papers.printed_numbers import parse, printed, quoted

_REMEDY = "Correct `counts` in the manifest."


@dataclass(frozen=True)
class CountCheck:
    """One printed count (``printed``: the digits) and the same count of the data that were loaded.

    ``loaded`` is None if it was not counted.
    """

    name: str
    exhibit: str
    printed: str
    note: str
    loaded: int | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether both are the same; None if nothing was counted."""
        return None if self.loaded is None else parse(self.printed).value == self.loaded


def printed_counts(manifest: Manifest) -> list[CountCheck]:
    """Return every count that papers print about a data set, with nothing loaded yet, in the manifest's
    order.

    Raises
    ------
    ManifestError
        If the manifest names a column, a value or a number that the paper's transcription lacks, a number
        that is not a count, or two counts alike.
    """
    checks = []
    for count in manifest.counts:
        try:
            rows = _printed_rows(count)
            names = [count.name.format(**row) for row in rows]
        except KeyError as error:
            raise ManifestError(f"{count.exhibit} has no {error}", manifest.name, _REMEDY) from None
        for name, row in zip(names, rows, strict=True):
            if parse(row["printed"]).half_width != 0:  # NaN if nothing legible is printed
                raise ManifestError(f"{row['printed']} ({name}) is not a count", manifest.name, _REMEDY)
            checks.append(CountCheck(name, count.exhibit, row["printed"], count.note))
    names = [check.name for check in checks]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise ManifestError(f"two printed counts are called {doubled[0]!r}", manifest.name, _REMEDY)
    return checks


def _printed_rows(count: PrintedCount) -> list[dict[str, Any]]:
    """Return the printed number that a manifest's count refers to: a number of a quotation, or rows of a
    table.

    Raises
    ------
    KeyError
        Of a name, a column or a value that the exhibit's transcription lacks.
    """
    if count.quoted:
        return [{"printed": quoted(count.exhibit)[count.quoted].text}]
    table = printed(count.exhibit)
    for column, allowed in count.where.items():
        if unknown := sorted(set(allowed) - set(table[column])):
            raise KeyError(unknown[0])
        table = table[table[column].isin(allowed)]
    return table[table["value"].notna()].to_dict("records")


def check_counts(manifest: Manifest, loaded: Mapping[str, int]) -> list[CountCheck]:
    """Compare the printed counts of a data set with ``loaded``, counts of the data by the same names.

    Counts that are printed but were not loaded stay, with ``agrees`` None.

    Raises
    ------
    ManifestError
        Where ``loaded`` has a count that no paper prints; see also :func:`printed_counts`.
    """
    checks = printed_counts(manifest)
    names = [check.name for check in checks]
    if unknown := sorted(set(loaded) - set(names)):
        raise ManifestError(
            f"no paper prints a count {unknown[0]!r}", manifest.name, f"Printed: {', '.join(names)}."
        )
    return [replace(check, loaded=loaded.get(check.name)) for check in checks]


def check_dataset(name: str, root: Path) -> list[CountCheck]:
    """Return the printed counts of a data set against what the data root holds; empty if it holds nothing.

    If it holds only a file for part of the set, nothing is compared.
    """
    manifest, records = load_manifest(name), load(name, root)
    if not records:
        return []
    whole = any((root / path).is_file() for group in manifest.groups for path in group)
    return check_counts(manifest, reader(name).count(records) if whole else {})
