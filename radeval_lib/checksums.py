"""The one SHA-256 of the project: of a file's bytes, of a text."""

from __future__ import annotations

import hashlib
from pathlib import Path


def of_file(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def of_text(text: str) -> str:
    """Hexadecimal SHA-256 of a text as UTF-8; lone surrogates are encoded as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
