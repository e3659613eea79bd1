"""Manifests of data sets: what a set is, who may have it and how, its files, and the papers' counts of it.

Source: ``data_manifests/datasets/<name>.yml``. Paths of files are relative to a data root, a folder that git
ignores or that lies outside the repository.
"""

from __future__ import annotations

import os
import re
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from radeval_lib import checksums
from radeval_lib.data.errors import ChecksumError, DataRootError, ManifestError
from radeval_lib.errors import plain
from radeval_lib.paths import DATA, DATASETS, display_path

ENVIRONMENT_VARIABLE = "RADEVAL_DATA_ROOT"
UNVERIFIED = "recorded on first verified fetch"
ACCESS = ("open", "hub", "credentialed", "built")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class DataFile:
    """A file of a data set."""

    path: str
    sha256: str | None = None
    size: int | None = None
    url: str = ""
    member: str = ""
    partial: bool = False


@dataclass(frozen=True)
class PrintedCount:
    """Where a paper prints counts of the data set; the digits stand with the paper's other numbers."""

    exhibit: str
    name: str
    quoted: str = ""
    where: dict[str, list[str]] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Manifest:
    """What is known about one data set."""

    name: str
    title: str
    version: str
    licence: str
    access: str
    redistributable: bool
    restricted: bool
    redistribution: str
    source: str
    steps: tuple[str, ...]
    files: tuple[DataFile, ...]
    schema: dict[str, str]
    citation: str
    shows: str
    splits: dict[str, str]
    counts: tuple[PrintedCount, ...] = ()
    loader: str = ""
    roles: tuple[str, ...] = ()
    needed_as: tuple[str, ...] = ()
    hub: str = ""
    revision: str = ""
    built_from: str = ""

    def file(self, path: str = "") -> DataFile:
        """The file of that path, or of that name alone; the first file where ``path`` is empty."""
        for entry in self.files:
            if path in ("", entry.path, PurePosixPath(entry.path).name):
                return entry
        known = ", ".join(entry.path for entry in self.files)
        raise ManifestError(f"data set {self.name!r} has no file {path!r}", remedy=f"Files: {known}.")


def names() -> list[str]:
    """Every data set that has a manifest."""
    return sorted(path.stem for path in DATASETS.glob("*.yml"))


def _data_file(entry: Any, where: str) -> DataFile:
    known = {one.name for one in fields(DataFile)}
    if not isinstance(entry, dict) or "path" not in entry or not set(entry) <= known:
        raise ManifestError("a file needs 'path' and no key but " + ", ".join(sorted(known)), where)
    values = dict(entry)
    if not isinstance(values["path"], str):
        raise ManifestError("the path of a file must be a text", where)
    path = PurePosixPath(values["path"])
    if path.is_absolute() or ".." in path.parts:
        raise ManifestError(f"file path {values['path']!r} leaves the data root", where)
    if values.get("sha256") == UNVERIFIED:
        values["sha256"] = None
    elif not _SHA256.fullmatch(str(values.get("sha256"))):
        raise ManifestError(f"sha256 of {path} must be 64 hexadecimal digits or {UNVERIFIED!r}", where)
    if not isinstance(values.get("size"), int | None):
        raise ManifestError(f"size of {path} must be a whole number of bytes", where)
    return DataFile(**values)


def _printed_count(entry: Any, where: str) -> PrintedCount:
    known = {one.name for one in fields(PrintedCount)}
    if not isinstance(entry, dict) or not {"exhibit", "name"} <= set(entry) <= known:
        raise ManifestError(
            "a count needs 'exhibit', 'name' and no key but " + ", ".join(sorted(known)), where
        )
    rows = entry.get("where", {})
    if not isinstance(rows, dict) or not all(isinstance(allowed, list) for allowed in rows.values()):
        raise ManifestError(f"'where' of {entry['name']!r} must give a list of values by column", where)
    return PrintedCount(**entry)


def parse_manifest(name: str, content: Any, where: str) -> Manifest:
    """A manifest from the content of its YAML file."""
    if not isinstance(content, dict):
        raise ManifestError("a manifest must be a mapping", where)
    types = {entry.name: str(entry.type) for entry in fields(Manifest)}
    required = {entry.name for entry in fields(Manifest) if entry.default is MISSING}
    if unknown := sorted(set(content) - set(types)):
        raise ManifestError(f"unknown key {unknown[0]!r}", where, f"Keys: {', '.join(types)}.")
    if missing := sorted(required - set(content)):
        raise ManifestError(f"missing key {missing[0]!r}", where)
    if content["name"] != name:
        raise ManifestError(f"name {content['name']!r} is not the file's name {name!r}", where)
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key in ("files", "counts") and not isinstance(value, list):
            raise ManifestError(f"{key} must be a list", where)
        if key == "files":
            values[key] = tuple(_data_file(entry, where) for entry in value)
        elif key == "counts":
            values[key] = tuple(_printed_count(entry, where) for entry in value)
        else:
            values[key] = _typed(key, value, types[key], where)
    if values["access"] not in ACCESS:
        raise ManifestError(f"access must be one of {', '.join(ACCESS)}, not {values['access']!r}", where)
    if not values["steps"] or not values["files"]:
        raise ManifestError("a manifest needs at least one access step and one file", where)
    return Manifest(**values)


def _typed(key: str, value: Any, kind: str, where: str) -> Any:
    """``value`` as the type that :class:`Manifest` declares for ``key``."""
    if kind == "tuple[str, ...]" and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(" ".join(item.split()) for item in value)
    if kind == "dict[str, str]" and isinstance(value, dict):
        return {str(name): " ".join(str(text).split()) for name, text in value.items()}
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind == "str" and isinstance(value, str) and (value.strip() or key in ("loader", "hub", "revision")):
        return " ".join(value.split())
    raise ManifestError(f"{key} must be {kind}, not {value!r}", where)


@cache
def load_manifest(name: str) -> Manifest:
    """The manifest of a data set.

    Raises
    ------
    ManifestError
        Where there is no such data set, or its manifest is not of its format.
    """
    path = DATASETS / f"{name}.yml"
    if name not in names():
        raise ManifestError(
            f"unknown data set {plain(name, 60)!r}",
            display_path(DATASETS),
            f"Data sets: {', '.join(names())}.",
        )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ManifestError(
            f"not readable as YAML ({' '.join(str(error).split())})", display_path(path)
        ) from None
    return parse_manifest(name, content, display_path(path))


def data_root(option: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder of data files: ``option``, else the environment variable ``RADEVAL_DATA_ROOT``, else the
    repository's own folder ``data``, which git ignores, else None. It is absolute: who reads it may work in
    another folder.

    Raises
    ------
    DataRootError
        Where that folder does not exist.
    """
    given = os.fspath(option) if option else os.environ.get(ENVIRONMENT_VARIABLE, "")
    if not given:
        return DATA if DATA.is_dir() else None
    root = Path(given).expanduser().resolve()
    if not root.is_dir():
        kind = "is not a folder" if root.exists() else "does not exist"
        origin = "option" if option else f"environment variable {ENVIRONMENT_VARIABLE}"
        raise DataRootError(
            f"data root {given!r} {kind}",
            origin,
            "Create it, give another one, or leave it out to run without it.",
        )
    return root


def find(name: str, root: Path | None, file: str = "") -> Path | None:
    """A data set's file under a data root, checked against its manifest.

    Parameters
    ----------
    name : data set.
    root : data root, or None.
    file : path or name of one of its files; empty: the first.

    Returns
    -------
    Path or None
        None where there is no root or the file is not there.

    Raises
    ------
    ManifestError
        Where the data set or the file is unknown.
    ChecksumError
        Where the file is not the one that the manifest states.
    """
    entry = load_manifest(name).file(file)
    if root is None:
        return None
    path = root / entry.path
    if not path.is_file():
        return None
    check_file(path, entry)
    return path


def restricted_in(root: Path | None) -> list[str]:
    """Names of the data sets of which a data root holds a file and whose text may not be passed on."""
    if root is None:
        return []
    manifests = (load_manifest(name) for name in names())
    return [
        one.name
        for one in manifests
        if not one.redistributable and any((root / file.path).is_file() for file in one.files)
    ]


def check_file(path: Path, entry: DataFile) -> None:
    """Compare a file with its manifest entry; a size or hash that it does not state is not compared."""
    state = path.stat()
    remedy = "Fetch it again (radbook data fetch), or remove it from the data root."
    if entry.size is not None and state.st_size != entry.size:
        raise ChecksumError(f"{state.st_size} bytes instead of {entry.size}", entry.path, remedy)
    if entry.sha256 is not None:
        actual = _sha256(path, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        if actual != entry.sha256:
            raise ChecksumError(f"sha256 {actual} instead of {entry.sha256}", entry.path, remedy)


@lru_cache(maxsize=256)
def _sha256(path: Path, size: int, modified: int, changed: int) -> str:
    """Cached by size and times of change, so that a notebook hashes a file once."""
    return checksums.of_file(path)
