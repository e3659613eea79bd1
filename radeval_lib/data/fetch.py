"""Getting and checking data files: status, fetch, verify, add.

Open files come through pooch's downloader, hub sets through huggingface_hub at a pinned revision. A file
takes its place under the data root only after it was checked, by one rename; a mismatch leaves nothing
behind. A download that was interrupted goes on where it stopped, if the server can. Credentialed files are
copied from where the user has them. No credentials are asked for, stored or shown.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import requests

from radeval_lib import atomic, checksums
from radeval_lib.data.errors import ChecksumError, DataError, DataRootError, FetchError
from radeval_lib.data.manifests import DataFile, Manifest, check_file, load_manifest, names
from radeval_lib.errors import is_refusal, plain

RECORD = "recorded_checksums.json"  # in the data root: sha256 of files whose manifest states none
TIMEOUT = 60  # seconds without a byte
# Of an archive, so many times its own bytes are unpacked, or the bytes that the manifest states, and so many
# beside, but never more than the last.
HIGHEST_RATIO, MOST_BESIDE, MOST_UNPACKED = 50, 1 << 26, 1 << 34
Say = Callable[[str], object]
# What zipfile and tarfile raise on an archive with flipped or missing bytes, compressed in a way that they
# do not know, or one under a password.
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, ValueError, LookupError, RuntimeError,
            NotImplementedError, struct.error, zlib.error, lzma.LZMAError)  # fmt: skip


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


def _expected(entry: DataFile, root: Path) -> DataFile:
    """The manifest's entry, with the checksum that was recorded where the manifest states none."""
    return entry if entry.sha256 else replace(entry, sha256=_recorded(root).get(entry.path))


def _install(incoming: Path, entry: DataFile, root: Path) -> None:
    """Check a file and move it to its place; what does not match never gets there."""
    check_file(incoming, _expected(entry, root))
    target = root / entry.path
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = checksums.of_file(incoming)
    os.replace(incoming, target)
    if entry.sha256 is None:
        _record(root, entry.path, digest)


def status(root: Path | None, dataset: str = "") -> list[FileStatus]:
    """State of every file of one data set, or of all; without a data root, all are missing.

    Raises
    ------
    ManifestError
        Where the data set is unknown.
    """
    chosen = [load_manifest(name) for name in ([dataset] if dataset else names())]
    return [_file_status(manifest, entry, root) for manifest in chosen for entry in manifest.files]


def _file_status(manifest: Manifest, entry: DataFile, root: Path | None) -> FileStatus:
    if root is None or not (path := root / entry.path).is_file():
        return FileStatus(manifest.name, entry.path, "missing", manifest.access)
    expected = _expected(entry, root)
    try:
        check_file(path, expected)
    except ChecksumError as error:
        return FileStatus(manifest.name, entry.path, "mismatch", manifest.access, error.what)
    state = "verified" if entry.sha256 else "recorded" if expected.sha256 else "unrecorded"
    return FileStatus(manifest.name, entry.path, state, manifest.access)


def verify(root: Path | None, dataset: str = "", say: Say = print) -> list[FileStatus]:
    """Check every file that is there; a file with no checksum to compare gets its own recorded.

    Raises
    ------
    FetchError
        Where there is none to check.
    ChecksumError
        Naming the files that do not match, after all were checked. They are left where they are, for they are
        the user's.
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
        if one.state == "unrecorded":
            _record(folder, one.path, checksums.of_file(folder / one.path))
        if one.state != "missing":
            say(f"{one.state:10} {one.path}{': ' + one.detail if one.detail else ''}")
    if bad := [one.path for one in found if one.state == "mismatch"]:
        raise ChecksumError(
            f"{len(bad)} file(s) do not match: {', '.join(bad)}", remedy="Remove them and get them again."
        )
    return status(folder, dataset)


def fetch(dataset: str, root: Path | None, *, progress: bool = True, say: Say = print) -> list[Path]:
    """Download the files of an open or hub data set that are missing or do not match.

    Returns
    -------
    list of Path
        The files of the set that are now in place.

    Raises
    ------
    FetchError
        Where the set is not for download (naming the steps to get it), or a download failed.
    ChecksumError
        Where what came is not what the manifest states; nothing of it is kept.
    """
    folder, manifest = _root(root), load_manifest(dataset)
    wanted = [
        entry
        for entry in manifest.files
        if _file_status(manifest, entry, folder).state in ("missing", "mismatch") and not entry.partial
    ]
    if not wanted:
        say(f"{dataset}: every file is in place")
    elif manifest.access == "hub" and manifest.revision:
        for entry in wanted:
            say(f"fetching {entry.path} from the hub, {manifest.hub} at {manifest.revision[:7]}")
            _fetch_hub(manifest, entry, folder)
    elif missing := [entry.path for entry in wanted if not entry.url]:
        raise FetchError(
            f"{missing[0]} is not for download", dataset, "To get it: " + " ".join(_numbered(manifest.steps))
        )
    else:
        for entry in wanted:
            say(f"fetching {entry.path} from {entry.url}")
            _fetch_url(dataset, entry, folder, progress)
    return [folder / entry.path for entry in manifest.files if (folder / entry.path).is_file()]


def fetch_open(root: Path, *, progress: bool = True, say: Say = print) -> dict[str, str]:
    """Download every open data set, naming the licence of each; one that fails does not stop the others.

    Returns
    -------
    dict
        Why each set that is not in place failed, by name.
    """
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


def _numbered(steps: Sequence[str]) -> list[str]:
    return [f"({number}) {step}" for number, step in enumerate(steps, start=1)]


def _reason(error: Exception) -> str:
    """Why a download failed, in words: libraries nest the names of their exceptions."""
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if (response := getattr(error, "response", None)) is not None:
        return f"{response.status_code} {response.reason}"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return getattr(error, "strerror", None) or plain(str(error), 60) or type(error).__name__


def _fetch_url(dataset: str, entry: DataFile, root: Path, progress: bool) -> None:
    # Kept between runs, for a download to go on; its name is that of what it becomes.
    partial = root / ".partial" / checksums.of_text(entry.url)[:16]
    partial.parent.mkdir(parents=True, exist_ok=True)
    try:
        _download(entry.url, partial, progress)
    except (requests.RequestException, OSError, ValueError) as error:
        if is_refusal(error):
            raise
        host = urlsplit(entry.url).hostname
        raise FetchError(
            f"download of {entry.path} failed ({_reason(error)})",
            dataset,
            f"Check the connection to {host} and run the command again to go on; or get {entry.url} in "
            f"another way and give it to `radbook data add {dataset} FILE`.",
        ) from None
    try:
        with atomic.scratch(root) as folder:
            incoming = folder / PurePosixPath(entry.member or entry.path).name
            if entry.member:
                extract(partial, folder / "unpacked", entry.size)
                member = folder / "unpacked" / entry.member
                if not member.is_file():
                    raise FetchError(f"the archive holds no {entry.member!r}", entry.url)
                os.replace(member, incoming)
            else:
                os.replace(partial, incoming)
            _install(incoming, entry, root)
    finally:
        partial.unlink(missing_ok=True)
        with suppress(OSError):  # another download may be under way
            partial.parent.rmdir()


def _download(url: str, partial: Path, progress: bool) -> None:
    """Download ``url`` to ``partial``, going on behind what is there where the server can send the rest."""
    import pooch  # here, because it sets up progress bars, which the state of files does not need

    have = partial.stat().st_size if partial.is_file() else 0
    # The file's own bytes: sizes and ranges of a compressed transfer are others.
    headers = {"Accept-Encoding": "identity"}
    if have:
        offered = requests.head(url, allow_redirects=True, timeout=TIMEOUT, headers=headers).headers
        whole = int(offered.get("Content-Length", -1))
        if have == whole:
            return
        if offered.get("Accept-Ranges") == "bytes" and have < whole:
            headers["Range"] = f"bytes={have}-"
    with partial.open("ab" if "Range" in headers else "wb") as stream:
        pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT, headers=headers)(url, stream, None)


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
        _install(Path(path), entry, root)


def extract(archive: Path, folder: Path, stated: int | None = None) -> None:
    """Unpack a zip or tar archive into ``folder``, all of it or nothing.

    Parameters
    ----------
    stated : bytes of the file that is wanted of it, where they are known; else so many are expected as an
        archive of its size may hold.

    Raises
    ------
    FetchError
        Where it is no such archive, is damaged, unpacks to too much, or holds a path outside its folder, a
        name that is too long or does not print, a link or a special file.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    expected = HIGHEST_RATIO * archive.stat().st_size if stated is None else stated
    most = min(MOST_UNPACKED, expected + MOST_BESIDE)
    with atomic.scratch(folder.parent) as incoming:
        try:
            if zipfile.is_zipfile(archive):
                with zipfile.ZipFile(archive) as opened:
                    for info in opened.infolist():
                        # Zip keeps Unix links as file modes in the upper half of its attributes.
                        _refuse_member(info.filename, stat.S_ISLNK(info.external_attr >> 16), archive)
                    # No member gives more than it states.
                    _refuse_bomb(sum(info.file_size for info in opened.infolist()), most, archive)
                    opened.extractall(incoming)
            elif _is_tar(archive, most):
                with tarfile.open(archive) as bundle:
                    for member in bundle.getmembers():
                        _refuse_member(member.name, not (member.isfile() or member.isdir()), archive)
                    _refuse_bomb(sum(member.size for member in bundle.getmembers()), most, archive)
                    bundle.extractall(incoming, filter="data")
            else:
                raise FetchError("neither a zip nor a tar archive", archive.name)
        except _DAMAGED as error:
            if is_refusal(error):
                raise
            raise FetchError(f"damaged archive ({error})", archive.name, "Fetch it again.") from None
        if folder.exists():
            raise FetchError("folder exists already", folder.name, "Remove it first.")
        os.replace(incoming, folder)


def _is_tar(archive: Path, most: int) -> bool:
    """Whether it is a tar archive; a compressed one is read through first, for tarfile would keep a header of
    any length in memory."""
    for opener in (gzip.open, bz2.open, lzma.open):
        with suppress(OSError, EOFError, zlib.error, lzma.LZMAError), opener(archive) as stream:
            unpacked = 0
            while piece := stream.read(1 << 20):
                unpacked += len(piece)
                _refuse_bomb(unpacked, most, archive)
    return tarfile.is_tarfile(archive)


def _refuse_bomb(unpacked: int, most: int, archive: Path) -> None:
    if unpacked > most:
        raise FetchError(
            f"unpacks to more than {most:,} bytes", archive.name, "It is not unpacked; fetch it again."
        )


def _refuse_member(name: str, special: bool, archive: Path) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if special:
        kind = "a link or special file"
    elif path.is_absolute() or ".." in path.parts or ":" in name.partition("/")[0]:
        kind = "a path outside the archive's folder"
    elif not name.isprintable():
        kind = "a name that does not print"
    elif len(name) > 1000 or any(len(os.fsencode(part)) > 255 for part in path.parts):
        kind = "a name that is too long"
    else:
        return
    raise FetchError(f"holds {kind}: '{plain(name, 60)}'", archive.name, "The archive is not unpacked.")


def add(dataset: str, paths: Sequence[Path], root: Path | None, say: Say = print) -> list[Path]:
    """Copy files that the user obtained to their places under the data root, after checking them.

    A file is known by its name, or, where several files of the set share it, by the end of its path, such as
    ``MIMIC_IV/train_IOB.json``. The user's own copy stays.

    Raises
    ------
    FetchError
        Where a file does not exist, or is none of the data set's.
    ChecksumError
        Where it is not the file that the manifest states, or that was recorded before.
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
            _install(copy, entry, folder)
        say(f"added      {entry.path}")
        installed.append(folder / entry.path)
    return installed


def _entry_for(path: Path, manifest: Manifest) -> DataFile:
    if not path.is_file():
        raise FetchError("file does not exist", str(path))
    ending = path.resolve().parts[1:]
    scores = {entry.path: _shared_ending(ending, PurePosixPath(entry.path).parts) for entry in manifest.files}
    best = max(scores.values())
    matches = [entry for entry in manifest.files if scores[entry.path] == best]
    if best == 0:
        known = ", ".join(entry.path for entry in manifest.files)
        raise FetchError(f"{path.name!r} is no file of {manifest.name!r}", remedy=f"Files: {known}.")
    if len(matches) > 1:
        listed = ", ".join(entry.path for entry in matches)
        raise FetchError(
            f"{path.name!r} may be any of {listed}",
            remedy="Put it into a folder with the name that stands there.",
        )
    return matches[0]


def _shared_ending(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count
