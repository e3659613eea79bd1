"""Report the status of data files; download, verify and add them.

Files of open data sets are downloaded by pooch, those on the Hugging Face Hub by huggingface_hub at a pinned
revision. Credentialed files are copied from the user's folder. A file is moved to its place under the data
root only if it matches the size and SHA-256 that its manifest states; a file without a stated SHA-256 is
reported as not compared. No credentials are asked for, stored or shown.
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

TIMEOUT = 60  # seconds without data
Say = Callable[[str], object]  # shows one line of progress to the user, as ``print`` does


@dataclass(frozen=True)
class FileStatus:
    """The state of one file of a data set under a data root.

    Attributes
    ----------
    dataset : name of the data set.
    path : path of the file below the data root.
    state : ``verified`` (it has the manifest's SHA-256), ``there`` (it exists, but the manifest states no
        SHA-256), ``missing`` or ``mismatch`` (its size or SHA-256 differs).
    access : ``access`` in the manifest: ``open``, ``hub``, ``credentialed`` or ``built``.
    detail : for a mismatch, the difference; else empty.
    """

    dataset: str
    path: str
    state: str
    access: str
    detail: str = ""


def _require_root(root: Path | None) -> Path:
    """Return ``root``; raise a DataRootError if it is None, which means that no data root is set."""
    if root is None:
        remedy = "Pass --data-root FOLDER, or set the environment variable RADEVAL_DATA_ROOT."
        raise DataRootError("no data root is set", remedy=remedy)
    return root


def check_files(root: Path | None, dataset: str = "") -> list[FileStatus]:
    """Return the status of every file of one data set, or of all data sets if ``dataset`` is empty.

    Without a data root, every file is ``missing``. Raises ManifestError if the data set is unknown.
    """
    statuses = []
    for manifest in map(load_manifest, [dataset] if dataset else names()):
        for entry in manifest.files:
            state, detail = "missing", ""
            if root is not None and (path := root / entry.path).is_file():
                state = "verified" if entry.sha256 else "there"
                try:
                    check_file(path, entry)
                except ChecksumError as error:
                    state, detail = "mismatch", error.what
            statuses.append(FileStatus(manifest.name, entry.path, state, manifest.access, detail))
    return statuses


def verify(root: Path | None, dataset: str = "", say: Say = print) -> list[FileStatus]:
    """Verify the existing files of one data set, or of all if ``dataset`` is empty, and return their states.

    ``say`` shows each state.

    Raises
    ------
    ChecksumError
        If a file differs from its manifest. All files are checked first, and none is removed.
    FetchError
        If the data root has no file of the data set.
    DataRootError
        If there is no data root.
    ManifestError
        If the data set is unknown.
    """
    folder = _require_root(root)
    found_files = [file for file in check_files(folder, dataset) if file.state != "missing"]
    if not found_files:
        remedy = f"Run `{f'radbook data status {dataset}'.strip()}` to list the files that belong there."
        raise FetchError(f"no file of {dataset or 'any data set'} found", "data root", remedy)
    for file in found_files:
        say(f"{file.state:10} {file.path}{': ' + file.detail if file.detail else ''}")
    if mismatched := [file.path for file in found_files if file.state == "mismatch"]:
        problem = f"{len(mismatched)} file(s) differ from the manifest: {', '.join(mismatched)}"
        raise ChecksumError(problem, "data root", "Run `radbook data fetch` or `radbook data add` again.")
    return found_files


def fetch(dataset: str, root: Path | None, *, say: Say = print) -> list[Path]:
    """Download those files of an open or hub data set that are missing or differ from the manifest.

    Returns
    -------
    list of Path
        The paths of all files of the set that exist afterwards, in the manifest's order.

    Raises
    ------
    DataRootError
        If there is no data root.
    ManifestError
        If the data set is unknown.
    FetchError
        If a download fails, or the manifest has no URL for a missing file; in this case, the error lists the
        steps to get the file.
    ChecksumError
        If a downloaded file differs from the manifest; it is not kept.
    """
    folder, manifest = _require_root(root), load_manifest(dataset)
    statuses = check_files(folder, dataset)
    found_paths = [file.path for file in statuses if file.state not in ("missing", "mismatch")]
    missing = [manifest.file(path) for path in manifest.list_missing(found_paths)]
    if not missing:
        say(f"{dataset}: every file is in place")
    elif not manifest.revision and (manual_paths := [entry.path for entry in missing if not entry.url]):
        steps = " ".join(manifest.numbered_steps)
        raise FetchError(f"{manual_paths[0]} has no download URL", dataset, f"To get it: {steps}")
    for entry in missing:
        hub_source = f"the Hugging Face Hub, {manifest.hub} at {manifest.revision[:7]}"
        say(f"fetching {entry.path} from {hub_source if manifest.revision else entry.url}")
        with atomic.scratch(folder) as incoming:
            _install(_download(manifest, entry, incoming), entry, folder, say)
    return [folder / entry.path for entry in manifest.files if (folder / entry.path).is_file()]


def fetch_open(root: Path, *, say: Say = print) -> dict[str, str]:
    """Download every open data set, and return a mapping from each set that fails to its error message.

    A failure does not stop the other downloads. ``say`` shows the licence of each data set, and each failure
    as it occurs.
    """
    failures = {}
    for manifest in map(load_manifest, names()):
        if manifest.access != "open":
            continue
        say(f"{manifest.name} ({manifest.title}). Licence: {manifest.licence}")
        try:
            fetch(manifest.name, root, say=say)
        except DataError as error:
            failures[manifest.name] = str(error)
            say(f"  {error}")
    return failures


def _download(manifest: Manifest, entry: DataFile, folder: Path) -> Path:
    """Download a file into ``folder`` and return its path there.

    The source is the Hugging Face Hub if the manifest names a revision, else the file's URL.

    Raises
    ------
    FetchError
        If the download fails or ends early.
    """
    target = folder / PurePosixPath(entry.path).name
    try:
        if manifest.revision:
            import huggingface_hub

            hub_path = PurePosixPath(entry.path).relative_to(manifest.name).as_posix()
            path = huggingface_hub.hf_hub_download(
                manifest.hub, hub_path, repo_type="dataset", revision=manifest.revision, local_dir=folder
            )
            return Path(path)
        import pooch  # Imported here, because only downloads need it.

        download = pooch.HTTPDownloader(progressbar=True, timeout=TIMEOUT)
        download(entry.url, str(target), None)
        return target
    except OSError as error:  # requests and huggingface_hub raise subclasses
        response = getattr(error, "response", None)
        cause = repr(error) if response is None else response.status_code
        remedy = (
            "Check the connection; if access is refused, run `hf auth login` and accept the conditions on "
            f"huggingface.co/datasets/{manifest.hub}; then run the command again."
            if manifest.revision
            else f"Check the connection to {urlsplit(entry.url).hostname} and run the command again; or get "
            f"{entry.url} in another way and run `radbook data add {manifest.name} FILE`."
        )
        raise FetchError(f"download of {entry.path} failed ({cause})", manifest.name, remedy) from None


def _install(incoming: Path, entry: DataFile, root: Path, say: Say) -> None:
    """Move a verified file to its place under the data root; ``say`` reports a file without a SHA-256.

    Raises
    ------
    ChecksumError
        If the file differs from its manifest entry; it stays where it is.
    """
    check_file(incoming, entry)
    if not entry.sha256:
        say(f"not compared: the manifest states no SHA-256 for {entry.path}")
    target = root / entry.path
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(incoming, target)


def add(dataset: str, paths: Sequence[Path], root: Path | None, say: Say = print) -> list[Path]:
    """Copy the user's files to their places under the data root, and return the paths of the copies.

    A file is recognised by its name or, if several files of the set share the name, by its folder and name,
    such as ``MIMIC_IV/train_IOB.json``. The user's files stay where they are.

    Raises
    ------
    DataRootError
        If there is no data root.
    ManifestError
        If the data set is unknown or has no file of that name; in this case, nothing is copied.
    ChecksumError
        If a file differs from its manifest entry; this file and those after it are not copied.
    OSError
        If one of ``paths`` does not exist or cannot be read.
    """
    folder, manifest = _require_root(root), load_manifest(dataset)
    entries = []
    for path in paths:
        try:
            entries.append(manifest.file(f"{path.resolve().parent.name}/{path.name}"))
        except ManifestError:
            entries.append(manifest.file(path.name))
    for path, entry in zip(paths, entries, strict=True):
        with atomic.scratch(folder) as incoming:
            shutil.copyfile(path, incoming / "copy")
            _install(incoming / "copy", entry, folder, say)
        say(f"added      {entry.path}")
    return [folder / entry.path for entry in entries]
