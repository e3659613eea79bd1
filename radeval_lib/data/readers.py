"""Readers of data sets: a loader module defines its ``READER``, which :mod:`radeval_lib.registry` names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from radeval_lib import registry
from radeval_lib.data.manifests import find, load_manifest, names
from radeval_lib.errors import RegistryError, did_you_mean

Find = Callable[[str], Path | None]
"""Finds a file of one data set by its path or name, verified and recorded as read; None if absent."""
Records = list[Any]
SPLITS = ("train", "dev", "test")
SPLIT_FILES = tuple(f"{split}.json" for split in SPLITS)


def by_kind(records: Iterable[Any]) -> dict[str, int]:
    """Return how many records there are of each type and split."""
    kinds = (f"{type(record).__name__} {getattr(record, 'split', '')}".strip() for record in records)
    return dict(Counter(kinds))


@dataclass(frozen=True)
class Reader:
    """How a data set is read: ``load(find)`` gives records, ``count(records)`` what ``radbook data verify``
    says of them."""

    load: Callable[[Find], Records]
    count: Callable[[Records], dict[str, int]] = by_kind


def each(load_file: Callable[[Path], Iterable[Any]], *files: str) -> Callable[[Find], Records]:
    """Read those of ``files`` that exist; a record's split comes from the name of its file."""

    def read(find_file: Find) -> Records:
        records: Records = []
        for file in files:
            path = find_file(file)
            split = Path(file).name.split("_")[0].split(".")[0]
            for record in load_file(path) if path else []:
                named = split in SPLITS and hasattr(record, "split")
                records.append(replace(record, split=split) if named else record)
        return records

    return read


def reader(name: str) -> Reader:
    """Return the reader of a data set.

    Raises
    ------
    ManifestError, RegistryError
        If there is no such data set; its manifest names no reader and the registry has none, or one that is
        not there.
    """
    kind = load_manifest(name).reader
    if kind:
        made: Reader = registry.find(registry.OWN_READERS[kind])(name)
    elif name in registry.READERS:
        made = registry.find(registry.READERS[name])
    else:
        rows = sorted(set(registry.READERS) - set(names()))
        remedy = f"{did_you_mean(name, rows)}Add its row, or `reader: ratings` to its manifest."
        raise RegistryError(f"no row {name!r}", "radeval_lib/registry.py, READERS", remedy)
    return made


def load(name: str, root: Path, note: Callable[[Path], None] = lambda path: None) -> Records:
    """Return the records of a data set; empty if the data root does not hold it.

    Parameters
    ----------
    note : called with each file that is read.
    """

    def find_file(file: str) -> Path | None:
        path = find(name, root, file)
        if path is not None:
            note(path)
        return path

    return reader(name).load(find_file)
