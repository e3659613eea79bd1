"""Read the manifests of data sets, find files under the data root, and check permissions to send text.

Source: ``data_manifests/datasets/<name>.yml``. Paths of files are relative to a data root, a folder that git
ignores or that is outside the repository.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Collection, Sequence
from dataclasses import field
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.dataclasses import dataclass

from radeval_lib import checksums
from radeval_lib.data.errors import ChecksumError, DataRootError, ManifestError, StatementError
from radeval_lib.errors import describe, did_you_mean, list_names, to_line
from radeval_lib.paths import BUILD, DATA, DATASETS, display_path

_ENVIRONMENT_VARIABLE = "RADEVAL_DATA_ROOT"
# Folder of a data root with statements (``<name>.yml``), each of which allows sending text of one restricted
# data set to one model server. A local server needs a statement, too, because it may pass the text on. ::
#
#     corpus: mimic_cxr_rrs
#     server: 127.0.0.1:8000
#     date: 2026-11-23
#     signed: Name and position of the person responsible
STATEMENTS = "statements"
_ONE_LINE = AfterValidator(lambda text: " ".join(text.split()))
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), _ONE_LINE]
Lines = dict[Annotated[str, BeforeValidator(str)], Annotated[str, BeforeValidator(str), _ONE_LINE]]
_STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True)


def _require_path_below_root(path: str) -> str:
    """Return the path of a data file; raise a ValueError if it is absolute or contains ``..``."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError("must be a path below the data root, without '..'")
    return path


@dataclass(frozen=True, config=_STRICT)
class DataFile:
    """A file of a data set, as its manifest describes it.

    Attributes
    ----------
    path : path below the data root.
    sha256, size : SHA-256 and number of bytes, which a file must match; None if the manifest states none.
    url : URL from which the file is downloaded; empty if there is none.
    holds_reports : whether the file contains words of reports; only then does the guard on restricted text
        search builds for its content.
    """

    path: Annotated[str, AfterValidator(_require_path_below_root)]
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = None
    size: Annotated[int, Field(ge=0)] | None = None
    url: str = ""
    holds_reports: bool = True


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Manifest:
    """A description of one data set: ``data_manifests/datasets/<name>.yml``.

    For a user's own ratings, ``name``, ``title``, ``reader``, ``files`` and ``shows`` are enough.

    Attributes
    ----------
    name, title, version, licence, citation : identification of the set; ``citation`` is a key of the
        bibliography.
    access : how the files are obtained: ``open`` (anyone may download them), ``hub`` (from the Hugging Face
        Hub), ``credentialed`` (from PhysioNet and the like) or ``built`` (the user makes them).
    redistributable : whether anyone may redistribute the files; if not, the guard searches builds for them.
    restricted : whether the loader's texts must not be shown.
    redistribution, source, steps : terms of redistribution, URL of the source, and steps to get the files.
    files : the data files.
    schema, splits : mappings from each column or key, and from each split, to its description.
    shows : what results on the set demonstrate.
    identifiers : columns or keys that identify patients and studies.
    complete_with : groups of files, each of which is enough; empty if all files are needed.
    needed_as : needs of exhibits that the set meets, as ``needs`` in a ``paper.yml`` names them, or
        ``<paper>/<need>``.
    hub, revision : repository on the Hugging Face Hub, and the commit from which files are downloaded.
    reader : ``ratings`` for a user's table of ratings; empty for a set with a separate loader.
    """

    name: Line
    title: Line
    version: Line = "1"
    licence: Line = "its owner's"
    access: Literal["open", "hub", "credentialed", "built"]
    redistributable: bool
    restricted: bool
    redistribution: Line = "Not part of this repository."
    source: Line = "https://example.org/"
    steps: Annotated[tuple[Line, ...], Field(min_length=1)] = ("Put its files below the data root.",)
    files: Annotated[tuple[DataFile, ...], Field(min_length=1)]
    schema: Lines = field(default_factory=dict)
    citation: Annotated[str, _ONE_LINE] = ""
    shows: Line
    splits: Lines = field(default_factory=lambda: {"all": "one set, no splits"})
    identifiers: tuple[Line, ...] = ()
    complete_with: tuple[tuple[Line, ...], ...] = ()
    needed_as: tuple[Line, ...] = ()
    hub: str = ""
    revision: str = ""
    reader: Literal["", "ratings"] = ""

    @property
    def numbered_steps(self) -> list[str]:
        """The steps to get the data set, each as ``(number) step``."""
        return [f"({number}) {step}" for number, step in enumerate(self.steps, start=1)]

    def list_missing(self, existing_paths: Collection[str]) -> list[str]:
        """Return the paths of the missing files, given those of the existing files.

        If any of several groups of files is enough, the result is for the group that lacks the fewest files.
        """
        groups = self.complete_with or [[file.path for file in self.files]]
        return min(([path for path in group if path not in existing_paths] for group in groups), key=len)

    def file(self, path: str = "") -> DataFile:
        """Return the entry of the file whose path ends with ``path``; if ``path`` is empty, the first entry.

        Raises
        ------
        ManifestError
            If no file or more than one file matches.
        """
        if not path:
            return self.files[0]
        matches = [entry for entry in self.files if f"/{entry.path}".endswith(f"/{path}")]
        if len(matches) != 1:
            files = ", ".join(entry.path for entry in matches or self.files)
            fault = "several files" if matches else "no file"
            problem = f"data set {self.name!r} has {fault} named {to_line(path, 60)!r}"
            raise ManifestError(problem, remedy=f"Name one of {files}.")
        return matches[0]


def names() -> list[str]:
    """Return the sorted names of all data sets with a manifest in ``data_manifests/datasets``."""
    return sorted(path.stem for path in DATASETS.glob("*.yml"))


def parse_manifest(name: str, content: Any, where: str) -> Manifest:
    """Return the manifest of the data set ``name``, given the content of its YAML file.

    The content's ``name`` must equal ``name``. ``where`` is the file's path, for error messages. A manifest
    with a ``reader`` counts as restricted and credentialed unless it says ``restricted: false``.

    Raises
    ------
    ManifestError
        If the content is not a mapping, a key is unknown, missing or malformed, or the name differs.
    """
    if not isinstance(content, dict):
        problem = f"a manifest must be a mapping, not {type(content).__name__}"
        raise ManifestError(problem, where, "Write one `key: value` per line.")
    if content.get("reader"):
        restricted = content.get("restricted") is not False
        defaults = {"restricted": restricted, "redistributable": not restricted}
        content = {**defaults, "access": "credentialed" if restricted else "open", **content}
    try:
        manifest = Manifest(**{str(key): value for key, value in content.items()})
    except ValidationError as error:
        problem = describe(error, Manifest.__dataclass_fields__)
        raise ManifestError(problem, where, "Add, correct or remove this key.") from None
    if manifest.name != name:
        problem = f"`name` is {manifest.name!r}, but the file is {name}.yml"
        raise ManifestError(problem, where, f"Write `name: {name}`, or rename the file.")
    return manifest


@cache
def load_manifest(name: str) -> Manifest:
    """Return the manifest of the data set ``name``, cached.

    Raises
    ------
    ManifestError
        If there is no such data set, or its file is not YAML or not a manifest.
    """
    path = DATASETS / f"{name}.yml"
    if name not in names():
        raise ManifestError(
            f"unknown data set {to_line(name, 60)!r}",
            display_path(DATASETS),
            f"{did_you_mean(name, names())}Name one of {list_names(names())}.",
        )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, or an impossible date
        remedy = "Correct the file, at the position if the message gives one."
        raise ManifestError(f"not readable as YAML ({error})", display_path(path), remedy) from None
    return parse_manifest(name, content, display_path(path))


def data_root(option: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the absolute path of the folder with data files, or None if no folder is set.

    The folder is ``option`` if given, else the environment variable ``RADEVAL_DATA_ROOT`` if set, else the
    repository's folder ``data`` (ignored by git) if it exists.

    Raises
    ------
    DataRootError
        If the option or variable does not name a folder, or names one in ``build/``.
    """
    setting = os.fspath(option) if option else os.environ.get(_ENVIRONMENT_VARIABLE, "")
    if not setting:
        return DATA if DATA.is_dir() else None
    root = Path(setting).expanduser().resolve()
    problem = ""
    if not root.is_dir():
        problem = "is not a folder" if root.exists() else "does not exist"
    elif root.is_relative_to(BUILD):
        problem = "is in build/, whose content may be deleted"
    if problem:
        origin = "option" if option else f"environment variable {_ENVIRONMENT_VARIABLE}"
        remedy = "Name an existing folder outside build/, or leave it unset to run without data files."
        raise DataRootError(f"data root {setting!r} {problem}", origin, remedy)
    return root


def find(name: str, root: Path | None, file: str = "") -> Path | None:
    """Return the path of a data set's file under a data root; None if the file does not exist.

    ``file`` is the path of one of the set's files below the data root, or the end of that path; if it is
    empty, the set's first file.

    Raises
    ------
    ChecksumError
        If the file's size or SHA-256 differs from its manifest entry.
    ManifestError
        If the data set is unknown, or no file or more than one file matches.
    """
    entry = load_manifest(name).file(file)
    if root is None or not (path := root / entry.path).is_file():
        return None
    check_file(path, entry)
    return path


def list_restricted(root: Path | None) -> list[str]:
    """Return the names of the data sets that may not be redistributed and have a file in the data root."""
    return [name for name in names() if is_present(name, root) and not load_manifest(name).redistributable]


def is_present(name: str, root: Path | None) -> bool:
    """Return whether the data root has at least one file of a data set; False without a data root."""
    return root is not None and any((root / file.path).is_file() for file in load_manifest(name).files)


def check_file(path: Path, entry: DataFile) -> None:
    """Raise a ChecksumError if a file's size or SHA-256 differs from its manifest entry.

    A value that the entry does not state is not compared.
    """
    size = path.stat().st_size
    remedy = "Replace it: run `radbook data fetch` or `radbook data add`; or remove it from the data root."
    if entry.size is not None and size != entry.size:
        raise ChecksumError(f"{size} bytes instead of {entry.size}", entry.path, remedy)
    if entry.sha256 is not None:
        actual = hash_file(path)
        if actual != entry.sha256:
            raise ChecksumError(f"SHA-256 {actual} instead of {entry.sha256}", entry.path, remedy)


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a data file as 64 hexadecimal digits, cached until the file changes."""
    return _hash_file(path, checksums.read_state(path))


@lru_cache(maxsize=256)
def _hash_file(path: Path, _state: tuple[int, ...]) -> str:
    return checksums.of_file(path)


@dataclass(frozen=True, config=_STRICT)
class SendingStatement:
    """A signed and dated statement that text of the data set ``corpus`` may be sent to ``server``.

    ``server`` is ``host:port`` as in the server's URL.
    """

    corpus: Line
    server: Line
    date: datetime.date
    signed: Line


def read_statements(root: Path) -> list[SendingStatement]:
    """Return the statements in the data root's folder ``statements``, in the order of their file names.

    Raises
    ------
    StatementError
        If a file is not YAML, or has a missing, unknown or malformed key.
    """
    statements = []
    for path in sorted((root / STATEMENTS).glob("*.yml")):
        try:
            statements.append(SendingStatement(**yaml.safe_load(path.read_text(encoding="utf-8"))))
        except (yaml.YAMLError, TypeError, ValueError) as error:
            problem = describe(error) if isinstance(error, ValidationError) else f"not readable ({error})"
            remedy = "Write corpus, server, date and signed, and nothing else, each as `key: value`."
            raise StatementError(problem, f"{STATEMENTS}/{path.name}", remedy) from None
    return statements


def require_statements(corpora: Sequence[str], model: str, root: Path | None) -> None:
    """Raise a StatementError if no statement allows sending text of all ``corpora`` to ``model``.

    ``model`` is the server's URL, in which a user name and password are ignored. It may also be a folder or a
    model name; neither is ever refused. Without a data root, no server is refused. If a server is named and a
    statement is malformed, the StatementError of :func:`read_statements` is raised.
    """
    url = urlsplit(model)
    server = url.netloc.rpartition("@")[2] if url.scheme in ("http", "https") else ""
    if not (server and corpora and root):
        return
    allowed = {statement.corpus for statement in read_statements(root) if statement.server == server}
    if missing := [corpus for corpus in corpora if corpus not in allowed]:
        raise StatementError(
            f"no statement allows sending text of {list_names(missing)} to the model server {server}",
            f"{STATEMENTS}/ of the data root",
            f"Write NAME.yml in `{STATEMENTS}/` with the keys corpus, server, date and signed; or run a "
            f"model from a folder, or choose a data root without {list_names(missing)}.",
        )
