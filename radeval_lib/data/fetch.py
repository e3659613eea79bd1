"""Getting and checking data files: status, fetch, verify, add.

Open files come through pooch's downloader, hub sets through huggingface_hub at a pinned revision. A file
takes its place under the data root only after it was checked, by one rename; a mismatch leaves nothing
behind. Credentialed files are copied from where the user has them. No credentials are asked for, stored or
shown.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from http.client import responses
from itertools import takewhile
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import requests

from radeval_lib import atomic, checksums
from radeval_lib.data.errors import ChecksumError, DataError, DataRootError, FetchError
from radeval_lib.data.manifests import DataFile, Manifest, check_file, load_manifest, names
from radeval_lib.errors import is_refusal, plain

RECORD = "recorded_checksums.json"  # in the data root: sha256 of files whose manifest states none
TIMEOUT = 60  # seconds without a byte
Say = Callable[[str], object]


@dataclass(frozen=True)
class FileStatus:
    """A file of a data set under a data root.

    ``state``: ``verified`` (as the manifest states it), ``recorded`` (as it was when it first came),
    ``unrecorded`` (there, with nothing to compare it with), ``missing``, or ``mismatch``.
    """

    dataset: str
    path: str
    state: str
    access: str
    detail: str = ""


def _root(root: Path | None) -> Path:
    if root is None:
        raise DataRootError(
            "no data root",
            remedy="Give --data-root FOLDER, or set the environment variable RADEVAL_DATA_ROOT.",
        )
    return root


def _recorded(root: Path) -> dict[str, str]:
    path = root / RECORD
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError):
        content = None
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise FetchError("not a record of checksums", RECORD, "Remove it; checksums are recorded again.")
    return content


def _record(root: Path, path: str, digest: str) -> None:
    content = _recorded(root) | {path: digest}
    atomic.write_text(root / RECORD, json.dumps(dict(sorted(content.items())), indent=2) + "\n")


def _expected(manifest: Manifest, entry: DataFile, root: Path) -> DataFile:
    """Return the manifest's entry, with the checksum that was recorded where the manifest states none; a
    table of one's own, which its owner edits, is compared with none."""
    if entry.sha256 or manifest.reader:
        return entry
    return replace(entry, sha256=_recorded(root).get(entry.path))


def _install(incoming: Path, manifest: Manifest, entry: DataFile, root: Path) -> None:
    """Check a file and move it to its place; what does not match never gets there."""
    check_file(incoming, _expected(manifest, entry, root))
    target = root / entry.path
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = checksums.of_file(incoming)
    os.replace(incoming, target)
    if entry.sha256 is None:
        _record(root, entry.path, digest)


def status(root: Path | None, dataset: str = "") -> list[FileStatus]:
    """State of every file of one data set, or of all; without a data root, all are missing."""
    chosen = [load_manifest(name) for name in ([dataset] if dataset else names())]
    return [_file_status(manifest, entry, root) for manifest in chosen for entry in manifest.files]


def _file_status(manifest: Manifest, entry: DataFile, root: Path | None) -> FileStatus:
    if root is None or not (path := root / entry.path).is_file():
        return FileStatus(manifest.name, entry.path, "missing", manifest.access)
    expected = _expected(manifest, entry, root)
    try:
        check_file(path, expected)
    except ChecksumError as error:
        return FileStatus(manifest.name, entry.path, "mismatch", manifest.access, error.what)
    state = "verified" if entry.sha256 else "recorded" if expected.sha256 else "unrecorded"
    return FileStatus(manifest.name, entry.path, state, manifest.access)


def verify(root: Path | None, dataset: str = "", say: Say = print) -> list[FileStatus]:
    """Check every file that is there; a file with no checksum to compare gets its own recorded, except a
    table of one's own, which its owner edits.

    Those that do not match are named after all were checked, and left where they are: they are the user's.
    """
    folder = _root(root)
    found = status(folder, dataset)
    if all(one.state == "missing" for one in found):
        whose = f"of {dataset!r}" if dataset else "of any data set"
        raise FetchError(
            f"no file {whose} is there",
            "data root",
            f"`radbook data status {dataset}`".replace(" `", "`") + " says what belongs there.",
        )
    for one in found:
        state, detail = one.state, one.detail
        if state == "unrecorded" and load_manifest(one.dataset).reader:
            detail = "a table of your own, which may change"
        elif state == "unrecorded":
            _record(folder, one.path, checksums.of_file(folder / one.path))
            state, detail = "recorded", f"its checksum, in {RECORD}"
        if state != "missing":
            say(f"{state:10} {one.path}{': ' + detail if detail else ''}")
    if bad := [one.path for one in found if one.state == "mismatch"]:
        changed = [path for path in bad if path in _recorded(folder)]
        own = f" Where you changed it yourself: remove its line from {RECORD} there." if changed else ""
        raise ChecksumError(
            f"{len(bad)} file(s) do not match: {', '.join(bad)}",
            remedy=f"Remove them and get them again.{own}",
        )
    return status(folder, dataset)


def fetch(dataset: str, root: Path | None, *, progress: bool = True, say: Say = print) -> list[Path]:
    """Download the files of an open or hub data set that are missing or do not match; all that are in place.

    Of what is not as the manifest states nothing is kept; of a set that is not for download the error lists
    the steps to get it.
    """
    folder, manifest = _root(root), load_manifest(dataset)
    states = {entry.path: _file_status(manifest, entry, folder).state for entry in manifest.files}
    there = [path for path, state in states.items() if state not in ("missing", "mismatch")]
    wanted = [manifest.file(path) for path in manifest.missing(there)]
    if not wanted:
        say(f"{dataset}: every file is in place")
    elif manifest.access == "hub" and manifest.revision:
        for entry in wanted:
            say(f"fetching {entry.path} from the hub, {manifest.hub} at {manifest.revision[:7]}")
            _fetch_hub(manifest, entry, folder)
    elif missing := [entry.path for entry in wanted if not entry.url]:
        steps = " ".join(manifest.numbered_steps)
        raise FetchError(f"{missing[0]} is not for download", dataset, f"To get it: {steps}")
    else:
        for entry in wanted:
            say(f"fetching {entry.path} from {entry.url}")
            _fetch_url(dataset, entry, folder, progress)
    return [folder / entry.path for entry in manifest.files if (folder / entry.path).is_file()]


def fetch_open(root: Path, *, progress: bool = True, say: Say = print) -> dict[str, str]:
    """Download every open data set, naming the licence of each: why each that failed did, by name."""
    failed = {}
    for name in names():
        manifest = load_manifest(name)
        if manifest.access != "open":
            continue
        say(f"{name} ({manifest.title}). Licence: {manifest.licence}")
        try:
            fetch(name, root, progress=progress, say=say)
        except DataError as error:
            failed[name] = str(error)
            say(f"  {error}")
    return failed


def _reason(error: Exception) -> str:
    """Return why a download failed, in words: libraries nest the names of their exceptions."""
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if (response := getattr(error, "response", None)) is not None:
        return f"{response.status_code} {responses.get(response.status_code, '')}".rstrip()
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return getattr(error, "strerror", None) or plain(str(error), 60) or type(error).__name__


def _fetch_url(dataset: str, entry: DataFile, root: Path, progress: bool) -> None:
    import pooch  # here, because it sets up progress bars, which the state of files does not need

    with atomic.scratch(root) as folder:
        incoming = folder / "download"
        try:
            pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT)(entry.url, str(incoming), None)
        except (requests.RequestException, OSError, ValueError) as error:
            if is_refusal(error):
                raise
            host = urlsplit(entry.url).hostname
            raise FetchError(
                f"download of {entry.path} failed ({_reason(error)})",
                dataset,
                f"Check the connection to {host} and run the command again; or get {entry.url} in another "
                f"way and give it to `radbook data add {dataset} FILE`.",
            ) from None
        _install(incoming, load_manifest(dataset), entry, root)


def _fetch_hub(manifest: Manifest, entry: DataFile, root: Path) -> None:
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    within = PurePosixPath(entry.path).relative_to(manifest.name).as_posix()
    with atomic.scratch(root) as folder:
        try:
            path = huggingface_hub.hf_hub_download(
                manifest.hub, within, repo_type="dataset", revision=manifest.revision, local_dir=folder
            )
        except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
            raise FetchError(
                f"the hub gave no {within!r} of {manifest.hub} ({_reason(error)})",
                manifest.name,
                "Log in with the hub's own command, accept the set's conditions on its page, and try again.",
            ) from None
        _install(Path(path), manifest, entry, root)


def add(dataset: str, paths: Sequence[Path], root: Path | None, say: Say = print) -> list[Path]:
    """Copy files that the user obtained to their places under the data root, after checking them.

    A file is known by its name, or, where several files of the set share it, by the end of its path, such as
    ``MIMIC_IV/train_IOB.json``. The user's own copy stays.
    """
    folder, manifest = _root(root), load_manifest(dataset)
    chosen = [(path, _entry_for(path, manifest)) for path in paths]
    installed = []
    for path, entry in chosen:
        with atomic.scratch(folder) as incoming:
            copy = incoming / "copy"
            try:
                shutil.copyfile(path, copy)
            except OSError as error:
                raise FetchError(f"not copied ({error.strerror})", path.name) from None
            _install(copy, manifest, entry, folder)
        say(f"added      {entry.path}")
        installed.append(folder / entry.path)
    return installed


def _entry_for(path: Path, manifest: Manifest) -> DataFile:
    if not path.is_file():
        raise FetchError("file does not exist", str(path))
    ending = path.resolve().parts[1:]

    def shared(entry: DataFile) -> int:
        """Return how many names at the end of both paths are the same."""
        pairs = zip(reversed(ending), reversed(PurePosixPath(entry.path).parts), strict=False)
        return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))

    scores = {entry.path: shared(entry) for entry in manifest.files}
    best = max(scores.values())
    matches = [entry for entry in manifest.files if scores[entry.path] == best]
    if best == 0:
        known = ", ".join(entry.path for entry in manifest.files)
        raise FetchError(f"{path.name!r} is not a file of {manifest.name!r}", remedy=f"Files: {known}.")
    if len(matches) > 1:
        listed = ", ".join(entry.path for entry in matches)
        raise FetchError(
            f"{path.name!r} may be any of {listed}",
            remedy="Put it into a folder with the name that stands there.",
        )
    return matches[0]
