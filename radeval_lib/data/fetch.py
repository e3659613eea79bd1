"""Data files: their status, and how to fetch, verify and add them.

Open files come through pooch, hub sets through huggingface_hub at a pinned revision. A file gets its place
under the data root only after a check; a file that differs is not kept. Credentialed files are copied from
the user's folder. No credentials are asked for, stored or shown.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from radeval_lib import atomic
from radeval_lib.data.errors import ChecksumError, DataError, DataRootError, FetchError, ManifestError
from radeval_lib.data.manifests import DataFile, Manifest, check_file, load_manifest, names

TIMEOUT = 60  # seconds without a byte
Say = Callable[[str], object]


@dataclass(frozen=True)
class FileStatus:
    """A file of a data set under a data root.

    ``state`` is ``verified``, ``there`` (the manifest states no checksum), ``missing`` or ``mismatch``, which
    ``detail`` explains.
    """

    dataset: str
    path: str
    state: str
    access: str
    detail: str = ""


def _root(root: Path | None) -> Path:
    if root is None:
        remedy = "Give --data-root FOLDER, or set the environment variable RADEVAL_DATA_ROOT."
        raise DataRootError("no data root", remedy=remedy)
    return root


def status(root: Path | None, dataset: str = "") -> list[FileStatus]:
    """Return the state of every file of one data set, or of all if ``dataset`` is empty. Without a data root,
    all are missing."""
    files = []
    for manifest in map(load_manifest, [dataset] if dataset else names()):
        for entry in manifest.files:
            state, detail = "missing", ""
            if root is not None and (path := root / entry.path).is_file():
                state = "verified" if entry.sha256 else "there"
                try:
                    check_file(path, entry)
                except ChecksumError as error:
                    state, detail = "mismatch", error.what
            files.append(FileStatus(manifest.name, entry.path, state, manifest.access, detail))
    return files


def verify(root: Path | None, dataset: str = "", say: Say = print) -> list[FileStatus]:
    """Check every file that exists, ``say`` each state, and return the states.

    Raises
    ------
    ChecksumError
        If files differ from their manifests; all are checked first, and none is removed.
    FetchError
        If no file exists.
    """
    folder = _root(root)
    present = [file for file in status(folder, dataset) if file.state != "missing"]
    if not present:
        remedy = f"Run `{f'radbook data status {dataset}'.strip()}` to see what belongs there."
        raise FetchError(f"it holds no file of {dataset or 'any data set'}", "data root", remedy)
    for file in present:
        say(f"{file.state:10} {file.path}{': ' + file.detail if file.detail else ''}")
    if bad := [file.path for file in present if file.state == "mismatch"]:
        problem = f"{len(bad)} file(s) do not match: {', '.join(bad)}"
        raise ChecksumError(problem, remedy="Remove them and get them again.")
    return present


def fetch(dataset: str, root: Path | None, *, say: Say = print) -> list[Path]:
    """Download the missing or differing files of an open or hub data set; return the paths of all that exist.

    A downloaded file that differs from its manifest is not kept. If a set cannot be downloaded, the error
    lists the steps to get it.
    """
    folder, manifest = _root(root), load_manifest(dataset)
    present = [file.path for file in status(folder, dataset) if file.state not in ("missing", "mismatch")]
    wanted = [manifest.file(path) for path in manifest.missing(present)]
    if not wanted:
        say(f"{dataset}: every file is in place")
    elif not manifest.revision and (closed := [entry.path for entry in wanted if not entry.url]):
        steps = " ".join(manifest.numbered_steps)
        raise FetchError(f"{closed[0]} cannot be downloaded", dataset, f"To get it: {steps}")
    for entry in wanted:
        hub = f"the hub, {manifest.hub} at {manifest.revision[:7]}"
        say(f"fetching {entry.path} from {hub if manifest.revision else entry.url}")
        with atomic.scratch(folder) as incoming:
            _install(_download(manifest, entry, incoming), entry, folder)
    return [folder / entry.path for entry in manifest.files if (folder / entry.path).is_file()]


def fetch_open(root: Path, *, say: Say = print) -> dict[str, str]:
    """Download every open data set, and ``say`` its licence; return the reason of each failure, by name."""
    failed = {}
    for manifest in map(load_manifest, names()):
        if manifest.access != "open":
            continue
        say(f"{manifest.name} ({manifest.title}). Licence: {manifest.licence}")
        try:
            fetch(manifest.name, root, say=say)
        except DataError as error:
            failed[manifest.name] = str(error)
            say(f"  {error}")
    return failed


def _download(manifest: Manifest, entry: DataFile, folder: Path) -> Path:
    """Download a file into ``folder``, from the hub at the manifest's revision or from the file's address.

    Raises
    ------
    FetchError
        If nothing came, or not all of it.
    """
    target = folder / PurePosixPath(entry.path).name
    try:
        if manifest.revision:
            import huggingface_hub

            within = PurePosixPath(entry.path).relative_to(manifest.name).as_posix()
            path = huggingface_hub.hf_hub_download(
                manifest.hub, within, repo_type="dataset", revision=manifest.revision, local_dir=folder
            )
            return Path(path)
        import pooch  # here, because it sets up progress bars, which the state of files does not need

        download = pooch.HTTPDownloader(progressbar=True, timeout=TIMEOUT)
        download(entry.url, str(target), None)
        return target
    except OSError as error:  # what requests and the hub raise is one
        response = getattr(error, "response", None)
        reason = type(error).__name__ if response is None else response.status_code
        remedy = (
            "Log in with the hub's own command, accept the set's conditions on its page, and try again."
            if manifest.revision
            else f"Check the connection to {urlsplit(entry.url).hostname} and run the command again; or get "
            f"{entry.url} in another way and pass it to `radbook data add {manifest.name} FILE`."
        )
        raise FetchError(f"download of {entry.path} failed ({reason})", manifest.name, remedy) from None


def _install(incoming: Path, entry: DataFile, root: Path) -> None:
    """Check a file and move it to its place under the data root; a file that differs never gets there."""
    check_file(incoming, entry)
    target = root / entry.path
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(incoming, target)


def add(dataset: str, paths: Sequence[Path], root: Path | None, say: Say = print) -> list[Path]:
    """Copy files that the user obtained to their places under the data root after a check; return the places.

    A file is recognised by its name or, if several files of the set share it, by its folder, such as
    ``MIMIC_IV/train_IOB.json``. The user's copy stays.
    """
    folder, manifest = _root(root), load_manifest(dataset)
    chosen = []
    for path in paths:
        try:
            entry = manifest.file(f"{path.resolve().parent.name}/{path.name}")
        except ManifestError:
            entry = manifest.file(path.name)
        chosen.append((path, entry))
    for path, entry in chosen:
        with atomic.scratch(folder) as incoming:
            shutil.copyfile(path, incoming / "copy")
            _install(incoming / "copy", entry, folder)
        say(f"added      {entry.path}")
    return [folder / entry.path for _, entry in chosen]
