"""The one SHA-256 of the project: of a file's bytes, of a folder's files, of bytes, of a text."""

from __future__ import annotations

import hashlib
from pathlib import Path


def state(path: Path) -> tuple[int, ...]:
    """Return the properties that differ once a file was changed or replaced: its inode, size and times of
    change."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def of_file(path: Path) -> str:
    """Return hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_folder(folder: Path) -> dict[str, str]:
    """Return SHA-256 of every file below a folder, by its path there; nothing if there is no such folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): of_file(path) for path in files}


def of_bytes(content: bytes) -> str:
    """Return hexadecimal SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def of_text(text: str) -> str:
    """Return hexadecimal SHA-256 of a text as UTF-8; lone surrogates are encoded as they are."""
    return of_bytes(text.encode("utf-8", "surrogatepass"))
