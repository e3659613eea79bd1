"""The model that fills a role: a folder or name to load, and the SHA-256 that identifies it."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.data import statements
from radeval_lib.data.manifests import restricted_in
from radeval_lib.models import naming
from radeval_lib.models.derived import untrained
from radeval_lib.models.pretrained import checksum


def permit(name: str, root: Path | None) -> None:
    """Refuse a model behind an address, unless a statement allows to send it what the data root holds."""
    statements.require(restricted_in(root), name, root)


def ready(name: str, folder: Path, seed: int) -> str:
    """Folder or name under which a model is loaded; one that has to be made is made below ``folder``."""
    return untrained(name, folder, seed) if name.startswith(naming.UNTRAINED) else name


def digest(where: str) -> str:
    """SHA-256 of a model's files; of its name, where a hub or a server resolves it."""
    return checksum(where)
