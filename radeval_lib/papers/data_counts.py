"""What papers print about a data set against what was loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from radeval_lib.data.catalog import READERS, load
from radeval_lib.data.errors import ManifestError
from radeval_lib.data.manifests import Manifest, load_manifest
from radeval_lib.papers.printed_numbers import printed, quoted


@dataclass(frozen=True)
class CountCheck:
    """One printed count (``printed``: the digits) and the same count of the data that were loaded.

    ``loaded`` is None where it was not counted.
    """

    name: str
    exhibit: str
    printed: str
    loaded: int | None
    note: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether both are the same; None where nothing was counted."""
        return None if self.loaded is None else int(self.printed.replace(",", "")) == self.loaded


def printed_counts(manifest: Manifest) -> list[CountCheck]:
    """Every count that papers print about a data set, with nothing loaded yet, in the manifest's order."""
    found = []
    for count in manifest.counts:
        if count.quoted:
            numbers = quoted(count.exhibit)
            if count.quoted not in numbers:
                raise ManifestError(
                    f"nothing called {count.quoted!r} is quoted for {count.exhibit}", manifest.name
                )
            text = numbers[count.quoted].text
            found.append(CountCheck(count.name, count.exhibit, text, None, count.note))
            continue
        rows = printed(count.exhibit)
        for column, allowed in count.where.items():
            if column not in rows:
                raise ManifestError(f"{count.exhibit} has no column {column!r}", manifest.name)
            rows = rows[rows[column].isin(allowed)]
        for row in rows[rows["value"].notna()].to_dict("records"):
            try:
                name = count.name.format(**row)
            except KeyError as error:
                raise ManifestError(
                    f"{count.exhibit} has no column {error.args[0]!r}", manifest.name
                ) from None
            found.append(CountCheck(name, count.exhibit, row["printed"], None, count.note))
    names = [check.name for check in found]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise ManifestError(f"two printed counts are called {doubled[0]!r}", manifest.name)
    return found


def check_counts(manifest: Manifest, loaded: Mapping[str, int]) -> list[CountCheck]:
    """Compare the printed counts of a data set with ``loaded``, counts of the data by the same names.

    Counts that are printed but were not loaded stay, with ``agrees`` None.

    Raises
    ------
    ManifestError
        Where ``loaded`` names a count that no paper prints, which a misspelt name would otherwise hide.
    """
    checks = printed_counts(manifest)
    names = [check.name for check in checks]
    if unknown := sorted(set(loaded) - set(names)):
        raise ManifestError(
            f"no paper prints a count {unknown[0]!r}", manifest.name, f"Printed: {', '.join(names)}."
        )
    return [
        CountCheck(check.name, check.exhibit, check.printed, loaded.get(check.name), check.note)
        for check in checks
    ]


def check_dataset(name: str, root: Path) -> list[CountCheck]:
    """The printed counts of a data set against what the data root holds; empty where it holds nothing.

    Where it holds only a part of the set, nothing is compared.
    """
    manifest, records = load_manifest(name), load(name, root)
    if not records:
        return []
    present = [file for file in manifest.files if (root / file.path).is_file()]
    whole = not all(file.partial for file in present)
    return check_counts(manifest, READERS[name].count(records) if whole else {})
