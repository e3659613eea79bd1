"""Reading of data sets: loader modules have a function ``read``, which :mod:`radeval_lib.registry` names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from radeval_lib import registry
from radeval_lib.data.manifests import find, load_manifest, names
from radeval_lib.errors import RegistryError, did_you_mean

Find = Callable[[str], Path | None]
"""Returns a data set's file by its path or name, verified, and notes that it is read; None if absent."""
Records = list[Any]
Read = Callable[[Find], Records]
"""Returns the records of one data set; empty if its files are absent."""
SPLITS = ("train", "dev", "test")
SPLIT_FILES = tuple(f"{split}.json" for split in SPLITS)


def count_records(name: str, records: Sequence[Any]) -> dict[str, int]:
    """Return the number of records of each type and split, such as ``ReportPair train``; of a user's ratings,
    the numbers of cases, candidates and raters."""
    if load_manifest(name).reader == "ratings":
        return {
            "cases": len({pair.id.rpartition("/")[0] for pair in records}),
            "candidates": len({pair.id for pair in records}),
            "raters": len({pair.rater for pair in records}),
        }
    kinds = (f"{type(record).__name__} {getattr(record, 'split', '')}".strip() for record in records)
    return dict(Counter(kinds))


def load_each(load_file: Callable[[Path], Iterable[Any]], *files: str) -> Read:
    """Return a function that reads those of ``files`` that exist.

    The records of a file ``train.json`` or ``train_span.json`` get the split ``train``, if they have one.
    """

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


def reader(name: str) -> Read:
    """Return the function that reads a data set.

    Raises
    ------
    ManifestError
        If there is no such data set.
    RegistryError
        If neither its manifest nor :data:`radeval_lib.registry.READERS` names a reader.
    """
    kind = load_manifest(name).reader
    if kind:
        made: Read = registry.find(registry.OWN_READERS[kind])(name)
    elif name in registry.READERS:
        made = registry.find(registry.READERS[name])
    else:
        rows = sorted(set(registry.READERS) - set(names()))
        remedy = f"{did_you_mean(name, rows)}Add its row, or `reader: ratings` to its manifest."
        raise RegistryError(f"no reader of {name!r}", "radeval_lib/registry.py, READERS", remedy)
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

    return reader(name)(find_file)
