"""Manifests of data sets (contents, licence, access, files), the data root, and statements on sending text.

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
from radeval_lib.errors import complaint, did_you_mean, listed, plain
from radeval_lib.paths import BUILD, DATA, DATASETS, display_path

_ENVIRONMENT_VARIABLE = "RADEVAL_DATA_ROOT"
STATEMENTS = "statements"
"""Folder of a data root with statements (``<name>.yml``) that allow sending text of a restricted data set to
a model server. A server on the same machine needs one too, because it may pass the text on. ::

    corpus: mimic_cxr_rrs
    server: 127.0.0.1:8000
    date: 2026-11-23
    signed: Name and position of the person responsible
"""
_ONE_LINE = AfterValidator(lambda text: " ".join(text.split()))
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), _ONE_LINE]
Lines = dict[Annotated[str, BeforeValidator(str)], Annotated[str, BeforeValidator(str), _ONE_LINE]]
_STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True)


def _within(path: str) -> str:
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError("points outside the data root")
    return path


@dataclass(frozen=True, config=_STRICT)
class DataFile:
    """A file of a data set. ``holds_reports`` is false if it has no words of reports, so that the guard on
    restricted text need not search for it."""

    path: Annotated[str, AfterValidator(_within)]
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")] | None = None
    size: Annotated[int, Field(ge=0)] | None = None
    url: str = ""
    holds_reports: bool = True


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Manifest:
    """A description of one data set. For a user's ratings, ``name``, ``title``, ``reader``, ``files`` and
    ``shows`` are enough.

    ``identifiers`` are the columns that name patients and studies. If not all files are needed,
    ``complete_with`` lists groups of files, each of which is enough.
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
        """The steps to get the data set, each with its number."""
        return [f"({number}) {step}" for number, step in enumerate(self.steps, start=1)]

    def missing(self, there: Collection[str]) -> list[str]:
        """Return the fewest paths that complete the data set, given the paths that are ``there``."""
        groups = self.complete_with or [[file.path for file in self.files]]
        return min(([path for path in group if path not in there] for group in groups), key=len)

    def file(self, path: str = "") -> DataFile:
        """Return the file with that path, or whose path ends so; the first file if ``path`` is empty."""
        if not path:
            return self.files[0]
        matches = [entry for entry in self.files if f"/{entry.path}".endswith(f"/{path}")]
        if len(matches) != 1:
            files = ", ".join(entry.path for entry in matches or self.files)
            number = "several files" if matches else "no file"
            raise ManifestError(
                f"data set {self.name!r} has {number} {path!r}", remedy=f"Name one of {files}."
            )
        return matches[0]


def names() -> list[str]:
    """Return the name of every data set that has a manifest."""
    return sorted(path.stem for path in DATASETS.glob("*.yml"))


def parse_manifest(name: str, content: Any, where: str) -> Manifest:
    """Return the manifest in the content of a YAML file, which errors call ``where``."""
    if not isinstance(content, dict):
        raise ManifestError("a manifest must be a mapping", where, "Write it as `key: value`, line by line.")
    if content.get("reader"):
        closed = content.get("restricted") is not False
        shared = {"restricted": closed, "redistributable": not closed}
        content = {**shared, "access": "credentialed" if closed else "open", **content}
    try:
        manifest = Manifest(**{str(key): value for key, value in content.items()})
    except ValidationError as error:
        problem = complaint(error, Manifest.__dataclass_fields__)
        raise ManifestError(problem, where, "Correct this key, or remove it.") from None
    if manifest.name != name:
        raise ManifestError(
            f"the name {manifest.name!r} differs from the file's, {name!r}", where, "Make them the same."
        )
    return manifest


@cache
def load_manifest(name: str) -> Manifest:
    """Return the manifest of a data set."""
    path = DATASETS / f"{name}.yml"
    if name not in names():
        raise ManifestError(
            f"unknown data set {plain(name, 60)!r}",
            display_path(DATASETS),
            f"{did_you_mean(name, names())}Name one of {listed(names())}.",
        )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError) as error:  # a ValueError: not UTF-8, or no date
        remedy = "Correct the line that it names."
        raise ManifestError(f"not readable as YAML ({error})", display_path(path), remedy) from None
    return parse_manifest(name, content, display_path(path))


def data_root(option: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder of data files: ``option``, else the environment variable ``RADEVAL_DATA_ROOT``, else
    the repository's own folder ``data``, which git ignores, else None. The path is absolute.
    """
    given = os.fspath(option) if option else os.environ.get(_ENVIRONMENT_VARIABLE, "")
    if not given:
        return DATA if DATA.is_dir() else None
    root = Path(given).expanduser().resolve()
    problem = ""
    if not root.is_dir():
        problem = "is not a folder" if root.exists() else "does not exist"
    elif root.is_relative_to(BUILD):
        problem = "is in build/, which is searched for its texts and cleared"
    if problem:
        origin = "option" if option else f"environment variable {_ENVIRONMENT_VARIABLE}"
        remedy = "Give another folder, or none to run without data files."
        raise DataRootError(f"data root {given!r} {problem}", origin, remedy)
    return root


def find(name: str, root: Path | None, file: str = "") -> Path | None:
    """Return a data set's file under a data root, checked against its manifest; None if it is absent.

    ``file`` is the path or the end of the path of one of its files; the first if empty.
    """
    entry = load_manifest(name).file(file)
    if root is None or not (path := root / entry.path).is_file():
        return None
    check_file(path, entry)
    return path


def restricted_in(root: Path | None) -> list[str]:
    """Return the names of the data sets in the data root that may not be redistributed."""
    return [name for name in names() if is_present(name, root) and not load_manifest(name).redistributable]


def is_present(name: str, root: Path | None) -> bool:
    """Return whether the data root holds any file of a data set."""
    return root is not None and any((root / file.path).is_file() for file in load_manifest(name).files)


def check_file(path: Path, entry: DataFile) -> None:
    """Raise a ChecksumError if a file differs in size or SHA-256 from its manifest entry. The entry need not
    state them."""
    state = path.stat()
    remedy = "Fetch it again (radbook data fetch), or remove it from the data root."
    if entry.size is not None and state.st_size != entry.size:
        raise ChecksumError(f"{state.st_size} bytes instead of {entry.size}", entry.path, remedy)
    if entry.sha256 is not None:
        actual = sha256(path)
        if actual != entry.sha256:
            raise ChecksumError(f"sha256 {actual} instead of {entry.sha256}", entry.path, remedy)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a data file, cached until the file changes."""
    return _sha256(path, checksums.state(path))


@lru_cache(maxsize=256)
def _sha256(path: Path, _state: tuple[int, ...]) -> str:
    return checksums.of_file(path)


@dataclass(frozen=True, config=_STRICT)
class SendingStatement:
    """A statement that text of ``corpus`` may be sent to ``server``, with its signature and date."""

    corpus: Line
    server: Line
    date: datetime.date
    signed: Line


def sending_statements(root: Path) -> list[SendingStatement]:
    """Return every statement of a data root, in the order of their files."""
    statements = []
    for path in sorted((root / STATEMENTS).glob("*.yml")):
        try:
            statements.append(SendingStatement(**yaml.safe_load(path.read_text(encoding="utf-8"))))
        except (yaml.YAMLError, TypeError, ValueError) as error:
            problem = complaint(error) if isinstance(error, ValidationError) else "not a mapping in YAML"
            remedy = "Write corpus, server, date and signed, and nothing else, each as `key: value`."
            raise StatementError(problem, f"{STATEMENTS}/{path.name}", remedy) from None
    return statements


def require_statements(corpora: Sequence[str], model: str, root: Path | None) -> None:
    """Raise a StatementError if ``model`` is a server to which text of one of ``corpora`` may not be sent.

    A name and password in its address are ignored. Without a data root, no server is refused.
    """
    address = urlsplit(model)
    server = address.netloc.rpartition("@")[2] if address.scheme in ("http", "https") else ""
    if not (server and corpora and root):
        return
    allowed = {made.corpus for made in sending_statements(root) if made.server == server}
    if missing := [corpus for corpus in corpora if corpus not in allowed]:
        raise StatementError(
            f"text of {listed(missing)} may not be sent to the model server {server}",
            f"{STATEMENTS}/ of the data root",
            f"Choose a data root without {listed(missing)}, run a model from a folder, or write NAME.yml in "
            f"`{STATEMENTS}/` with corpus, server, date and signed.",
        )
