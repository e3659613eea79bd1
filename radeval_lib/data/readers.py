"""Find the function that reads a data set, as :mod:`radeval_lib.registry` names it, and call it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from radeval_lib import registry
from radeval_lib.data.manifests import find, load_manifest, names
from radeval_lib.errors import RegistryError, did_you_mean

# Returns the path of a data set's file, given its name or the end of its path; None if the file is absent.
# The file is compared with the manifest, and noted as read.
Find = Callable[[str], Path | None]
Records = list[Any]
Read = Callable[[Find], Records]  # returns the records of one data set; empty if its files are absent
SPLITS = ("train", "dev", "test")
SPLIT_FILES = tuple(f"{split}.json" for split in SPLITS)


def count_records(name: str, records: Sequence[Any]) -> dict[str, int]:
    """Return a mapping from type and split, such as ``ReportPair train``, to the number of records.

    For a user's ratings (``reader: ratings``), the keys are ``cases``, ``candidates`` and ``raters``. Raises
    ManifestError if there is no data set ``name``.
    """
    if load_manifest(name).reader == "ratings":
        return {
            "cases": len({pair.id.rpartition("/")[0] for pair in records}),
            "candidates": len({pair.id for pair in records}),
            "raters": len({pair.rater for pair in records}),
        }
    keys = (f"{type(record).__name__} {getattr(record, 'split', '')}".strip() for record in records)
    return dict(Counter(keys))


def make_reader(load_file: Callable[[Path], Iterable[Any]], *files: str) -> Read:
    """Return a function that applies ``load_file`` to each existing file and concatenates the records.

    ``files`` are names or ends of paths of the set's files. If a name begins with a split, as in
    ``train_span.json``, and the records have a field ``split``, this field is set to the split.
    """

    def read(find_file: Find) -> Records:
        records: Records = []
        for file in files:
            path = find_file(file)
            split = Path(file).name.split("_")[0].split(".")[0]
            for record in load_file(path) if path else []:
                has_split = split in SPLITS and hasattr(record, "split")
                records.append(replace(record, split=split) if has_split else record)
        return records

    return read


def find_reader(name: str) -> Read:
    """Return the function that reads the data set ``name``.

    Raises
    ------
    ManifestError
        If there is no such data set.
    RegistryError
        If neither the set's manifest nor :data:`radeval_lib.registry.READERS` names a function.
    """
    reader = load_manifest(name).reader
    if reader:
        read: Read = registry.find(registry.OWN_READERS[reader])(name)
    elif name in registry.READERS:
        read = registry.find(registry.READERS[name])
    else:
        orphan_names = sorted(set(registry.READERS) - set(names()))
        remedy = f"{did_you_mean(name, orphan_names)}Add an entry, or add `reader: ratings` to the manifest."
        raise RegistryError(f"no entry for the data set {name!r}", "radeval_lib/registry.py, READERS", remedy)
    return read


def load(name: str, root: Path, note: Callable[[Path], None] = lambda path: None) -> Records:
    """Return the records of the data set ``name``; empty if the data root ``root`` has none of its files.

    ``note`` is called with the path of each file before it is read.

    Raises
    ------
    DataError
        If the data set is unknown, or a file differs from its manifest or is malformed.
    RegistryError
        If no function reads the data set (:func:`find_reader`).
    """

    def find_file(file: str) -> Path | None:
        path = find(name, root, file)
        if path is not None:
            note(path)
        return path

    return find_reader(name)(find_file)
