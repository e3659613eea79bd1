"""What fills each role of data: a data set, the generator, or several of them joined by ``+``.

A profile names the filler, so that a notebook asks for a role and nothing else. Roles and readers are found
by name in :mod:`radeval_lib.registry`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from radeval_lib import registry
from radeval_lib.data import readers
from radeval_lib.data.errors import RoleError
from radeval_lib.data.manifests import load_manifest
from radeval_lib.registry import SYNTHETIC, dataset_of, datasets_of


def load(
    role: str,
    filler: str,
    *,
    size: int,
    seed: int,
    root: Path | None,
    note: Callable[[Path], None] = lambda path: None,
) -> list[Any]:
    """The records that fill a role.

    Parameters
    ----------
    role : key of :data:`radeval_lib.registry.ROLES`.
    filler : ``synthetic``, or the name of a data set, with ``/`` and a scale where its ratings have several.
    size, seed : of the generator; not used where a data set fills the role.
    root : data root, or None.
    note : called with each file that is read.
    """
    if role not in registry.ROLES:
        raise RoleError(f"unknown role {role!r}", "", f"Roles: {', '.join(registry.ROLES)}.")
    if filler == SYNTHETIC:
        # No two roles share a report, so that a model is not tried on what it learned.
        stream = int.from_bytes(hashlib.sha256(f"{seed} {role}".encode()).digest()[:4], "big")
        return list(registry.find(registry.ROLES[role].generator)(size, stream))
    if "+" in filler:
        parts = (load(role, part, size=size, seed=seed, root=root, note=note) for part in filler.split("+"))
        return [record for part in parts for record in part]
    dataset, scale = dataset_of(filler), filler.partition("/")[2]
    if dataset not in registry.READERS:
        known = ", ".join([SYNTHETIC, *registry.READERS])
        raise RoleError(f"{filler!r} cannot fill the role {role!r}", "", f"Fillers: {known}.")
    if root is None:
        raise RoleError(f"the role {role!r} is filled by {filler!r}, which needs a data root")
    wanted = registry.find(registry.ROLES[role].record)
    records = [
        record
        for record in readers.load(dataset, root, note)
        if isinstance(record, wanted) and (not scale or getattr(record, "scale", "") == scale)
    ]
    if not records:
        raise RoleError(
            f"{filler!r} gives no {wanted.__name__} for the role {role!r}",
            root.name,
            f"`radbook data status {dataset}` says what is missing.",
        )
    return records


def evidence(filler: str) -> str:
    """Level of evidence of what is computed on a filler: ``synthetic``, ``open`` or ``credentialed``."""
    if filler == SYNTHETIC:
        return SYNTHETIC
    access = {load_manifest(name).access for name in datasets_of(filler)}
    return "open" if access == {"open"} else "credentialed"
