"""The model that fills a role: a folder or name to load, and the SHA-256 that identifies it."""

from __future__ import annotations

from pathlib import Path

from radeval_lib.data import statements
from radeval_lib.data.manifests import restricted_in
from radeval_lib.models import catalog, naming
from radeval_lib.models.derived import untrained
from radeval_lib.models.identity import checksum
from radeval_lib.models.packaged import is_packaged
from radeval_lib.models.pretrained import is_hub_name
from radeval_lib.registry import RULES


def permit(name: str, root: Path | None) -> None:
    """Refuse a model behind an address, unless a statement allows to send it what the data root holds."""
    statements.require(restricted_in(root), name, root)


def ready(name: str, folder: Path, seed: int) -> str:
    """Return folder or name under which a model is loaded; one that has to be made is made below
    ``folder``."""
    return untrained(name, folder, seed) if name.startswith(naming.UNTRAINED) else name


def revision(name: str) -> str:
    """Return the revision at which a hub model is loaded, or ``unpinned``; empty for what is not a hub
    model."""
    bare = name.removeprefix(naming.UNTRAINED)
    if bare == RULES or is_packaged(bare) or Path(bare).is_dir() or not is_hub_name(bare):
        return ""
    return catalog.revision_of(bare) or "unpinned"


def digest(where: str) -> str:
    """Return :func:`~radeval_lib.models.identity.checksum` of what :func:`ready` gave."""
    return checksum(where)
