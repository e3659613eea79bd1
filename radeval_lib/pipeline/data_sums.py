"""Checksums of data files, each computed once: a cache keyed by place, size, inode and times of change.

An entry is kept only if the file had not changed for a while when it was made, so that a change within the
clock's resolution cannot hide behind it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from radeval_lib import atomic, checksums
from radeval_lib.data.manifests import load_manifest
from radeval_lib.paths import BUILD

_CACHE = BUILD / "cache" / "data.json"
_SETTLED_NS = 2_000_000_000
"""Nanoseconds: more than the resolution of any file system's clock."""


def digest(data_sets: Iterable[str], root: Path | None) -> str:
    """Return a SHA-256 of the files of these data sets that a data root holds, by path and content; empty
    where it holds none."""
    sums = [
        f"{file.path} {_checksum(path)}"
        for name in sorted(data_sets)
        for file in load_manifest(name).files
        if root is not None and (path := root / file.path).is_file()
    ]
    return checksums.of_text("\n".join(sums)) if sums else ""


def _checksum(path: Path) -> str:
    """Return the SHA-256 of a file, from the cache where the file did not change."""
    known, state = _known(_CACHE), checksums.state(path)
    noted = known.get(str(path))
    if noted is not None and noted[:-1] == list(state):
        return str(noted[-1])
    checksum = checksums.of_file(path)
    if time.time_ns() - max(state[2:]) > _SETTLED_NS:
        known[str(path)] = [*state, checksum]
        with suppress(OSError):  # it is computed again next time
            atomic.write_text(_CACHE, json.dumps(known) + "\n")
    return checksum


_known = cache(atomic.read_mapping)
